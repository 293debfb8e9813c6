/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace events as JSON: zones, waits for locks, devices, messages, plots, frames, and arrows from
 * wakers.  Tracy can read them as well (tracy-import-chrome).
 *
 * Events with a single time are written in the order of the trace.  A zone is one event with a length, and
 * such events have to be sorted by their beginning, outermost first: each zone gets its place in an
 * event_spool when it begins, and its end when it ends.  Samples are not written: Perfetto ignores them here,
 * and speedscope would take the file for another format.  Memory: the spool's buffers, and the zones that are
 * open.
 */
#include "analyze/devices/device_keys.h"
#include "analyze/stats/flow_links.h"
#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "export/perfetto/chrome_parts.h"
#include "export/shared/event_spool.h"
#include "export/shared/export_format.h"
#include "export/shared/export_frames.h"
#include "export/shared/json_out.h"
#include "export/shared/lock_waits.h"
#include "export/shared/process_names.h"
#include "export/shared/wake_arrow.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_OF_US 3 /* nanoseconds as microseconds */

/* The spool has one chain of zones for each thread: thread - 1. */
struct chrome_zone {
        uint64_t begin_ns, end_ns;
        uint64_t words_offset; /* of its name and text in the chain of words, if any */
        int64_t value;         /* if has_value */
        uint32_t location;
        uint32_t has_value;
        uint32_t name_bytes; /* of the name that it has instead */
        uint32_t text_bytes;
        uint32_t lock;    /* not 0: a wait for this lock, not a zone */
        uint32_t is_over; /* if false, a wait is left out, and a zone is written as unclosed */
};

static uint32_t words_chain(const struct chrome_export *x)
{
        return x->names.n_threads;
}

void chrome_export_put_time(struct chrome_export *x, const char *key, uint64_t time_ns)
{
        json_out_key(&x->json, key);
        json_out_decimal(&x->json, time_ns, DIGITS_OF_US);
}

uint64_t chrome_export_since_start(const struct chrome_export *x, uint64_t time_ns)
{
        return time_ns > x->trace->start_ns ? time_ns - x->trace->start_ns : 0;
}

void chrome_export_begin_event(struct chrome_export *x, const char *phase, uint32_t thread)
{
        json_out_open(&x->json, '{');
        json_out_pair_words(&x->json, "ph", phase);
        json_out_pair_number(
                &x->json, "pid",
                process_names_pid_number(&x->names, process_names_process_of(&x->names, thread)));
        json_out_pair_number(&x->json, "tid", process_names_tid(&x->names, thread));
}

void chrome_export_end_event(struct chrome_export *x)
{
        json_out_close(&x->json, '}');
        json_out_line(&x->json);
}

/* ------------------------------------------------------------------ while walking */

static int begin_zone(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct chrome_export *x = context;
        struct chrome_thread *open = &x->threads[thread->id - 1];
        uint32_t depth = thread->timeline.n_open - 1;
        struct chrome_zone zone = {
                .begin_ns = event->time_ns,
                .end_ns = event->time_ns,
                .location = (uint32_t)event->zone_begin.location,
        };
        uint32_t n_keys;

        (void)device_keys_of_zone(&x->keys, thread->id, zone.begin_ns, zone.location, &n_keys);
        lock_waits_give_up(&x->lock_waits, thread->id);
        if (array_reserve(&open->offsets, &open->capacity, (size_t)depth + 1, sizeof(*open->offsets)) < 0)
                return error_set(err, -ENOMEM, "no memory for open zones");
        open->offsets[depth] = event_spool_bytes(&x->spool, thread->id - 1);
        return event_spool_add(&x->spool, thread->id - 1, &zone, sizeof(zone), err);
}

static int keep_words(struct chrome_export *x, const struct zone_words *words, struct chrome_zone *zone,
                      struct error *err)
{
        int r;

        zone->has_value = words->has_value;
        zone->value = words->value;
        zone->name_bytes = (uint32_t)words->name.used_bytes;
        zone->text_bytes = (uint32_t)words->text.used_bytes;
        zone->words_offset = event_spool_bytes(&x->spool, words_chain(x));
        r = event_spool_add(&x->spool, words_chain(x), words->name.data, words->name.used_bytes, err);
        if (r < 0)
                return r;
        return event_spool_add(&x->spool, words_chain(x), words->text.data, words->text.used_bytes, err);
}

