/* SPDX-License-Identifier: MIT */
/*
 * import/json/trace_event_row.h - the fields of one event of trace-event JSON, as the file has them
 *
 * Way of the data:  json_rows -> [trace_event_row] -> import_trace_event
 *
 * Views into the row; of a key twice the last one counts.  Allocates nothing.
 */
#ifndef IMPORT_TRACE_EVENT_ROW_H
#define IMPORT_TRACE_EVENT_ROW_H

#include "import/file/json_pull.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fields that are not there have text.bytes NULL. */
struct trace_event_row {
        struct json_value phase, time, duration, name, category, process, thread;
        struct json_value id, id2, scope, args, location;
        struct json_value device, keys; /* of hyprof */
        struct json_value other;        /* of any other key */
};

/* Returns 0, or -EBADMSG for what is no object, or ends in the middle of a member. */
int trace_event_row_read(struct json_value object, struct trace_event_row *ret_row);

/* The same of an object whose end is not known, as json_pull_open_object(). */
int trace_event_row_read_open(struct json_pull *p, struct json_shape *shape, struct trace_event_row *ret_row);

/* A time of microseconds, as a number or a string, in nanoseconds.  Returns false if it is none. */
bool trace_event_row_ns(struct json_value value, int64_t *ret_ns);

/*
 * Writes what tells a process, a thread or a chain of events from others: a number as its digits, also
 * where they are in quotes; other text after a quote; nothing for null and for what is not there.  Returns
 * its length, 0 also for objects, -E2BIG if it is longer than @n_bytes_max.
 */
int trace_event_row_id(struct json_value value, char *id, size_t n_bytes_max);

#endif /* IMPORT_TRACE_EVENT_ROW_H */
