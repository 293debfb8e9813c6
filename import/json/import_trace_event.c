/* SPDX-License-Identifier: MIT */
#include "import/json/import_trace_event.h"

#include "base/content_hash.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/json_rows.h"
#include "import/file/wide_scan.h"
#include "import/json/trace_event_devices.h"
#include "import/json/trace_event_flows.h"
#include "import/json/trace_event_head.h"
#include "import/json/trace_event_number.h"
#include "import/json/trace_event_row.h"
#include "import/json/trace_event_tracks.h"
#include "import/rows/import_rows.h"
#include "import/rows/import_slices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_BYTES_MAX 4096 /* of a span's arguments; the rest is cut off */
#define CHAIN_BYTES    (4 * TRACE_EVENT_ID_BYTES)
#define N_PHASES       128
/* The year 2001: PyTorch's times without a base are since 1970. */
#define REALTIME_LEAST_NS UINT64_C(1000000000000000000)
/* Added to all times of a file that has some before 0. */
#define NEGATIVE_SHIFT (INT64_C(1) << 60)

struct reader {
        struct import_rows *rows;
        struct json_rows json;
        struct trace_event_row row; /* of the event */
        struct json_shape shape;    /* of the one before */
        struct trace_event_head head;
        struct trace_event_clock clock;
        struct trace_event_tracks tracks;
        struct trace_event_devices devices;
        struct import_slices slices;
        struct trace_event_flows flows;
        struct byte_buffer room;
        uint32_t clock_id, correlation, flow_kind, nanoseconds; /* strings but the first */
        struct byte_buffer flow_category;                       /* of `flow_kind` */
        int64_t shift_ns;                                       /* ticks are times and this */
        uint64_t some_ticks;                                    /* of an event */
        bool has_ticks;
        uint64_t n_phases[N_PHASES]; /* left out, by phase */
        uint64_t n_samples, n_long_args, n_sort_indexes, n_system;
};

/* Takes one event.  Returns 0, -errno with words, or -EBADMSG and -E2BIG: it is malformed. */
struct event {
        const struct trace_event_row *row;
        char phase;
        int64_t ns;
        uint64_t ticks;
        const char *why; /* why it is malformed */
};

/* ------------------------------------------------------------------ parts of an event */

static int refuse(struct event *event, const char *why)
{
        event->why = why;
        return -EBADMSG;
}

static int add_string(struct reader *r, struct json_value value, uint32_t *ret_id, struct error *err)
{
        struct text_view text;

        *ret_id = 0;
        if (value.kind != JSON_STRING || value.text.n_bytes == 0)
                return 0;
        if (json_pull_string(value.text, &r->room, &text) < 0)
                return error_set(err, -ENOMEM, "no memory for a text");
        return import_rows_string(r->rows, text, ret_id, err);
}

/* The arguments as the file has them; none if they are empty. */
static int add_args(struct reader *r, struct json_value args, uint32_t *ret_id, struct error *err)
{
        struct text_view text = args.text;

        *ret_id = 0;
        if (!text.bytes || args.kind == JSON_WORD || json_pull_is_empty(args))
                return 0;
        if (text.n_bytes > ARGS_BYTES_MAX) {
                r->n_long_args++;
                text.n_bytes = ARGS_BYTES_MAX;
        }
        return import_rows_text(r->rows, text, ret_id, err);
}

static bool find_ticks(struct reader *r, int64_t ns, uint64_t *ret_ticks)
{
        int64_t ticks;

        if (__builtin_add_overflow(ns, r->shift_ns, &ticks) || ticks < 0)
                return false;
        *ret_ticks = (uint64_t)ticks;
        return true;
}

/* "file.c:12", as hyprof exports it. */
static int add_location(struct reader *r, struct json_value value, struct import_span *span,
                        struct error *err)
{
        struct text_view text = value.text;
        const char *colon;
        uint64_t line;

        if (value.kind != JSON_STRING || text.n_bytes == 0)
                return 0;
        colon = memrchr(text.bytes, ':', text.n_bytes);
        if (colon &&
            json_pull_unsigned(
                    (struct text_view){ colon + 1, (size_t)(text.bytes + text.n_bytes - colon - 1) },
                    &line) &&
            line <= UINT32_MAX) {
                span->line = (uint32_t)line;
                value.text.n_bytes = (size_t)(colon - text.bytes);
        }
        return add_string(r, value, &span->file, err);
}