static int end_zone(void *context, struct walked_thread *thread, const struct zone_instance *instance,
                    struct error *err)
{
        struct chrome_export *x = context;
        const struct zone_words *words = trace_walk_words(thread, instance);
        struct chrome_zone zone = {
                .begin_ns = instance->begin_ns,
                .end_ns = instance->begin_ns + zone_instance_duration_ns(instance),
                .location = instance->location,
                .is_over = instance->closed,
        };
        int r = words ? keep_words(x, words, &zone, err) : 0;

        if (r < 0)
                return r;
        lock_waits_give_up(&x->lock_waits, thread->id);
        x->totals->n_zones++;
        return event_spool_patch(&x->spool, thread->id - 1,
                                 x->threads[thread->id - 1].offsets[instance->depth], &zone, sizeof(zone),
                                 err);
}

static void write_instant(struct chrome_export *x, uint32_t thread, const struct trace_event *event,
                          const char *category, struct text_view name)
{
        chrome_export_begin_event(x, "i", thread);
        chrome_export_put_time(x, "ts", chrome_export_since_start(x, event->time_ns));
        json_out_pair_words(&x->json, "s", "t");
        json_out_pair_words(&x->json, "cat", category);
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        chrome_export_end_event(x);
}

/* Tracy takes the key in args as the plot's name; Perfetto shows the event's name and the key. */
static void write_plot(struct chrome_export *x, uint32_t thread, const struct trace_event *event)
{
        struct text_view name = trace_dictionary_text(x->trace->dictionary, (uint32_t)event->plot_i64.name);
        double real;

        chrome_export_begin_event(x, "C", thread);
        chrome_export_put_time(x, "ts", chrome_export_since_start(x, event->time_ns));
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        json_out_key(&x->json, "args");
        json_out_open(&x->json, '{');
        json_out_key_string(&x->json, name.bytes, name.n_bytes);
        if (event->op == TRACE_OP_PLOT_I64) {
                json_out_signed(&x->json, event->plot_i64.value);
        } else {
                memcpy(&real, &event->plot_f64.bits, sizeof(real));
                json_out_real(&x->json, real);
        }
        json_out_close(&x->json, '}');
        chrome_export_end_event(x);
}

static void write_frame(struct chrome_export *x, uint32_t thread, const struct trace_event *event)
{
        struct text_view name = trace_dictionary_text(x->trace->dictionary, (uint32_t)event->frame_mark.name);

        if (name.n_bytes == 0)
                name = (struct text_view){ .bytes = "frame", .n_bytes = 5 };
        write_instant(x, thread, event,
                      event->op == TRACE_OP_FRAME_BEGIN ? "frame begin"
                      : event->op == TRACE_OP_FRAME_END ? "frame end"
                                                        : "frame",
                      name);
}

/* A wait for a lock is placed by its beginning, like a zone; it is over when the thread has the lock. */
static int take_lock(struct chrome_export *x, const struct walked_thread *thread,
                     const struct trace_event *event, struct error *err)
{
        struct chrome_thread *mine = &x->threads[thread->id - 1];
        struct chrome_zone wait = {
                .begin_ns = event->time_ns,
                .end_ns = event->time_ns,
                .lock = (uint32_t)event->lock_wait.lock,
        };

        if (lock_waits_take(&x->lock_waits, thread->id, event, &wait.begin_ns)) {
                wait.is_over = true;
                return event_spool_patch(&x->spool, thread->id - 1, mine->wait_offset, &wait, sizeof(wait),
                                         err);
        }
        if (event->op != TRACE_OP_LOCK_WAIT)
                return 0;
        mine->wait_offset = event_spool_bytes(&x->spool, thread->id - 1);
        return event_spool_add(&x->spool, thread->id - 1, &wait, sizeof(wait), err);
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct chrome_export *x = context;

        switch (event->op) {
        case TRACE_OP_MESSAGE:
                write_instant(x, thread->id, event, "message",
                              trace_dictionary_text(x->trace->dictionary, (uint32_t)event->message.text));
                break;
        case TRACE_OP_MESSAGE_TEXT:
                write_instant(x, thread->id, event, "message",
                              (struct text_view){ .bytes = event->text,
                                                  .n_bytes = (size_t)event->message_text.text_bytes });
                break;
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
                write_plot(x, thread->id, event);
                break;
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
                write_frame(x, thread->id, event);
                break;
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_NAME:
                return take_lock(x, thread, event, err);
        default:
                break;
        }
        return x->json.code < 0 ? error_set(err, x->json.code, "writing failed") : 0;
}

