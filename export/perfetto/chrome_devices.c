/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_tracks.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "base/text_view.h"
#include "export/perfetto/chrome_parts.h"
#include "export/shared/export_format.h"
#include "export/shared/export_frames.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void begin_device_event(struct chrome_export *x, const char *phase, uint32_t device, uint32_t track)
{
        const struct trace_device *row = trace_dictionary_row(x->trace->dictionary, TRACE_TABLE_DEVICES,
                                                              device);

        json_out_open(&x->json, '{');
        json_out_pair_words(&x->json, "ph", phase);
        json_out_pair_number(&x->json, "pid", process_names_pid_number(&x->names, row->process));
        json_out_pair_number(&x->json, "tid", 2 * (uint64_t)PROCESS_NAMES_FIBER_TID + track);
}

static void put_string_arg(struct chrome_export *x, const char *key, uint32_t string)
{
        struct text_view text = trace_dictionary_text(x->trace->dictionary, string);

        if (text.n_bytes != 0)
                json_out_pair_string(&x->json, key, text.bytes, text.n_bytes);
}

static void end_flow(struct chrome_export *x, uint64_t time_ns)
{
        chrome_export_put_time(x, "ts", chrome_export_since_start(x, time_ns));
        json_out_pair_words(&x->json, "cat", "device");
        json_out_pair_words(&x->json, "name", "key");
        json_out_pair_number(&x->json, "id", x->n_flows);
        chrome_export_end_event(x);
}

/*
 * An arrow from the zone of a thread with its key, if that is in the file and does not begin later.  Both
 * ends are bound to the slices that are open then.
 */
static void write_flow(struct chrome_export *x, const struct device_zone *zone, uint32_t track)
{
        const struct device_key_zone *host = device_keys_find(&x->keys, zone);

        if (!host || !host->is_seen || host->begin_ns > zone->begin_ns)
                return;
        x->n_flows++;
        chrome_export_begin_event(x, "s", host->thread);
        end_flow(x, host->begin_ns);
        begin_device_event(x, "f", zone->device, track);
        json_out_pair_words(&x->json, "bp", "e");
        end_flow(x, zone->begin_ns);
}

/* The key and text of a zone or moment of a device, among its arguments, after its lane. */
static void put_device_args(struct chrome_export *x, uint32_t lane, uint64_t key, uint32_t space,
                            uint32_t text)
{
        json_out_key(&x->json, "args");
        json_out_open(&x->json, '{');
        json_out_pair_number(&x->json, "lane", lane);
        if (key != 0 || space != 0)
                json_out_pair_id(&x->json, "key", key);
        put_string_arg(x, "key_kind", space);
        put_string_arg(x, "text", text);
        json_out_close(&x->json, '}');
}

/* Its id, DEVICE/LANE, tells counters of one name apart. */
static void put_device_value(struct chrome_export *x, const struct device_mark *mark)
{
        const struct trace_plot *plot = trace_dictionary_row(x->trace->dictionary, TRACE_TABLE_PLOTS,
                                                             mark->said.plot);
        struct text_view name = trace_dictionary_text(x->trace->dictionary, plot->name);
        char id[2 * sizeof("4294967295")], digits[sizeof("18446744073709551615")];
        int64_t number;

        (void)snprintf(id, sizeof(id), "%" PRIu32 "/%" PRIu32, mark->said.device, mark->said.lane);
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        json_out_pair_words(&x->json, "id", id);
        json_out_key(&x->json, "args");
        json_out_open(&x->json, '{');
        json_out_key_string(&x->json, name.bytes, name.n_bytes);
        memcpy(&number, &mark->said.bits, sizeof(number));
        if (mark->said.kind == TRACE_VALUE_SIGNED)
                json_out_signed(&x->json, number);
        else if (mark->said.kind == TRACE_VALUE_UNSIGNED && mark->said.bits <= INT64_MAX)
                json_out_number(&x->json, mark->said.bits);
        else if (mark->said.kind == TRACE_VALUE_UNSIGNED) /* no number for most readers of JSON */
                json_out_string(&x->json, digits,
                                (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, mark->said.bits));
        else
                json_out_real(&x->json, mark->said.value);
        json_out_close(&x->json, '}');
}

static void put_device_moment(struct chrome_export *x, const struct device_mark *mark)
{
        struct text_view name = export_frames_zone_name(x->trace->dictionary, mark->said.location);

        json_out_pair_words(&x->json, "s", "t");
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        put_device_args(x, mark->said.lane, mark->said.key, mark->said.space, mark->said.text);
}

/* A value or a moment, on the first sub-lane of its lane. */
static int write_device_mark(void *context, const struct device_mark *mark, struct error *err)
{
        struct chrome_export *x = context;
        int64_t track = device_lanes_first(&x->devices->lanes, mark->said.device, mark->said.lane);

        if (track < 0)
                return error_set(err, (int)track, "no memory for the lanes of devices");
        begin_device_event(x, mark->said.plot != 0 ? "C" : "i", mark->said.device, (uint32_t)track);
        chrome_export_put_time(x, "ts", chrome_export_since_start(x, mark->time_ns));
        json_out_pair_words(&x->json, "cat", "device");
        if (mark->said.plot != 0)
                put_device_value(x, mark);
        else
                put_device_moment(x, mark);
        json_out_pair_number(&x->json, "device", mark->said.device);
        chrome_export_end_event(x);
        return x->json.code < 0 ? error_set(err, x->json.code, "writing failed") : 0;
}

static int write_device_zone(void *context, const struct device_zone *zone, const struct device_place *place,
                             struct error *err)
{
        struct chrome_export *x = context;
        const struct trace_dictionary *d = x->trace->dictionary;
        struct text_view name = export_frames_zone_name(d, zone->location);