/* hyprof's keys of a zone. */
static int add_own_keys(struct reader *r, struct json_value keys, struct import_key *key, struct error *err)
{
        static const struct json_value no_kind = { .kind = JSON_STRING, .text = { "key", 3 } };
        struct json_pull p = json_pull_inside(keys);
        struct json_value one, kind, number;

        if (keys.kind != JSON_ARRAY || !keys.text.bytes)
                return 0;
        while (json_pull_next(&p, &one) == 1) {
                struct import_key found = { .kind = 0 };
                int e;

                if (one.kind != JSON_OBJECT || json_pull_find(one, "key", &number) != 1 ||
                    !json_pull_unsigned(number.text, &found.value))
                        continue;
                if (json_pull_find(one, "kind", &kind) != 1 || kind.kind != JSON_STRING)
                        kind = no_kind;
                e = add_string(r, kind, &found.kind, err);
                if (e == 0)
                        e = import_rows_add_key(r->rows, key, found, err);
                if (e < 0)
                        return e;
        }
        return 0;
}

/* Work of a device has a text of its own; other spans have all arguments. */
static int add_device_text(struct reader *r, struct json_value args, struct import_span *span,
                           struct error *err)
{
        struct json_value text;

        return json_pull_find(args, "text", &text) == 1 ? add_string(r, text, &span->text, err) : 0;
}

/* The lane, text and key of the work of a device, which hyprof writes among the arguments. */
static int add_device_parts(struct reader *r, struct event *event, struct import_span *span,
                            struct error *err)
{
        struct json_value number, kind = { .kind = JSON_STRING, .text = { "key", 3 } }, lane;
        int e = -EBADMSG;

        if (json_pull_find(event->row->args, "lane", &lane) == 1)
                e = trace_event_devices_lane(&r->devices, event->row, lane, &span->track, err);
        if (e == -EBADMSG)
                return refuse(event, "work of a device without a lane");
        if (e == 0)
                e = add_device_text(r, event->row->args, span, err);
        if (e < 0 || json_pull_find(event->row->args, "key", &number) != 1 ||
            !json_pull_unsigned(number.text, &span->key.value))
                return e;
        (void)json_pull_find(event->row->args, "key_kind", &kind);
        return add_string(r, kind, &span->key.kind, err);
}

/* Whether a text has @word, after a quote. */
static bool has_key(struct text_view text, const char *word)
{
        const char *at = text.bytes, *end = at + text.n_bytes;
        size_t n = strlen(word);

        while ((at = wide_scan_pair(at, end, '"', word[0])) && (size_t)(end - at) > n) {
                if (memcmp(at + 1, word, n) == 0)
                        return true;
                at++;
        }
        return false;
}

/* PyTorch's number of a host call and of what it started on a device. */
static int add_correlation(struct reader *r, struct json_value args, struct import_key *key,
                           struct error *err)
{
        static const char word[] = "correlation";
        struct json_value value;
        uint64_t number;

        if (r->head.writer != TRACE_EVENT_KINETO || !args.text.bytes)
                return 0;
        /* Most arguments have none: looking for the word takes less than reading their members. */
        if (!has_key(args.text, word) || json_pull_find(args, word, &value) != 1 ||
            !json_pull_unsigned(value.text, &number) || number == 0)
                return 0;
        if (!r->correlation) {
                int e = import_rows_string(r->rows, (struct text_view){ word, strlen(word) }, &r->correlation,
                                           err);

                if (e < 0)
                        return e;
        }
        *key = (struct import_key){ .kind = r->correlation, .value = number };
        return 0;
}

/* ------------------------------------------------------------------ X, B, E, i */

/* clang's sums of all spans of a name: each a thread of its own, from 0 on. */
static bool is_sum(const struct trace_event_row *row)
{
        struct json_value value;

        return text_view_begins_with(row->name.text, "Total ") &&
               json_pull_find(row->args, "count", &value) == 1 &&
               json_pull_find(row->args, "avg ms", &value) == 1;
}

