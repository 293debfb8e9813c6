/* SPDX-License-Identifier: MIT */
#include "format/chunk_ring.h"

#include "base/array.h"
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/event_encoder.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ZSTD_LEVEL 3 /* the same as trace_writer's: the chunks go into files as they are */

void chunk_ring_init(struct chunk_ring *ring, const struct chunk_ring_options *options)
{
        *ring = (struct chunk_ring){ .options = *options };
        trace_dictionary_init(&ring->any_ids, 0);
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                ring->any_ids.tables[i].n_items = INTERN_ITEMS_MAX;
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

static int make_chunk(struct chunk_ring *ring, struct trace_chunk_header header, const uint8_t *raw,
                      size_t raw_bytes, struct ring_chunk **ret, struct error *err)
{
        struct ring_chunk *chunk;
        int r;

        byte_buffer_clear(&ring->packed);
        r = trace_chunk_encode(&header, raw, raw_bytes, ZSTD_LEVEL, &ring->packed, err);
        if (r < 0)
                return r;
        chunk = malloc(sizeof(*chunk) + ring->packed.used_bytes);
        if (!chunk) {
                (void)error_set(err, -ENOMEM, "no memory for a chunk");
                return -ENOMEM;
        }
        *chunk = (struct ring_chunk){ .header = header,
                                      .n_references = 1,
                                      .n_bytes = (uint32_t)ring->packed.used_bytes };
        memcpy(chunk->bytes, ring->packed.data, ring->packed.used_bytes);
        *ret = chunk;
        return 0;
}

/* Memory is given back with the last reference. */
static void release(struct chunk_ring *ring, struct ring_chunk *chunk)
{
        if (!chunk || --chunk->n_references > 0)
                return;
        if (chunk->header.kind == TRACE_CHUNK_EVENTS)
                ring->events_bytes -= chunk->n_bytes;
        else
                ring->kept_bytes -= chunk->n_bytes;
        free(chunk);
}

static void count_bytes(struct chunk_ring *ring, const struct ring_chunk *chunk)
{
        if (chunk->header.kind == TRACE_CHUNK_EVENTS)
                ring->events_bytes += chunk->n_bytes;
        else
                ring->kept_bytes += chunk->n_bytes;
        if (ring->events_bytes > ring->events_bytes_peak)
                ring->events_bytes_peak = ring->events_bytes;
}

/* Takes over the reference, but not on failure. */
static int append(struct ring_chunk_list *list, struct ring_chunk *chunk, struct error *err)
{
        if (array_reserve(&list->chunks, &list->capacity, list->n_chunks + 1, sizeof(struct ring_chunk *)) <
            0) {
                (void)error_set(err, -ENOMEM, "no memory for a list of chunks");
                return -ENOMEM;
        }
        list->chunks[list->n_chunks++] = chunk;
        return 0;
}

/* A new chunk into a list. */
static int append_new(struct chunk_ring *ring, struct ring_chunk_list *list, struct trace_chunk_header header,
                      const struct byte_buffer *raw, struct error *err)
{
        struct ring_chunk *chunk;
        int r = make_chunk(ring, header, raw->data, raw->used_bytes, &chunk, err);

        if (r < 0)
                return r;
        count_bytes(ring, chunk);
        r = append(list, chunk, err);
        if (r < 0)
                release(ring, chunk);
        return r;
}

static void clear_list(struct chunk_ring *ring, struct ring_chunk_list *list)
{
        for (size_t i = 0; i < list->n_chunks; i++)
                release(ring, list->chunks[i]);
        free(list->chunks);
        *list = (struct ring_chunk_list){ .chunks = NULL };
}

void chunk_ring_deinit(struct chunk_ring *ring)
{
        clear_list(ring, &ring->events);
        clear_list(ring, &ring->tables);
        clear_list(ring, &ring->parts);
        stream_states_deinit(&ring->before);
        byte_buffer_deinit(&ring->packed);
        byte_buffer_deinit(&ring->raw);
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                ring->any_ids.tables[i].n_items = 0;
        trace_dictionary_deinit(&ring->any_ids);
}

/* ---- events that are removed -------------------------------------------------------------------------- */

/*
 * Goes through a chunk.
 * @states: gets the events before @from_ns
 * @encoder:  gets the other events, run by run; NULL = there are none
 */
static int split(struct chunk_ring *ring, const struct ring_chunk *chunk, uint64_t from_ns,
                 struct stream_states *states, struct event_encoder *encoder, struct error *err)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int r = trace_chunk_decode_body(&chunk->header, chunk->bytes, chunk->bytes + TRACE_CHUNK_HEADER_BYTES,
                                        &ring->raw, err);

        if (r == 0)
                r = event_decoder_init(&decoder, &ring->any_ids, ring->raw.data, ring->raw.used_bytes, err);
        while (r >= 0 && (r = event_decoder_next_run(&decoder, &run, err)) == 1) {
                if (encoder)
                        event_encoder_begin_run(encoder, run.thread);
                while ((r = event_decoder_next(&decoder, &event, err)) == 1) {
                        if (event.time_ns >= from_ns && encoder)
                                event_encoder_add(encoder, &event);
                        else if (stream_states_apply(states, run.thread, &event) < 0)
                                return error_set(err, -ENOMEM, "no memory for the open state");
                }
                if (encoder)
                        event_encoder_end_run(encoder);
        }
        return r;
}

