/* SPDX-License-Identifier: MIT */
#include "import/iree/iree_tracks.h"

#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 96

/* Flags of a clock correlation. */
#define HAS_TICK    1
#define HAS_CPU     2
#define HAS_BRACKET 8
#define UNALIGNED   16

struct iree_reading {
        uint32_t device, epoch; /* id of the device */
        bool has_raw, has_bracket;
        uint64_t ticks;
        uint64_t raw;        /* CLOCK_MONOTONIC_RAW */
        uint64_t begin, end; /* CLOCK_MONOTONIC */
};

struct queue_id {
        uint32_t device, queue;
        uint64_t stream;
};

static struct text_view view_of(const char *text)
{
        return (struct text_view){ .bytes = text, .n_bytes = strlen(text) };
}

void iree_tracks_init(struct iree_tracks *t, struct import_rows *rows)
{
        *t = (struct iree_tracks){ .rows = rows };
        intern_init(&t->device_ids, sizeof(uint32_t), IREE_DEVICES_MAX);
        intern_init(&t->queue_ids, sizeof(struct queue_id), IREE_QUEUES_MAX);
}

void iree_tracks_deinit(struct iree_tracks *t)
{
        intern_deinit(&t->device_ids);
        intern_deinit(&t->queue_ids);
        free(t->devices);
        free(t->queues);
        free(t->readings);
}

void iree_tracks_begin_session(struct iree_tracks *t, uint32_t number)
{
        t->session = number;
        for (uint32_t i = 0; i < t->queue_ids.n_items; i++)
                t->queues[i].key_kind = 0;
        for (uint32_t i = 0; i < t->device_ids.n_items; i++)
                memset(t->devices[i].live_bytes, 0, sizeof(t->devices[i].live_bytes));
}

/* ------------------------------------------------------------------ devices and queues */

static int find_device(struct iree_tracks *t, uint64_t ordinal, uint32_t *ret_id, struct error *err)
{
        uint32_t key = (uint32_t)ordinal;
        int r = intern_add_row(&t->device_ids, &key, &t->devices, &t->devices_capacity, sizeof(*t->devices),
                               ret_id);

        if (r == -ENOMEM)
                return error_set(err, -ENOMEM, "out of memory");
        return r < 0 ? -E2BIG : 0;
}

static int make_host_clock(struct iree_tracks *t, struct error *err)
{
        struct import_clock clock = {
                .kind = IMPORT_CLOCK_MONOTONIC,
                .period_ns = 1,
                .name = view_of("host"),
        };

        return t->host_clock ? 0 : import_rows_clock(t->rows, &clock, &t->host_clock, err);
}

/*
 * The top track of a device, of either clock.  import_rows tells tracks apart by their numbers, where they
 * have some, else by their names.
 */
static int make_top(struct iree_tracks *t, uint32_t ordinal, bool is_of_host, uint32_t clock, uint32_t *track,
                    struct error *err)
{
        const char *suffix = is_of_host ? " on the host" : "";
        struct import_track made = {
                .kind = IMPORT_TRACK_DEVICE,
                .clock = clock,
                .has_number = !is_of_host && ordinal != IREE_ABSENT,
        };
        char name[NAME_BYTES];

        if (made.has_number)
                made.number = ordinal;
        if (ordinal != IREE_ABSENT)
                (void)snprintf(name, sizeof(name), "device %u%s", ordinal, suffix);
        else
                (void)snprintf(name, sizeof(name), "device%s", suffix);
        made.name = view_of(name);
        return import_rows_track(t->rows, &made, track, err);
}

static int make_clock(struct iree_tracks *t, uint32_t ordinal, struct iree_device *device, struct error *err)
{
        char name[NAME_BYTES] = "device";
        struct import_clock clock = { .kind = IMPORT_CLOCK_OWN };

        if (device->clock)
                return 0;
        if (ordinal != IREE_ABSENT)
                (void)snprintf(name, sizeof(name), "device %u", ordinal);
        clock.name = view_of(name);
        return import_rows_clock(t->rows, &clock, &device->clock, err);
}

