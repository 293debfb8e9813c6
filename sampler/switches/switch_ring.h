/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_ring.h - raw record bytes out of the ring that the BPF program fills on one CPU
 *
 * Way of the data:  switch_events.bpf -> [switch_ring] -> switch_record -> switch_source
 *
 * The layout is that of sampler/bpf/switch_layout.h.  A record lies in one piece: the last one may extend
 * past the end.  Used by one thread, the collector.
 */
#ifndef SAMPLER_SWITCHES_SWITCH_RING_H
#define SAMPLER_SWITCHES_SWITCH_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct switch_ring_head;

struct switch_ring {
        struct switch_ring_head *shared; /* borrowed; with the program */
        uint64_t data_bytes;             /* a power of two */
        uint64_t room_bytes;             /* with what may stick out */
        uint64_t head_bytes;             /* the contents at the last look */
        uint64_t tail_bytes;             /* consumed */
        uint64_t told_bytes;             /* of these the program knows */
        /* of the CPU at the last look, as in struct switch_ring_head: the records up to it go before */
        uint64_t idle_ns, idle_since_ns;
};

/* @memory: of the ring, SWITCH_RING_HEAD_BYTES and @room_bytes */
void switch_ring_init(struct switch_ring *ring, void *memory, size_t data_bytes, size_t room_bytes);

/* To be called before the program is attached: says whether it leaves this ring empty. */
void switch_ring_set_off(struct switch_ring *ring, bool is_off);
bool switch_ring_is_off(const struct switch_ring *ring);

/* Takes in the records up to now. */
void switch_ring_look(struct switch_ring *ring);

/*
 * switch_ring_peek() - borrow the oldest record that was there at the last look
 * Returns 1; 0 if no record is left; -EBADMSG if the ring is corrupt (it never is, unless the kernel errs).
 */
int switch_ring_peek(const struct switch_ring *ring, const uint8_t **ret_record, size_t *ret_bytes,
                     struct error *err);

/* Steps over @n_bytes.  The BPF program learns this now and then, and by switch_ring_release(). */
void switch_ring_consume(struct switch_ring *ring, size_t n_bytes);
void switch_ring_release(struct switch_ring *ring);

/* Bytes that wait now, also those that came since the last look. */
uint64_t switch_ring_count_unread(const struct switch_ring *ring);

/* Passes over all there is. */
void switch_ring_clear(struct switch_ring *ring);

uint64_t switch_ring_count_lost(const struct switch_ring *ring);

#endif /* SAMPLER_SWITCHES_SWITCH_RING_H */