/* ------------------------------------------------------------------ zones, a thread after the other */

/* Reads the name and text of a zone from the chain of words.  Returns 0 or -errno. */
static int read_words(struct spool_cursor *words, const struct chrome_zone *zone, struct text_view *ret_name,
                      struct text_view *ret_text, struct error *err)
{
        size_t n_bytes = (size_t)zone->name_bytes + zone->text_bytes;
        const void *at;
        int r;

        *ret_name = *ret_text = (struct text_view){ .bytes = NULL };
        if (n_bytes == 0)
                return 0;
        words->offset = zone->words_offset;
        r = spool_cursor_next(words, n_bytes, &at, err);
        if (r != 1)
                return r < 0 ? r : error_set(err, -EIO, "a temporary file became shorter");
        *ret_name = (struct text_view){ .bytes = at, .n_bytes = zone->name_bytes };
        *ret_text = (struct text_view){ .bytes = (const char *)at + zone->name_bytes,
                                        .n_bytes = zone->text_bytes };
        return 0;
}

void chrome_export_put_source(struct chrome_export *x, const struct trace_location *location)
{
        struct text_view file = trace_dictionary_text(x->trace->dictionary, location->file);
        struct byte_buffer source = { .data = NULL };
        char line[16];

        if (file.n_bytes == 0)
                return;
        (void)snprintf(line, sizeof(line), ":%" PRIu32, location->line);
        byte_buffer_add(&source, file.bytes, file.n_bytes);
        byte_buffer_add(&source, line, strlen(line));
        if (source.failed)
                x->json.code = -ENOMEM;
        json_out_pair_string(&x->json, "loc", (const char *)source.data, source.used_bytes);
        byte_buffer_deinit(&source);
}

/* Few arguments: speedscope makes them part of the zone's name. */
static void put_arguments(struct chrome_export *x, const struct chrome_zone *zone, struct text_view text)
{
        if (text.n_bytes == 0 && !zone->has_value && zone->is_over)
                return;
        json_out_key(&x->json, "args");
        json_out_open(&x->json, '{');
        if (text.n_bytes > 0)
                json_out_pair_string(&x->json, "text", text.bytes, text.n_bytes);
        if (zone->has_value) {
                json_out_key(&x->json, "value");
                json_out_signed(&x->json, zone->value);
        }
        if (!zone->is_over)
                json_out_pair_number(&x->json, "unclosed", 1);
        json_out_close(&x->json, '}');
}

void chrome_export_begin_slice(struct chrome_export *x, uint64_t begin_ns, uint64_t end_ns,
                               const char *category)
{
        chrome_export_put_time(x, "ts", chrome_export_since_start(x, begin_ns));
        chrome_export_put_time(x, "dur", end_ns - begin_ns);
        json_out_pair_words(&x->json, "cat", category);
}

/*
 * An event without a length, to which the phase of a flow is bound.  Perfetto and the Chromium DevTools bind
 * it to the event of the same thread, time and category.
 */
static void write_arrow_end(struct chrome_export *x, uint32_t thread, uint64_t time_ns,
                            enum wake_arrow_end end, uint32_t other)
{
        byte_buffer_clear(&x->name);
        wake_arrow_put_name(&x->name, x->trace, end, other);
        if (x->name.failed)
                x->json.code = -ENOMEM;
        chrome_export_begin_event(x, "X", thread);
        chrome_export_begin_slice(x, time_ns, time_ns, WAKE_ARROW_CATEGORY);
        json_out_pair_string(&x->json, "name", (const char *)x->name.data, x->name.used_bytes);
        chrome_export_end_event(x);
        chrome_export_begin_event(x, end == WAKE_ARROW_WAKER ? "s" : "f", thread);
        chrome_export_put_time(x, "ts", chrome_export_since_start(x, time_ns));
        json_out_pair_words(&x->json, "cat", WAKE_ARROW_CATEGORY);
        json_out_pair_words(&x->json, "name", WAKE_ARROW_CATEGORY);
        json_out_pair_number(&x->json, "id", x->totals->n_arrows);
        if (end == WAKE_ARROW_WOKEN)
                json_out_pair_words(&x->json, "bp", "e");
        chrome_export_end_event(x);
}

