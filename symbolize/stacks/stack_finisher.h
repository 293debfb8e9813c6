/* SPDX-License-Identifier: MIT */
/*
 * symbolize/stacks/stack_finisher.h - the kept copy of a stack -> its call stack, with tables found later
 *
 * Way of the data:  STACK_COPY, MAPPINGS, module_tables -> [stack_finisher] -> trace_dictionary (FRAMES,
 *                   STACKS) -> kept_stacks
 *
 * Walks as the recorder does (unwind/stack_walk.h), with the mappings that the process had at the time of
 * the sample.  The part of the old call stack that is further in than the program's own code, in the kernel,
 * stays.  Copies, mappings and tables are hostile.  The work for a trace is bounded.
 * Allocates; not thread-safe.
 */
#ifndef SYMBOLIZE_STACKS_STACK_FINISHER_H
#define SYMBOLIZE_STACKS_STACK_FINISHER_H

#include "sampler/tracks/address_space.h"
#include "unwind/stack_walk.h"

#include <stddef.h>
#include <stdint.h>

/* Mappings that are put in place, each with as many as the process has by then; then no more is done. */
#define STACK_FINISHER_WORK_MAX          (UINT64_C(1) << 30)
#define STACK_FINISHER_KERNEL_FRAMES_MAX 1024 /* of an old call stack, before the program's own code */

struct module_tables;
struct trace_dictionary;
struct trace_event;

struct stack_finisher {
        struct trace_dictionary *dictionary; /* borrowed, as the next */
        struct module_tables *tables;
        const struct unwind_machine *machine; /* of the last copy */
        struct stack_walker *walker;          /* for it; NULL before */

        /* The rows of MAPPINGS by process: those of process p are `rows` from first[p] to first[p + 1]. */
        uint32_t *first, *rows; /* heap */
        uint32_t n_mappings;    /* that there were at the beginning */

        struct address_space space; /* of `process` at `space_ns`; its modules are rows of MAPPINGS */
        uint32_t process;           /* 0 = none */
        uint32_t next_row;          /* of `rows`: the first that is not in place */
        uint64_t space_ns, last_generation, work;

        uint32_t *n_left; /* heap; by module - 1: call stacks that ended in it for want of a table */
        uint32_t n_modules;
        struct stack_walk walk;
};

/* Large: on the heap.  To be made when the dictionary has all rows of the trace.  NULL without memory. */
struct stack_finisher *stack_finisher_new(struct trace_dictionary *dictionary, struct module_tables *tables);
/* NULL is fine. */
void stack_finisher_free(struct stack_finisher *f);

/*
 * stack_finisher_run() - walks the stack of a sample
 * @copy:    of its STACK_COPY
 * @sample:  gets the new call stack and its state; unchanged if the walk led no further
 * Returns 1, 0 if the call stack could not be finished, -ENOMEM.
 */
int stack_finisher_run(struct stack_finisher *f, uint32_t thread, const void *copy, size_t n_bytes,
                       struct trace_event *sample);

#endif /* SYMBOLIZE_STACKS_STACK_FINISHER_H */
