/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/perf_ring.h"

#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_BYTES_MAX (UINT16_MAX + 1) /* its size field has 16 bits */

int perf_ring_map(struct perf_ring *ring, int fd, size_t data_bytes, struct error *err)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        size_t map_bytes = page_bytes + data_bytes;
        uint8_t *wrapped;
        void *map;

        assert(data_bytes >= page_bytes && (data_bytes & (data_bytes - 1)) == 0);

        wrapped = malloc(RECORD_BYTES_MAX);
        if (!wrapped)
                return error_set(err, -ENOMEM, "no memory for a kernel ring");
        map = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED) {
                int r = error_errno(err, "map a kernel ring of %zu KiB", data_bytes / 1024);

                free(wrapped);
                return r;
        }
        *ring = (struct perf_ring){
                .meta = map,
                .data = (const uint8_t *)map + page_bytes,
                .data_bytes = data_bytes,
                .map_bytes = map_bytes,
                .wrapped = wrapped,
        };
        return 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
        if (ring->meta)
                (void)munmap(ring->meta, ring->map_bytes);
        free(ring->wrapped);
        ring->meta = NULL;
        ring->wrapped = NULL;
}

/* Borrows the record that starts @at_bytes after the ring began; it lies before `head_bytes`. */
static int borrow(struct perf_ring *ring, uint64_t at_bytes, const uint8_t **ret_record, size_t *ret_bytes,
                  struct error *err)
{
        size_t at = (size_t)(at_bytes & (ring->data_bytes - 1));
        size_t until_end = ring->data_bytes - at;
        uint64_t n_unread = ring->head_bytes - at_bytes;
        struct perf_event_header header;

        /* Records are aligned to 8: a header never crosses the end. */
        memcpy(&header, ring->data + at, sizeof(header));
        if (n_unread > ring->data_bytes || header.size < sizeof(header) ||
            header.size % sizeof(uint64_t) != 0 || header.size > n_unread)
                return error_set(err, -EBADMSG, "kernel ring: a record of %u bytes", header.size);

        *ret_record = ring->data + at;
        if (header.size > until_end) {
                memcpy(ring->wrapped, ring->data + at, until_end);
                memcpy(ring->wrapped + until_end, ring->data, header.size - until_end);
                *ret_record = ring->wrapped;
        }
        *ret_bytes = header.size;
        return 1;
}

/* True if the ring has bytes after @at_bytes. */
static bool look(struct perf_ring *ring, uint64_t at_bytes)
{
        if (!ring->meta)
                return false;
        /*
         * Pairs with the kernel's release in perf_output_put_handle(): the records before the head are whole.
         */
        if (at_bytes == ring->head_bytes)
                ring->head_bytes = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
        return at_bytes != ring->head_bytes;
}

int perf_ring_peek(struct perf_ring *ring, const uint8_t **ret_record, size_t *ret_bytes, struct error *err)
{
        if (!look(ring, ring->tail_bytes))
                return 0;
        return borrow(ring, ring->tail_bytes, ret_record, ret_bytes, err);
}

int perf_ring_scan(struct perf_ring *ring, uint64_t *position, const uint8_t **ret_record, size_t *ret_bytes,
                   struct error *err)
{
        int r;

        if (*position < ring->tail_bytes)
                *position = ring->tail_bytes;
        if (!look(ring, *position))
                return 0;
        r = borrow(ring, *position, ret_record, ret_bytes, err);
        if (r == 1)
                *position += *ret_bytes;
        return r;
}

size_t perf_ring_count_unread(const struct perf_ring *ring)
{
        /*
         * A relaxed load is enough for a count: look() loads the head again, with acquire, before records
         * are read.
         */
        return ring->meta ? (size_t)(__atomic_load_n(&ring->meta->data_head, __ATOMIC_RELAXED) -
                                     ring->tail_bytes)
                          : 0;
}

void perf_ring_prefetch(const struct perf_ring *ring)
{
        if (ring->meta)
                __builtin_prefetch(&ring->meta->data_head);
}

void perf_ring_consume(struct perf_ring *ring, size_t n_bytes)
{
        ring->tail_bytes += n_bytes;
}

void perf_ring_release(struct perf_ring *ring)
{
        if (!ring->meta || perf_ring_count_to_release(ring) == 0)
                return;
        ring->told_bytes = ring->tail_bytes;
        /*
         * Pairs with the kernel's load of data_tail: the kernel overwrites the space only after our reads.
         */
        __atomic_store_n(&ring->meta->data_tail, ring->tail_bytes, __ATOMIC_RELEASE);
}

void perf_ring_discard(struct perf_ring *ring)
{
        if (look(ring, ring->tail_bytes))
                ring->tail_bytes = ring->head_bytes;
        perf_ring_release(ring);
}
