/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/payload_event.h - write an event with text or other bytes of any length
 *
 * Way of the data:  *_events -> [payload_event] -> thread_ring, blob_area
 *
 * A short payload lies in the ring, after its event.  The content of a longer one lies in the blob area, and
 * only the part before it in the ring.
 */
#ifndef INSTRUMENT_CLIENT_PAYLOAD_EVENT_H
#define INSTRUMENT_CLIENT_PAYLOAD_EVENT_H

#include "instrument/client/callstack.h"
#include "instrument/client/thread_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_EVENT_WORDS_MAX 3

/* The payload consists of words, name and content, in this order. */
struct payload_event {
        enum thread_ring_loss loss; /* the counter to increase if the ring has no room */
        enum client_abi_event event;
        bool words_uncounted; /* the event's argument is the length of name and content alone */
        unsigned n_words;
        uint64_t words[PAYLOAD_EVENT_WORDS_MAX];
        const void *name; /* borrowed; NULL if it has 0 bytes */
        const void *content;
        size_t name_bytes;
        size_t content_bytes;
        const struct callstack *callstack; /* that it comes with; NULL = none */
};

/*
 * payload_event_put() - write an event, or count that it is lost
 * A name that is too long for the ring, and a content that the blob area does
 * not take, are counted as refused blobs.
 * To be called between thread_ring_enter() and thread_ring_leave().
 */
void payload_event_put(struct thread_ring *t, const struct payload_event *e);

#endif /* INSTRUMENT_CLIENT_PAYLOAD_EVENT_H */
