/* SPDX-License-Identifier: MIT */
/*
 * import/perf/perf_stacks.h - the callstack of a sample of perf's, as rows of the trace
 *
 * Way of the data:  perf_entry (call chain, registers, copy of the stack), perf_tasks (mappings),
 *                   ELF files -> [perf_stacks] -> import_samples
 *
 * Copies of stacks (perf record --call-graph dwarf) are walked as the recorder walks its own, with the unwind
 * tables of the files that were mapped, where this machine has them: at their path, or where perf keeps files
 * by build-id (~/.debug).  A file with another build-id is not taken; without one the inode counts.
 * Opens files; allocates; not thread-safe.
 */
#ifndef IMPORT_PERF_STACKS_H
#define IMPORT_PERF_STACKS_H

#include "unwind/stack_walk.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct import_rows;
struct perf_entry;
struct perf_file;
struct perf_process;
struct perf_tasks;
struct unwind_module;

#define PERF_STACKS_FRAMES_MAX 8192 /* a record has no room for more */

struct perf_stack_frame {
        uint64_t avma;
        bool in_kernel, is_return;
};

/* A frame below its callers that was added, to be found again without the tables. */
struct perf_stack_step {
        uint64_t avma, generation; /* generation: of the mappings; 0 in the kernel */
        uint32_t parent, stack;    /* rows of STACKS; stack: 0 = none */
        bool in_kernel, is_return;
};

#define PERF_STACKS_STEPS 4096

struct perf_stack_code {
        struct unwind_module *module; /* NULL = it has no table, or the file is not there */
        bool is_looked_up;
};

struct perf_stacks {
        struct perf_tasks *tasks; /* borrowed */
        uint32_t cut_frame;       /* row of FRAMES; 0 = not needed yet */
        struct perf_stack_frame frames[PERF_STACKS_FRAMES_MAX];
        size_t n_frames;
        uint32_t state; /* of these frames: enum trace_stack_state */
        struct perf_stack_step steps[PERF_STACKS_STEPS];

        const struct unwind_machine *machine;
        struct stack_walker *walker;   /* NULL = no stack was walked yet */
        struct perf_stack_code *codes; /* heap; by row of MODULES */
        size_t codes_capacity;
        uint32_t n_codes;
        size_t n_code_bytes;
        struct perf_process *process; /* of the walk that runs */
        struct stack_walk walk;
};

/* Large: on the heap.  Returns NULL if there is no memory. */
struct perf_stacks *perf_stacks_new(struct perf_tasks *tasks);
void perf_stacks_free(struct perf_stacks *s);

/*
 * perf_stacks_add() - the stack of a sample
 * @ret_stack:  0 = it has none
 * Returns 0, -errno.
 */
int perf_stacks_add(struct perf_stacks *s, const struct perf_entry *entry, struct perf_process *process,
                    uint32_t *ret_stack, uint32_t *ret_state, struct error *err);

/* ---- perf_unwinder.c; private ---- */

/* Adds the frames of the copied stack, and sets the state. */
int perf_stacks_unwind(struct perf_stacks *s, const struct perf_entry *entry, struct perf_process *process,
                       struct error *err);
void perf_stacks_forget_code(struct perf_stacks *s);

#endif /* IMPORT_PERF_STACKS_H */
