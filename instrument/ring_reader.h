/* SPDX-License-Identifier: MIT */
/*
 * instrument/ring_reader.h - what a thread wrote, in its ring and in the chunks that it went on in
 *
 * Way of the data:  instrument/client -> memfd -> [ring_reader] -> client_region -> client_stream
 * Specification:    docs/understand/client-abi.md, "Rings" and "Chunks"
 *
 * Everything that is read here belongs to the program, which may change it at
 * any time: numbers are read once and checked, bytes are copied by pread(2),
 * and the number of steps is bounded.  Used by one thread.
 */
#ifndef INSTRUMENT_RING_READER_H
#define INSTRUMENT_RING_READER_H

#include "instrument/client_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A region's chunks, from the recorder's side. */
struct chunk_pool {
        int fd;                            /* of the region; borrowed, like the next two */
        const struct client_abi_header *h; /* the checked copy */
        uint8_t *map;                      /* header and slots, shared with the program */
        uint64_t
                *freed_ns; /* heap, owned; when each was given back; 0 = it holds no memory that we know of */
        size_t n_freed;    /* of those that are not 0 */
};

/* Gives back the memory of all free chunks, and frees what the pool owns. */
void chunk_pool_deinit(struct chunk_pool *pool);

/* One slot. */
struct ring_reader {
        uint64_t tail_bytes; /* read so far */
        uint32_t chunk;      /* in this chunk, + 1; 0 = in the ring */
        bool is_broken;      /* its numbers were impossible */
};

/*
 * ring_reader_drain() - copy what a slot's owner has written
 * @to:         room for @max_bytes; NULL = pass over it
 * @ret_bytes:  how many were copied, a multiple of 8
 * The tail that the program sees is moved, and chunks that were read are given back.  Returns 0; -EBADMSG if
 * the numbers are impossible: the ring is broken then; -errno (bytes that were copied before are counted).
 */
int ring_reader_drain(struct ring_reader *r, struct chunk_pool *pool, uint32_t slot, uint8_t *to,
                      size_t max_bytes, size_t *ret_bytes);

/* Bytes that are written and not read yet, as the program says; any number. */
uint64_t ring_reader_count_unread(const struct ring_reader *r, const struct chunk_pool *pool, uint32_t slot);

/*
 * Returns false, and marks the ring as broken, if so much cannot be unread.  To be called before memory is
 * allocated for it.
 */
bool ring_reader_is_possible(struct ring_reader *r, const struct chunk_pool *pool, uint64_t unread_bytes);

/* Goes on where the previous recorder stopped, as the region states it. */
void ring_reader_resume(struct ring_reader *r, const struct chunk_pool *pool, uint32_t slot);

/*
 * Gives the kernel the memory of chunks that have been free since before @until_ns; about 50 us each, 64 at
 * most.
 */
void chunk_pool_trim(struct chunk_pool *pool, uint64_t until_ns);

#endif /* INSTRUMENT_RING_READER_H */
