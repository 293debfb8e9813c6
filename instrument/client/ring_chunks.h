/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/ring_chunks.h - where a thread goes on when its ring is full
 *
 * Way of the data:  thread_ring <-> [ring_chunks] -> region -> client_region
 * Specification:    docs/understand/client-abi.md, "Chunks"
 *
 * All threads of the process share the region's chunks.  A thread takes one
 * when its ring is full, another one when that is full, and returns to its ring
 * once the recorder has read all of it.  Chunks are used like rings, so that
 * the fast paths do not know which of both they write to.
 */
#ifndef INSTRUMENT_CLIENT_RING_CHUNKS_H
#define INSTRUMENT_CLIENT_RING_CHUNKS_H

#include "instrument/client/thread_ring.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets where @t writes, when it has taken its slot: where the slot's last owner stopped. */
void ring_chunks_resume(struct thread_ring *t);

/*
 * The count of bytes from which the ring or chunk that @t writes to is empty, if the
 * recorder has read up to @tail.
 */
uint64_t ring_chunks_begin(const struct thread_ring *t, uint64_t tail);

/*
 * ring_chunks_move() - goes on in the ring, if that is empty, or in a free chunk
 * @n_bytes:  that must have room there
 * Returns false if there is neither; then nothing has changed.
 */
bool ring_chunks_move(struct thread_ring *t, uint64_t n_bytes);

#endif /* INSTRUMENT_CLIENT_RING_CHUNKS_H */
