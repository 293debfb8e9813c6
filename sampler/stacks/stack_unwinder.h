/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/stack_unwinder.h - a copy of registers and stack -> the callstack, as far as it goes
 *
 * Way of the data:  raw_stack, code_tables -> [stack_unwinder] -> call_chain -> stack_builder
 *
 * The kernel's part of a callstack comes from the kernel.  The user's part:
 *   FP     the kernel follows the frame pointers;
 *   DWARF  the copy of the stack is walked with the tables of the code (unwind/stack_walk.h);
 *   AUTO   the same, and by frame pointer through code that has no table.
 * A walk that ends at the end of the copy is joined to the thread's stack before
 * (unwind/stack_stitch.h), or goes on in memory that is read now (late_stack.h), which is marked.
 * A BPF program that walks the same tables in the kernel would be a fourth way:
 * it would fill raw_stack.chain, as FP does, and code_tables would feed it.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_STACKS_STACK_UNWINDER_H
#define SAMPLER_STACKS_STACK_UNWINDER_H

#include "format/trace_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_space;
struct call_chain;
struct code_tables;
struct error;
struct loss_counter;
struct process_track;
struct raw_stack;
struct recorder_pace;
struct stack_unwinder;
struct thread_track;
struct unwind_request;

/* @tables: borrowed; NULL = there are none.  @pace, @losses: borrowed.  Returns 0 or -ENOMEM. */
int stack_unwinder_new(const struct unwind_request *options, struct code_tables *tables,
                       struct recorder_pace *pace, struct loss_counter *losses,
                       struct stack_unwinder **ret_unwinder, struct error *err);

/* NULL is fine. */
void stack_unwinder_free(struct stack_unwinder *u);

/*
 * stack_unwinder_run() - makes a callstack
 * @thread:  its thread, whose process's address space is as it was at that time
 * @chain:   overwritten; its state says how far it goes
 * Counts missing parts under their reason.  Bounded; about a microsecond; a read of the thread's memory
 * (process_vm_readv) takes some tens more and is done for at most one hundredth of all time (late_stack.h).
 * A table that is coming is waited for, unless rings are filling up (@pace).  No memory is read then.
 */
void stack_unwinder_run(struct stack_unwinder *u, const struct raw_stack *raw, struct thread_track *thread,
                        uint64_t now_ns, struct call_chain *chain);

/*
 * stack_unwinder_run_waiting() - the same for a sample that need not be written at once
 * Returns 0, or a number if the stack is cut or a table is coming: then @chain has the frames so far, and
 * nothing is counted.  A stack that waits for a table holds its process back (waiting_stacks.h) and comes
 * from stack_unwinder_resume().
 */
uint32_t stack_unwinder_run_waiting(struct stack_unwinder *u, const struct raw_stack *raw,
                                    struct thread_track *thread, uint64_t now_ns, struct call_chain *chain);

/* A stack that waited for a table, and its sample. */
struct stack_unwinder_resumed {
        struct thread_track *thread;
        /* the process's mappings at the time of the sample; borrowed until the next call */
        struct address_space *space;
        uint64_t time_ns;
        uint32_t ticket;
        bool is_cut; /* the stack goes on waiting, to be completed by others: see stack_unwinder_close() */
};

/*
 * stack_unwinder_resume() - the next of the stacks that need not wait for a table any longer, oldest first
 * @process:  of this one; NULL = of all
 * @now_ns:   CLOCK_MONOTONIC_RAW; stacks that waited PACE_STACKS_WAIT_NS by then are given up;
 *            UINT64_MAX = all
 * To be called until it returns false, at a time when no thread has a stack that stack_unwinder_close()
 * would give, or else only to give up.  Counts missing parts, except of stacks that are cut.
 */
bool stack_unwinder_resume(struct stack_unwinder *u, const struct process_track *process, uint64_t now_ns,
                           struct stack_unwinder_resumed *ret_resumed, struct call_chain *chain);

/* Does any stack wait for a table? */
bool stack_unwinder_has_waiting(const struct stack_unwinder *u);

/* Does a stack wait that was taken in kernel code of this range? */
bool stack_unwinder_has_waiting_in_kernel(const struct stack_unwinder *u, uint64_t start_avma,
                                          uint64_t end_avma);

/* May a stack of this process that waits for a table have an address in this range? */
bool stack_unwinder_may_wait_in(const struct stack_unwinder *u, const struct process_track *process,
                                uint64_t start_avma, uint64_t end_avma);

/*
 * stack_unwinder_is_overdue() - must the tables that stacks wait for be made now?
 * The first of the stacks has waited PACE_STACKS_LATE_NS, or they take PACE_STACKS_LATE_BYTES.
 */
bool stack_unwinder_is_overdue(const struct stack_unwinder *u, uint64_t now_ns);

/* There are no more samples of this thread now: reads memory, for the stacks that will be closed. */
void stack_unwinder_read_late(struct stack_unwinder *u, struct thread_track *thread);

/*
 * stack_unwinder_close() - takes the newest of a thread's waiting stacks, as it is now
 * To be called until it returns 0: after a stack that is complete, since the next one may fit less; before
 * the process's mappings change; and when the rings are empty.
 * Returns the stack's number, with @chain; 0 if no stack is ready.
 */
uint32_t stack_unwinder_close(struct stack_unwinder *u, struct thread_track *thread,
                              struct call_chain *chain);

/* A copy of a thread's stack that the program made itself. */
struct stack_unwinder_copy {
        struct address_space *space; /* borrowed: what was mapped when the copy was made */
        uint64_t pc_avma, sp_avma, fp_avma;
        const uint8_t *bytes; /* borrowed; from the stack pointer on */
        size_t n_bytes;
};

/*
 * stack_unwinder_run_copy() - as stack_unwinder_run(), for such a copy; newer samples of the thread may
 * have been walked already
 * Counts nothing.  Returns false, with @chain untouched, if stacks are followed by frame pointers.
 */
bool stack_unwinder_run_copy(struct stack_unwinder *u, const struct stack_unwinder_copy *copy,
                             struct thread_track *thread, struct call_chain *chain);

/* Forgets the state of a thread: it has ended. */
void stack_unwinder_forget(struct stack_unwinder *u, struct thread_track *thread);

/*
 * sampler/stacks/unwind_frame_pointer.c - the chain that the kernel followed by frame pointers -> a callstack
 *
 * Way of the data:  raw_stack (chain) -> [unwind_frame_pointer] -> call_chain
 *
 * Callers of code built without frame pointers are missing, and nothing shows that.
 */

/*
 * unwind_frame_pointer_run() - takes the kernel's part and the user's
 * @space:      of the sampled process at that time; NULL = not known
 * @ret_chain:  overwritten; at least one frame, where the CPU was
 */
void unwind_frame_pointer_run(const struct raw_stack *raw, const struct address_space *space,
                              struct call_chain *ret_chain);

/* Takes the kernel's part alone: no frame if the CPU was not in the kernel. */
void unwind_frame_pointer_run_kernel(const struct raw_stack *raw, struct call_chain *ret_chain);

#endif /* SAMPLER_STACKS_STACK_UNWINDER_H */