static int take_sum(struct reader *r, struct event *event, int64_t duration_ns, struct error *err)
{
        struct import_value value = { .kind = IMPORT_VALUE_UNSIGNED,
                                      .time = event->ticks,
                                      .bits = (uint64_t)duration_ns };
        int e = trace_event_tracks_process(&r->tracks, event->row, &value.track, err);

        if (e == 0 && !r->nanoseconds)
                e = import_rows_string(r->rows, (struct text_view){ "ns", 2 }, &r->nanoseconds, err);
        value.unit = r->nanoseconds;
        if (e == 0)
                e = add_string(r, event->row->name, &value.name, err);
        return e < 0 ? e : import_rows_value(r->rows, &value, err);
}

static int take_whole(struct reader *r, struct event *event, struct error *err)
{
        struct import_span span = { .begin = event->ticks };
        int64_t duration_ns, end_ns;
        int e;

        if (!trace_event_row_ns(event->row->duration, &duration_ns))
                return refuse(event, "an X event without a duration");
        if (duration_ns < 0)
                return refuse(event, "a duration below 0");
        if (__builtin_add_overflow(event->ns, duration_ns, &end_ns) || !find_ticks(r, end_ns, &span.end))
                return refuse(event, "a time out of range");
        if (is_sum(event->row))
                return take_sum(r, event, duration_ns, err);
        if (trace_event_devices_has(&r->devices, event->row)) {
                e = add_device_parts(r, event, &span, err);
        } else {
                e = trace_event_tracks_thread(&r->tracks, event->row, &span.track, err);
                if (e == 0)
                        e = add_args(r, event->row->args, &span.text, err);
                if (e == 0)
                        e = add_own_keys(r, event->row->keys, &span.key, err);
        }
        if (e == 0)
                e = add_string(r, event->row->name, &span.name, err);
        if (e == 0)
                e = add_location(r, event->row->location, &span, err);
        if (e == 0)
                e = add_correlation(r, event->row->args, &span.key, err);
        return e < 0 ? e : import_rows_span(r->rows, &span, err);
}

static int take_half(struct reader *r, struct event *event, uint64_t lane, uint32_t track, struct error *err)
{
        bool is_end = strchr("EeF", event->phase) != NULL;
        struct import_span half = { .track = track, .begin = event->ticks };
        int e = add_string(r, event->row->name, &half.name, err);

        if (e == 0)
                e = add_args(r, event->row->args, &half.text, err);
        if (e < 0)
                return e;
        return is_end ? import_slices_end(&r->slices, lane, &half, err)
                      : import_slices_begin(&r->slices, lane, &half, err);
}

static int take_begin_or_end(struct reader *r, struct event *event, struct error *err)
{
        uint32_t track;
        int e = trace_event_tracks_thread(&r->tracks, event->row, &track, err);

        return e < 0 ? e : take_half(r, event, track, track, err);
}

static int take_instant(struct reader *r, struct event *event, uint32_t track, struct import_key key,
                        struct error *err)
{
        struct import_instant instant = { .track = track,
                                          .flow = trace_event_flows_phase(event->phase),
                                          .time = event->ticks,
                                          .key = key };
        int e = add_string(r, event->row->name, &instant.name, err);

        if (e == 0)
                e = add_args(r, event->row->args, &instant.text, err);
        return e < 0 ? e : import_rows_instant(r->rows, &instant, err);
}

static int take_device_mark(struct reader *r, struct event *event, struct error *err)
{
        struct import_span span = { .track = 0 };
        struct import_instant instant = { .time = event->ticks };
        int e = add_device_parts(r, event, &span, err);

        if (e == 0)
                e = add_string(r, event->row->name, &instant.name, err);
        instant.track = span.track;
        instant.text = span.text;
        instant.key = span.key;
        return e < 0 ? e : import_rows_instant(r->rows, &instant, err);
}

static int take_mark(struct reader *r, struct event *event, struct error *err)
{
        uint32_t track;
        int e;

        if (trace_event_devices_has(&r->devices, event->row))
                return take_device_mark(r, event, err);
        e = trace_event_tracks_thread(&r->tracks, event->row, &track, err);

        return e < 0 ? e : take_instant(r, event, track, (struct import_key){ .kind = 0 }, err);
}

/* ------------------------------------------------------------------ asynchronous work, flows */

/* The parts that events of a chain have in common. */
struct chain {
        char bytes[CHAIN_BYTES + 8];
        size_t n_bytes;
        struct text_view id;
};