        begin_device_event(x, "X", zone->device, place->track);
        chrome_export_begin_slice(x, zone->begin_ns, zone->end_ns, "device");
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        chrome_export_put_source(x, trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, zone->location));
        put_device_args(x, zone->lane, zone->key, zone->space, zone->text);
        json_out_pair_number(&x->json, "device", zone->device);
        chrome_export_end_event(x);
        write_flow(x, zone, place->track);
        return x->json.code < 0 ? error_set(err, x->json.code, "writing failed") : 0;
}

/* How exact the places of its zones are stands beside the name. */
static void put_lane(struct chrome_export *x, const struct device_tracks *tracks,
                     const struct device_lane_track *track)
{
        char words[CLOCK_FIT_WORDS_BYTES];

        byte_buffer_clear(&x->name);
        lane_names_put_whole(&tracks->names, &x->name, track->key.device, track->key.lane, track->sublane);
        if (x->name.failed)
                x->json.code = -ENOMEM;
        json_out_pair_string(&x->json, "name", (const char *)x->name.data, x->name.used_bytes);
        json_out_pair_words(&x->json, "clock",
                            clock_fit_words(&tracks->zones.clocks.clocks[track->key.device - 1].fit, words));
}

static void write_lane_names(struct chrome_export *x, const struct device_tracks *tracks)
{
        for (uint32_t i = 1; i <= tracks->lanes.n_tracks; i++) {
                const struct device_lane_track *track = &tracks->lanes.tracks[i - 1];

                begin_device_event(x, "M", track->key.device, i);
                json_out_pair_words(&x->json, "name", "thread_name");
                json_out_key(&x->json, "args");
                json_out_open(&x->json, '{');
                put_lane(x, tracks, track);
                json_out_close(&x->json, '}');
                chrome_export_end_event(x);
        }
}

static void begin_description(struct chrome_export *x, const char *what, uint32_t device)
{
        begin_device_event(x, "M", device, 0);
        json_out_pair_words(&x->json, "name", what);
        json_out_key(&x->json, "args");
        json_out_open(&x->json, '{');
        json_out_pair_number(&x->json, "device", device);
}

static void end_description(struct chrome_export *x)
{
        json_out_close(&x->json, '}');
        chrome_export_end_event(x);
}

static void put_parent(struct chrome_export *x, uint32_t track)
{
        const struct trace_track *row = trace_dictionary_row(x->trace->dictionary, TRACE_TABLE_TRACKS, track);

        json_out_pair_number(&x->json, "parent", row->number);
}

/*
 * Devices and the tree of their lanes, before what is on them, so that hyprof import makes devices of them
 * again.  Other tools pass over metadata with names of their own.
 */
static void describe_devices(struct chrome_export *x)
{
        static const char *const kinds[] = {
#define X(id, name) [id] = #name,
                TRACE_TRACK_KINDS(X)
#undef X
        };
        const struct trace_dictionary *d = x->trace->dictionary;
        uint32_t n_devices = trace_dictionary_count(d, TRACE_TABLE_DEVICES);

        for (uint32_t i = 1; i <= n_devices; i++) {
                const struct trace_device *row = trace_dictionary_row(d, TRACE_TABLE_DEVICES, i);
                const struct clock_fit *fit = &x->devices->zones.clocks.clocks[i - 1].fit;

                begin_description(x, "hyprof_device", i);
                put_string_arg(x, "name", row->name);
                json_out_pair_words(&x->json, "placed", clock_fit_quality(fit->quality));
                if (fit->bound_ns != CLOCK_FIT_NO_BOUND)
                        json_out_pair_id(&x->json, "bound_ns", fit->bound_ns);
                end_description(x);
        }
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_TRACKS); i++) {
                const struct trace_track *row = trace_dictionary_row(d, TRACE_TABLE_TRACKS, i);

                begin_description(x, "hyprof_lane", row->device);
                json_out_pair_number(&x->json, "lane", row->number);
                if (row->parent != 0)
                        put_parent(x, row->parent);
                json_out_pair_words(&x->json, "kind",
                                    kinds[row->kind <= TRACE_TRACK_STREAM ? row->kind : TRACE_TRACK_OTHER]);
                put_string_arg(x, "name", row->name);
                end_description(x);
        }
        for (uint32_t i = 1; n_devices != 0 && i <= trace_dictionary_count(d, TRACE_TABLE_PLOTS); i++) {
                const struct trace_plot *row = trace_dictionary_row(d, TRACE_TABLE_PLOTS, i);

                if (row->unit == 0)
                        continue;
                begin_description(x, "hyprof_unit", 1);
                put_string_arg(x, "name", row->name);
                put_string_arg(x, "unit", row->unit);
                end_description(x);
        }
}

int chrome_devices_write(struct chrome_export *x, struct error *err)
{
        struct device_tracks tracks;
        int r = device_tracks_init(&tracks, x->trace->dictionary, write_device_zone, x);

        tracks.take_mark = write_device_mark;
        x->devices = &tracks;
        if (r == 0)
                describe_devices(x);
        r = r < 0 ? error_set(err, r, "no memory for the zones of devices")
                  : device_tracks_take(&tracks, x->trace, x->filter, err);
        x->devices = NULL;
        write_lane_names(x, &tracks);
        x->totals->left_out[EXPORT_LEFT_OUT_DEVICE_ZONES] = device_tracks_left_out(&tracks);
        x->totals->left_out[EXPORT_LEFT_OUT_DEVICE_VALUES] = tracks.n_unplaced_marks;
        if (r == 0 && tracks.n_handed == 0 && tracks.n_marks == 0)
                r = loaded_trace_check_found(x->trace, &x->walk, err);
        device_tracks_deinit(&tracks);
        return r;
}
