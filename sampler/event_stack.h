/* SPDX-License-Identifier: MIT */
/*
 * sampler/event_stack.h - the callstack that a program sent with an event -> its addresses
 *
 * Way of the data:  client_stream (prefix) -> [event_stack] -> call_chain -> stack_builder
 *
 * A program sends either return addresses, or a copy of the top of its stack.
 * In a copy the frame pointers are followed; what needs the tables of the code
 * to be unwound would go where event_stack_unwind_copy() is now.
 */
#ifndef SAMPLER_EVENT_STACK_H
#define SAMPLER_EVENT_STACK_H

#include <stddef.h>
#include <stdint.h>

struct address_space;
struct call_chain;
struct client_prefix;
struct loss_counter;

/*
 * event_stack_unwind_copy() - the callstack of a copied stack
 * @copy:       of a CLIENT_ABI_EVENT_STACK_COPY; hostile
 * @space:      of the process, now
 * @ret_chain:  overwritten; of no frames if there is no header
 * Bounded by the length of the copy.
 */
void event_stack_unwind_copy(const uint8_t *copy, size_t copy_bytes, const struct address_space *space,
                             struct call_chain *ret_chain);

/* The callstack that came with an event; of no frames if none came.  Counts what is missing from it. */
void event_stack_unwind(const struct client_prefix *prefix, const struct address_space *space,
                        struct loss_counter *losses, struct call_chain *ret_chain);

#endif /* SAMPLER_EVENT_STACK_H */
