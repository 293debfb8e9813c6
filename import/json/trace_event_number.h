/* SPDX-License-Identifier: MIT */
/*
 * import/json/trace_event_number.h - the value of a counter in trace-event JSON
 *
 * Way of the data:  json_pull -> [trace_event_number] -> import_trace_event
 */
#ifndef IMPORT_TRACE_EVENT_NUMBER_H
#define IMPORT_TRACE_EVENT_NUMBER_H

#include <stdbool.h>

struct import_value;
struct json_value;

/* An integer exactly, anything else as a double.  Returns false for what is no number. */
bool trace_event_number_read(struct json_value value, struct import_value *ret);

#endif /* IMPORT_TRACE_EVENT_NUMBER_H */
