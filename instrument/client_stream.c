/* SPDX-License-Identifier: MIT */
#include "instrument/client_stream.h"

#include "base/bytes.h"
#include "instrument/client_abi.h"

#include <errno.h>
#include <string.h>

#define PAYLOAD_OF_NO_EVENT SIZE_MAX

void client_stream_init(struct client_stream *s)
{
        *s = (struct client_stream){ .at_bytes = 0 };
}

void client_stream_deinit(struct client_stream *s)
{
        byte_buffer_deinit(&s->pending);
}

size_t client_stream_count_bytes(const struct client_stream *s)
{
        return s->pending.used_bytes - s->at_bytes;
}

int client_stream_move(struct client_stream *s, struct byte_buffer *buffer)
{
        struct byte_buffer before = s->pending;
        size_t left = client_stream_count_bytes(s);

        byte_buffer_clear(buffer);
        if (left > 0)
                byte_buffer_add(buffer, before.data + s->at_bytes, left);
        if (buffer->failed)
                return -ENOMEM;
        s->pending = *buffer;
        s->at_bytes = 0;
        *buffer = before;
        return 0;
}

static uint64_t load_word(const struct client_stream *s, size_t at)
{
        struct byte_reader r = byte_reader_of(s->pending.data + at, CLIENT_ABI_WORD_BYTES);

        return bytes_u64(&r);
}

static uint32_t event_of(uint64_t word)
{
        return (uint32_t)(word >> CLIENT_ABI_EVENT_SHIFT);
}

static uint32_t argument_of(uint64_t word)
{
        return (uint32_t)(word >> CLIENT_ABI_ARG_SHIFT) & CLIENT_ABI_ARG_MAX;
}

/* Bytes that follow an event's first word: whole words, or PAYLOAD_OF_NO_EVENT. */
static size_t payload_bytes(uint64_t word)
{
        const size_t one_word = CLIENT_ABI_WORD_BYTES;
        size_t text_bytes = argument_of(word);
        size_t text_words = (text_bytes + one_word - 1) / one_word * one_word;
        uint32_t event = event_of(word);

        switch (event) {
        case CLIENT_ABI_EVENT_TIME:
        case CLIENT_ABI_EVENT_ZONE_BEGIN:
        case CLIENT_ABI_EVENT_ZONE_END:
        case CLIENT_ABI_EVENT_FRAME_MARK:
                return 0;
        case CLIENT_ABI_EVENT_THREAD:
        case CLIENT_ABI_EVENT_PLOT_I64:
        case CLIENT_ABI_EVENT_PLOT_F64:
                return one_word;
        case CLIENT_ABI_EVENT_MESSAGE:
                return text_bytes <= CLIENT_ABI_TEXT_BYTES_MAX ? one_word + text_words : PAYLOAD_OF_NO_EVENT;
        case CLIENT_ABI_EVENT_THREAD_NAME:
                return text_bytes <= CLIENT_ABI_TEXT_BYTES_MAX ? text_words : PAYLOAD_OF_NO_EVENT;
        default:
                break;
        }

        /* What a later version may add. */
        if (event < CLIENT_ABI_EVENT_NEW_FIRST)
                return PAYLOAD_OF_NO_EVENT;
        if (event < CLIENT_ABI_EVENT_NEW_WORD)
                return 0;
        if (event < CLIENT_ABI_EVENT_NEW_BYTES)
                return one_word;
        return text_bytes <= CLIENT_ABI_TEXT_BYTES_MAX ? text_words : PAYLOAD_OF_NO_EVENT;
}

/* Fills @e from the event at `at_bytes`, whose bytes are all there. */
static void decode(const struct client_stream *s, uint64_t word, size_t n_payload_bytes,
                   struct client_event *e)
{
        const uint8_t *payload = s->pending.data + s->at_bytes + CLIENT_ABI_WORD_BYTES;
        size_t has_word = 0;

        *e = (struct client_event){
                .ticks = (uint64_t)s->ticks_high << 32 | (word & UINT32_MAX),
                .kind = event_of(word),
                .argument = argument_of(word),
        };
        if (n_payload_bytes == 0)
                return;
        if (e->kind != CLIENT_ABI_EVENT_THREAD_NAME) {
                e->value[0] = load_word(s, s->at_bytes + CLIENT_ABI_WORD_BYTES);
                has_word = CLIENT_ABI_WORD_BYTES;
        }
        if (e->kind == CLIENT_ABI_EVENT_THREAD)
                e->argument = (uint32_t)e->value[0];
        if (e->kind == CLIENT_ABI_EVENT_MESSAGE || e->kind == CLIENT_ABI_EVENT_THREAD_NAME) {
                e->text = (const char *)payload + has_word;
                e->text_bytes = e->argument;
        }
}

/* True if the event at `at_bytes` is one for the caller; else it is accounted for, to be stepped over. */
static bool is_wanted(struct client_stream *s, uint64_t word, size_t event_bytes)
{
        uint32_t event = event_of(word);

        if (event == CLIENT_ABI_EVENT_TIME) {
                s->ticks_high = (uint32_t)word;
                return false;
        }
        if (event >= CLIENT_ABI_EVENT_NEW_FIRST) {
                s->n_garbage_bytes += event_bytes;
                return false;
        }
        if (event == CLIENT_ABI_EVENT_THREAD)
                s->in_thread = true;
        if (!s->in_thread)
                s->n_leftover_bytes += event_bytes;
        return s->in_thread;
}

int client_stream_peek(struct client_stream *s, struct client_event *ret_event)
{
        size_t left;

        while ((left = client_stream_count_bytes(s)) >= CLIENT_ABI_WORD_BYTES) {
                uint64_t word = load_word(s, s->at_bytes);
                size_t payload = payload_bytes(word);

                if (payload == PAYLOAD_OF_NO_EVENT) {
                        s->n_garbage_bytes += CLIENT_ABI_WORD_BYTES;
                        s->at_bytes += CLIENT_ABI_WORD_BYTES;
                        continue;
                }
                if (payload > left - CLIENT_ABI_WORD_BYTES)
                        return 0;
                if (is_wanted(s, word, CLIENT_ABI_WORD_BYTES + payload)) {
                        decode(s, word, payload, ret_event);
                        s->event_bytes = CLIENT_ABI_WORD_BYTES + payload;
                        return 1;
                }
                s->at_bytes += CLIENT_ABI_WORD_BYTES + payload;
        }
        return 0;
}

void client_stream_consume(struct client_stream *s)
{
        s->at_bytes += s->event_bytes;
}