/* The end is not bound to a slice of the whole wait: Perfetto draws arrows to the slice that begins later. */
static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct chrome_export *x = context;

        if (!wake_arrow_is_wanted(wait, x->filter))
                return 0;
        x->totals->n_arrows++;
        write_arrow_end(x, wait->waker_thread, wait->woken_ns, WAKE_ARROW_WAKER, thread->id);
        write_arrow_end(x, thread->id, wait->in_ns, WAKE_ARROW_WOKEN, wait->waker_thread);
        return x->json.code < 0 ? error_set(err, x->json.code, "writing failed") : 0;
}

/* One of "keys": a member of its own, for speedscope makes arguments part of a zone's name. */
static void put_key(struct chrome_export *x, uint32_t space, uint64_t key)
{
        struct text_view kind = trace_dictionary_text(x->trace->dictionary, space);

        json_out_open(&x->json, '{');
        json_out_pair_id(&x->json, "key", key);
        if (kind.n_bytes != 0)
                json_out_pair_string(&x->json, "kind", kind.bytes, kind.n_bytes);
        json_out_close(&x->json, '}');
}

static void put_keys(struct chrome_export *x, uint32_t thread, const struct chrome_zone *zone)
{
        uint32_t n;
        const uint32_t *keys = device_keys_of_zone(&x->keys, thread, zone->begin_ns, zone->location, &n);

        if (n == 0)
                return;
        json_out_key(&x->json, "keys");
        json_out_open(&x->json, '[');
        for (uint32_t i = 0; i < n; i++)
                put_key(x, x->keys.zones[keys[i]].space, x->keys.zones[keys[i]].key);
        json_out_close(&x->json, ']');
}

static int write_zone(struct chrome_export *x, uint32_t thread, const struct chrome_zone *zone,
                      struct spool_cursor *words, struct error *err)
{
        const struct trace_location *location = trace_dictionary_row(x->trace->dictionary,
                                                                     TRACE_TABLE_LOCATIONS, zone->location);
        struct text_view name, text;
        int r = read_words(words, zone, &name, &text, err);

        if (r < 0)
                return r;
        if (name.n_bytes == 0)
                name = export_frames_zone_name(x->trace->dictionary, zone->location);
        chrome_export_begin_event(x, "X", thread);
        chrome_export_begin_slice(x, zone->begin_ns, zone->end_ns, "zone");
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        chrome_export_put_source(x, location);
        put_arguments(x, zone, text);
        put_keys(x, thread, zone);
        chrome_export_end_event(x);
        return x->json.code < 0 ? error_set(err, x->json.code, "writing failed") : 0;
}

static int write_wait(struct chrome_export *x, uint32_t thread, const struct chrome_zone *wait,
                      struct error *err)
{
        static const char prefix[] = "wait for ";
        struct text_view lock = lock_waits_name(&x->lock_waits, wait->lock);
        struct byte_buffer name = { .data = NULL };

        if (!wait->is_over)
                return 0;
        byte_buffer_add(&name, prefix, sizeof(prefix) - 1);
        byte_buffer_add(&name, lock.bytes, lock.n_bytes);
        if (name.failed)
                x->json.code = -ENOMEM;
        chrome_export_begin_event(x, "X", thread);
        chrome_export_begin_slice(x, wait->begin_ns, wait->end_ns, "lock");
        json_out_pair_string(&x->json, "name", (const char *)name.data, name.used_bytes);
        chrome_export_end_event(x);
        byte_buffer_deinit(&name);
        return x->json.code < 0 ? error_set(err, x->json.code, "writing failed") : 0;
}

