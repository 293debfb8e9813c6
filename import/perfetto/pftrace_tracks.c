/* SPDX-License-Identifier: MIT */
#include "import/perfetto/pftrace_tracks.h"

#include "base/error.h"
#include "import/file/json_pull.h"
#include "import/file/protobuf_pull.h"
#include "import/perfetto/pftrace_fields.h"
#include "import/rows/import_rows.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES        40
#define DEVICE_CLOCKS_MAX 256 /* a file has IMPORT_CLOCKS_MAX clocks */

static int complain(int r, struct error *err)
{
        return r == -ENOMEM ? error_set(err, r, "no memory for tracks") : r == -EOVERFLOW ? -E2BIG : r;
}

void pftrace_tracks_init(struct pftrace_tracks *t, struct import_rows *rows, struct pftrace_clocks *clocks)
{
        *t = (struct pftrace_tracks){ .rows = rows, .clocks = clocks };
        intern_init(&t->uuids, sizeof(uint64_t), PFTRACE_TRACKS_MAX);
        intern_init(&t->pids, sizeof(uint64_t), PFTRACE_TRACKS_MAX);
        intern_init(&t->names, 0, PFTRACE_TRACKS_MAX);
        t->names.items_bytes_max = PFTRACE_NAMES_BYTES;
}

void pftrace_tracks_deinit(struct pftrace_tracks *t)
{
        intern_deinit(&t->uuids);
        intern_deinit(&t->pids);
        intern_deinit(&t->names);
        free(t->tracks);
        free(t->processes);
}

static int find_row(struct pftrace_tracks *t, uint64_t uuid, struct pftrace_track **ret, struct error *err)
{
        uint32_t id;
        int r = intern_add_row(&t->uuids, &uuid, &t->tracks, &t->tracks_capacity, sizeof(*t->tracks), &id);

        if (r < 0)
                return complain(r, err);
        *ret = &t->tracks[id - 1];
        if (r == 1)
                **ret = (struct pftrace_track){ .uuid = uuid, .multiplier = 1 };
        return 0;
}

static int find_process(struct pftrace_tracks *t, uint64_t pid, struct named_process **ret, struct error *err)
{
        uint32_t id;
        int r = intern_add_row(&t->pids, &pid, &t->processes, &t->processes_capacity, sizeof(*t->processes),
                               &id);

        if (r < 0)
                return complain(r, err);
        *ret = &t->processes[id - 1];
        return 0;
}

static struct text_view name_of(const struct pftrace_tracks *t, uint32_t name)
{
        struct text_view text = { NULL, 0 };

        if (name != 0)
                text.bytes = intern_get(&t->names, name, &text.n_bytes);
        return text;
}

static int keep_name(struct pftrace_tracks *t, struct text_view text, uint32_t *ret, struct error *err)
{
        int r = text.n_bytes > 0 ? intern_add(&t->names, text.bytes, text.n_bytes, ret) : 0;

        return r < 0 ? complain(r, err) : 0;
}

/* ------------------------------------------------------------------ descriptions */

struct description {
        uint64_t uuid, parent, pid, tid, time_us;
        struct text_view words;         /* its description */
        struct text_view name, of_what; /* of the track; of the process or thread */
        bool has_process, has_thread, has_counter;
        uint64_t unit;
        struct text_view unit_name;
        int64_t multiplier;
        bool is_incremental;
};

static int read_process(struct text_view message, struct description *d)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        d->has_process = true;
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == PFTRACE_PROCESS_PID)
                        d->pid = (uint32_t)field.value;
                else if (field.number == PFTRACE_PROCESS_NAME)
                        d->of_what = field.bytes;
        }
        return r;
}

static int read_thread(struct text_view message, struct description *d)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        d->has_thread = true;
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == PFTRACE_THREAD_PID)
                        d->pid = (uint32_t)field.value;
                else if (field.number == PFTRACE_THREAD_TID)
                        d->tid = field.value;
                else if (field.number == PFTRACE_THREAD_NAME)
                        d->of_what = field.bytes;
                else if (field.number == PFTRACE_THREAD_REFERENCE_US)
                        d->time_us = field.value;
        }
        return r;
}

