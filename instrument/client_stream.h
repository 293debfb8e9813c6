/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_stream.h - private copies of ring bytes -> checked events
 *
 * Way of the data:  client_region -> [client_stream] -> merge
 * Specification:    docs/understand/client-abi.md, "Rings"
 *
 * One a slot.  The bytes are a program's and may be anything: words that are no event, and events that this
 * version does not know, are skipped and counted.  So are words before the first THREAD: the last words of a
 * recording that ended, which its threads wrote too late.
 *
 * Begins and ends of zones are nearly all that a busy program writes, so there
 * is a short way for them beside the general one.  A caller takes both in turn:
 *
 *      while (true) {
 *              if (client_stream_peek_zone(s, &zone))
 *                      ... use zone
 *              else if (client_stream_peek(s, &event) == 1)
 *                      ... use event
 *              else
 *                      break;
 *              client_stream_consume(s);
 *      }
 *
 * A caller that does not know client_stream_peek_zone() gets the same events
 * from client_stream_peek() alone.  Used by one thread.
 */
#ifndef INSTRUMENT_CLIENT_STREAM_H
#define INSTRUMENT_CLIENT_STREAM_H

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "instrument/client_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The largest size of an event and its prefixes: callstack, copy of the stack and the event itself, each of
 * the longest size that a ring may hold, and some words.  `pending` must have room for this much, or an event
 * may never be whole.
 */
#define CLIENT_STREAM_EVENT_BYTES_MAX (3 * (size_t)CLIENT_ABI_TEXT_BYTES_MAX + 128)

/* The prefixes of an event. */
struct client_prefix {
        uint32_t zone_depth; /* the open zone that it is about, 1 = the outermost; 0 = the innermost */
        uint64_t blob_at;    /* CLIENT_ABI_EVENT_BLOB: where the rest of the payload lies */
        uint64_t blob_bytes; /* 0 = no value */
        /* CLIENT_ABI_EVENT_CALLSTACK: addresses of 8 bytes, unaligned; borrowed like `text` */
        const uint8_t *frames;
        uint32_t n_frames;    /* at most CLIENT_ABI_CALLSTACK_FRAMES_MAX: the innermost of a longer one */
        const uint8_t *stack; /* CLIENT_ABI_EVENT_STACK_COPY: its whole payload; borrowed */
        uint32_t stack_bytes; /* 0, or its header and at most CLIENT_ABI_STACK_COPY_BYTES_MAX of stack */
};

struct client_event {
        uint64_t ticks;    /* whole time stamp, in the region's clock */
        uint32_t kind;     /* enum client_abi_event; never TIME, nor a prefix */
        uint32_t argument; /* location or bytes of payload, see client_abi.h; for THREAD: the tid */
        uint64_t value[2]; /* words of the kinds that have them */
        /*
         * MESSAGE: its text; from CLIENT_ABI_EVENT_NEW_BYTES on the whole payload, which has the fixed part
         * of its kind unless a blob goes with it; borrowed until the next append to `pending`, or until
         * client_stream_move().
         */
        const char *text;
        uint32_t text_bytes;
        struct client_prefix prefix;
};

/* A begin or an end without prefixes. */
struct client_zone_event {
        uint64_t ticks;
        uint32_t kind;     /* CLIENT_ABI_EVENT_ZONE_BEGIN or CLIENT_ABI_EVENT_ZONE_END */
        uint32_t argument; /* of a begin: the location */
};

struct client_stream {
        struct byte_buffer pending; /* bytes to decode; the region's drain appends here */
        size_t at_bytes;     /* decoded up to here; stays before an event's prefixes until it is consumed */
        size_t event_bytes;  /* of the event that was peeked at last, with its prefixes */
        uint32_t ticks_high; /* of the last TIME */
        bool in_thread;      /* a THREAD came: what follows belongs to this recording */
        uint64_t n_garbage_bytes;  /* skipped: words that are no known event, and prefixes of no event */
        uint64_t n_leftover_bytes; /* skipped: events before the first THREAD */
};

void client_stream_init(struct client_stream *s); /* zeroes */
void client_stream_deinit(struct client_stream *s);

/*
 * client_stream_peek() - the next event, which stays the next until client_stream_consume()
 * Returns 1, or 0 when a whole event is not there yet; when more was appended, the next call begins at the
 * same place.
 *
 * The prefixes before an event come with it.  They are dropped if a THREAD, an unknown event, a word that is
 * no event or a second prefix of their kind follows instead, so that an event with prefixes is bounded.  One
 * TIME may stand between them.
 */
int client_stream_peek(struct client_stream *s, struct client_event *ret_event);

/* The word at @at of `pending`, which has a whole one there. */
static inline uint64_t client_stream_word(const struct client_stream *s, size_t at)
{
        struct byte_reader r = byte_reader_of(s->pending.data + at, CLIENT_ABI_WORD_BYTES);

        return bytes_u64(&r);
}

/*
 * client_stream_peek_zone() - the next event if it is a begin or an end of a zone without a prefix
 * Returns false, with *@ret_zone untouched, if it is another one or there is none: client_stream_peek()
 * distinguishes these.
 */
static inline bool client_stream_peek_zone(struct client_stream *s, struct client_zone_event *ret_zone)
{
        while (s->in_thread && s->pending.used_bytes - s->at_bytes >= CLIENT_ABI_WORD_BYTES) {
                uint64_t word = client_stream_word(s, s->at_bytes);
                uint32_t event = (uint32_t)(word >> CLIENT_ABI_EVENT_SHIFT);

                if (event == CLIENT_ABI_EVENT_ZONE_BEGIN || event == CLIENT_ABI_EVENT_ZONE_END) {
                        ret_zone->ticks = (uint64_t)s->ticks_high << 32 | (word & UINT32_MAX);
                        ret_zone->kind = event;
                        ret_zone->argument = (uint32_t)(word >> CLIENT_ABI_ARG_SHIFT) & CLIENT_ABI_ARG_MAX;
                        s->event_bytes = CLIENT_ABI_WORD_BYTES;
                        return true;
                }
                if (event != CLIENT_ABI_EVENT_TIME)
                        return false;
                s->ticks_high = (uint32_t)word;
                s->at_bytes += CLIENT_ABI_WORD_BYTES;
        }
        return false;
}

/* Steps over the event that client_stream_peek() or client_stream_peek_zone() returned. */
static inline void client_stream_consume(struct client_stream *s)
{
        s->at_bytes += s->event_bytes;
}

/* Bytes waiting to be decoded; after a peek that returned 0, part of an event and its prefixes at most. */
size_t client_stream_count_bytes(const struct client_stream *s);

/*
 * client_stream_move() - move the rest to the front of another buffer, which becomes `pending`
 * @buffer:  overwritten; gets the buffer that was `pending` before
 * Returns 0, or -ENOMEM with both as they were, except for @buffer's contents.
 */
int client_stream_move(struct client_stream *s, struct byte_buffer *buffer);

#endif /* INSTRUMENT_CLIENT_STREAM_H */