/* Drops the oldest chunk, and keeps the state that it left open. */
static int drop_oldest(struct chunk_ring *ring, struct error *err)
{
        struct ring_chunk_list *list = &ring->events;
        struct ring_chunk *chunk = list->chunks[0];
        int r = split(ring, chunk, UINT64_MAX, &ring->before, NULL, err);

        if (r < 0)
                return r;
        if (chunk->header.last_ns > ring->dropped_ns)
                ring->dropped_ns = chunk->header.last_ns;
        ring->listed_bytes -= chunk->n_bytes;
        release(ring, chunk);
        list->n_chunks--;
        memmove(list->chunks, list->chunks + 1, list->n_chunks * sizeof(struct ring_chunk *));
        return 0;
}

static int make_room(struct chunk_ring *ring, struct error *err)
{
        const struct chunk_ring_options *o = &ring->options;
        int r = 0;

        while (r == 0 && ring->events.n_chunks > 1) {
                uint64_t last_ns = ring->events.chunks[0]->header.last_ns;
                bool is_old = o->keep_ns > 0 && ring->newest_ns > last_ns &&
                              ring->newest_ns - last_ns > o->keep_ns;

                if (!is_old && ring->listed_bytes <= o->bytes_max)
                        return 0;
                ring->was_full = ring->was_full || !is_old;
                r = drop_oldest(ring, err);
        }
        return r;
}

int chunk_ring_add(struct chunk_ring *ring, struct trace_chunk_header header, const uint8_t *raw,
                   size_t raw_bytes, struct error *err)
{
        bool is_events = header.kind == TRACE_CHUNK_EVENTS;
        struct ring_chunk_list *list = is_events                               ? &ring->events
                                       : header.kind == TRACE_CHUNK_ATTACHMENT ? &ring->parts
                                                                               : &ring->tables;
        struct ring_chunk *chunk;
        int r = make_chunk(ring, header, raw, raw_bytes, &chunk, err);

        if (r < 0)
                return r;
        count_bytes(ring, chunk);
        r = append(list, chunk, err);
        if (r < 0) {
                release(ring, chunk);
                return r;
        }
        if (!is_events)
                return 0;
        ring->listed_bytes += chunk->n_bytes;
        if (header.last_ns > ring->newest_ns)
                ring->newest_ns = header.last_ns;
        return make_room(ring, err);
}

/* ---- snapshots ----------------------------------------------------------------------------------------- */

static int encode_events(struct chunk_ring *ring, struct event_encoder *encoder, struct ring_chunk_list *list,
                         struct error *err)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        struct byte_buffer body = { .data = NULL };
        int r = event_encoder_take(encoder, &body, &header.first_ns, &header.last_ns, &header.n_items);

        if (r < 0)
                (void)error_set(err, r, "no memory for events");
        else if (header.n_items > 0)
                r = append_new(ring, list, header, &body, err);
        byte_buffer_deinit(&body);
        return r;
}

/* Copies each chunk of the ring, without the events that are too early, which go to @states. */
static int share_events(struct chunk_ring *ring, struct chunk_snapshot *s, struct stream_states *states,
                        struct event_encoder *encoder, struct error *err)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < ring->events.n_chunks; i++) {
                struct ring_chunk *chunk = ring->events.chunks[i];

                if (chunk->header.first_ns >= s->from_ns) {
                        r = append(&s->events, chunk, err);
                        chunk->n_references += r == 0;
                        continue;
                }
                s->is_cut = true;
                r = split(ring, chunk, s->from_ns, states, encoder, err);
                if (r == 0)
                        r = encode_events(ring, encoder, &s->events, err);
        }
        return r;
}

/* Moves the chunk that was made last to the front of a snapshot. */
static void move_to_front(struct ring_chunk_list *list)
{
        struct ring_chunk *last = list->chunks[list->n_chunks - 1];

        memmove(list->chunks + 1, list->chunks, (list->n_chunks - 1) * sizeof(struct ring_chunk *));
        list->chunks[0] = last;
}

static int add_opening(struct chunk_ring *ring, struct chunk_snapshot *s, const struct stream_states *states,
                       struct event_encoder *encoder, struct error *err)
{
        size_t n_before = s->events.n_chunks;
        int r;

        s->n_open = stream_states_encode(states, s->from_ns, encoder);
        r = encode_events(ring, encoder, &s->events, err);
        if (r == 0 && s->events.n_chunks > n_before)
                move_to_front(&s->events);
        return r;
}

int chunk_ring_snapshot(struct chunk_ring *ring, uint64_t end_ns, struct chunk_snapshot *ret,
                        struct error *err)
{
        const uint64_t keep_ns = ring->options.keep_ns;
        struct chunk_snapshot s = { .from_ns = ring->dropped_ns, .is_cut = ring->dropped_ns > 0 };
        struct event_encoder encoder;
        struct stream_states states;
        int r = stream_states_copy(&ring->before, &states);

        if (r < 0)
                return error_set(err, r, "no memory for the open state");
        if (keep_ns > 0 && end_ns > keep_ns && end_ns - keep_ns > s.from_ns)
                s.from_ns = end_ns - keep_ns;
        event_encoder_init(&encoder);
        r = share_events(ring, &s, &states, &encoder, err);
        if (r == 0 && s.is_cut)
                r = add_opening(ring, &s, &states, &encoder, err);
        event_encoder_deinit(&encoder);
        stream_states_deinit(&states);
        if (r < 0)
                chunk_snapshot_deinit(ring, &s);
        else
                *ret = s;
        return r;
}

void chunk_snapshot_drop(struct chunk_ring *ring, struct chunk_snapshot *s, size_t i)
{
        release(ring, s->events.chunks[i]);
        s->events.chunks[i] = NULL;
}

void chunk_snapshot_deinit(struct chunk_ring *ring, struct chunk_snapshot *s)
{
        clear_list(ring, &s->events);
        *s = (struct chunk_snapshot){ .events = { .chunks = NULL } };
}