static int add_to_chain(struct chain *chain, struct json_value value)
{
        int n = trace_event_row_id(value, chain->bytes + chain->n_bytes, TRACE_EVENT_ID_BYTES);

        if (n < 0)
                return n;
        chain->id = (struct text_view){ chain->bytes + chain->n_bytes, (size_t)n };
        chain->n_bytes += (size_t)n;
        chain->bytes[chain->n_bytes++] = '\0';
        return 0;
}

/* Category and id; where the id is of one process only, that as well.  Returns as take_..(). */
static int read_chain(struct event *event, bool has_scope, struct chain *ret_chain)
{
        struct json_value id = event->row->id, ignored = { .kind = JSON_WORD };
        bool is_local = !id.text.bytes && json_pull_find(event->row->id2, "local", &id) == 1;
        int e;

        ret_chain->n_bytes = 0;
        if (!id.text.bytes && json_pull_find(event->row->id2, "global", &id) != 1)
                return refuse(event, "an event of a chain without an id");
        e = add_to_chain(ret_chain, is_local ? event->row->process : ignored);
        if (e == 0 && has_scope)
                e = add_to_chain(ret_chain, event->row->scope);
        if (e == 0)
                e = add_to_chain(ret_chain, event->row->category);
        return e < 0 ? e : add_to_chain(ret_chain, id);
}

static int take_async(struct reader *r, struct event *event, struct error *err)
{
        struct chain chain;
        uint32_t track;
        int e = read_chain(event, true, &chain);

        if (e == 0)
                e = trace_event_tracks_async(&r->tracks, event->row, &track, err);
        if (e < 0)
                return e;
        if (strchr("nTp", event->phase))
                return take_instant(r, event, track, (struct import_key){ .kind = 0 }, err);
        /* Lanes of threads have the numbers of their tracks. */
        return take_half(r, event, content_hash(chain.bytes, chain.n_bytes) | UINT64_C(1) << 63, track, err);
}

/* "flow" and the category, unless that says it: the kind of the key that both ends have. */
static int find_flow_kind(struct reader *r, struct text_view category, struct error *err)
{
        struct text_view known = { (const char *)r->flow_category.data, r->flow_category.used_bytes };

        if (r->flow_kind && text_view_equal(known, category))
                return 0;
        byte_buffer_clear(&r->flow_category);
        byte_buffer_add(&r->flow_category, category.bytes, category.n_bytes);
        byte_buffer_clear(&r->room);
        if (!text_view_is(category, "flow"))
                byte_buffer_add(&r->room, "flow ", category.n_bytes ? 5 : 4);
        byte_buffer_add(&r->room, category.bytes, category.n_bytes);
        if (r->room.failed || r->flow_category.failed)
                return error_set(err, -ENOMEM, "no memory for a text");
        return import_rows_string(r->rows,
                                  (struct text_view){ (const char *)r->room.data, r->room.used_bytes },
                                  &r->flow_kind, err);
}

/* An end of a flow is an instant within the span that it belongs to. */
static int take_flow(struct reader *r, struct event *event, struct error *err)
{
        struct text_view category = event->row->category.text;
        struct import_key key;
        struct chain chain;
        uint32_t track;
        int e = read_chain(event, false, &chain);

        if (e < 0)
                return e;
        if (trace_event_flows_add(&r->flows, content_hash(chain.bytes, chain.n_bytes), event->phase) < 0)
                return error_set(err, -ENOMEM, "no memory for flows");
        /* The correlation of PyTorch's spans says the same, and so do the keys of hyprof's. */
        if (r->correlation && text_view_is(category, "ac2g"))
                return 0;
        if (r->devices.ids.n_items != 0 && text_view_is(category, "device") &&
            text_view_is(event->row->name.text, "key"))
                return 0;
        e = trace_event_tracks_thread(&r->tracks, event->row, &track, err);
        if (e == 0)
                e = find_flow_kind(r, category, err);
        if (e < 0)
                return e;
        key.kind = r->flow_kind;
        if (!json_pull_unsigned(chain.id, &key.value))
                key.value = content_hash(chain.bytes, chain.n_bytes);
        return take_instant(r, event, track, key, err);
}

/* ------------------------------------------------------------------ counters */