int iree_tracks_device(struct iree_tracks *t, uint64_t ordinal, struct iree_device **ret_device,
                       struct error *err)
{
        struct iree_device *device;
        uint32_t id;
        int r = find_device(t, ordinal, &id, err);

        if (r < 0)
                return r;
        device = &t->devices[id - 1];
        r = make_clock(t, (uint32_t)ordinal, device, err);
        if (r == 0 && !device->track)
                r = make_top(t, (uint32_t)ordinal, false, device->clock, &device->track, err);
        if (r < 0)
                return r;
        *ret_device = device;
        return 0;
}

int iree_tracks_host(struct iree_tracks *t, uint64_t ordinal, struct iree_device **ret_device,
                     struct error *err)
{
        struct iree_device *device;
        uint32_t id;
        int r = find_device(t, ordinal, &id, err);

        if (r < 0)
                return r;
        device = &t->devices[id - 1];
        r = make_host_clock(t, err);
        if (r == 0 && !device->host_track)
                r = make_top(t, (uint32_t)ordinal, true, t->host_clock, &device->host_track, err);
        if (r < 0)
                return r;
        *ret_device = device;
        return 0;
}

static int find_queue(struct iree_tracks *t, const struct iree_record *record, uint32_t *ret_id,
                      struct error *err)
{
        struct queue_id key = {
                .device = (uint32_t)record->fields[IREE_F_DEVICE],
                .queue = (uint32_t)record->fields[IREE_F_QUEUE],
                .stream = record->fields[IREE_F_STREAM],
        };
        int r;

        if (t->last_queue && memcmp(intern_get(&t->queue_ids, t->last_queue, NULL), &key, sizeof(key)) == 0) {
                *ret_id = t->last_queue;
                return 0;
        }
        r = intern_add_row(&t->queue_ids, &key, &t->queues, &t->queues_capacity, sizeof(*t->queues), ret_id);
        if (r == -ENOMEM)
                return error_set(err, -ENOMEM, "out of memory");
        if (r < 0)
                return -E2BIG;
        t->last_queue = *ret_id;
        return 0;
}

/* Whether no earlier queue differs from this one by its stream alone.  Linear, once a track. */
static bool is_only_stream(const struct iree_tracks *t, const struct iree_record *record)
{
        for (uint32_t i = 1; i <= t->queue_ids.n_items; i++) {
                const struct queue_id *id = intern_get(&t->queue_ids, i, NULL);

                if (id->device == (uint32_t)record->fields[IREE_F_DEVICE] &&
                    id->queue == (uint32_t)record->fields[IREE_F_QUEUE])
                        return id->stream == record->fields[IREE_F_STREAM];
        }
        return true;
}

/* The process of all submissions. */
static int make_process(struct iree_tracks *t, struct error *err)
{
        struct import_track made = { .kind = IMPORT_TRACK_PROCESS, .name = view_of("IREE") };
        int r = make_host_clock(t, err);

        made.clock = t->host_clock;
        return r < 0 || t->process != 0 ? r : import_rows_track(t->rows, &made, &t->process, err);
}

/* "device 0 queue 1 submissions" */
static int make_submissions(struct iree_tracks *t, uint64_t ordinal, const char *queue, uint32_t *track,
                            struct error *err)
{
        struct import_track made = { .kind = IMPORT_TRACK_THREAD };
        char name[2 * NAME_BYTES];
        int r = make_process(t, err);

        if (r < 0)
                return r;
        if (ordinal != IREE_ABSENT)
                (void)snprintf(name, sizeof(name), "device %u %s", (uint32_t)ordinal, queue);
        else
                (void)snprintf(name, sizeof(name), "%s", queue);
        made.parent = t->process;
        made.clock = t->host_clock;
        made.name = view_of(name);
        return import_rows_track(t->rows, &made, track, err);
}

