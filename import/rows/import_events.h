/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_events.h - events of all threads, by time -> chunks, between those of a trace
 *
 * Way of the data:  import_lanes, import_trace -> [import_events] -> event_encoder -> trace_writer
 *                   trace_reader: chunks of a recording --^
 *
 * A few thousand events are put into runs of one thread each.  With a recording, its chunks of events and
 * attachments are copied byte for byte, each before later events.  Its STATES are not: they know nothing of
 * the threads that come in between, and without them a range is read from the beginning, which is right.
 *
 * Not thread-safe.
 */
#ifndef IMPORT_IMPORT_EVENTS_H
#define IMPORT_IMPORT_EVENTS_H

#include <stdint.h>

struct error;
struct import_events;
struct trace_dictionary;
struct trace_event;
struct trace_reader;
struct trace_writer;

/*
 * @reader:  the recording, rewound, with all its rows written already; NULL = there is none
 * All borrowed.  Returns 0, -ENOMEM, -errno of reading.
 */
int import_events_new(struct import_events **ret_events, struct trace_writer *writer,
                      struct trace_dictionary *dictionary, struct trace_reader *reader, struct error *err);
void import_events_free(struct import_events *events);

/*
 * import_events_add() - at or after the time of the event before
 * @thread:  row of THREADS
 * A text is borrowed for this call only.  Returns 0, -ENOMEM, -errno.
 */
int import_events_add(struct import_events *events, uint32_t thread, const struct trace_event *event,
                      struct error *err);

/* Writes what is left, of the recording as well. */
int import_events_finish(struct import_events *events, struct error *err);

#endif /* IMPORT_IMPORT_EVENTS_H */
