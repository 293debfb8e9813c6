/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/perf_ring.h - raw record bytes out of one kernel ring
 *
 * Way of the data:  kernel -> [perf_ring] -> perf_record -> merge
 *
 * Used by one thread, the collector.  A ring that is not mapped is empty.
 */
#ifndef SAMPLER_KERNEL_PERF_RING_H
#define SAMPLER_KERNEL_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct perf_event_mmap_page;

struct perf_ring {
        struct perf_event_mmap_page *meta; /* mapping, owned; NULL when closed */
        const uint8_t *data;               /* data pages inside the mapping */
        size_t data_bytes;                 /* a power of two */
        size_t map_bytes;
        uint64_t head_bytes; /* of the kernel when we last looked */
        uint64_t tail_bytes; /* consumed since the ring began */
        uint64_t told_bytes; /* of these the kernel knows */
        uint8_t *wrapped;    /* room for a record that crosses the end; owned */
};

/*
 * perf_ring_map() - map the ring of an event
 * @fd:          of the event; stays the caller's
 * @data_bytes:  a power of two, whole pages
 * Returns 0, -EPERM (over the limit of locked memory for this user), -ENOMEM, -errno.
 */
int perf_ring_map(struct perf_ring *ring, int fd, size_t data_bytes, struct error *err);
void perf_ring_unmap(struct perf_ring *ring);

/*
 * perf_ring_peek() - borrow the oldest unread record
 * @ret_record:  its bytes, header included; valid until perf_ring_consume()
 * Returns 1; 0 if the ring is empty; -EBADMSG if it is corrupt (it never is, unless the kernel errs).
 */
int perf_ring_peek(struct perf_ring *ring, const uint8_t **ret_record, size_t *ret_bytes, struct error *err);

/*
 * perf_ring_scan() - look ahead: borrow the record at *@position and step the position over it
 * @position:  0 at first; moved up to the consumed part
 * For records that the caller must react to before their turn comes.  Returns as perf_ring_peek(); the
 * record is valid until the next call of either.
 */
int perf_ring_scan(struct perf_ring *ring, uint64_t *position, const uint8_t **ret_record, size_t *ret_bytes,
                   struct error *err);

/* Bytes that the kernel has put in by now and that are not consumed yet. */
size_t perf_ring_count_unread(const struct perf_ring *ring);

/*
 * Asks the processor for what perf_ring_count_unread() reads, some rings ahead: the kernel's head is in no
 * cache of ours after the kernel wrote it, and heads of many rings, each in a page, displace each other.
 */
void perf_ring_prefetch(const struct perf_ring *ring);
#define PERF_RINGS_AHEAD 8

/* Steps over the record of @n_bytes that perf_ring_peek() returned. */
void perf_ring_consume(struct perf_ring *ring, size_t n_bytes);

/* Gives everything consumed so far back to the kernel. */
void perf_ring_release(struct perf_ring *ring);

/* The bytes that it would give back. */
static inline uint64_t perf_ring_count_to_release(const struct perf_ring *ring)
{
        return ring->tail_bytes - ring->told_bytes;
}

/* Gives back all that the kernel has put in by now, unread. */
void perf_ring_discard(struct perf_ring *ring);

#endif /* SAMPLER_KERNEL_PERF_RING_H */
