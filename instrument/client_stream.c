/* SPDX-License-Identifier: MIT */
#include "instrument/client_stream.h"

#include <errno.h>
#include <string.h>

#define PAYLOAD_OF_NO_EVENT SIZE_MAX
#define STACK_BYTES_MAX     (CLIENT_ABI_STACK_COPY_HEADER_BYTES + CLIENT_ABI_STACK_COPY_BYTES_MAX)

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

        if (event >= CLIENT_ABI_EVENT_NEW_BYTES || event == CLIENT_ABI_EVENT_THREAD_NAME)
                return text_bytes <= CLIENT_ABI_TEXT_BYTES_MAX ? text_words : PAYLOAD_OF_NO_EVENT;
        if (event >= CLIENT_ABI_EVENT_NEW_TWO_WORDS)
                return 2 * one_word;
        if (event >= CLIENT_ABI_EVENT_NEW_WORD)
                return one_word;
        if (event >= CLIENT_ABI_EVENT_NEW_FIRST)
                return 0;

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
        default:
                return PAYLOAD_OF_NO_EVENT;
        }
}

/* True for the events that have a number in client_abi.h; within each class the numbers have no gaps. */
static bool is_known(uint32_t event)
{
        if (event >= CLIENT_ABI_EVENT_NEW_BYTES)
                return event <= CLIENT_ABI_EVENT_FRAME_PICTURE;
        if (event >= CLIENT_ABI_EVENT_NEW_TWO_WORDS)
                return event <= CLIENT_ABI_EVENT_CODE_GONE;
        if (event >= CLIENT_ABI_EVENT_NEW_WORD)
                return event <= CLIENT_ABI_EVENT_FLOW_END;
        return event <= CLIENT_ABI_EVENT_PLOT_CONFIG;
}

/* The size of the fixed part with which the payload of this event begins. */
static uint32_t fixed_bytes(uint32_t event)
{
        switch (event) {
        case CLIENT_ABI_EVENT_PROGRAM_INFO:
        case CLIENT_ABI_EVENT_SOURCE_TEXT:
        case CLIENT_ABI_EVENT_LOCK_NAME:
        case CLIENT_ABI_EVENT_FRAME_PICTURE:
                return 8;
        case CLIENT_ABI_EVENT_DEVICE_TRACK:
                return 16;
        case CLIENT_ABI_EVENT_CODE:
        case CLIENT_ABI_EVENT_CODE_LINES:
                return 24;
        case CLIENT_ABI_EVENT_DEVICE_SPAN:
        case CLIENT_ABI_EVENT_DEVICE_BRACKET:
        case CLIENT_ABI_EVENT_DEVICE_VALUE:
        case CLIENT_ABI_EVENT_DEVICE_INSTANT:
                return 32;
        case CLIENT_ABI_EVENT_DEVICE_KEYED_SPAN:
                return 40;
        default:
                return 0;
        }
}

/* The prefixes that were found from `at_bytes` of the stream on. */
struct collected {
        size_t end_bytes; /* offset in `pending` of the event after the prefixes */
        uint32_t seen;    /* bits of enum collected_kind */
        struct client_prefix prefix;
};

enum collected_kind {
        COLLECTED_TIME = 1,
        COLLECTED_ZONE_AT = 2,
        COLLECTED_BLOB = 4,
        COLLECTED_CALLSTACK = 8,
        COLLECTED_STACK_COPY = 16,
};

/* The kind of prefix that an event is; 0 for an event to which prefixes belong. */
static uint32_t collected_kind(uint32_t event)
{
        switch (event) {
        case CLIENT_ABI_EVENT_TIME:
                return COLLECTED_TIME;
        case CLIENT_ABI_EVENT_ZONE_AT:
                return COLLECTED_ZONE_AT;
        case CLIENT_ABI_EVENT_BLOB:
                return COLLECTED_BLOB;
        case CLIENT_ABI_EVENT_CALLSTACK:
                return COLLECTED_CALLSTACK;
        case CLIENT_ABI_EVENT_STACK_COPY:
                return COLLECTED_STACK_COPY;
        default:
                return 0;
        }
}

/* Drops the prefixes, which belong to no event. */
static void drop_collected(struct client_stream *s, struct collected *c)
{
        *(s->in_thread ? &s->n_garbage_bytes : &s->n_leftover_bytes) += c->end_bytes - s->at_bytes;
        s->at_bytes = c->end_bytes;
        *c = (struct collected){ .end_bytes = c->end_bytes };
}

/* Steps over @n bytes that are no event for the caller, and over the prefixes before them. */
static void skip(struct client_stream *s, struct collected *c, size_t n, uint64_t *counter)
{
        drop_collected(s, c);
        *counter += n;
        s->at_bytes += n;
        c->end_bytes = s->at_bytes;
}

