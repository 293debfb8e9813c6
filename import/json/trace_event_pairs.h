/* SPDX-License-Identifier: MIT */
/*
 * import/json/trace_event_pairs.h - spans from events that say their begin and their end apart
 *
 * Way of the data:  import_trace_event -> [trace_event_pairs] -> import_rows
 *
 * An end belongs to the last open begin of its lane, in the order of time; at one time in that of the file.
 * A lane is a thread, or one id of asynchronous work.  Files need not be in the order of time: up to
 * TRACE_EVENT_PAIRS_WINDOW events are sorted before the older half of them is matched.  Memory: these, and
 * what is open.
 */
#ifndef IMPORT_TRACE_EVENT_PAIRS_H
#define IMPORT_TRACE_EVENT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_rows;

#define TRACE_EVENT_PAIRS_WINDOW (UINT32_C(1) << 18)

struct pair_event {
        uint64_t lane, time;
        uint64_t order;             /* of the file; set by trace_event_pairs_add() */
        uint32_t track, name, text; /* as in struct import_span */
        bool is_end;
};

struct open_begin {
        struct pair_event event;
        uint32_t below; /* the begin that is open around it; 0 = none.  If it is free: the next one */
};

struct open_lane {
        uint64_t lane;
        uint32_t top; /* the last open begin; 0 = an empty place of the table */
};

struct trace_event_pairs {
        struct import_rows *rows; /* borrowed */
        struct pair_event *events;
        struct open_begin *begins; /* begin n is begins[n - 1] */
        struct open_lane *lanes;   /* open addressing; a power of two of them, or none */
        size_t n_events, events_capacity, begins_capacity, n_lanes, lanes_capacity;
        uint32_t n_begins, first_free;
        uint64_t n_added;
        bool is_unsorted;

        uint64_t n_ends_alone, n_begins_alone, n_other_names;
};

/* The caller's storage. */
void trace_event_pairs_init(struct trace_event_pairs *pairs, struct import_rows *rows);
void trace_event_pairs_deinit(struct trace_event_pairs *pairs);

/* Returns 0, -ENOMEM, or what import_rows returns, with words. */
int trace_event_pairs_add(struct trace_event_pairs *pairs, const struct pair_event *event, struct error *err);

/* Matches the rest.  Begins without an end become instants, and are counted. */
int trace_event_pairs_finish(struct trace_event_pairs *pairs, struct error *err);

#endif /* IMPORT_TRACE_EVENT_PAIRS_H */
