/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_ring.h"

#include "base/byte_buffer.h"

#include <check.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WRAPPED_BYTES 65536

/*
 * Three parts in one mapping: the page of the head and the tail, the data, and
 * a page that cannot be read.  Smaller data than a page end where it begins.
 */
void fake_ring_map(struct perf_ring *ring, size_t data_bytes, uint64_t start_bytes)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        size_t data_pages_bytes = data_bytes < page_bytes ? page_bytes : data_bytes;
        size_t map_bytes = page_bytes + data_pages_bytes + page_bytes;
        uint8_t *map = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        ck_assert_ptr_ne(map, MAP_FAILED);
        ck_assert_int_eq(mprotect(map + page_bytes + data_pages_bytes, page_bytes, PROT_NONE), 0);
        *ring = (struct perf_ring){
                .meta = (struct perf_event_mmap_page *)(void *)map,
                .data = map + page_bytes + data_pages_bytes - data_bytes,
                .data_bytes = data_bytes,
                .map_bytes = map_bytes,
                .head_bytes = start_bytes,
                .tail_bytes = start_bytes,
                .wrapped = malloc(WRAPPED_BYTES),
        };
        ck_assert_ptr_nonnull(ring->wrapped);
        ring->meta->data_head = start_bytes;
        ring->meta->data_tail = start_bytes;
}

void fake_ring_write(struct perf_ring *ring, const void *bytes, size_t n_bytes)
{
        uint8_t *data = (uint8_t *)(uintptr_t)ring->data; /* ours: see fake_ring_map() */
        uint64_t head = ring->meta->data_head;

        ck_assert_uint_le(head - ring->meta->data_tail + n_bytes, ring->data_bytes);
        for (size_t i = 0; i < n_bytes; i++)
                data[(head + i) % ring->data_bytes] = ((const uint8_t *)bytes)[i];
        __atomic_store_n(&ring->meta->data_head, head + n_bytes, __ATOMIC_RELEASE);
}

void fake_ring_take(struct perf_ring *ring, struct byte_buffer *records)
{
        ck_assert(!records->failed);
        fake_ring_write(ring, records->data, records->used_bytes);
        byte_buffer_clear(records);
}
