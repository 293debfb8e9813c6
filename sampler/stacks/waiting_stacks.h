/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/waiting_stacks.h - copies of stacks that wait for the unwind table of their code
 *
 * Way of the data:  stack_unwinder -> [waiting_stacks] -> stack_unwinder -> call_chain
 *
 * The table of a file is made while the first samples in its code arrive.  Such a
 * sample keeps its registers, its copy and the mappings of its moment; its stack is
 * walked when the table is there.  Until then no event of its process from that time
 * on may be written: process_track.held_ns.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_STACKS_WAITING_STACKS_H
#define SAMPLER_STACKS_WAITING_STACKS_H

#include "sampler/kernel/call_chain.h"
#include "sampler/tracks/address_space.h"
#include "unwind/unwind_machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAITING_STACKS_BYTES_MAX    (UINT32_C(1) << 25) /* of all processes together */
#define WAITING_STACKS_SEARCHED_MAX (UINT32_C(1) << 20) /* bytes; JITs may replace code often */

struct late_window;
struct process_track;
struct thread_track;

/* The mappings of a process at one moment; all stacks of that moment share them. */
struct waiting_space {
        struct address_space space;
        struct process_track *process; /* borrowed */
        size_t n_bytes;
        uint32_t n_stacks;
};

struct waiting_stack {
        struct thread_track
                *thread; /* borrowed: the thread and its process live until this sample was written */
        struct waiting_space *space;
        uint64_t time_ns, since_ns; /* time of the sample, and since when the stack waits */
        uint32_t ticket;            /* by which its sample is known */
        uint32_t module;            /* whose table it waits for */
        uint32_t n_kernel;          /* frames */
        enum trace_stack_state kernel_state;
        struct unwind_registers registers;
        uint64_t copy_start_avma;
        const uint8_t *copy; /* `copy_bytes`, after the frames */
        size_t copy_bytes;
        /* the stack is one of its users; NULL = memory beyond the copy was not read */
        struct late_window *window;
        struct call_frame kernel[];
};

struct waiting_stacks {
        struct waiting_stack *
                *items; /* heap, owned; oldest first; NULL = taken out since the last tidying up */
        size_t n_items, capacity;
        size_t n_bytes;
};

/* Looks at no thread and no process: these may be gone. */
void waiting_stacks_deinit(struct waiting_stacks *s);

/*
 * waiting_stacks_add() - keep the data needed to walk a stack later
 * @wanted:  thread, times, ticket, module, registers, window (the caller's after a failure) and copy, which
 *           is borrowed; the rest is filled in
 * @kernel:  the kernel's part of the callstack, and nothing else
 * Returns false if there is no room or no memory.
 */
bool waiting_stacks_add(struct waiting_stacks *s, const struct waiting_stack *wanted,
                        const struct call_chain *kernel);

/* Takes a stack out; all that it points to stays until waiting_stack_free(). */
struct waiting_stack *waiting_stacks_take(struct waiting_stacks *s, size_t at);

/* Closes gaps in the list, and sets `held_ns` of each process that has, or had, a stack here. */
void waiting_stacks_tidy(struct waiting_stacks *s);

/* NULL is fine. */
void waiting_stack_free(struct waiting_stacks *s, struct waiting_stack *stack);

/* Is it time for the tables? */
bool waiting_stacks_are_overdue(const struct waiting_stacks *s, uint64_t now_ns);

/* Was one of these stacks taken in kernel code of this range? */
bool waiting_stacks_have_kernel_code(const struct waiting_stacks *s, uint64_t start_avma, uint64_t end_avma);

/*
 * waiting_stacks_may_have_code() - may a stack of the process have an address in this range?
 * The stacks are not walked: each word of their memory counts as an address.  True if they have more than
 * WAITING_STACKS_SEARCHED_MAX.
 */
bool waiting_stacks_may_have_code(const struct waiting_stacks *s, const struct process_track *process,
                                  uint64_t start_avma, uint64_t end_avma);

/* Makes @ret_chain the kernel's part alone. */
void waiting_stack_restore_kernel(const struct waiting_stack *stack, struct call_chain *ret_chain);

/* The mappings to walk the stack with: the process's own if they are still the same. */
struct address_space *waiting_stack_space(const struct waiting_stack *stack);

#endif /* SAMPLER_STACKS_WAITING_STACKS_H */