static int write_zones(struct chrome_export *x, uint32_t thread, struct error *err)
{
        struct spool_cursor zones, words;
        const void *at;
        int r;

        spool_cursor_init(&zones, &x->spool, thread - 1);
        spool_cursor_init(&words, &x->spool, words_chain(x));
        while ((r = spool_cursor_next(&zones, sizeof(struct chrome_zone), &at, err)) == 1) {
                const struct chrome_zone *zone = at;

                r = zone->lock != 0 ? write_wait(x, thread, zone, err)
                                    : write_zone(x, thread, zone, &words, err);
                if (r < 0)
                        break;
        }
        spool_cursor_deinit(&zones);
        spool_cursor_deinit(&words);
        return r;
}

static void write_name(struct chrome_export *x, uint32_t thread, const char *what, struct text_view name)
{
        if (name.n_bytes == 0)
                return;
        chrome_export_begin_event(x, "M", thread);
        json_out_pair_words(&x->json, "name", what);
        json_out_key(&x->json, "args");
        json_out_open(&x->json, '{');
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        json_out_close(&x->json, '}');
        chrome_export_end_event(x);
}

static int write_threads(struct chrome_export *x, struct error *err)
{
        int r = 0;

        for (uint32_t i = 1; r >= 0 && i <= x->names.n_threads; i++) {
                if (!x->names.has_events[i - 1])
                        continue;
                if (process_names_is_main(&x->names, i))
                        write_name(x, i, "process_name",
                                   process_names_process(&x->names, process_names_process_of(&x->names, i)));
                write_name(x, i, "thread_name", process_names_thread(&x->names, i));
                r = write_zones(x, i, err);
        }
        return r < 0 ? r : 0;
}

/* ------------------------------------------------------------------ flows */

/* It is bound to the zone that is open there; outside of zones, to an event without a length. */
static void write_flow_phase(struct chrome_export *x, const struct flow_links *links,
                             const struct flow_point *point, uint64_t number)
{
        static const char *const phases[] = {
                [TRACE_FLOW_BEGIN] = "s", [TRACE_FLOW_STEP] = "t", [TRACE_FLOW_END] = "f"
        };
        struct text_view name = trace_dictionary_text(x->trace->dictionary, point->space);

        if (name.n_bytes == 0)
                name = (struct text_view){ .bytes = "flow", .n_bytes = 4 };
        if (flow_links_zone(links, point) == 0) {
                chrome_export_begin_event(x, "X", point->thread);
                chrome_export_begin_slice(x, point->time_ns, point->time_ns, "flow");
                json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
                chrome_export_end_event(x);
        }
        chrome_export_begin_event(x, phases[point->phase], point->thread);
        chrome_export_put_time(x, "ts", chrome_export_since_start(x, point->time_ns));
        json_out_pair_words(&x->json, "cat", "flow");
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        json_out_pair_id(&x->json, "id", number);
        json_out_pair_words(&x->json, "bp", "e");
        chrome_export_end_event(x);
}

static int take_link(void *context, const struct flow_links *links, const struct flow_link *link,
                     struct error *err)
{
        struct chrome_export *x = context;

        if (!flow_links_wants_whole(links, link))
                return 0;
        if (link->from.phase == TRACE_FLOW_BEGIN)
                write_flow_phase(x, links, &link->from, link->number);
        write_flow_phase(x, links, &link->to, link->number);
        return x->json.code < 0 ? error_set(err, x->json.code, "writing failed") : 0;
}

static int write_flows(struct chrome_export *x, struct error *err)
{
        struct flow_links links;
        int r;

        if (x->walk.n_events[TRACE_OP_FLOW] == 0)
                return 0;
        r = flow_links_take(&links, x->trace, x->filter, take_link, x, err);
        flow_links_deinit(&links);
        return r;
}

/*
 * Where 0 of the file is on clocks of the host, so that hyprof import can place it into a recording.  As an
 * event, which other tools pass over: some want no members around the events but those that they know.
 */