/* "memory", "memory.used", "memory[7].used". */
static int name_counter(struct reader *r, const struct trace_event_row *row, struct text_view key,
                        uint32_t *ret_name, struct error *err)
{
        struct byte_buffer b = { .data = NULL };
        struct text_view name, id = row->id.text;
        int e = json_pull_string(row->name.text, &r->room, &name);

        byte_buffer_add(&b, name.bytes, e == 0 ? name.n_bytes : 0);
        if (id.bytes)
                byte_buffer_add_format(
                        &b, "[%.*s]",
                        (int)(id.n_bytes < TRACE_EVENT_ID_BYTES ? id.n_bytes : TRACE_EVENT_ID_BYTES),
                        id.bytes);
        if (e == 0)
                e = json_pull_string(key, &r->room, &key);
        if (e == 0 && !text_view_equal(key, row->name.text)) {
                byte_buffer_add(&b, ".", b.used_bytes > 0);
                byte_buffer_add(&b, key.bytes, key.n_bytes);
        }
        if (e < 0 || b.failed)
                e = error_set(err, -ENOMEM, "no memory for a text");
        else
                e = import_rows_string(r->rows, (struct text_view){ (const char *)b.data, b.used_bytes },
                                       ret_name, err);
        byte_buffer_deinit(&b);
        return e;
}

static int take_counter(struct reader *r, struct event *event, struct error *err)
{
        struct json_pull p = json_pull_inside(event->row->args);
        struct import_value value = { .time = event->ticks };
        struct trace_event_row named = *event->row; /* the members that are in the counter's name */
        struct json_value number;
        struct text_view key;
        bool is_bad = event->row->args.kind != JSON_OBJECT || !event->row->args.text.bytes;
        int e, n;

        if (trace_event_devices_has(&r->devices, event->row)) {
                e = trace_event_devices_counter(&r->devices, event->row, &value, err);
                named.id.text.bytes = NULL;
                if (e == -EBADMSG)
                        return refuse(event, "a value of a device without a lane");
        } else {
                e = trace_event_tracks_process(&r->tracks, event->row, &value.track, err);
        }
        while (e == 0 && (n = json_pull_member(&p, &key, &number)) != 0) {
                if (n < 0 || !trace_event_number_read(number, &value)) {
                        is_bad = true;
                        continue;
                }
                e = name_counter(r, &named, key, &value.name, err);
                if (e == 0)
                        e = import_rows_value(r->rows, &value, err);
        }
        return e < 0 ? e : is_bad ? refuse(event, "a counter without a number") : 0;
}

/* ------------------------------------------------------------------ names */

static int take_metadata(struct reader *r, struct event *event, struct error *err)
{
        static const struct {
                const char *name, *arg;
                enum trace_event_name what;
        } names[] = {
                { "process_name", "name", TRACE_EVENT_PROCESS_NAME },
                { "process_labels", "labels", TRACE_EVENT_PROCESS_LABELS },
                { "thread_name", "name", TRACE_EVENT_THREAD_NAME },
        };
        struct text_view name = event->row->name.text;
        struct json_value value;
        int e;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                if (!text_view_is(name, names[i].name))
                        continue;
                if (json_pull_find(event->row->args, names[i].arg, &value) != 1 || value.kind != JSON_STRING)
                        return refuse(event, "a name that is no text");
                return trace_event_tracks_name(&r->tracks, event->row, names[i].what, value.text, err);
        }
        if (text_view_is(name, "hyprof_clock")) {
                trace_event_clock_take_own(&r->clock, event->row->args);
                return 0;
        }
        e = trace_event_devices_describe(&r->devices, event->row, err);
        if (e == -EBADMSG)
                return refuse(event, "a lane of a device that is not described");
        if (e != 0)
                return e < 0 ? e : 0;
        if (text_view_is(name, "process_sort_index") || text_view_is(name, "thread_sort_index"))
                r->n_sort_indexes++;
        else
                r->n_phases['M']++;
        return 0;
}

/* ------------------------------------------------------------------ rows */

