/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_shelf.h - the chunks of a recording that wait for a taker
 *
 * Way of the data:  relay_server (from the recorder's pipe) -> [relay_shelf] -> relay_server (to the taker)
 *
 * With a file, each chunk is written to it and read from there: nothing is ever dropped.  Without one they
 * are in memory: chunks of events are bounded, tables and attachments stay, since later events refer to
 * them.
 *
 * Chunks of events are dropped in stretches that end before a STATES chunk: from it a taker knows what is
 * open there.  Chunks that a taker has are freed likewise, in stretches, for a taker that begins anew.
 */
#ifndef SAMPLER_RELAY_RELAY_SHELF_H
#define SAMPLER_RELAY_RELAY_SHELF_H

#include "format/trace_chunk.h"
#include "sampler/relay/relay_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shelf_state { SHELF_WAITS, SHELF_DROPPED, SHELF_TAKEN };

struct shelf_chunk {
        uint64_t at;    /* position of its header */
        uint8_t *bytes; /* heap, owned; NULL = in the file, or gone */
        uint64_t first_ns, last_ns;
        uint32_t n_bytes; /* with its header */
        uint32_t n_items; /* events; 0 of other kinds */
        uint16_t kind;
        uint8_t state; /* enum shelf_state */
        bool is_in_file;
};

struct relay_shelf {
        int file_fd; /* borrowed; -1 = in memory */
        uint64_t bytes_max;
        bool drops_newest;          /* else the oldest */
        struct shelf_chunk *chunks; /* heap, owned; in order */
        size_t n_chunks, capacity;
        uint64_t end;                /* position after the last chunk */
        uint64_t used_bytes;         /* of events in memory */
        bool skips;                  /* events are dropped until the next STATES chunk */
        bool is_complete;            /* the INDEX chunk is there */
        uint64_t n_dropped;          /* events, all together */
        uint64_t told_from, told_to; /* the user's: within it, each chunk keeps its place */
        int file_error;              /* -errno of a failed write: from then on in memory; 0 = none */
};

void relay_shelf_init(struct relay_shelf *s, int file_fd, uint64_t bytes_max, bool drops_newest);
void relay_shelf_deinit(struct relay_shelf *s);

/*
 * relay_shelf_add() - the next chunk
 * @bytes:     heap; taken over, also on failure
 * @pinned:    chunks before this position are on their way to a taker that is connected: they are not
 * dropped Returns 0 or -ENOMEM.
 */
int relay_shelf_add(struct relay_shelf *s, const struct trace_chunk_header *header, uint8_t *bytes,
                    uint32_t n_bytes, uint64_t pinned);

/* A taker has written everything before @position. */
void relay_shelf_take(struct relay_shelf *s, uint64_t position);

/* The first chunk that begins at this position or later; n_chunks = there is none. */
size_t relay_shelf_find(const struct relay_shelf *s, uint64_t position);

/* Whether there is something to send of the chunk. */
static inline bool shelf_chunk_is_there(const struct shelf_chunk *c)
{
        return c->bytes || c->is_in_file;
}

/* Events that wait and that no taker has, from @position on. */
uint64_t relay_shelf_count_waiting(const struct relay_shelf *s, uint64_t position);

#endif /* SAMPLER_RELAY_RELAY_SHELF_H */
