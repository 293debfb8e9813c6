/* SPDX-License-Identifier: MIT */
#include "sampler/merge/ring_dump.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"

#include <errno.h>
#include <stdlib.h>

struct ring_dump *ring_dump_new(struct trace_writer *writer)
{
        struct ring_dump *d = calloc(1, sizeof(*d));

        if (d)
                d->writer = writer;
        return d;
}

void ring_dump_free(struct ring_dump *d)
{
        if (!d)
                return;
        for (size_t i = 0; i < d->n_head; i++)
                byte_buffer_deinit(&d->head[i].body);
        free(d->head);
        free(d);
}

int ring_dump_add_table(struct ring_dump *d, struct trace_dictionary *dictionary, uint32_t table)
{
        struct ring_dump_body next;
        int r;

        while (true) {
                next = (struct ring_dump_body){ .header = { .kind = (uint16_t)table } };
                r = trace_dictionary_encode(dictionary, (enum trace_table)table, &next.body,
                                            &next.header.n_items);
                if (r == 0 && next.header.n_items > 0)
                        r = array_reserve(&d->head, &d->head_capacity, d->n_head + 1, sizeof(next));
                if (r < 0 || next.header.n_items == 0)
                        break;
                d->head[d->n_head++] = next;
        }
        byte_buffer_deinit(&next.body);
        return r;
}

void ring_dump_begin(struct ring_dump *d, const struct chunk_ring *ring, struct chunk_snapshot *snapshot)
{
        d->events = *snapshot;
        d->n_tables = ring->tables.n_chunks;
        d->n_parts = ring->parts.n_chunks;
        *snapshot = (struct chunk_snapshot){ .events = { .chunks = NULL } };
}

static int copy(struct ring_dump *d, const struct ring_chunk *chunk)
{
        const struct trace_item item = { .header = chunk->header,
                                         .header_bytes = chunk->bytes,
                                         .stored = chunk->bytes + TRACE_CHUNK_HEADER_BYTES };

        return trace_writer_copy(d->writer, &item, &d->failure);
}

/*
 * Writes piece @i: tables come before the chunks that refer to them.  Returns 1, 0 after the last, -errno.
 */
static int write_piece(struct ring_dump *d, struct chunk_ring *ring, size_t i)
{
        int r;

        if (i < d->n_tables) {
                r = copy(d, ring->tables.chunks[i]);
                return r < 0 ? r : 1;
        }
        i -= d->n_tables;
        if (i < d->n_head) {
                r = trace_writer_put(d->writer, d->head[i].header, d->head[i].body.data,
                                     d->head[i].body.used_bytes, &d->failure);
                return r < 0 ? r : 1;
        }
        i -= d->n_head;
        if (i < d->n_parts) {
                r = copy(d, ring->parts.chunks[i]);
                return r < 0 ? r : 1;
        }
        i -= d->n_parts;
        if (i == d->events.events.n_chunks)
                return 0;
        r = copy(d, d->events.events.chunks[i]);
        chunk_snapshot_drop(ring, &d->events, i);
        return r < 0 ? r : 1;
}

bool ring_dump_step(struct ring_dump *d, struct chunk_ring *ring)
{
        int r = write_piece(d, ring, d->n_done++);

        if (r == 1)
                return false;
        if (r == 0 && !d->goes_on)
                (void)trace_writer_finish(d->writer, &d->failure);
        chunk_snapshot_deinit(ring, &d->events);
        return true;
}
