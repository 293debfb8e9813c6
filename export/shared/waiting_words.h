/* SPDX-License-Identifier: MIT */
/*
 * export/shared/waiting_words.h - what stands below a call stack while its thread did not run: "[waiting]"
 *
 * Way of the data:  trace_walk: waits -> [waiting_words] -> exports with call stacks
 */
#ifndef EXPORT_SHARED_WAITING_WORDS_H
#define EXPORT_SHARED_WAITING_WORDS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

/* @state: enum trace_wait_state, TRACE_WAIT_PREEMPTED for a thread that could have run on */
const char *waiting_words_of(uint32_t state);

/* Whether a frame has one of these names. */
bool waiting_words_has(struct text_view name);

#endif /* EXPORT_SHARED_WAITING_WORDS_H */
