/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_devices.h"

#include "base/array.h"
#include "base/error.h"
#include "import/json/trace_event_tracks.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Compared as bytes. */
struct trace_event_lane_key {
        uint32_t device, lane;
        uint32_t is_lane; /* 0 = the device itself */
};

void trace_event_devices_init(struct trace_event_devices *d, struct import_rows *rows,
                              struct trace_event_tracks *tracks, uint32_t clock)
{
        *d = (struct trace_event_devices){ .rows = rows, .tracks = tracks, .clock = clock };
        intern_init(&d->ids, sizeof(struct trace_event_lane_key), TRACE_EVENT_TRACKS_MAX);
}

void trace_event_devices_deinit(struct trace_event_devices *d)
{
        intern_deinit(&d->ids);
        free(d->ids_tracks);
        byte_buffer_deinit(&d->room);
}

static bool read_u32(struct json_value value, uint32_t *ret)
{
        uint64_t number;

        if (value.kind != JSON_NUMBER || !json_pull_unsigned(value.text, &number) || number > UINT32_MAX)
                return false;
        *ret = (uint32_t)number;
        return true;
}

static bool find_u32(struct json_value args, const char *name, uint32_t *ret)
{
        struct json_value value;

        return args.kind == JSON_OBJECT && json_pull_find(args, name, &value) == 1 && read_u32(value, ret);
}

/* 0 = not there. */
static uint32_t find_known(const struct trace_event_devices *d, const struct trace_event_lane_key *key)
{
        uint32_t id = intern_find(&d->ids, key, sizeof(*key));

        return id != 0 ? d->ids_tracks[id - 1] : 0;
}

/* The first description of a lane counts. */
static int add(struct trace_event_devices *d, const struct trace_event_lane_key *key,
               struct import_track track, uint32_t *ret_track, struct error *err)
{
        uint32_t id;
        int r;

        *ret_track = find_known(d, key);
        if (*ret_track != 0)
                return 0;
        track.clock = d->clock;
        r = import_rows_track(d->rows, &track, ret_track, err);
        if (r < 0)
                return r;
        r = intern_add_row(&d->ids, key, &d->ids_tracks, &d->capacity, sizeof(*d->ids_tracks), &id);
        if (r == -EOVERFLOW)
                return -E2BIG;
        if (r < 0)
                return error_set(err, -ENOMEM, "no memory for a track");
        d->ids_tracks[id - 1] = *ret_track;
        return 0;
}

/* ------------------------------------------------------------------ descriptions */

/* Empty if there is none. */
static int find_name(struct trace_event_devices *d, struct json_value args, struct text_view *ret,
                     struct error *err)
{
        struct json_value value;

        *ret = (struct text_view){ NULL, 0 };
        if (json_pull_find(args, "name", &value) != 1 || value.kind != JSON_STRING)
                return 0;
        return json_pull_string(value.text, &d->room, ret) < 0
                       ? error_set(err, -ENOMEM, "no memory for a text")
                       : 0;
}

static int describe_device(struct trace_event_devices *d, const struct trace_event_row *row, uint32_t device,
                           struct error *err)
{
        const struct trace_event_lane_key key = { .device = device };
        struct import_track track = { .kind = IMPORT_TRACK_DEVICE, .number = device, .has_number = true };
        uint32_t ignored, pid = 0;
        int r = 0;

        /* A device of no process has the PID 0. */
        if (!read_u32(row->process, &pid) || pid != 0)
                r = trace_event_tracks_process(d->tracks, row, &track.parent, err);
        if (r == 0)
                r = find_name(d, row->args, &track.name, err);
        d->n_devices += r == 0 && find_known(d, &key) == 0;
        return r < 0 ? r : add(d, &key, track, &ignored, err);
}

static enum import_track_kind kind_of(struct json_value args)
{
        struct json_value value;

        if (json_pull_find(args, "kind", &value) != 1 || value.kind != JSON_STRING)
                return IMPORT_TRACK_OTHER;
        if (text_view_is(value.text, "CORE"))
                return IMPORT_TRACK_CORE;
        if (text_view_is(value.text, "PROCESSOR"))
                return IMPORT_TRACK_PROCESSOR;
        return text_view_is(value.text, "STREAM") ? IMPORT_TRACK_STREAM : IMPORT_TRACK_OTHER;
}

/* "lane 3", for one without a name. */
static int name_lane(struct trace_event_devices *d, uint32_t lane, struct text_view *ret, struct error *err)
{
        byte_buffer_clear(&d->room);
        byte_buffer_add_format(&d->room, "lane %" PRIu32, lane);
        *ret = (struct text_view){ (const char *)d->room.data, d->room.used_bytes };
        return d->room.failed ? error_set(err, -ENOMEM, "no memory for a text") : 0;
}

static int add_lane(struct trace_event_devices *d, const struct trace_event_lane_key *key,
                    struct import_track track, uint32_t *ret_track, struct error *err)
{
        int r = track.name.n_bytes == 0 ? name_lane(d, key->lane, &track.name, err) : 0;

        track.number = key->lane;
        track.has_number = true;
        return r < 0 ? r : add(d, key, track, ret_track, err);
}

static int describe_lane(struct trace_event_devices *d, const struct trace_event_row *row, uint32_t device,
                         struct error *err)
{
        struct trace_event_lane_key key = { .device = device, .is_lane = 1 };
        struct trace_event_lane_key parent = { .device = device };
        struct import_track track = { .kind = kind_of(row->args) };
        uint32_t ignored;
        int r;

        if (!find_u32(row->args, "lane", &key.lane))
                return -EBADMSG;
        parent.is_lane = find_u32(row->args, "parent", &parent.lane);
        track.parent = find_known(d, &parent);
        if (track.parent == 0)
                return -EBADMSG;
        r = find_name(d, row->args, &track.name, err);
        return r < 0 ? r : add_lane(d, &key, track, &ignored, err);
}

int trace_event_devices_describe(struct trace_event_devices *d, const struct trace_event_row *row,
                                 struct error *err)
{
        bool is_device = text_view_is(row->name.text, "hyprof_device");
        uint32_t device;
        int r;

        if (!is_device && !text_view_is(row->name.text, "hyprof_lane"))
                return 0;
        if (!find_u32(row->args, "device", &device))
                return -EBADMSG;
        r = is_device ? describe_device(d, row, device, err) : describe_lane(d, row, device, err);
        return r < 0 ? r : 1;
}

/* ------------------------------------------------------------------ events */

bool trace_event_devices_has(const struct trace_event_devices *d, const struct trace_event_row *row)
{
        struct trace_event_lane_key key = { .is_lane = 0 };

        return d->ids.n_items != 0 && row->device.text.bytes && read_u32(row->device, &key.device) &&
               find_known(d, &key) != 0;
}

int trace_event_devices_lane(struct trace_event_devices *d, const struct trace_event_row *row,
                             uint32_t *ret_track, struct error *err)
{
        struct trace_event_lane_key key = { .is_lane = 1 }, device = { .is_lane = 0 };
        struct import_track track = { .kind = IMPORT_TRACK_STREAM };

        if (!read_u32(row->device, &key.device) || !find_u32(row->args, "lane", &key.lane))
                return -EBADMSG;
        device.device = key.device;
        track.parent = find_known(d, &device);
        return track.parent == 0 ? -EBADMSG : add_lane(d, &key, track, ret_track, err);
}
