/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/stack_end.h - how a walk ended -> the state of its call stack, and the reason of its loss
 *
 * Way of the data:  stack_walk -> [stack_end] -> call_chain, loss_counter
 */
#ifndef SAMPLER_STACKS_STACK_END_H
#define SAMPLER_STACKS_STACK_END_H

#include "format/trace_spec.h"
#include "unwind/stack_walk.h"

#include <stdbool.h>

struct loss_counter;
struct process_track;

enum trace_stack_state stack_end_state_of(enum stack_walk_end end);

/* Did the walk end at the address to which the kernel's uretprobes make functions of the process return? */
bool stack_end_is_return_probe(const struct stack_walk *walk, const struct process_track *process);

/*
 * stack_end_read_probe() - the code that a thread executes in the kernel's page of uprobes
 * That is the copy of a probed instruction.  hyprof's probes are where functions begin and end, with the
 * return address on top of the stack: so the thread has its caller as if it stood before a return.  Returns
 * false for other addresses.
 */
bool stack_end_read_probe(const struct process_track *process, uint64_t avma, uint8_t *ret_code);

/* Counts a call stack of this state, if something of it is missing. */
void stack_end_count(struct loss_counter *losses, enum trace_stack_state state);

#endif /* SAMPLER_STACKS_STACK_END_H */
