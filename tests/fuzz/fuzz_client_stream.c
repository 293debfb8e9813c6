/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any ring bytes are read to their end.  In two pieces, and with
 * zones the short way, they give the same events as in one piece.
 */
#include "instrument/client_abi.h"
#include "instrument/client_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

struct outcome {
        uint64_t n_events, check; /* `check` depends on every member of every event, in order */
};

static void mix(struct outcome *o, uint64_t v)
{
        o->check = (o->check ^ v) * UINT64_C(0x9e3779b97f4a7c15);
        o->check ^= o->check >> 29;
}

static void mix_bytes(struct outcome *o, const void *data, size_t n)
{
        const uint8_t *bytes = data;

        mix(o, n);
        for (size_t i = 0; i < n; i++)
                mix(o, bytes[i]);
}

static void mix_event(struct outcome *o, const struct client_event *e)
{
        const struct client_prefix *p = &e->prefix;

        if (e->kind == CLIENT_ABI_EVENT_TIME || e->kind == CLIENT_ABI_EVENT_ZONE_AT ||
            e->kind == CLIENT_ABI_EVENT_BLOB || e->kind == CLIENT_ABI_EVENT_CALLSTACK ||
            e->kind == CLIENT_ABI_EVENT_STACK_COPY || e->text_bytes > CLIENT_ABI_TEXT_BYTES_MAX ||
            p->n_frames > CLIENT_ABI_CALLSTACK_FRAMES_MAX ||
            (p->stack_bytes > 0 && p->stack_bytes < CLIENT_ABI_STACK_COPY_HEADER_BYTES))
                abort();
        o->n_events++;
        mix(o, e->ticks);
        mix(o, e->kind);
        mix(o, e->argument);
        mix(o, e->value[0]);
        mix(o, e->value[1]);
        mix_bytes(o, e->text, e->text_bytes);
        mix(o, p->zone_depth);
        mix(o, p->blob_at);
        mix(o, p->blob_bytes);
        mix_bytes(o, p->frames, p->n_frames * sizeof(uint64_t));
        mix_bytes(o, p->stack, p->stack_bytes);
}

static bool next_event(struct client_stream *s, bool short_way, struct client_event *ret_event)
{
        struct client_zone_event zone;

        if (!short_way || !client_stream_peek_zone(s, &zone))
                return client_stream_peek(s, ret_event) == 1;
        *ret_event = (struct client_event){
                .ticks = zone.ticks,
                .kind = zone.kind,
                .argument = zone.argument,
        };
        return true;
}

static void read_all(struct client_stream *s, bool short_way, struct outcome *o)
{
        struct byte_buffer spare = { .data = NULL };
        struct client_event e;
        size_t left = client_stream_count_bytes(s);

        while (next_event(s, short_way, &e)) {
                mix_event(o, &e);
                client_stream_consume(s);
                if (client_stream_count_bytes(s) >= left)
                        abort();
                left = client_stream_count_bytes(s);
        }
        if (client_stream_count_bytes(s) > CLIENT_STREAM_EVENT_BYTES_MAX)
                abort();
        if (client_stream_move(s, &spare) < 0)
                abort();
        byte_buffer_deinit(&spare);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct client_stream whole, pieces;
        struct outcome of_whole = { .n_events = 0 }, of_pieces = { .n_events = 0 };
        size_t cut;

        if (n_bytes < 1)
                return 0;
        cut = (size_t)data[0] * CLIENT_ABI_WORD_BYTES;
        data++;
        n_bytes--;
        if (cut > n_bytes)
                cut = n_bytes;

        client_stream_init(&whole);
        byte_buffer_add(&whole.pending, data, n_bytes);
        read_all(&whole, false, &of_whole);

        client_stream_init(&pieces);
        byte_buffer_add(&pieces.pending, data, cut);
        read_all(&pieces, true, &of_pieces);
        byte_buffer_add(&pieces.pending, data + cut, n_bytes - cut);
        read_all(&pieces, true, &of_pieces);

        if (of_whole.n_events != of_pieces.n_events || of_whole.check != of_pieces.check ||
            whole.n_garbage_bytes != pieces.n_garbage_bytes ||
            whole.n_leftover_bytes != pieces.n_leftover_bytes)
                abort();
        client_stream_deinit(&whole);
        client_stream_deinit(&pieces);
        return 0;
}