static int take_timed(struct reader *r, struct event *event, struct error *err)
{
        if (!trace_event_row_ns(event->row->time, &event->ns))
                return refuse(event, "an event without a time");
        if (!find_ticks(r, event->ns, &event->ticks))
                return refuse(event, "a time out of range");
        if (!r->has_ticks)
                r->some_ticks = event->ticks;
        r->has_ticks = true;
        switch (event->phase) {
        case 'X':
                return take_whole(r, event, err);
        case 'B':
        case 'E':
                return take_begin_or_end(r, event, err);
        case 'i':
        case 'I':
        case 'R':
                return take_mark(r, event, err);
        case 'C':
                return take_counter(r, event, err);
        case 's':
        case 't':
        case 'f':
                return take_flow(r, event, err);
        default:
                return take_async(r, event, err);
        }
}

static int take_phase(struct reader *r, struct event *event, const struct json_row *row, struct error *err)
{
        struct text_view phase;

        if (!row->is_read && trace_event_row_read(row->value, &r->row) < 0)
                return refuse(event, "no object");
        phase = event->row->phase.text;
        if (event->row->phase.kind != JSON_STRING || phase.n_bytes != 1 || *phase.bytes < '!' ||
            *phase.bytes > '~')
                return refuse(event, "an event without a phase");
        event->phase = *phase.bytes;
        if (event->phase == 'M')
                return take_metadata(r, event, err);
        if (event->phase == 'X' || strchr("BEiIRCstfbneSTpF", event->phase))
                return take_timed(r, event, err);
        r->n_phases[(unsigned char)event->phase]++;
        return 0;
}

static int take_event(struct reader *r, const struct json_row *row, struct error *err)
{
        struct event event = { .row = &r->row, .why = row->bad };
        int e;

        import_rows_count_row(r->rows);
        e = row->bad ? -EBADMSG : take_phase(r, &event, row, err);
        if (e == -E2BIG)
                event.why = "an id that is too long, or one too many";
        if (event.why && (e == -EBADMSG || e == -E2BIG)) {
                import_rows_malformed(r->rows, json_rows_line(&r->json), event.why);
                return 0;
        }
        return e;
}

/* The members around the events. */
static void take_other(struct reader *r, const struct json_row *row)
{
        struct json_value id;

        if (row->bad) {
                import_rows_malformed(r->rows, json_rows_line(&r->json), row->bad);
                return;
        }
        if (text_view_is(row->member, "deviceProperties")) {
                if (json_pull_find(row->value, "id", &id) == 1)
                        (void)trace_event_tracks_add_device(&r->tracks, id, NULL);
        } else if (text_view_is(row->member, "samples")) {
                r->n_samples++;
        } else if (text_view_is(row->member, "systemTraceEvents")) {
                r->n_system++;
        } else {
                trace_event_clock_take(&r->clock, row->member, row->value);
        }
}

/* An element of a bare array, or of "traceEvents"; what stands outside of all is a bad event. */
static bool is_event(const struct json_row *row)
{
        return row->is_element ? row->member.n_bytes == 0 || text_view_is(row->member, "traceEvents")
                               : row->member.n_bytes == 0;
}

static int take_rows(struct reader *r, struct error *err)
{
        struct json_row row;
        int e;

        while ((e = json_rows_next(&r->json, &row, err)) == 1) {
                if (is_event(&row))
                        e = take_event(r, &row, err);
                else
                        take_other(r, &row);
                if (e < 0)
                        return e;
        }
        return e;
}

/* ------------------------------------------------------------------ the end */

/* hyprof's export says where its zero is. */
static int place_own_clock(struct reader *r, struct error *err)
{
        struct import_reading reading = { .clock = r->clock_id,
                                          .host = r->clock.own,
                                          .ticks = (uint64_t)r->shift_ns,
                                          .host_begin = r->clock.own_ns,
                                          .host_end = r->clock.own_ns };
        int e = import_rows_reading(r->rows, &reading, err);

        if (e < 0 || r->clock.own_realtime_ns == 0 || r->clock.own == IMPORT_CLOCK_REALTIME)
                return e;
        reading.host = IMPORT_CLOCK_REALTIME;
        reading.host_begin = reading.host_end = r->clock.own_realtime_ns;
        return import_rows_reading(r->rows, &reading, err);
}

