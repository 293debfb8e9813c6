/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_stream.h - private copies of ring bytes -> checked events
 *
 * Way of the data:  client_region -> [client_stream] -> merge
 * Specification:    docs/client-abi.md, "Rings"
 *
 * One a slot.  The bytes are a program's and may be anything: words that are no
 * event are skipped and counted.  So is what comes before the first THREAD: the
 * last words of a recording that ended, which its threads wrote too late.
 * Used by one thread.
 */
#ifndef INSTRUMENT_CLIENT_STREAM_H
#define INSTRUMENT_CLIENT_STREAM_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What came before an event and belongs to it. */
struct client_prefix {
        uint32_t zone_depth; /* the open zone that it is about, 1 = the outermost; 0 = the innermost */
        uint64_t blob_at;    /* CLIENT_ABI_EVENT_BLOB: where the rest of the payload lies */
        uint64_t blob_bytes; /* 0 = there is none */
        const uint8_t *
                frames; /* CLIENT_ABI_EVENT_CALLSTACK: addresses of 8 bytes, unaligned; borrowed like `text` */
        uint32_t n_frames;
        const uint8_t *stack; /* CLIENT_ABI_EVENT_STACK_COPY: its whole payload; borrowed */
        uint32_t stack_bytes;
};

struct client_event {
        uint64_t ticks;    /* whole time stamp, in the region's clock */
        uint32_t kind;     /* enum client_abi_event; never TIME, nor a prefix */
        uint32_t argument; /* location or bytes of payload, see client_abi.h; for THREAD: the tid */
        uint64_t value[2]; /* words of the kinds that have them */
        const char *
                text; /* MESSAGE: its text; from CLIENT_ABI_EVENT_NEW_BYTES on the whole payload; borrowed until
                              the next append to `pending` */
        uint32_t text_bytes;
        struct client_prefix prefix;
};

struct client_stream {
        struct byte_buffer pending; /* bytes to decode; the region's drain appends here */
        size_t at_bytes;            /* decoded up to here */
        size_t event_bytes;         /* of the event that was peeked at last */
        uint32_t ticks_high;        /* of the last TIME */
        bool in_thread;             /* a THREAD came: what follows belongs to this recording */
        uint64_t n_garbage_bytes;   /* skipped: no event, or none that this version knows */
        uint64_t n_leftover_bytes;  /* skipped: events before the first THREAD */
};

void client_stream_init(struct client_stream *s); /* zeroes */
void client_stream_deinit(struct client_stream *s);

/*
 * client_stream_peek() - the next event, which stays the next until client_stream_consume()
 * Returns 1, or 0 when a whole event is not there yet.
 */
int client_stream_peek(struct client_stream *s, struct client_event *ret_event);

/* Steps over the event that client_stream_peek() returned. */
void client_stream_consume(struct client_stream *s);

/* Bytes waiting to be decoded; after a peek that returned 0, part of an event at most. */
size_t client_stream_count_bytes(const struct client_stream *s);

/*
 * client_stream_move() - move what is left to the front of another buffer, which becomes `pending`
 * @buffer:  overwritten; gets the buffer that was `pending` before
 * Returns 0, or -ENOMEM with both as they were, but @buffer's contents.
 */
int client_stream_move(struct client_stream *s, struct byte_buffer *buffer);

#endif /* INSTRUMENT_CLIENT_STREAM_H */
