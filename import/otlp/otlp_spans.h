/* SPDX-License-Identifier: MIT */
/*
 * import/otlp/otlp_spans.h - spans of OpenTelemetry, whichever form they were read from -> rows
 *
 * Way of the data:  otlp_json, otlp_protobuf -> [otlp_spans] -> import_rows
 *
 * A resource is a process, called by its service; services in containers mostly have the same number, so one
 * with the number of another service, also of one in another file, has none.  A span is on the thread that
 * its attributes name, or on one for all spans of the service that name none.  It nests in its parent where
 * that is on the same thread and open meanwhile; its text has the ids of its trace, of itself and of its
 * parent, and the attributes.  Events and errors are instants.  Times are Unix time in nanoseconds:
 * CLOCK_REALTIME.
 *
 * Not thread-safe.  Memory: one span, and one resource.
 */
#ifndef IMPORT_OTLP_SPANS_H
#define IMPORT_OTLP_SPANS_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct import_rows;

#define OTLP_TEXT_BYTES_MAX 4096 /* of the attributes of one span or event; further ones are counted */
#define OTLP_TEXT_DEPTH     8    /* of values in each other; deeper ones are null */

/* The attributes that have a place of their own in a trace. */
struct otlp_facts {
        struct byte_buffer service, instance, thread_name;
        uint64_t who; /* sum of hashes: the service, its instance, host and container */
        uint64_t pid, tid;
        bool has_pid, has_tid;
};

struct otlp_span {
        uint64_t trace[2], id, parent; /* first and last eight bytes; 0 = none */
        uint64_t begin_ns, end_ns;
        uint64_t kind, status;     /* numbers of the protocol */
        struct text_view name;     /* borrowed */
        struct text_view message;  /* of the status; borrowed */
        struct byte_buffer *links; /* "TRACE/SPAN" as elements of JSON; borrowed */
};

struct otlp_spans {
        struct import_rows *rows; /* borrowed */
        struct otlp_facts resource, span;
        struct byte_buffer attributes; /* of the span or event that is read; without the closing bracket */
        struct byte_buffer text;
        uint32_t clock, process, thread; /* process: 0 = not known yet; thread: the one that was found last */
        uint64_t thread_number, thread_name; /* thread_name: hash of it and the thread that has it */
        bool has_thread;                     /* it has a number */
        uint64_t n_beyond, n_unnamed;
};

/* The caller's storage.  Returns 0, or as import_rows. */
int otlp_spans_init(struct otlp_spans *s, struct import_rows *rows, struct error *err);
void otlp_spans_deinit(struct otlp_spans *s);

/* A resource begins: its attributes follow, then its spans. */
void otlp_spans_begin_resource(struct otlp_spans *s);

/* A span begins, or an event of it: its attributes follow. */
void otlp_spans_begin_span(struct otlp_spans *s);
void otlp_spans_begin_event(struct otlp_spans *s);

/*
 * An attribute with a simple value, as text or as a number: keeps it if it is one of the facts.
 * @facts:  of the resource or of the span; NULL = of an event
 */
void otlp_spans_note(struct otlp_facts *facts, struct text_view key, struct text_view text);
void otlp_spans_note_number(struct otlp_facts *facts, struct text_view key, int64_t number);

/*
 * Writes the key of an attribute into `attributes`; its value has to follow, then _end_attribute().
 * False: there is no room left, and it is counted.
 */
bool otlp_spans_begin_attribute(struct otlp_spans *s, struct text_view key, bool is_escaped,
                                size_t *ret_before);
void otlp_spans_end_attribute(struct otlp_spans *s, size_t before);

/* Adds a link as an element of JSON, after those that are there; beyond OTLP_TEXT_BYTES_MAX it is counted. */
void otlp_spans_add_link(struct otlp_spans *s, struct byte_buffer *links, const uint64_t trace[2],
                         uint64_t span);

/*
 * otlp_spans_put(), otlp_spans_put_event() - a span with its attributes, and then its events with theirs
 * @ret_why:  why it is malformed
 * Return 0, -EBADMSG: it is malformed, or as import_rows.
 */
int otlp_spans_put(struct otlp_spans *s, const struct otlp_span *span, const char **ret_why,
                   struct error *err);
int otlp_spans_put_event(struct otlp_spans *s, uint64_t time_ns, struct text_view name, struct error *err);

/* Says what was left out. */
void otlp_spans_finish(struct otlp_spans *s);

#endif /* IMPORT_OTLP_SPANS_H */
