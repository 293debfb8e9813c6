/* SPDX-License-Identifier: MIT */
/*
 * format/chunk_ring.h - the last chunks of a recording, in memory
 *
 * Way of the data:  merge -> chunk bodies -> writer_thread -> [chunk_ring] -> ring_dump
 *                   -> trace_writer -> file
 *
 * Chunks are kept as they would be in a file.  Chunks of events make room for later ones: the oldest goes
 * first, as a whole; the state at its end is remembered (stream_states.h).  Tables and attachments stay:
 * later events refer to them.  A snapshot has all chunks for a trace of the last `keep_ns`: it shares them
 * with the ring, which goes on.
 *
 * Used by one thread at a time, together with all of its snapshots.
 */
#ifndef FORMAT_CHUNK_RING_H
#define FORMAT_CHUNK_RING_H

#include "base/byte_buffer.h"
#include "format/stream_states.h"
#include "format/trace_chunk.h"
#include "format/trace_dictionary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* A chunk as it is in a file; each list that contains it holds one of its references. */
struct ring_chunk {
        struct trace_chunk_header header;
        uint32_t n_references;
        uint32_t n_bytes; /* of `bytes`: header and body */
        uint8_t bytes[];
};

struct ring_chunk_list {
        struct ring_chunk **chunks; /* heap, owned */
        size_t n_chunks, capacity;
};

struct chunk_ring_options {
        uint64_t keep_ns;   /* keep events so long before the newest one; 0 = as many as fit */
        uint64_t bytes_max; /* of events, as they are kept */
};

struct chunk_ring {
        struct chunk_ring_options options;
        struct ring_chunk_list events, tables, parts; /* each in the order in which they came */
        uint64_t listed_bytes; /* of `events`: at most bytes_max, but for the newest chunk */
        /* of `events`, and of chunks that only unwritten snapshots hold: at most twice bytes_max */
        uint64_t events_bytes;
        uint64_t events_bytes_peak;
        uint64_t kept_bytes;             /* of tables and parts */
        uint64_t newest_ns;              /* of all events */
        uint64_t dropped_ns;             /* of the newest event that was dropped; 0 = none was */
        bool was_full;                   /* an event was dropped earlier than asked, because of `bytes_max` */
        struct stream_states before;     /* what the dropped events left open */
        struct trace_dictionary any_ids; /* has no rows, but accepts any id: this process wrote the events */
        struct byte_buffer packed, raw;  /* scratch */
};

struct chunk_snapshot {
        struct ring_chunk_list events;
        uint64_t from_ns; /* events before it are not in it */
        uint64_t n_open;  /* zones that were open at `from_ns`, and begin there */
        bool is_cut;      /* there were events before it */
};

void chunk_ring_init(struct chunk_ring *ring, const struct chunk_ring_options *options);
void chunk_ring_deinit(struct chunk_ring *ring); /* after its snapshots */

/*
 * chunk_ring_add() - adds one chunk: events, rows of a table, or a part of an attachment
 * @header:  kind, n_items and times, as for trace_chunk_encode()
 * Returns 0, -ENOMEM, -EBADMSG for malformed events.
 */
int chunk_ring_add(struct chunk_ring *ring, struct trace_chunk_header header, const uint8_t *raw,
                   size_t raw_bytes, struct error *err);

/*
 * chunk_ring_snapshot() - the events of the last `keep_ns` before @end_ns, or as many as there are
 * The limit is exact: events that are too early are removed from the first chunk.  Returns 0 or -ENOMEM.
 */
int chunk_ring_snapshot(struct chunk_ring *ring, uint64_t end_ns, struct chunk_snapshot *ret,
                        struct error *err);
void chunk_snapshot_deinit(struct chunk_ring *ring, struct chunk_snapshot *snapshot);

/* Gives back chunk @i of a snapshot early, once it was written. */
void chunk_snapshot_drop(struct chunk_ring *ring, struct chunk_snapshot *snapshot, size_t i);

#endif /* FORMAT_CHUNK_RING_H */
