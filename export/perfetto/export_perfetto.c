/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's own trace format: packets, written in the order of the trace's events.  Readers of the format
 * sort packets by time; only packets that depend on each other (the begin and end of a zone) must be in
 * order within one sequence, so each thread has its own sequence.  Samples of the chosen event are
 * PerfSamples, which every version knows; other events, waits and allocations are StackSamples, each kind
 * with a flame graph of its own.
 */
#include "analyze/devices/device_keys.h"
#include "analyze/devices/device_tracks.h"
#include "analyze/stats/flow_links.h"
#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "base/saturating.h"
#include "base/text_view.h"
#include "export/perfetto/perfetto_fields.h"
#include "export/perfetto/perfetto_parts.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"
#include "export/shared/export_frames.h"
#include "export/shared/lock_waits.h"
#include "export/shared/protobuf_writer.h"
#include "export/shared/wake_arrow.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The reason why a thread waits now. */
struct perfetto_export {
        struct loaded_trace *trace;
        const struct export_options *options;
        struct trace_walk walk;
        struct perfetto_packets packets;
        struct perfetto_tracks tracks;
        struct perfetto_samples samples;
        struct export_totals totals;
        struct event_callstack callstack;
        struct lock_waits lock_waits;
        struct device_keys keys;
};

/* Flows of keys, and those that a program says: those of wake-ups have small numbers. */
#define FIRST_KEY_FLOW  (UINT64_C(1) << 63)
#define FIRST_SAID_FLOW (UINT64_C(1) << 62)

static int complain_of(int r, struct error *err)
{
        if (r == -ENOMEM || r == -EOVERFLOW)
                return error_set(err, r, "the export: not enough memory");
        return r < 0 ? error_set(err, r, "the output cannot be written") : 0;
}

/* ---- zones --------------------------------------------------------------------------------------------- */

static void annotate_string(const struct perfetto_export *e, struct byte_buffer *b, const char *name,
                            uint32_t string)
{
        struct text_view text = trace_dictionary_text(e->trace->dictionary, string);

        if (text.n_bytes != 0)
                perfetto_packets_annotate_text(b, name, text.bytes, text.n_bytes);
}

/* From here arrows go to the work that devices did for the zone.  hyprof import reads the keys. */
static void put_flows(struct perfetto_export *e, struct byte_buffer *b, const struct walked_thread *thread,
                      const struct trace_event *begin)
{
        uint32_t n, location = (uint32_t)begin->zone_begin.location;
        const uint32_t *keys = device_keys_of_zone(&e->keys, thread->id, begin->time_ns, location, &n);

        for (uint32_t i = 0; i < n; i++)
                protobuf_writer_put_fixed64(b, PERFETTO_EVENT_FLOW, FIRST_KEY_FLOW + keys[i]);
        for (uint32_t i = 0; i < n; i++) {
                perfetto_packets_annotate_number(b, "hyprof_key", (int64_t)e->keys.zones[keys[i]].key);
                annotate_string(e, b, "hyprof_key_kind", e->keys.zones[keys[i]].space);
        }
}

static int begin_zone(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct perfetto_export *e = context;
        uint32_t location = (uint32_t)event->zone_begin.location;
        struct byte_buffer *b;
        size_t message;
        int r = perfetto_tracks_thread(&e->tracks, thread->id);

        if (r < 0)
                return complain_of(r, err);
        e->totals.n_zones++;
        b = perfetto_packets_begin(&e->packets, perfetto_tracks_sequence(thread->id), event->time_ns);
        r = perfetto_tracks_put_zone(&e->tracks, b, thread->id, location);
        if (r < 0)
                return complain_of(r, err);
        message = perfetto_packets_begin_event(b, PERFETTO_TYPE_BEGIN);
        protobuf_writer_put_number(b, PERFETTO_EVENT_NAME_IID, location);
        protobuf_writer_put_number(b, PERFETTO_EVENT_LOCATION_IID, location);
        put_flows(e, b, thread, event);
        protobuf_writer_end(b, message);
        return complain_of(perfetto_packets_end(&e->packets), err);
}