/* Where the zero of the file's times is on a clock of the host: a reading at one of its events. */
static int place_clock(struct reader *r, struct error *err)
{
        bool is_absolute = r->head.writer == TRACE_EVENT_KINETO && r->has_ticks &&
                           r->some_ticks >= REALTIME_LEAST_NS;
        bool is_monotonic = r->clock.is_monotonic || r->head.writer == TRACE_EVENT_NODE;
        struct import_reading reading = { .clock = r->clock_id, .ticks = r->some_ticks };
        int64_t host_ns;

        if (!r->has_ticks)
                return 0;
        if (r->clock.own != IMPORT_CLOCK_UNKNOWN)
                return place_own_clock(r, err);
        if (r->clock.has_base || r->clock.has_beginning || is_absolute)
                reading.host = IMPORT_CLOCK_REALTIME;
        else if (is_monotonic)
                reading.host = IMPORT_CLOCK_MONOTONIC;
        else
                return 0;
        if (__builtin_sub_overflow((int64_t)r->some_ticks, r->shift_ns, &host_ns) ||
            __builtin_add_overflow(host_ns, r->clock.base_ns, &host_ns) || host_ns < 0)
                return 0;
        reading.host_begin = reading.host_end = (uint64_t)host_ns;
        return import_rows_reading(r->rows, &reading, err);
}

static void count_left_out(struct reader *r)
{
        const struct {
                const char *kind;
                uint64_t n;
        } counts[] = {
                { "samples", r->n_samples },
                { "sort index", r->n_sort_indexes },
                { "system's trace", r->n_system },
                { "arguments beyond 4 KiB", r->n_long_args },
                { "bound of a device's clock", r->devices.n_no_bound },
        };

        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
                if (counts[i].n)
                        import_rows_left_out(r->rows, counts[i].kind, counts[i].n);
        for (unsigned i = 0; i < N_PHASES; i++) {
                char phase[2] = { (char)i, '\0' };

                if (r->n_phases[i])
                        import_rows_left_out(r->rows, phase, r->n_phases[i]);
        }
        trace_event_flows_finish(&r->flows, r->rows);
        if (r->json.is_cut)
                import_rows_cut(r->rows, json_rows_line(&r->json));
}

static int read_open(void *of, struct json_pull *p)
{
        struct reader *r = of;

        return trace_event_row_read_open(p, &r->shape, &r->row);
}

static int begin(struct reader *r, struct error *err)
{
        struct import_clock clock = { .kind = IMPORT_CLOCK_OWN,
                                      .period_ns = 1,
                                      .name = { "times of the file", strlen("times of the file") } };
        struct text_view head;
        int e = import_source_head(r->json.source, &head, err);

        if (e < 0)
                return e;
        r->json.read_open = read_open;
        r->json.of = r;
        trace_event_head_read(head, &r->head);
        r->shift_ns = r->head.least_ns < 0 ? NEGATIVE_SHIFT : 0;
        e = import_rows_file(r->rows, "trace-event", r->head.version, err);
        if (e == 0)
                e = import_rows_clock(r->rows, &clock, &r->clock_id, err);
        trace_event_tracks_init(&r->tracks, r->rows, r->clock_id);
        trace_event_devices_init(&r->devices, r->rows, &r->tracks, r->clock_id);
        r->tracks.may_have_devices = r->head.writer == TRACE_EVENT_KINETO;
        return e;
}

int import_trace_event_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        struct reader r = { .rows = rows };
        int e;

        json_rows_init(&r.json, source);
        import_slices_init(&r.slices, rows);
        trace_event_flows_init(&r.flows);
        e = begin(&r, err);
        if (e == 0)
                e = take_rows(&r, err);
        if (e == 0)
                e = import_slices_finish(&r.slices, err);
        if (e == 0)
                e = trace_event_tracks_finish(&r.tracks, err);
        if (e == 0)
                e = place_clock(&r, err);
        if (e == 0)
                count_left_out(&r);
        json_rows_deinit(&r.json);
        trace_event_devices_deinit(&r.devices);
        trace_event_tracks_deinit(&r.tracks);
        import_slices_deinit(&r.slices);
        trace_event_flows_deinit(&r.flows);
        byte_buffer_deinit(&r.room);
        byte_buffer_deinit(&r.flow_category);
        return e;
}

/* ------------------------------------------------------------------ recognising */

bool import_trace_event_recognise(struct text_view head)
{
        struct trace_event_head read;

        trace_event_head_read(head, &read);
        return read.is_trace_event;
}
