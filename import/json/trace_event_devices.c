/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_devices.h"

#include "base/array.h"
#include "base/error.h"
#include "import/json/trace_event_tracks.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BOUNDS_MAX 255 /* and one that is not known; a file has IMPORT_CLOCKS_MAX clocks */

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
        intern_init(&d->names, 0, TRACE_EVENT_TRACKS_MAX);
}

void trace_event_devices_deinit(struct trace_event_devices *d)
{
        intern_deinit(&d->ids);
        intern_deinit(&d->names);
        free(d->lanes);
        free(d->units);
        free(d->bounds);
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

/* Its track is 0 if it is not there. */
static struct trace_event_lane find_known(const struct trace_event_devices *d,
                                          const struct trace_event_lane_key *key)
{
        uint32_t id = intern_find(&d->ids, key, sizeof(*key));

        return id != 0 ? d->lanes[id - 1] : (struct trace_event_lane){ .track = 0 };
}

/* The first description of a lane counts. */
static int add(struct trace_event_devices *d, const struct trace_event_lane_key *key,
               const struct import_track *track, uint32_t *ret_track, struct error *err)
{
        struct trace_event_lane lane = find_known(d, key);
        uint32_t id;
        int r;

        *ret_track = lane.track;
        if (lane.track != 0)
                return 0;
        lane.clock = track->clock;
        r = import_rows_track(d->rows, track, &lane.track, err);
        if (r < 0)
                return r;
        r = intern_add_row(&d->ids, key, &d->lanes, &d->capacity, sizeof(*d->lanes), &id);
        if (r == -EOVERFLOW)
                return -E2BIG;
        if (r < 0)
                return error_set(err, -ENOMEM, "no memory for a track");
        d->lanes[id - 1] = lane;
        *ret_track = lane.track;
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

/* One that goes with the file's, and states that bound. */
static int find_clock(struct trace_event_devices *d, uint64_t bound_ns, uint32_t *ret_clock,
                      struct error *err)
{
        struct import_clock clock = { .kind = IMPORT_CLOCK_OWN,
                                      .period_ns = 1,
                                      .name = { "times of devices", strlen("times of devices") },
                                      .of = d->clock,
                                      .error_ns = bound_ns };
        int r;

        if (d->n_bounds >= BOUNDS_MAX)
                clock.error_ns = UINT64_MAX;
        for (size_t i = 0; i < d->n_bounds; i++)
                if (d->bounds[i].bound_ns == clock.error_ns || d->bounds[i].bound_ns == bound_ns) {
                        *ret_clock = d->bounds[i].clock;
                        return 0;
                }
        if (array_reserve(&d->bounds, &d->bounds_capacity, d->n_bounds + 1, sizeof(*d->bounds)) < 0)
                return error_set(err, -ENOMEM, "no memory for a clock");
        r = import_rows_clock(d->rows, &clock, ret_clock, err);
        if (r == 0)
                d->bounds[d->n_bounds++] = (struct trace_event_bound){ clock.error_ns, *ret_clock };
        return r;
}

/* How exactly the file places what is on a device.  An estimate is no bound. */
static int describe_clock(struct trace_event_devices *d, struct json_value args, uint32_t *ret_clock,
                          struct error *err)
{
        struct json_value placed, bound;
        uint64_t bound_ns = UINT64_MAX;

        if (json_pull_find(args, "placed", &placed) != 1) /* by a version that does not say */
                return d->n_no_bound++, 0;
        if (text_view_is(placed.text, "unplaced"))
                return 0;
        if (!text_view_is(placed.text, "proven") || json_pull_find(args, "bound_ns", &bound) != 1 ||
            !json_pull_unsigned(bound.text, &bound_ns))
                bound_ns = UINT64_MAX;
        d->n_no_bound += bound_ns == UINT64_MAX && text_view_is(placed.text, "estimated");
        return find_clock(d, bound_ns, ret_clock, err);
}

static int describe_device(struct trace_event_devices *d, const struct trace_event_row *row, uint32_t device,
                           struct error *err)
{
        const struct trace_event_lane_key key = { .device = device };
        struct import_track track = {
                .kind = IMPORT_TRACK_DEVICE, .clock = d->clock, .number = device, .has_number = true
        };
        uint32_t ignored, pid = 0;
        int r = 0;

        if (find_known(d, &key).track != 0)
                return 0;
        /* A device of no process has the PID 0. */
        if (!read_u32(row->process, &pid) || pid != 0)
                r = trace_event_tracks_process(d->tracks, row, &track.parent, err);
        if (r == 0)
                r = find_name(d, row->args, &track.name, err);
        if (r == 0)
                r = describe_clock(d, row->args, &track.clock, err);
        return r < 0 ? r : add(d, &key, &track, &ignored, err);
}

/* The unit of all counters of a name. */
static int describe_unit(struct trace_event_devices *d, const struct trace_event_row *row, struct error *err)
{
        struct json_value value;
        struct text_view text;
        uint32_t string = 0, id;
        int r;

        if (json_pull_find(row->args, "unit", &value) != 1 || value.kind != JSON_STRING)
                return -EBADMSG;
        r = json_pull_string(value.text, &d->room, &text) < 0
                    ? error_set(err, -ENOMEM, "no memory for a text")
                    : import_rows_string(d->rows, text, &string, err);
        if (r == 0)
                r = find_name(d, row->args, &text, err);
        if (r < 0 || text.n_bytes == 0)
                return r < 0 ? r : -EBADMSG;
        r = intern_add(&d->names, text.bytes, text.n_bytes, &id);
        if (r == 1)
                r = array_extend(&d->units, &d->units_capacity, id - 1, id, sizeof(*d->units));
        if (r < 0)
                return r == -EOVERFLOW ? -E2BIG : error_set(err, -ENOMEM, "no memory for a text");
        d->units[id - 1] = string;
        return 0;
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

/* A lane has the clock of its device. */
static void put_below(struct import_track *track, struct trace_event_lane parent)
{
        track->parent = parent.track;
        track->clock = parent.clock;
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
        return r < 0 ? r : add(d, key, &track, ret_track, err);
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
        put_below(&track, find_known(d, &parent));
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

        if (text_view_is(row->name.text, "hyprof_unit")) {
                r = describe_unit(d, row, err);
                return r < 0 ? r : 1;
        }
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
               find_known(d, &key).track != 0;
}

int trace_event_devices_lane(struct trace_event_devices *d, const struct trace_event_row *row,
                             struct json_value lane, uint32_t *ret_track, struct error *err)
{
        struct trace_event_lane_key key = { .is_lane = 1 }, device = { .is_lane = 0 };
        struct import_track track = { .kind = IMPORT_TRACK_STREAM };

        if (!read_u32(row->device, &key.device) || !read_u32(lane, &key.lane))
                return -EBADMSG;
        device.device = key.device;
        put_below(&track, find_known(d, &device));
        return track.parent == 0 ? -EBADMSG : add_lane(d, &key, track, ret_track, err);
}

int trace_event_devices_counter(struct trace_event_devices *d, const struct trace_event_row *row,
                                struct import_value *value, struct error *err)
{
        struct text_view id = row->id.text, name;
        const char *slash = id.bytes ? memrchr(id.bytes, '/', id.n_bytes) : NULL;
        struct json_value lane = { .kind = JSON_NUMBER };
        uint32_t unit;
        int r;

        if (!slash)
                return -EBADMSG;
        lane.text = (struct text_view){ slash + 1, (size_t)(id.bytes + id.n_bytes - slash - 1) };
        r = trace_event_devices_lane(d, row, lane, &value->track, err);
        if (r < 0)
                return r;
        if (json_pull_string(row->name.text, &d->room, &name) < 0)
                return error_set(err, -ENOMEM, "no memory for a text");
        unit = name.n_bytes != 0 ? intern_find(&d->names, name.bytes, name.n_bytes) : 0;
        value->unit = unit != 0 ? d->units[unit - 1] : 0;
        return 0;
}
