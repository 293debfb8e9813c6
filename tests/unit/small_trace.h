/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/small_trace.h - a trace that has a row of every table and an event of every op
 *
 * Way of the data:  [small_trace] -> trace_builder -> unit test
 *
 * It is the same in every run, and its dump is tests/golden/v1.0.dump: it may
 * not change as long as version 1.0 of the format can be read.
 */
#ifndef TESTS_UNIT_SMALL_TRACE_H
#define TESTS_UNIT_SMALL_TRACE_H

struct trace_builder;

/* Fills @b, which is fresh, with two chunks of events and all tables, and finishes it. */
void small_trace_build(struct trace_builder *b);

#endif /* TESTS_UNIT_SMALL_TRACE_H */