/* Adds the event at `end_bytes` of @c, which is complete, to the prefixes. */
static void collect(struct client_stream *s, struct collected *c, uint64_t word, size_t n_payload_bytes)
{
        size_t at = c->end_bytes + CLIENT_ABI_WORD_BYTES;
        const uint8_t *payload = s->pending.data + at;
        uint32_t kind = collected_kind(event_of(word));
        uint32_t argument = argument_of(word);

        if (c->seen & kind)
                drop_collected(s, c);
        c->end_bytes = at + n_payload_bytes;
        switch ((enum collected_kind)kind) {
        case COLLECTED_TIME:
                s->ticks_high = (uint32_t)word;
                if (c->seen == 0) {
                        s->at_bytes = c->end_bytes; /* the usual case: it stands alone */
                        return;
                }
                break;
        case COLLECTED_ZONE_AT:
                c->prefix.zone_depth = argument;
                break;
        case COLLECTED_BLOB:
                c->prefix.blob_at = client_stream_word(s, at);
                c->prefix.blob_bytes = client_stream_word(s, at + CLIENT_ABI_WORD_BYTES);
                break;
        case COLLECTED_CALLSTACK:
                c->prefix.frames = payload;
                c->prefix.n_frames = argument / CLIENT_ABI_WORD_BYTES;
                if (c->prefix.n_frames > CLIENT_ABI_CALLSTACK_FRAMES_MAX)
                        c->prefix.n_frames = CLIENT_ABI_CALLSTACK_FRAMES_MAX;
                break;
        case COLLECTED_STACK_COPY:
                if (argument < CLIENT_ABI_STACK_COPY_HEADER_BYTES)
                        break;
                c->prefix.stack = payload;
                c->prefix.stack_bytes = argument < STACK_BYTES_MAX ? argument : STACK_BYTES_MAX;
                break;
        }
        c->seen |= kind;
}

/* Fills @e from the event at `end_bytes` of @c, whose bytes are all there. */
static void decode(const struct client_stream *s, const struct collected *c, uint64_t word,
                   struct client_event *e)
{
        size_t at = c->end_bytes + CLIENT_ABI_WORD_BYTES;
        uint32_t n_words = 0;

        /*
         * Fills the members one by one and does not copy absent prefixes: a load that spans several recent
         * stores takes longer than all the rest.
         */
        e->ticks = (uint64_t)s->ticks_high << 32 | (word & UINT32_MAX);
        e->kind = event_of(word);
        e->argument = argument_of(word);
        e->value[0] = e->value[1] = 0;
        e->text = NULL;
        e->text_bytes = 0;
        if (c->seen)
                e->prefix = c->prefix;
        else
                memset(&e->prefix, 0, sizeof(e->prefix));

        if (e->kind == CLIENT_ABI_EVENT_THREAD || e->kind == CLIENT_ABI_EVENT_MESSAGE ||
            e->kind == CLIENT_ABI_EVENT_PLOT_I64 || e->kind == CLIENT_ABI_EVENT_PLOT_F64)
                n_words = 1;
        else if (e->kind >= CLIENT_ABI_EVENT_NEW_WORD && e->kind < CLIENT_ABI_EVENT_NEW_BYTES)
                n_words = e->kind < CLIENT_ABI_EVENT_NEW_TWO_WORDS ? 1 : 2;
        for (uint32_t i = 0; i < n_words; i++, at += CLIENT_ABI_WORD_BYTES)
                e->value[i] = client_stream_word(s, at);

        if (e->kind == CLIENT_ABI_EVENT_THREAD)
                e->argument = (uint32_t)e->value[0];
        if (e->kind == CLIENT_ABI_EVENT_MESSAGE || e->kind == CLIENT_ABI_EVENT_THREAD_NAME ||
            e->kind >= CLIENT_ABI_EVENT_NEW_BYTES) {
                e->text = (const char *)s->pending.data + at;
                e->text_bytes = e->argument;
        }
}

/*
 * True if the complete event at `end_bytes` of @c is for the caller; else the event and its prefixes are
 * stepped over.
 */
static bool is_wanted(struct client_stream *s, struct collected *c, uint64_t word, size_t event_bytes)
{
        uint32_t event = event_of(word);

        if (!is_known(event) || (argument_of(word) < fixed_bytes(event) && c->prefix.blob_bytes == 0)) {
                skip(s, c, event_bytes, &s->n_garbage_bytes);
                return false;
        }
        if (event == CLIENT_ABI_EVENT_THREAD) {
                drop_collected(s, c);
                s->in_thread = true;
        }
        if (!s->in_thread)
                skip(s, c, event_bytes, &s->n_leftover_bytes);
        return s->in_thread;
}

int client_stream_peek(struct client_stream *s, struct client_event *ret_event)
{
        struct collected c = { .end_bytes = s->at_bytes };
        size_t left;

        while ((left = s->pending.used_bytes - c.end_bytes) >= CLIENT_ABI_WORD_BYTES) {
                uint64_t word = client_stream_word(s, c.end_bytes);
                size_t payload = payload_bytes(word);

                if (payload == PAYLOAD_OF_NO_EVENT) {
                        skip(s, &c, CLIENT_ABI_WORD_BYTES, &s->n_garbage_bytes);
                        continue;
                }
                if (payload > left - CLIENT_ABI_WORD_BYTES)
                        return 0;
                if (collected_kind(event_of(word)) != 0) {
                        collect(s, &c, word, payload);
                } else if (is_wanted(s, &c, word, CLIENT_ABI_WORD_BYTES + payload)) {
                        decode(s, &c, word, ret_event);
                        s->event_bytes = c.end_bytes + CLIENT_ABI_WORD_BYTES + payload - s->at_bytes;
                        return 1;
                }
        }
        return 0;
}