static int read_counter(struct text_view message, struct description *d)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        d->has_counter = true;
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == PFTRACE_COUNTER_UNIT)
                        d->unit = field.value;
                else if (field.number == PFTRACE_COUNTER_MULTIPLIER && field.value != 0)
                        d->multiplier = (int64_t)field.value;
                else if (field.number == PFTRACE_COUNTER_INCREMENTAL)
                        d->is_incremental = field.value != 0;
                else if (field.number == PFTRACE_COUNTER_UNIT_NAME)
                        d->unit_name = field.bytes;
        }
        return r;
}

static int read_description(struct text_view message, struct description *d)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        *d = (struct description){ .multiplier = 1 };
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == PFTRACE_TRACK_UUID)
                        d->uuid = field.value;
                else if (field.number == PFTRACE_TRACK_PARENT)
                        d->parent = field.value;
                else if (field.number == PFTRACE_TRACK_NAME || field.number == PFTRACE_TRACK_STATIC_NAME ||
                         field.number == PFTRACE_TRACK_ATRACE_NAME)
                        d->name = field.bytes;
                else if (field.number == PFTRACE_TRACK_DESCRIPTION)
                        d->words = field.bytes;
                else if (field.number == PFTRACE_TRACK_PROCESS)
                        r = read_process(field.bytes, d);
                else if (field.number == PFTRACE_TRACK_THREAD)
                        r = read_thread(field.bytes, d);
                else if (field.number == PFTRACE_TRACK_COUNTER)
                        r = read_counter(field.bytes, d);
                if (r < 0)
                        return r;
        }
        return r;
}

static int keep_counter(struct pftrace_tracks *t, const struct description *d, struct pftrace_track *of,
                        struct error *err)
{
        struct text_view unit = d->unit_name, title = d->name;
        int r;

        if (unit.n_bytes == 0 && d->unit == PFTRACE_UNIT_NS)
                unit = (struct text_view){ "ns", 2 };
        if (unit.n_bytes == 0 && d->unit == PFTRACE_UNIT_BYTES)
                unit = (struct text_view){ "bytes", 5 };
        if (title.n_bytes == 0)
                title = (struct text_view){ "counter", 7 };
        of->multiplier = d->multiplier;
        of->is_incremental = d->is_incremental;
        r = import_rows_string(t->rows, unit, &of->unit, err);
        return r < 0 ? r : import_rows_string(t->rows, title, &of->title, err);
}

/* "lane 3 (2)" is "lane 3", whose track it shares then. */
static struct text_view without_number(struct text_view name)
{
        const char *bracket = name.n_bytes ? memrchr(name.bytes, '(', name.n_bytes) : NULL;

        if (bracket && bracket - name.bytes > 1 && bracket[-1] == ' ')
                name.n_bytes = (size_t)(bracket - name.bytes - 1);
        return name;
}

/* "hyprof device; placed within 0.3 us; bound 312 ns" */
static void read_bound(struct pftrace_track *of, struct text_view words)
{
        const char *at = memmem(words.bytes, words.n_bytes, PFTRACE_BOUND_WORDS, strlen(PFTRACE_BOUND_WORDS));
        struct text_view digits;

        of->has_bound = false;
        of->is_estimated = !at && memmem(words.bytes, words.n_bytes, "within", strlen("within"));
        if (!at)
                return;
        digits.bytes = at + strlen(PFTRACE_BOUND_WORDS);
        digits.n_bytes = (size_t)(words.bytes + words.n_bytes - digits.bytes);
        for (size_t i = 0; i < digits.n_bytes; i++)
                if (digits.bytes[i] < '0' || digits.bytes[i] > '9')
                        digits.n_bytes = i;
        of->has_bound = json_pull_unsigned(digits, &of->bound_ns);
}

