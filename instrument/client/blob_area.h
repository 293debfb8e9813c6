/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/blob_area.h - payloads that are too large for a ring
 *
 * Way of the data:  payload_event -> [blob_area] -> region -> client_region
 * Specification:    docs/understand/client-abi.md, "Blobs"
 *
 * One area for all threads, filled in a circle.  The thread that puts a blob there announces it by a
 * CLIENT_ABI_EVENT_BLOB in its ring, and has made sure before that the ring has room for it: a blob that is
 * never announced is never freed in time.
 */
#ifndef INSTRUMENT_CLIENT_BLOB_AREA_H
#define INSTRUMENT_CLIENT_BLOB_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * blob_area_put() - copy a payload into the region
 * @parts, @bytes: its parts in order; a part of 0 bytes may be NULL
 * @ret_at:         its place, for the BLOB event
 * @ret_bytes:      its length, for the BLOB event
 *
 * Returns false, and counts it among the refused, if it is longer than
 * CLIENT_ABI_BLOB_BYTES_MAX, or if the recorder has not freed enough of the
 * area.  Never waits.  Async-signal-safe, any thread; only between
 * thread_ring_enter() and thread_ring_leave().
 */
bool blob_area_put(const void *const parts[], const size_t bytes[], unsigned n_parts, uint64_t *ret_at,
                   uint64_t *ret_bytes);

/* Counts a payload that is refused for its length before it gets here. */
void blob_area_count_refused(void);

#endif /* INSTRUMENT_CLIENT_BLOB_AREA_H */
