/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/good_trace.h - the bytes of a whole trace, and where its chunks end: to be cut and damaged
 *
 * Way of the data:  small_trace -> [good_trace] -> unit test
 */
#ifndef TESTS_UNIT_GOOD_TRACE_H
#define TESTS_UNIT_GOOD_TRACE_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

#define GOOD_TRACE_CHUNKS_MAX 128

struct good_trace {
        struct byte_buffer bytes;
        uint64_t ends[GOOD_TRACE_CHUNKS_MAX];
        size_t n_chunks;
        uint32_t n_strings;
};

void good_trace_init(struct good_trace *g);
void good_trace_deinit(struct good_trace *g);

/* How many chunks end at or before this byte. */
size_t good_trace_count_chunks(const struct good_trace *g, uint64_t byte);

#endif /* TESTS_UNIT_GOOD_TRACE_H */