int pftrace_tracks_describe(struct pftrace_tracks *t, struct text_view message, struct error *err)
{
        struct named_process *process = NULL;
        struct pftrace_track *of = NULL;
        struct description d;
        int r = read_description(message, &d);

        if (r < 0)
                return r;
        r = find_row(t, d.uuid, &of, err);
        if (r < 0)
                return r;
        assert(of);
        if (d.has_process || d.has_thread) {
                if (d.of_what.n_bytes > 0)
                        d.name = d.of_what;
                of->pid = d.pid;
                of->tid = d.tid;
        }
        of->parent = d.parent;
        of->kind = d.has_thread                                           ? PFTRACE_TRACK_IS_THREAD
                   : d.has_process                                        ? PFTRACE_TRACK_IS_PROCESS
                   : d.has_counter                                        ? PFTRACE_TRACK_IS_COUNTER
                   : text_view_begins_with(d.words, PFTRACE_DEVICE_WORDS) ? PFTRACE_TRACK_IS_DEVICE
                                                                          : PFTRACE_TRACK_IS_NAMED;
        if (of->kind == PFTRACE_TRACK_IS_DEVICE)
                read_bound(of, d.words);
        if (text_view_begins_with(d.words, PFTRACE_SUBLANE_WORDS))
                d.name = without_number(d.name);
        r = keep_name(t, d.name, &of->name, err);
        if (r == 0 && d.has_counter)
                r = keep_counter(t, &d, of, err);
        if (r < 0 || of->kind != PFTRACE_TRACK_IS_PROCESS || of->name == 0)
                return r;
        r = find_process(t, of->pid, &process, err);
        if (process)
                process->name = of->name;
        return r;
}

int pftrace_tracks_read_thread(struct text_view message, uint64_t *ret_pid, uint64_t *ret_tid,
                               uint64_t *ret_time_us)
{
        struct description d = { .multiplier = 1 };
        int r = read_thread(message, &d);

        if (r < 0)
                return r;
        *ret_pid = d.pid;
        *ret_tid = d.tid;
        *ret_time_us = d.time_us;
        return 0;
}

/* ------------------------------------------------------------------ tracks of import_rows */

static int make_process(struct pftrace_tracks *t, uint64_t pid, uint32_t clock, uint32_t *ret_track,
                        struct error *err)
{
        struct import_track track = {
                .kind = IMPORT_TRACK_PROCESS, .clock = clock, .number = pid, .has_number = true
        };
        struct named_process *process = NULL;
        int r = find_process(t, pid, &process, err);

        if (r < 0)
                return r;
        assert(process);
        track.name = name_of(t, process->name);
        r = import_rows_track(t->rows, &track, ret_track, err);
        if (r == 0 && process->track == 0)
                process->track = *ret_track;
        return r;
}

/* A track below its process, which becomes its parent. */
static int make_below(struct pftrace_tracks *t, uint64_t pid, struct import_track *track, uint32_t *ret_track,
                      struct error *err)
{
        int r = make_process(t, pid, track->clock, &track->parent, err);

        return r < 0 ? r : import_rows_track(t->rows, track, ret_track, err);
}

int pftrace_tracks_thread(struct pftrace_tracks *t, uint64_t pid, uint64_t tid, uint32_t known,
                          uint32_t *ret_track, struct error *err)
{
        struct import_track track = { .kind = IMPORT_TRACK_THREAD, .number = tid, .has_number = true };
        int r = pftrace_clocks_use(t->clocks, known, &track.clock, err);

        return r < 0 ? r : make_below(t, pid, &track, ret_track, err);
}

int pftrace_tracks_async(struct pftrace_tracks *t, uint64_t pid, struct text_view name, uint32_t known,
                         uint32_t *ret_track, struct error *err)
{
        struct import_track track = { .kind = IMPORT_TRACK_OTHER, .name = name };
        int r = pftrace_clocks_use(t->clocks, known, &track.clock, err);

        return r < 0 ? r : make_below(t, pid, &track, ret_track, err);
}

/* Lanes of a device have the times of the file, within the bound that it states. */
static int make_clock(struct pftrace_tracks *t, struct pftrace_track *of, uint32_t clock, struct error *err)
{
        const struct import_clock own = { .kind = IMPORT_CLOCK_OWN,
                                          .period_ns = 1,
                                          .name = { "times of devices", strlen("times of devices") },
                                          .of = clock,
                                          .error_ns = of->has_bound ? of->bound_ns : UINT64_MAX };

        of->clock = clock;
        t->n_no_bound += of->is_estimated;
        /* A file has a bounded number of clocks. */
        return t->n_devices < DEVICE_CLOCKS_MAX ? import_rows_clock(t->rows, &own, &of->clock, err) : 0;
}

/* @parent: of import_rows; 0 = none */
static int make_track(struct pftrace_tracks *t, struct pftrace_track *of, uint32_t parent, uint32_t clock,
                      struct error *err)
{
        struct import_track track = {
                .kind = IMPORT_TRACK_OTHER, .parent = parent, .clock = clock, .name = name_of(t, of->name)
        };
        char name[NAME_BYTES];
        int r;

