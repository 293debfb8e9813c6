/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/sample_stacks.h - the callstacks of samples become rows, at once or when
 * what they lack is there
 *
 * Way of the data:  stack_unwinder -> call_chain -> [sample_stacks] -> stack_builder,
 *                   pending events of threads
 *
 * A sample whose stack is cut, or whose unwind table is coming, is a pending event
 * without a stack: the stack_unwinder's number for it is in pending_event.cut.
 */
#ifndef SAMPLER_MERGE_SAMPLE_STACKS_H
#define SAMPLER_MERGE_SAMPLE_STACKS_H

#include <stdint.h>

struct address_space;
struct process_track;
struct kernel_side;
struct pending_event;
struct thread_stack;
struct thread_track;

/* All return 0 or -ENOMEM. */

/* The callstack in `chain` as a row, and how whole it is.  @space: where its addresses are looked up */
int sample_stacks_build(struct kernel_side *s, const struct address_space *space,
                        struct thread_stack *ret_stack);

/* Puts it into the event of its sample, at a system call with that in place of the kernel's functions. */
int sample_stacks_add(struct kernel_side *s, const struct address_space *space,
                      struct pending_event *pending);

/* No callstack of this thread waits any longer to be completed by others. */
int sample_stacks_close(struct kernel_side *s, struct thread_track *thread);

/*
 * The same for all threads of a process; of all processes, @process is NULL, after memory was read for them.
 */
int sample_stacks_close_all(struct kernel_side *s, const struct process_track *process);

/* Those whose unwind table has come, or which waited long enough: see stack_unwinder_resume(). */
int sample_stacks_resume(struct kernel_side *s, const struct process_track *process, uint64_t now_ns);

#endif /* SAMPLER_MERGE_SAMPLE_STACKS_H */
