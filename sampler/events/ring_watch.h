/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/ring_watch.h - looks into a kernel ring that another thread empties
 *
 * Way of the data:  kernel -> [ring_watch] -> early_opener
 *
 * Sees each record between the last one that it saw and the head, without taking any.  The owner of the ring
 * may give records back to the kernel meanwhile, which writes over them: so a record is copied first, and is
 * thrown away if its place was given back by then.
 *
 * Used by one thread, beside the owner's.
 */
#ifndef SAMPLER_EVENTS_RING_WATCH_H
#define SAMPLER_EVENTS_RING_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct perf_ring;

/* Longer ones are passed over: a mapping's has a path of at most 4,096 bytes, and some words. */
#define RING_WATCH_RECORD_BYTES 4608

struct ring_watch {
        const struct perf_ring
                /* borrowed; only members that never change are used: `meta`, `data`, `data_bytes` */
                *ring;
        uint64_t position; /* seen up to here */
        uint64_t copy[RING_WATCH_RECORD_BYTES / sizeof(uint64_t)];
};

/* Begins at the oldest record that is there.  A ring that is not mapped is empty. */
void ring_watch_init(struct ring_watch *w, const struct perf_ring *ring);

/*
 * ring_watch_next() - the next record of a type that was not seen before
 * @type:          PERF_RECORD_*; others are passed over
 * @without_misc:  records that have one of these PERF_RECORD_MISC_* are passed over as well
 * @ret_record:    a copy, header included; valid until the next call
 * Records that were given back before they were seen are left out, and so is everything up to the head after
 * an invalid record.  Never blocks.
 * Returns 1, or 0 if no record is left.
 */
int ring_watch_next(struct ring_watch *w, uint32_t type, uint16_t without_misc, const uint8_t **ret_record,
                    size_t *ret_bytes);

#endif /* SAMPLER_EVENTS_RING_WATCH_H */
