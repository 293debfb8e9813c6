/* SPDX-License-Identifier: MIT */
/*
 * format/trace_loss.h - which rows of the table LOSSES say that something was lost
 *
 * Way of the data:  trace_dictionary (LOSSES) -> [trace_loss] -> loss_counter, top_head
 *
 * Records, samples and events that are missing were lost.  Call stacks that were cut, times that were
 * estimated and the like have rows as well, and are no losses.
 */
#ifndef FORMAT_TRACE_LOSS_H
#define FORMAT_TRACE_LOSS_H

#include "format/trace_spec.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_dictionary;

/* @reason: an enum trace_loss_reason, or one of a later version, which counts as no loss */
bool trace_loss_is_lost(uint32_t reason);

/* The reason under which a call stack of this state is counted; 0 = nothing of it is missing. */
enum trace_loss_reason trace_loss_of_stack(enum trace_stack_state state);

/* How much was lost, by the rows that the dictionary has so far. */
uint64_t trace_loss_total(const struct trace_dictionary *dictionary);

#endif /* FORMAT_TRACE_LOSS_H */
