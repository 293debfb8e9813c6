/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/ring_dump.h - the contents of a ring -> a whole trace, piece by piece
 *
 * Way of the data:  flight_recorder -> [ring_dump], chunk_ring -> trace_writer -> file
 *
 * A dump is made by the collector, belongs to the writer thread until it is done, and then to the collector
 * again.
 */
#ifndef SAMPLER_MERGE_RING_DUMP_H
#define SAMPLER_MERGE_RING_DUMP_H

#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/chunk_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;
struct trace_writer;

/* A body of a table that is this trace's own. */
struct ring_dump_body {
        struct trace_chunk_header header;
        struct byte_buffer body;
};

struct ring_dump {
        struct trace_writer *writer; /* borrowed; its FILE chunk is there */
        bool goes_on;                /* the trace gets more tables and its index from the caller */
        struct ring_dump_body *head; /* heap, owned */
        size_t n_head, head_capacity;
        struct error failure; /* code 0 while all is well */

        struct chunk_snapshot events; /* from here on all is the writer thread's */
        size_t n_tables, n_parts;     /* of the ring, when the dump was begun */
        size_t n_done;                /* pieces */
};

/* NULL when out of memory. */
struct ring_dump *ring_dump_new(struct trace_writer *writer);
void ring_dump_free(struct ring_dump *d); /* NULL is fine; the snapshot of @d was given back before */

/* Makes rows of a table of @dictionary that are not encoded yet this trace's own.  Returns 0 or -ENOMEM. */
int ring_dump_add_table(struct ring_dump *d, struct trace_dictionary *dictionary, uint32_t table);

/* Takes over @snapshot; all tables that its events refer to are in @ring. */
void ring_dump_begin(struct ring_dump *d, const struct chunk_ring *ring, struct chunk_snapshot *snapshot);

/*
 * ring_dump_step() - writes one piece, about a mebibyte at most
 * Returns true when all is written, or `failure` is set; then the snapshot was given back.
 */
bool ring_dump_step(struct ring_dump *d, struct chunk_ring *ring);

#endif /* SAMPLER_MERGE_RING_DUMP_H */
