/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/event_list.h - all events of a body or a trace, to be looked at one by one
 *
 * Way of the data:  event_encoder, trace_reader -> [event_list] -> unit test
 *
 * An event that cannot be decoded fails the running test.
 */
#ifndef TESTS_UNIT_EVENT_LIST_H
#define TESTS_UNIT_EVENT_LIST_H

#include "format/trace_event.h"

#include <stddef.h>
#include <stdint.h>

struct event_encoder;
struct trace_dictionary;
struct trace_reader;

struct listed_event {
        uint32_t thread; /* id in the table THREADS */
        struct trace_event event;
        char *text; /* heap, owned: what event.text points to, with a NUL after it */
};

struct event_list {
        struct listed_event *events; /* heap, owned */
        size_t n_events, capacity;
};

/* Appends what is in the encoder, and empties it.  No run is open. */
void event_list_take(struct event_list *list, const struct trace_dictionary *dictionary,
                     struct event_encoder *encoder);
/* Appends the events of all chunks up to the end of the trace, which must be whole. */
void event_list_read(struct event_list *list, struct trace_reader *reader);
void event_list_deinit(struct event_list *list);

/* The n-th event of a thread, counted from 0; NULL if there are not so many.  Thread 0 = of any. */
const struct trace_event *event_list_get(const struct event_list *list, uint32_t thread, size_t n);

#endif /* TESTS_UNIT_EVENT_LIST_H */
