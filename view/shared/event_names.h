/* SPDX-License-Identifier: MIT */
/*
 * view/shared/event_names.h - what the views of events have in common: the heading, threads, zone
 * paths, callstacks, times
 *
 * Way of the data:  loaded_trace, zone_paths, wait_places -> [event_names] -> locks_view, memory_view ...
 */
#ifndef VIEW_SHARED_EVENT_NAMES_H
#define VIEW_SHARED_EVENT_NAMES_H

#include "analyze/walk/trace_filter.h"
#include "base/byte_buffer.h"
#include "base/text_view.h"
#include "view/document/view_column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer_words;
struct event_order;
struct loaded_trace;
struct view_document;
struct view_table;
struct wait_place;
struct wait_places;
struct zone_paths;

struct event_view_options {
        const char *path;         /* of the trace, for the hints; NULL = the usual one */
        uint32_t limit;           /* rows of each table; 0 = all */
        struct text_view filter;  /* the request, in words */
        struct trace_range range; /* of the time */
        bool is_filtered;
};

/* The tables that a view needs to name things. */
struct event_names {
        struct view_document *document;
        struct loaded_trace *trace;     /* with threads' names */
        const struct zone_paths *paths; /* NULL = there are none */
        const struct event_view_options *options;
        struct byte_buffer words; /* scratch */
};

void event_names_init(struct event_names *n, struct view_document *d, struct loaded_trace *trace,
                      const struct zone_paths *paths, const struct event_view_options *options);
void event_names_deinit(struct event_names *n);

/*
 * event_names_heading() - the answer, command and duration; as warnings the losses of these events
 * and how the trace ends
 * @loss_reason:  enum trace_loss_reason: what the program dropped of this kind; 0 = it has none
 * @n_late:       events that came too far out of order
 */
void event_names_heading(struct event_names *n, const struct answer_words *answer, uint32_t loss_reason,
                         uint64_t n_late);

/* Warns of a count that is not 0: the words, then the number. */
void event_names_warn(struct event_names *n, uint64_t count, const char *words);

/* Rows to show of @n_rows; what the table leaves out is noted. */
size_t event_names_limit(const struct event_names *n, struct view_table *t, size_t n_rows);

/* The name of a zone of a place in the source: its name, else its function. */
struct text_view event_names_zone(const struct event_names *n, uint32_t location);

/* The time since the start of the recording, which is how filters take times. */
uint64_t event_names_since_start(const struct event_names *n, uint64_t time_ns);

/* Adds hints: `report` and `why` for the innermost zone of the path; none outside of all zones. */
void event_names_hint_zone(const struct event_names *n, uint32_t path);
/* Adds the hint `report` if there is no other hint; to be called last. */
void event_names_hint_overview(const struct event_names *n);

/* Values. */
struct view_value event_names_thread(struct event_names *n, uint32_t thread); /* its name or TID */
/* "outer/inner"; unknown outside of all zones.  To be put before the next call, which overwrites it. */
struct view_value event_names_path(struct event_names *n, uint32_t path);
/* "alloc < work < main", the innermost first. */
struct view_value event_names_callstack(const struct event_names *n, const struct wait_places *places,
                                        const struct wait_place *place);

#endif /* VIEW_SHARED_EVENT_NAMES_H */
