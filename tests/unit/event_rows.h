/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/event_rows.h - a dictionary with a few rows of all that events refer to
 *
 * Way of the data:  [event_rows] -> tests of event_encoder and event_decoder
 */
#ifndef TESTS_UNIT_EVENT_ROWS_H
#define TESTS_UNIT_EVENT_ROWS_H

#include <stdint.h>

struct trace_dictionary;
struct trace_event;

#define EVENT_ROWS_COUNT 3 /* of each table */

void event_rows_fill(struct trace_dictionary *d);

/*
 * An event of @op whose operands are random and valid, its time that of *@now_ns, which goes on a random way.
 * Its text, if it has one, is static and of random length, which may be 0.
 */
struct trace_event event_rows_random_event(uint64_t op, uint64_t *now_ns, uint64_t *random_state);

#endif /* TESTS_UNIT_EVENT_ROWS_H */
