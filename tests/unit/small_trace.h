/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/small_trace.h - a trace that has a row of every table and an event of every op
 *
 * Way of the data:  [small_trace] -> trace_builder -> unit test
 *
 * It is the same in every run, and its dump is tests/golden/v1.2.dump: a newer
 * version of the format adds what is new in it, and a golden trace.
 */
#ifndef TESTS_UNIT_SMALL_TRACE_H
#define TESTS_UNIT_SMALL_TRACE_H

struct trace_builder;

/* Fills @b, which is fresh, with four chunks of events, an attachment and all tables, and finishes it. */
void small_trace_build(struct trace_builder *b);

#endif /* TESTS_UNIT_SMALL_TRACE_H */