/* A zone's texts are known only at its end, and Perfetto shows those of the end with the whole zone. */
static void put_words(struct byte_buffer *b, const struct zone_words *words)
{
        if (words->name.used_bytes != 0)
                perfetto_packets_annotate_text(b, "name", (const char *)words->name.data,
                                               words->name.used_bytes);
        if (words->text.used_bytes != 0)
                perfetto_packets_annotate_text(b, "text", (const char *)words->text.data,
                                               words->text.used_bytes);
        if (words->has_value)
                perfetto_packets_annotate_number(b, "value", words->value);
        if (words->has_color)
                perfetto_packets_annotate_number(b, "color", words->color);
}

static int end_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err)
{
        struct perfetto_export *e = context;
        const struct zone_words *words = trace_walk_words(thread, zone);
        struct byte_buffer *b = perfetto_packets_begin(&e->packets, perfetto_tracks_sequence(thread->id),
                                                       zone->end_ns);
        size_t message = perfetto_packets_begin_event(b, PERFETTO_TYPE_END);

        if (words)
                put_words(b, words);
        if (!zone->closed)
                perfetto_packets_annotate_number(b, "unclosed", 1);
        protobuf_writer_end(b, message);
        return complain_of(perfetto_packets_end(&e->packets), err);
}

/* ---- samples, waits, allocations ----------------------------------------------------------------------- */

static uint32_t path_in_stack(const struct perfetto_export *e, uint32_t path)
{
        return e->options->zones_as_frames ? path : 0;
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct perfetto_export *e = context;
        struct perfetto_sample sample = {
                .time_ns = event->time_ns,
                .thread = thread->id,
                .has_cpu = true,
                .cpu = event->sample.cpu,
                .stack = (uint32_t)event->sample.stack,
                .path = path_in_stack(e, (uint32_t)event->sample.path),
                .event = (uint32_t)event->sample.event,
        };
        int r = perfetto_tracks_thread(&e->tracks, thread->id);

        sample.weight = export_event_weight(e->trace->dictionary, sample.event, event->sample.weight);
        if (sample.event == e->options->event) {
                e->totals.n_samples++;
                e->totals.weight = saturating_add(e->totals.weight, sample.weight);
        }
        if (r == 0)
                r = perfetto_samples_put(&e->samples, &sample);
        return complain_of(r, err);
}

/* An instant of @thread. */
static int put_arrow_end(struct perfetto_export *e, uint32_t thread, uint64_t time_ns,
                         enum wake_arrow_end end, uint32_t other)
{
        uint32_t flow = end == WAKE_ARROW_WAKER ? PERFETTO_EVENT_FLOW : PERFETTO_EVENT_TERMINATING_FLOW;
        struct byte_buffer *b;
        uint32_t name;
        size_t message;
        int r = perfetto_tracks_thread(&e->tracks, thread);

