/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/event_stack.h - the callstack that a program sent with an event -> its addresses
 *
 * Way of the data:  client_stream (prefix) -> [event_stack] -> call_chain -> stack_builder
 *
 * A program sends return addresses, or a copy of the top of its stack, or both:
 * then the copy begins in the function of the last address.  A copy is walked with the tables of the code,
 * as copies of samples are; where there are no tables, by frame pointers.
 */
#ifndef SAMPLER_STACKS_EVENT_STACK_H
#define SAMPLER_STACKS_EVENT_STACK_H

#include <stddef.h>
#include <stdint.h>

struct address_space;
struct call_chain;
struct client_prefix;
struct loss_counter;
struct stack_unwinder;
struct thread_track;
struct unwind_machine;

/*
 * event_stack_unwind_copy() - the callstack of a copied stack by its frame pointers
 * @machine:    where the process ran
 * @copy:       of a CLIENT_ABI_EVENT_STACK_COPY; hostile
 * @space:      of the process, now
 * @ret_chain:  overwritten; without frames if the copy has no header
 * Bounded by the length of the copy.
 */
void event_stack_unwind_copy(const struct unwind_machine *machine, const uint8_t *copy, size_t copy_bytes,
                             const struct address_space *space, struct call_chain *ret_chain);

/*
 * event_stack_unwind() - the callstack that came with an event; without frames if none came
 * @unwinder:  NULL = by frame pointers
 * @thread:    the thread of the event
 * @space:     of its process, at the time of the event
 * Counts its missing parts.
 */
void event_stack_unwind(const struct client_prefix *prefix, struct stack_unwinder *unwinder,
                        struct thread_track *thread, struct address_space *space, struct loss_counter *losses,
                        struct call_chain *ret_chain);

#endif /* SAMPLER_STACKS_EVENT_STACK_H */
