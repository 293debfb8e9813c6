/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fake_ring.h - a kernel ring in plain memory, with the test as its kernel
 *
 * Way of the data:  kernel_record -> [fake_ring] -> perf_ring
 */
#ifndef TESTS_UNIT_FAKE_RING_H
#define TESTS_UNIT_FAKE_RING_H

#include "sampler/kernel/perf_ring.h"

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

/*
 * fake_ring_map() - as perf_ring_map(); perf_ring_unmap() is its end
 * @data_bytes:   a power of two; the memory after them cannot be read
 * @start_bytes:  where the first record will lie, counted on without end
 */
void fake_ring_map(struct perf_ring *ring, size_t data_bytes, uint64_t start_bytes);

/* Writes bytes at the head and moves it.  There must be room; what is not a record is the test's affair. */
void fake_ring_write(struct perf_ring *ring, const void *bytes, size_t n_bytes);

/* Writes all of @records and empties it. */
void fake_ring_take(struct perf_ring *ring, struct byte_buffer *records);

#endif /* TESTS_UNIT_FAKE_RING_H */