        if (r < 0)
                return r;
        b = perfetto_packets_begin(&e->packets, perfetto_tracks_sequence(thread), time_ns);
        r = perfetto_tracks_put_wake(&e->tracks, b, thread, end, other, &name);
        if (r < 0)
                return r;
        message = perfetto_packets_begin_event(b, PERFETTO_TYPE_INSTANT);
        protobuf_writer_put_number(b, PERFETTO_EVENT_CATEGORY_IID, PERFETTO_CATEGORY_IID_WAKE_UP);
        protobuf_writer_put_number(b, PERFETTO_EVENT_NAME_IID, name);
        protobuf_writer_put_fixed64(b, flow, e->totals.n_arrows);
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

/*
 * Perfetto draws an arrow from the event that begins first to the other, so neither end is a slice of the
 * whole wait, which begins before the wake-up.  If both have the same time, the first in the file counts as
 * the earlier one.
 */
static int put_arrow(struct perfetto_export *e, uint32_t thread, const struct thread_wait *wait)
{
        int r;

        if (!wake_arrow_is_wanted(wait, e->options->filter))
                return 0;
        e->totals.n_arrows++;
        r = put_arrow_end(e, wait->waker_thread, wait->woken_ns, WAKE_ARROW_WAKER, thread);
        return r < 0 ? r : put_arrow_end(e, thread, wait->in_ns, WAKE_ARROW_WOKEN, wait->waker_thread);
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct perfetto_export *e = context;
        struct perfetto_sample sample = {
                .time_ns = wait->out_ns,
                .thread = thread->id,
                .stack = wait->stack,
                .path = path_in_stack(e, wait->path),
                .weight = wait->in_ns - wait->out_ns,
                .kind = PERFETTO_SAMPLE_OFF_CPU,
        };
        int r;

        if (wait->preempted || wait->in_ns <= wait->out_ns)
                return 0;
        r = perfetto_tracks_thread(&e->tracks, thread->id);
        if (r == 0)
                r = perfetto_samples_put(&e->samples, &sample);
        if (r == 0)
                r = put_arrow(e, thread->id, wait);
        return complain_of(r, err);
}

static int take_allocation(struct perfetto_export *e, struct walked_thread *thread,
                           const struct trace_event *event)
{
        struct perfetto_sample sample = {
                .time_ns = event->time_ns,
                .thread = thread->id,
                .stack = event_callstack_take(&e->callstack, thread->id, event->time_ns),
                .weight = event->memory_alloc.size_bytes,
                .kind = PERFETTO_SAMPLE_ALLOCATION,
        };
        int r = 0;

        if (e->options->zones_as_frames)
                r = trace_walk_path(&e->walk, thread, &sample.path);
        return r < 0 ? r : perfetto_samples_put(&e->samples, &sample);
}

/* ---- messages, plots, frames, locks -------------------------------------------------------------------- */

static int put_message(struct perfetto_export *e, uint32_t thread, const struct trace_event *event)
{
        static const char *const severities[] = { "trace", "debug", "info", "warning", "error", "fatal" };
        bool is_text = event->op == TRACE_OP_MESSAGE_TEXT;
        uint64_t severity = event->message.severity; /* at the same place in both */
        struct text_view text = { .bytes = event->text, .n_bytes = event->message_text.text_bytes };
        struct byte_buffer *b = perfetto_packets_begin(&e->packets, perfetto_tracks_sequence(thread),
                                                       event->time_ns);
        size_t message = perfetto_packets_begin_event(b, PERFETTO_TYPE_INSTANT);

        if (!is_text)
                text = trace_dictionary_text(e->trace->dictionary, (uint32_t)event->message.text);
        protobuf_writer_put_words(b, PERFETTO_EVENT_CATEGORY, "message");
        protobuf_writer_put_text(b, PERFETTO_EVENT_NAME, text.bytes, text.n_bytes);
        if (severity < sizeof(severities) / sizeof(severities[0]))
                perfetto_packets_annotate_text(b, "severity", severities[severity],
                                               strlen(severities[severity]));
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

static uint32_t process_of(const struct perfetto_export *e, uint32_t thread)
{
        const struct trace_thread *row = trace_dictionary_row(e->trace->dictionary, TRACE_TABLE_THREADS,
                                                              thread);

        return row->process;
}

static int put_plot(struct perfetto_export *e, uint32_t thread, const struct trace_event *event)
{
        struct perfetto_track_key key = {
                .kind = PERFETTO_TRACK_PLOT,
                .owner = process_of(e, thread),
                .name = (uint32_t)event->plot_i64.name, /* at the same place in both */
        };
        struct byte_buffer *b;
        uint64_t uuid;
        size_t message;
        int r = perfetto_tracks_named(&e->tracks, &key, &uuid, NULL);

        if (r < 0)
                return r;
        b = perfetto_packets_begin(&e->packets, PERFETTO_SEQUENCE_TRACKS, event->time_ns);
        message = perfetto_packets_begin_event(b, PERFETTO_TYPE_COUNTER);
        protobuf_writer_put_number(b, PERFETTO_EVENT_TRACK, uuid);
        if (event->op == TRACE_OP_PLOT_I64)
                protobuf_writer_put_signed(b, PERFETTO_EVENT_COUNTER, event->plot_i64.value);
        else
                protobuf_writer_put_fixed64(b, PERFETTO_EVENT_COUNTER_DOUBLE, event->plot_f64.bits);
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

/* @name NULL: of an end. */
static int put_track_event(struct perfetto_export *e, uint64_t uuid, uint64_t time_ns, uint32_t type,
                           const struct text_view *name)
{
        struct byte_buffer *b = perfetto_packets_begin(&e->packets, PERFETTO_SEQUENCE_TRACKS, time_ns);
        size_t message = perfetto_packets_begin_event(b, type);

        protobuf_writer_put_number(b, PERFETTO_EVENT_TRACK, uuid);
        if (name)
                protobuf_writer_put_text(b, PERFETTO_EVENT_NAME, name->bytes, name->n_bytes);
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

/* A mark ends the frame before it and begins the next. */
static int put_frame(struct perfetto_export *e, uint32_t thread, const struct trace_event *event)
{
        struct perfetto_track_key key = {
                .kind = PERFETTO_TRACK_FRAMES,
                .owner = process_of(e, thread),
                .name = (uint32_t)event->frame_mark.name, /* at the same place in all three */
        };
        struct text_view name = { .bytes = "frame", .n_bytes = 5 };
        uint64_t uuid;
        bool *open;
        int r = perfetto_tracks_named(&e->tracks, &key, &uuid, &open);

        if (r == 0 && *open)
                r = put_track_event(e, uuid, event->time_ns, PERFETTO_TYPE_END, NULL);
        if (r < 0)
                return r;
        *open = event->op != TRACE_OP_FRAME_END;
        return *open ? put_track_event(e, uuid, event->time_ns, PERFETTO_TYPE_BEGIN, &name) : 0;
}

static int put_lock(struct perfetto_export *e, uint32_t thread, const struct trace_event *event)
{
        struct perfetto_track_key key = { .kind = PERFETTO_TRACK_LOCKS, .owner = thread };
        struct text_view name;
        uint64_t uuid, begin_ns;
        int r;

        if (!lock_waits_take(&e->lock_waits, thread, event, &begin_ns))
                return 0;
        name = lock_waits_name(&e->lock_waits, (uint32_t)event->lock_obtain.lock);
        r = perfetto_tracks_named(&e->tracks, &key, &uuid, NULL);
        if (r == 0)
                r = put_track_event(e, uuid, begin_ns, PERFETTO_TYPE_BEGIN, &name);
        if (r == 0)
                r = put_track_event(e, uuid, event->time_ns, PERFETTO_TYPE_END, NULL);
        return r;
}

/* ---- devices ------------------------------------------------------------------------------------------- */

/*
 * An arrow from the zone of a thread, or from the work before that has its key.  None if the zone is not in
 * the file, or would begin later.
 */
static void put_flow(struct perfetto_export *e, struct byte_buffer *b, const struct device_zone *zone)
{
        const struct device_key_zone *host = device_keys_find(&e->keys, zone);

        if (host && host->is_seen && host->begin_ns <= zone->begin_ns)
                protobuf_writer_put_fixed64(b, PERFETTO_EVENT_FLOW,
                                            FIRST_KEY_FLOW + (uint64_t)(host - e->keys.zones));
}

static void annotate_work(const struct perfetto_export *e, struct byte_buffer *b, uint64_t key,
                          uint32_t space, uint32_t text)
{
        if (key != 0 || space != 0)
                perfetto_packets_annotate_number(b, "key", (int64_t)key);
        annotate_string(e, b, "key_kind", space);
        annotate_string(e, b, "text", text);
}

static void put_source(const struct perfetto_export *e, struct byte_buffer *b, uint32_t location)
{
        const struct trace_location *row = trace_dictionary_row(e->trace->dictionary, TRACE_TABLE_LOCATIONS,
                                                                location);
        struct text_view file = trace_dictionary_text(e->trace->dictionary, row->file);
        size_t source;

        if (file.n_bytes == 0)
                return;
        source = protobuf_writer_begin(b, PERFETTO_EVENT_LOCATION);
        protobuf_writer_put_text(b, PERFETTO_LOCATION_FILE, file.bytes, file.n_bytes);
        protobuf_writer_put_number(b, PERFETTO_LOCATION_LINE, row->line);
        protobuf_writer_end(b, source);
}

static int put_device_begin(struct perfetto_export *e, uint64_t uuid, const struct device_zone *zone)
{
        struct text_view name = export_frames_zone_name(e->trace->dictionary, zone->location);
        struct byte_buffer *b = perfetto_packets_begin(&e->packets, PERFETTO_SEQUENCE_TRACKS, zone->begin_ns);
        size_t message = perfetto_packets_begin_event(b, PERFETTO_TYPE_BEGIN);

        protobuf_writer_put_number(b, PERFETTO_EVENT_TRACK, uuid);
        protobuf_writer_put_text(b, PERFETTO_EVENT_NAME, name.bytes, name.n_bytes);
        perfetto_packets_annotate_number(b, "lane", zone->lane);
        annotate_work(e, b, zone->key, zone->space, zone->text);
        put_source(e, b, zone->location);
        put_flow(e, b, zone);
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

static int put_device_zone(void *context, const struct device_zone *zone, const struct device_place *place,
                           struct error *err)
{
        struct perfetto_export *e = context;
        struct perfetto_track_key key = {
                .kind = PERFETTO_TRACK_LANE,
                .owner = zone->device,
                .name = zone->lane,
                .sublane = place->sublane,
        };
        uint64_t uuid;
        int r = perfetto_tracks_named(&e->tracks, &key, &uuid, NULL);

        if (r == 0)
                r = put_device_begin(e, uuid, zone);
        if (r == 0)
                r = put_track_event(e, uuid, zone->end_ns, PERFETTO_TYPE_END, NULL);
        return complain_of(r, err);
}

static int put_device_moment(struct perfetto_export *e, const struct device_mark *mark)
{
        const struct perfetto_track_key key = {
                .kind = PERFETTO_TRACK_LANE,
                .owner = mark->said.device,
                .name = mark->said.lane,
        };
        struct text_view name = export_frames_zone_name(e->trace->dictionary, mark->said.location);
        struct byte_buffer *b;
        uint64_t uuid;
        size_t message;
        int r = perfetto_tracks_named(&e->tracks, &key, &uuid, NULL);

        if (r < 0)
                return r;
        b = perfetto_packets_begin(&e->packets, PERFETTO_SEQUENCE_TRACKS, mark->time_ns);
        message = perfetto_packets_begin_event(b, PERFETTO_TYPE_INSTANT);
        protobuf_writer_put_number(b, PERFETTO_EVENT_TRACK, uuid);
        protobuf_writer_put_text(b, PERFETTO_EVENT_NAME, name.bytes, name.n_bytes);
        perfetto_packets_annotate_number(b, "lane", mark->said.lane);
        annotate_work(e, b, mark->said.key, mark->said.space, mark->said.text);
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

/* An integer that the format has no room for is a double. */
static int put_device_value(struct perfetto_export *e, const struct device_mark *mark)
{
        const struct trace_plot *plot = trace_dictionary_row(e->trace->dictionary, TRACE_TABLE_PLOTS,
                                                             mark->said.plot);
        const struct perfetto_track_key key = {
                .kind = PERFETTO_TRACK_DEVICE_PLOT,
                .owner = mark->said.device,
                .name = plot->name,
                .sublane = mark->said.lane,
        };
        struct byte_buffer *b;
        uint64_t uuid, bits;
        size_t message;
        int r = perfetto_tracks_named(&e->tracks, &key, &uuid, NULL);

        if (r < 0)
                return r;
        b = perfetto_packets_begin(&e->packets, PERFETTO_SEQUENCE_TRACKS, mark->time_ns);
        message = perfetto_packets_begin_event(b, PERFETTO_TYPE_COUNTER);
        protobuf_writer_put_number(b, PERFETTO_EVENT_TRACK, uuid);
        memcpy(&bits, &mark->said.value, sizeof(bits));
        if (mark->said.kind == TRACE_VALUE_DOUBLE ||
            (mark->said.kind == TRACE_VALUE_UNSIGNED && mark->said.bits > INT64_MAX))
                protobuf_writer_put_fixed64(b, PERFETTO_EVENT_COUNTER_DOUBLE, bits);
        else
                protobuf_writer_put_signed(b, PERFETTO_EVENT_COUNTER, (int64_t)mark->said.bits);
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

static int put_device_mark(void *context, const struct device_mark *mark, struct error *err)
{
        struct perfetto_export *e = context;

        return complain_of(mark->said.plot != 0 ? put_device_value(e, mark) : put_device_moment(e, mark),
                           err);
}

static int put_devices(struct perfetto_export *e, struct error *err)
{
        struct device_tracks tracks;
        int r = complain_of(device_tracks_init(&tracks, e->trace->dictionary, put_device_zone, e), err);

        tracks.take_mark = put_device_mark;
        if (r == 0)
                r = device_tracks_take(&tracks, e->trace, e->options->filter, err);
        e->totals.left_out[EXPORT_LEFT_OUT_DEVICE_ZONES] = device_tracks_left_out(&tracks);
        e->totals.left_out[EXPORT_LEFT_OUT_DEVICE_VALUES] = tracks.n_unplaced_marks;
        if (r == 0 && tracks.n_handed == 0 && tracks.n_marks == 0)
                r = loaded_trace_check_found(e->trace, &e->walk, err);
        device_tracks_deinit(&tracks);
        return r;
}

/* ---- flows --------------------------------------------------------------------------------------------- */

/* An instant of the thread, within its innermost zone. */
static int put_flow_phase(struct perfetto_export *e, const struct flow_point *point, uint64_t number)
{
        struct text_view name = trace_dictionary_text(e->trace->dictionary, point->space);
        uint32_t flow = point->phase == TRACE_FLOW_END ? PERFETTO_EVENT_TERMINATING_FLOW
                                                       : PERFETTO_EVENT_FLOW;
        struct byte_buffer *b;
        size_t message;
        int r = perfetto_tracks_thread(&e->tracks, point->thread);

        if (r < 0)
                return r;
        if (name.n_bytes == 0)
                name = (struct text_view){ .bytes = "flow", .n_bytes = 4 };
        b = perfetto_packets_begin(&e->packets, perfetto_tracks_sequence(point->thread), point->time_ns);
        message = perfetto_packets_begin_event(b, PERFETTO_TYPE_INSTANT);
        protobuf_writer_put_words(b, PERFETTO_EVENT_CATEGORY, "flow");
        protobuf_writer_put_text(b, PERFETTO_EVENT_NAME, name.bytes, name.n_bytes);
        perfetto_packets_annotate_number(b, "id", (int64_t)point->id);
        protobuf_writer_put_fixed64(b, flow, FIRST_SAID_FLOW + number);
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

static int take_link(void *context, const struct flow_links *links, const struct flow_link *link,
                     struct error *err)
{
        struct perfetto_export *e = context;
        int r = 0;

        if (!flow_links_wants_whole(links, link))
                return 0;
        if (link->from.phase == TRACE_FLOW_BEGIN)
                r = put_flow_phase(e, &link->from, link->number);
        if (r == 0)
                r = put_flow_phase(e, &link->to, link->number);
        return complain_of(r, err);
}

static int put_flows_of_program(struct perfetto_export *e, struct error *err)
{
        struct flow_links links;
        int r;

        if (e->walk.n_events[TRACE_OP_FLOW] == 0)
                return 0;
        r = flow_links_take(&links, e->trace, e->options->filter, take_link, e, err);
        flow_links_deinit(&links);
        return r;
}

/* ---- context switches ---------------------------------------------------------------------------------- */

static uint32_t state_after(const struct trace_event *event)
{
        if (event->switch_out.preempted != 0)
                return PERFETTO_TASK_RUNNABLE;
        switch (event->switch_out.wait) {
        case TRACE_WAIT_PREEMPTED:
                return PERFETTO_TASK_RUNNABLE;
        case TRACE_WAIT_UNINTERRUPTIBLE:
                return PERFETTO_TASK_UNINTERRUPTIBLE;
        case TRACE_WAIT_STOPPED:
                return PERFETTO_TASK_STOPPED;
        case TRACE_WAIT_ENDED:
                return PERFETTO_TASK_DEAD;
        default:
                return PERFETTO_TASK_SLEEPING;
        }
}

static int put_task_state(struct perfetto_export *e, const struct walked_thread *thread, uint64_t time_ns,
                          uint32_t state)
{
        const struct trace_thread *row = trace_dictionary_row(e->trace->dictionary, TRACE_TABLE_THREADS,
                                                              thread->id);
        struct text_view name = trace_dictionary_text(e->trace->dictionary, thread->timeline.name);
        struct byte_buffer *b = perfetto_packets_begin(&e->packets, PERFETTO_SEQUENCE_SWITCHES, time_ns);
        size_t message = protobuf_writer_begin(b, PERFETTO_PACKET_TASK_STATE);

        if (thread->cpu != TRACE_WALK_NO_CPU)
                protobuf_writer_put_number(b, PERFETTO_STATE_CPU, thread->cpu);
        protobuf_writer_put_text(b, PERFETTO_STATE_COMM, name.bytes, name.n_bytes);
        protobuf_writer_put_number(b, PERFETTO_STATE_TID, row->tid);
        protobuf_writer_put_number(b, PERFETTO_STATE_STATE, state);
        protobuf_writer_put_number(b, PERFETTO_STATE_PRIO, PERFETTO_PRIO_NORMAL);
        protobuf_writer_end(b, message);
        return perfetto_packets_end(&e->packets);
}

/* The kernel does not know fibers; a thread that is woken while it runs simply goes on running. */
static int put_switch(struct perfetto_export *e, const struct walked_thread *thread,
                      const struct trace_event *event)
{
        uint32_t state = PERFETTO_TASK_RUNNING;

        if (thread->timeline.is_fiber || (event->op == TRACE_OP_WAKEUP && !thread->is_out))
                return 0;
        if (event->op != TRACE_OP_SWITCH_IN)
                state = event->op == TRACE_OP_WAKEUP ? PERFETTO_TASK_RUNNABLE : state_after(event);
        return put_task_state(e, thread, event->time_ns, state);
}

/*
 * Called after the walk.  For most threads that end, no switch off the CPU is recorded, so Perfetto would
 * show them as running until another thread is switched in on that CPU.
 */
static int end_threads(struct perfetto_export *e)
{
        const struct trace_filter *filter = e->options->filter;
        int r = 0;

        for (uint32_t i = 0; i < e->walk.n_threads && r == 0; i++) {
                const struct walked_thread *thread = &e->walk.threads[i];
                const struct thread_timeline *timeline = &thread->timeline;

                if (!thread->has_ended || timeline->is_fiber || timeline->n_switches == 0 ||
                    !timeline->running)
                        continue;
                if (!filter || (trace_filter_wants_thread(filter, thread->id) &&
                                trace_filter_wants_time(filter, timeline->last_ns)))
                        r = put_task_state(e, thread, timeline->last_ns, PERFETTO_TASK_DEAD);
        }
        return r;
}

/* ---- all together -------------------------------------------------------------------------------------- */

static int put_event(struct perfetto_export *e, struct walked_thread *thread, const struct trace_event *event)
{
        switch (event->op) {
        case TRACE_OP_MESSAGE:
        case TRACE_OP_MESSAGE_TEXT:
                return put_message(e, thread->id, event);
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
                return put_plot(e, thread->id, event);
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
                return put_frame(e, thread->id, event);
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_NAME:
                return put_lock(e, thread->id, event);
        case TRACE_OP_SWITCH_OUT:
        case TRACE_OP_SWITCH_IN:
        case TRACE_OP_WAKEUP:
                return put_switch(e, thread, event);
        case TRACE_OP_MEMORY_ALLOC:
                return take_allocation(e, thread, event);
        case TRACE_OP_CALLSTACK:
                e->callstack = (struct event_callstack){ .time_ns = event->time_ns,
                                                         .thread = thread->id,
                                                         .stack = (uint32_t)event->callstack.stack };
                return 0;
        default:
                return 0;
        }
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct perfetto_export *e = context;
        int r = perfetto_tracks_thread(&e->tracks, thread->id);

        return complain_of(r < 0 ? r : put_event(e, thread, event), err);
}

static int prepare(struct perfetto_export *e, FILE *out)
{
        int r;

        perfetto_packets_init(&e->packets, out);
        r = perfetto_tracks_init(&e->tracks, e->trace, &e->packets);
        if (r == 0)
                r = lock_waits_init(&e->lock_waits, e->trace->dictionary);
        if (r == 0)
                r = perfetto_samples_init(&e->samples, e->trace->dictionary, &e->packets, &e->walk.paths);
        return r;
}

static int write_head(struct perfetto_export *e)
{
        static const uint32_t sequences[] = { PERFETTO_SEQUENCE_TRACKS, PERFETTO_SEQUENCE_SWITCHES };
        int r = perfetto_packets_put_snapshot(&e->packets, e->trace->start_ns,
                                              loaded_trace_meta_number(e->trace, "start_realtime_ns"));

        for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]) && r == 0; i++) {
                struct byte_buffer *b = perfetto_packets_start(&e->packets, sequences[i]);

                protobuf_writer_end(b, perfetto_packets_begin_defaults(b));
                r = perfetto_packets_end(&e->packets);
        }
        return r < 0 ? r : perfetto_samples_start(&e->samples, e->options->event);
}

static int write_trace(struct perfetto_export *e, struct error *err)
{
        const struct trace_sink sink = {
                .context = e,
                .begin_zone = begin_zone,
                .zone = end_zone,
                .sample = take_sample,
                .wait = e->options->no_waits ? NULL : take_wait,
                .event = take_event,
                .wants_paths = e->options->zones_as_frames,
                .wants_words = true,
                .may_skip = true,
                .devices_follow = true,
        };
        int r = write_head(e);

        if (r == 0)
                r = trace_walk_init(&e->walk, e->trace, e->options->filter, &sink);
        if (r < 0)
                return complain_of(r, err);
        r = device_keys_take(&e->keys, e->trace, err);
        if (r == 0)
                r = loaded_trace_walk(e->trace, &e->walk, err);
        if (r == 0)
                r = complain_of(end_threads(e), err);
        if (r == 0)
                r = put_flows_of_program(e, err);
        if (r == 0)
                r = put_devices(e, err);
        return r < 0 ? r : export_stream_finish(&e->packets.out, err);
}

int export_perfetto(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                    struct export_totals *ret_totals, struct error *err)
{
        struct perfetto_export e = { .trace = trace, .options = options };
        int r = loaded_trace_read_names(trace, err);

        if (r < 0)
                return r;
        r = prepare(&e, out);
        if (r < 0)
                (void)complain_of(r, err);
        else
                r = write_trace(&e, err);
        if (r == 0) {
                e.totals.left_out[EXPORT_LEFT_OUT_LONG_STACKS] = e.samples.frames.n_cut;
                export_totals_leave_out(&e.totals, &e.walk, 0);
                *ret_totals = e.totals;
        }
        lock_waits_deinit(&e.lock_waits);
        device_keys_deinit(&e.keys);
        perfetto_samples_deinit(&e.samples);
        perfetto_tracks_deinit(&e.tracks);
        perfetto_packets_deinit(&e.packets);
        trace_walk_deinit(&e.walk);
        return r;
}