static void put_clocks(struct chrome_export *x)
{
        struct text_view clock = loaded_trace_meta(x->trace, "timeline_clock"); /* of an import */
        uint64_t realtime_ns = loaded_trace_meta_number(x->trace, "start_realtime_ns");

        json_out_open(&x->json, '{');
        json_out_pair_words(&x->json, "ph", "M");
        json_out_pair_number(&x->json, "pid", 0);
        json_out_pair_number(&x->json, "tid", 0);
        json_out_pair_words(&x->json, "name", "hyprof_clock");
        json_out_key(&x->json, "args");
        json_out_open(&x->json, '{');
        if (clock.n_bytes != 0)
                json_out_pair_string(&x->json, "clock", clock.bytes, clock.n_bytes);
        else
                json_out_pair_words(&x->json, "clock", "CLOCK_MONOTONIC_RAW");
        json_out_pair_id(&x->json, "start_ns", x->trace->start_ns);
        if (realtime_ns != 0)
                json_out_pair_id(&x->json, "start_realtime_ns", realtime_ns);
        json_out_close(&x->json, '}');
        chrome_export_end_event(x);
}

static int write_file(struct chrome_export *x, struct error *err)
{
        int r;

        json_out_open(&x->json, '{');
        json_out_pair_words(&x->json, "displayTimeUnit", "ns");
        json_out_key(&x->json, "traceEvents");
        json_out_open(&x->json, '[');
        json_out_line(&x->json);
        put_clocks(x);
        r = device_keys_take(&x->keys, x->trace, err);
        if (r == 0)
                r = loaded_trace_walk(x->trace, &x->walk, err);
        if (r < 0)
                return r;
        process_names_learn(&x->names, &x->walk);
        r = write_threads(x, err);
        if (r == 0)
                r = write_flows(x, err);
        if (r == 0)
                r = chrome_devices_write(x, err);
        json_out_close(&x->json, ']');
        json_out_close(&x->json, '}');
        json_out_line(&x->json);
        if (r == 0) {
                r = json_out_finish(&x->json);
                if (r < 0)
                        r = error_set(err, r, r == -ENOMEM ? "no memory to write" : "writing failed");
        }
        return r;
}

static int export_it(struct chrome_export *x, const struct export_options *options, FILE *out,
                     struct error *err)
{
        struct trace_sink sink = {
                .context = x,
                .begin_zone = begin_zone,
                .zone = end_zone,
                .event = take_event,
                .wait = options->no_waits ? NULL : take_wait,
                .wants_words = true,
                .may_skip = true,
                .devices_follow = true,
        };
        int r = process_names_init(&x->names, x->trace->dictionary);

        x->threads = calloc((size_t)x->names.n_threads + 1, sizeof(*x->threads));
        if (!x->threads)
                r = -ENOMEM;
        if (r != 0)
                goto done;
        r = lock_waits_init(&x->lock_waits, x->trace->dictionary);
        if (r != 0)
                goto done;
        r = json_out_init(&x->json, out);
        if (r != 0)
                goto done;
        r = trace_walk_init(&x->walk, x->trace, options->filter, &sink);

done:
        if (r < 0)
                return error_set(err, r, "no memory to read the trace");
        r = write_file(x, err);
        export_totals_leave_out(x->totals, &x->walk,
                                1U << EXPORT_LEFT_OUT_SAMPLES | 1U << EXPORT_LEFT_OUT_SWITCHES |
                                        1U << EXPORT_LEFT_OUT_MEMORY | 1U << EXPORT_LEFT_OUT_LOCKS);
        x->totals->left_out[EXPORT_LEFT_OUT_LOCKS] -= 2 * x->lock_waits.n_waits;
        return r;
}

int export_chrome(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                  struct export_totals *ret_totals, struct error *err)
{
        struct chrome_export x = { .trace = trace, .totals = ret_totals, .filter = options->filter };
        int r;

        *ret_totals = (struct export_totals){ .n_samples = 0 };
        event_spool_init(&x.spool);
        r = loaded_trace_read_names(trace, err);
        if (r == 0)
                r = export_it(&x, options, out, err);
        for (uint32_t i = 0; x.threads && i < x.names.n_threads; i++)
                free(x.threads[i].offsets);
        free(x.threads);
        trace_walk_deinit(&x.walk);
        json_out_deinit(&x.json);
        byte_buffer_deinit(&x.name);
        process_names_deinit(&x.names);
        lock_waits_deinit(&x.lock_waits);
        device_keys_deinit(&x.keys);
        event_spool_deinit(&x.spool);
        return r;
}
