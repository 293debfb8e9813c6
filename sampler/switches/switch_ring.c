/* SPDX-License-Identifier: MIT */
#include "sampler/switches/switch_ring.h"

#include "base/error.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/pace/pace.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void switch_ring_init(struct switch_ring *ring, void *memory, size_t data_bytes, size_t room_bytes)
{
        assert((data_bytes & (data_bytes - 1)) == 0 && room_bytes >= data_bytes);
        *ring = (struct switch_ring){ .shared = memory, .data_bytes = data_bytes, .room_bytes = room_bytes };
}

void switch_ring_set_off(struct switch_ring *ring, bool is_off)
{
        ring->shared->is_off = is_off;
}

bool switch_ring_is_off(const struct switch_ring *ring)
{
        return ring->shared->is_off != 0;
}

void switch_ring_look(struct switch_ring *ring)
{
        /* Pairs with the release in commit() of the BPF program: the records before the head are whole. */
        ring->head_bytes = __atomic_load_n(&ring->shared->head, __ATOMIC_ACQUIRE);
        ring->idle_ns = __atomic_load_n(&ring->shared->idle_ns, __ATOMIC_RELAXED);
        ring->idle_since_ns = __atomic_load_n(&ring->shared->idle_since_ns, __ATOMIC_RELAXED);
}

int switch_ring_peek(const struct switch_ring *ring, const uint8_t **ret_record, size_t *ret_bytes,
                     struct error *err)
{
        uint64_t unread = ring->head_bytes - ring->tail_bytes;
        size_t at = (size_t)(ring->tail_bytes & (ring->data_bytes - 1));
        const uint8_t *record = (const uint8_t *)ring->shared + SWITCH_RING_HEAD_BYTES + at;
        struct switch_record_head head;

        if (unread == 0)
                return 0;
        if (unread < sizeof(head) || unread > ring->data_bytes || ring->room_bytes - at < sizeof(head))
                return error_set(err, -EBADMSG, "ring of context switches: %llu bytes are unread",
                                 (unsigned long long)unread);
        memcpy(&head, record, sizeof(head));
        if (head.n_bytes < sizeof(head) || head.n_bytes % sizeof(uint64_t) != 0 || head.n_bytes > unread ||
            head.n_bytes > ring->room_bytes - at)
                return error_set(err, -EBADMSG, "ring of context switches: a record of %u bytes",
                                 head.n_bytes);
        *ret_record = record;
        *ret_bytes = head.n_bytes;
        return 1;
}

void switch_ring_consume(struct switch_ring *ring, size_t n_bytes)
{
        ring->tail_bytes += n_bytes;
        if (ring->tail_bytes - ring->told_bytes > ring->data_bytes / PACE_RING_TAIL_SHARES)
                switch_ring_release(ring);
}

void switch_ring_release(struct switch_ring *ring)
{
        if (ring->told_bytes == ring->tail_bytes)
                return;
        ring->told_bytes = ring->tail_bytes;
        /*
         * Pairs with the load in has_room() of the BPF program: it writes over the
         * space only after our reads.
         */
        __atomic_store_n(&ring->shared->tail, ring->tail_bytes, __ATOMIC_RELEASE);
}

uint64_t switch_ring_count_unread(const struct switch_ring *ring)
{
        /* A relaxed load is enough for a count: see switch_ring_look(). */
        return __atomic_load_n(&ring->shared->head, __ATOMIC_RELAXED) - ring->tail_bytes;
}

void switch_ring_clear(struct switch_ring *ring)
{
        ring->tail_bytes = ring->head_bytes;
        switch_ring_release(ring);
}

uint64_t switch_ring_count_lost(const struct switch_ring *ring)
{
        return __atomic_load_n(&ring->shared->n_lost, __ATOMIC_RELAXED);
}