static int make_lane(struct iree_tracks *t, const struct iree_record *record, enum iree_lane lane,
                     uint32_t *track, struct error *err)
{
        static const char *const suffixes[] = {
                [IREE_LANE_DISPATCHES] = "",
                [IREE_LANE_OPERATIONS] = " operations",
                [IREE_LANE_SUBMISSIONS] = " submissions",
                [IREE_LANE_EXECUTION] = " execution",
                [IREE_LANE_REGIONS] = " regions",
        };
        bool is_of_device = lane == IREE_LANE_DISPATCHES || lane == IREE_LANE_OPERATIONS;
        uint64_t ordinal = record->fields[IREE_F_DEVICE], queue = record->fields[IREE_F_QUEUE];
        struct import_track made = { .kind = IMPORT_TRACK_STREAM };
        char queue_name[24] = "no queue", name[NAME_BYTES];
        struct iree_device *device;
        bool is_alone = is_only_stream(t, record);
        int r;

        if (queue != IREE_ABSENT)
                (void)snprintf(queue_name, sizeof(queue_name), "queue %u", (uint32_t)queue);
        if (is_alone)
                (void)snprintf(name, sizeof(name), "%s%s", queue_name, suffixes[lane]);
        else
                (void)snprintf(name, sizeof(name), "%s stream %llu%s", queue_name,
                               (unsigned long long)record->fields[IREE_F_STREAM], suffixes[lane]);
        if (lane == IREE_LANE_SUBMISSIONS)
                return make_submissions(t, ordinal, name, track, err);
        r = is_of_device ? iree_tracks_device(t, ordinal, &device, err)
                         : iree_tracks_host(t, ordinal, &device, err);
        if (r < 0)
                return r;
        made.parent = is_of_device ? device->track : device->host_track;
        made.clock = is_of_device ? device->clock : t->host_clock;
        made.has_number = lane == IREE_LANE_DISPATCHES && queue != IREE_ABSENT && is_alone;
        made.number = made.has_number ? queue : 0;
        made.name = view_of(name);
        return import_rows_track(t->rows, &made, track, err);
}

int iree_tracks_lane(struct iree_tracks *t, const struct iree_record *record, enum iree_lane lane,
                     uint32_t *ret_track, struct error *err)
{
        uint32_t id, track;
        int r = find_queue(t, record, &id, err);

        if (r < 0)
                return r;
        track = t->queues[id - 1].tracks[lane];
        if (!track) {
                r = make_lane(t, record, lane, &track, err);
                if (r < 0)
                        return r;
                t->queues[id - 1].tracks[lane] = track;
        }
        *ret_track = track;
        return 0;
}

/* Submissions are counted by queue, so that numbers of two queues have nothing to do with each other. */
int iree_tracks_key(struct iree_tracks *t, const struct iree_record *record, struct import_key *ret_key,
                    struct error *err)
{
        uint64_t submission = record->fields[IREE_F_SUBMISSION];
        char name[NAME_BYTES];
        uint32_t id;
        int n, r;

        *ret_key = (struct import_key){ .kind = 0 };
        if (submission == 0)
                return 0;
        r = find_queue(t, record, &id, err);
        if (r < 0)
                return r;
        if (!t->queues[id - 1].key_kind) {
                n = snprintf(name, sizeof(name), "iree submission %u/%u/%llu",
                             (uint32_t)record->fields[IREE_F_DEVICE], (uint32_t)record->fields[IREE_F_QUEUE],
                             (unsigned long long)record->fields[IREE_F_STREAM]);
                if (t->session)
                        (void)snprintf(name + n, sizeof(name) - (size_t)n, " session %u", t->session);
                r = import_rows_string(t->rows, view_of(name), &t->queues[id - 1].key_kind, err);
                if (r < 0)
                        return r;
        }
        *ret_key = (struct import_key){ .kind = t->queues[id - 1].key_kind, .value = submission };
        return 0;
}

/* ------------------------------------------------------------------ clocks */

/* A counter that was set back begins a new epoch; readings that come late do not. */
static void note_epoch(struct iree_device *device, struct iree_reading *reading)
{
        uint64_t host = reading->has_bracket ? reading->begin : reading->raw;

        if (device->has_reading && reading->ticks < device->last_tick && host > device->last_host)
                device->epoch++;
        if (!device->has_reading || host > device->last_host) {
                device->last_tick = reading->ticks;
                device->last_host = host;
        }
        device->has_reading = true;
        reading->epoch = device->epoch;
}