        switch (of->kind) {
        case PFTRACE_TRACK_IS_PROCESS:
                return make_process(t, of->pid, clock, &of->track, err);
        case PFTRACE_TRACK_IS_THREAD:
                track.kind = IMPORT_TRACK_THREAD;
                track.number = of->tid;
                track.has_number = true;
                return make_below(t, of->pid, &track, &of->track, err);
        case PFTRACE_TRACK_IS_COUNTER:
                of->track = parent;
                if (parent != 0)
                        return 0;
                track.name = (struct text_view){ "counters", 8 };
                break;
        case PFTRACE_TRACK_UNKNOWN:
                t->n_undescribed++;
                break;
        case PFTRACE_TRACK_IS_NAMED:
                break;
        case PFTRACE_TRACK_IS_DEVICE:
                r = make_clock(t, of, clock, err);
                if (r < 0)
                        return r;
                t->n_devices++;
                track.clock = of->clock;
                track.kind = IMPORT_TRACK_DEVICE;
                track.number = t->n_devices; /* two of one name are two */
                track.has_number = true;
                return import_rows_track(t->rows, &track, &of->track, err);
        }
        if (track.name.n_bytes == 0) {
                track.name.n_bytes = (size_t)(of->uuid == 0 ? snprintf(name, sizeof(name), "no track")
                                                            : snprintf(name, sizeof(name), "track %" PRIu64,
                                                                       of->uuid));
                track.name.bytes = name;
        }
        return import_rows_track(t->rows, &track, &of->track, err);
}

/*
 * Makes a track and those above it that are described, from the top.  A ring of parents ends where it is
 * longer than any tree.
 */
static int make_branch(struct pftrace_tracks *t, struct pftrace_track *leaf, uint32_t known,
                       struct error *err)
{
        struct pftrace_track *way[PFTRACE_TRACK_DEPTH] = { leaf };
        uint32_t n = 1, parent = 0, clock, id;
        bool is_below_device = false;
        int r = pftrace_clocks_use(t->clocks, known, &clock, err);

        while (n < PFTRACE_TRACK_DEPTH && way[n - 1]->kind != PFTRACE_TRACK_IS_PROCESS &&
               way[n - 1]->kind != PFTRACE_TRACK_IS_THREAD) {
                id = way[n - 1]->parent ? intern_find(&t->uuids, &way[n - 1]->parent, sizeof(uint64_t)) : 0;
                if (id == 0 || t->tracks[id - 1].kind == PFTRACE_TRACK_UNKNOWN)
                        break;
                way[n++] = &t->tracks[id - 1];
        }
        for (; r == 0 && n > 0; n--) {
                struct pftrace_track *of = way[n - 1];

                if (of->track == 0 || of->known != known) {
                        r = make_track(t, of, parent, clock, err);
                        if (r == 0)
                                of->known = known;
                }
                parent = of->track;
                if (of->kind == PFTRACE_TRACK_IS_DEVICE)
                        clock = of->clock;
                of->is_below_device = is_below_device;
                is_below_device |= of->kind == PFTRACE_TRACK_IS_DEVICE;
        }
        return r;
}

int pftrace_tracks_find(struct pftrace_tracks *t, uint64_t uuid, uint32_t known,
                        struct pftrace_track **ret_of, struct error *err)
{
        int r = find_row(t, uuid, ret_of, err);

        if (r < 0 || (*ret_of)->track != 0)
                return r;
        return make_branch(t, *ret_of, known, err);
}

int pftrace_tracks_finish(struct pftrace_tracks *t, struct error *err)
{
        int r = 0;

        for (uint32_t i = 0; r == 0 && i < t->uuids.n_items; i++)
                if (t->tracks[i].kind == PFTRACE_TRACK_IS_THREAD && t->tracks[i].track != 0 &&
                    t->tracks[i].name != 0)
                        r = import_rows_name_track(t->rows, t->tracks[i].track, name_of(t, t->tracks[i].name),
                                                   err);
        for (uint32_t i = 0; r == 0 && i < t->pids.n_items; i++)
                if (t->processes[i].track != 0 && t->processes[i].name != 0)
                        r = import_rows_name_track(t->rows, t->processes[i].track,
                                                   name_of(t, t->processes[i].name), err);
        return r;
}
