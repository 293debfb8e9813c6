/* SPDX-License-Identifier: MIT */
/* Fuzz target: any ring bytes are read to their end; in two pieces they give the same events as in one. */
#include "instrument/client_abi.h"
#include "instrument/client_stream.h"

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

static void read_all(struct client_stream *s, struct outcome *o)
{
        struct byte_buffer spare = { .data = NULL };
        struct client_event e;
        size_t left = client_stream_count_bytes(s);

        while (client_stream_peek(s, &e) == 1) {
                if (e.kind == CLIENT_ABI_EVENT_TIME || e.text_bytes > CLIENT_ABI_TEXT_BYTES_MAX)
                        abort();
                o->n_events++;
                mix(o, e.ticks);
                mix(o, e.kind);
                mix(o, e.argument);
                mix(o, e.value[0]);
                for (uint32_t i = 0; i < e.text_bytes; i++)
                        mix(o, (uint64_t)(uint8_t)e.text[i]);
                client_stream_consume(s);
                if (client_stream_count_bytes(s) >= left)
                        abort();
                left = client_stream_count_bytes(s);
        }
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
        read_all(&whole, &of_whole);

        client_stream_init(&pieces);
        byte_buffer_add(&pieces.pending, data, cut);
        read_all(&pieces, &of_pieces);
        byte_buffer_add(&pieces.pending, data + cut, n_bytes - cut);
        read_all(&pieces, &of_pieces);

        if (of_whole.n_events != of_pieces.n_events || of_whole.check != of_pieces.check ||
            whole.n_garbage_bytes != pieces.n_garbage_bytes ||
            whole.n_leftover_bytes != pieces.n_leftover_bytes)
                abort();
        client_stream_deinit(&whole);
        client_stream_deinit(&pieces);
        return 0;
}