/*
 * The driver's CPU time is of CLOCK_MONOTONIC_RAW from AMD's kernel driver, and mostly of CLOCK_MONOTONIC
 * from Vulkan: only then it lies in the bracket, which is of CLOCK_MONOTONIC, and says nothing more.
 */
static bool judge_reading(const struct iree_record *record, struct iree_reading *ret_reading)
{
        uint64_t flags = record->fields[IREE_F_FLAGS], cpu = record->fields[IREE_F_CPU_NS];
        uint64_t begin = record->fields[IREE_F_BEGIN], end = record->fields[IREE_F_END];
        bool has_bracket = flags & HAS_BRACKET && begin <= end && end <= INT64_MAX;
        bool has_raw = flags & HAS_CPU && cpu <= INT64_MAX && !(has_bracket && cpu >= begin && cpu <= end);

        if (!(flags & HAS_TICK) || !(has_bracket || has_raw))
                return false;
        *ret_reading = (struct iree_reading){
                .ticks = record->fields[IREE_F_TICK],
                .has_raw = has_raw,
                .has_bracket = has_bracket,
                .raw = cpu,
                .begin = has_bracket ? begin : 0,
                .end = has_bracket ? end : 0,
        };
        return true;
}

int iree_tracks_add_reading(struct iree_tracks *t, const struct iree_record *record, struct error *err)
{
        struct iree_reading reading;
        struct iree_device *device;
        uint32_t id;
        int r = find_device(t, record->fields[IREE_F_DEVICE], &id, err);

        if (r < 0)
                return r;
        device = &t->devices[id - 1];
        if (record->fields[IREE_F_FLAGS] & UNALIGNED)
                device->is_unaligned = true;
        if (!judge_reading(record, &reading)) {
                t->n_useless++;
                return 0;
        }
        if (t->n_readings == IREE_READINGS_MAX)
                return -E2BIG;
        reading.device = id;
        note_epoch(device, &reading);
        if (array_reserve(&t->readings, &t->readings_capacity, t->n_readings + 1, sizeof(reading)) < 0)
                return error_set(err, -ENOMEM, "out of memory");
        t->readings[t->n_readings++] = reading;
        return 0;
}

/*
 * The driver read both clocks within the bracket: its width bounds how far its CPU time is from the tick, and
 * how long after the beginning of the bracket it was.
 */
static int hand_over(struct iree_tracks *t, const struct iree_reading *from, struct error *err)
{
        uint64_t width = from->end - from->begin;
        struct import_reading by_raw = {
                .clock = t->devices[from->device - 1].clock,
                .host = IMPORT_CLOCK_RAW,
                .ticks = from->ticks,
                .host_begin = from->raw > width ? from->raw - width : 0,
                .host_end = from->raw + width,
                .epoch = from->epoch,
        };
        struct import_reading by_mono = by_raw, of_host = by_raw;
        int r = from->has_raw ? import_rows_reading(t->rows, &by_raw, err) : 0;

        if (r < 0 || !from->has_bracket)
                return r;
        by_mono.host = IMPORT_CLOCK_MONOTONIC;
        by_mono.host_begin = from->begin;
        by_mono.host_end = from->end;
        r = import_rows_reading(t->rows, &by_mono, err);
        if (r < 0 || !from->has_raw)
                return r;
        r = make_host_clock(t, err);
        if (r < 0)
                return r;
        of_host.clock = t->host_clock;
        of_host.ticks = from->begin;
        of_host.host_end = from->raw;
        of_host.epoch = 0;
        return import_rows_reading(t->rows, &of_host, err);
}

int iree_tracks_end(struct iree_tracks *t, struct error *err)
{
        for (size_t i = 0; i < t->n_readings; i++) {
                struct iree_device *device = &t->devices[t->readings[i].device - 1];
                uint32_t ordinal = *(const uint32_t *)intern_get(&t->device_ids, t->readings[i].device, NULL);
                int r;

                if (device->is_unaligned) {
                        t->n_unaligned++;
                        continue;
                }
                r = make_clock(t, ordinal, device, err);
                if (r == 0)
                        r = hand_over(t, &t->readings[i], err);
                if (r < 0)
                        return r;
        }
        t->n_readings = 0;
        return 0;
}
