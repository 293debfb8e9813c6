/* SPDX-License-Identifier: MIT */
#include "import/rows/import_state.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "import/rows/import_events.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* PIDs and TIDs of the kernel are below 2^22: these numbers cannot be taken for one. */
#define NUMBER_FIRST (UINT32_C(1) << 30)

static int out_of_memory(int code, struct error *err)
{
        return error_set(err, code, code == -EOVERFLOW ? "a table of the trace is full" : "out of memory");
}

static bool is_real(const struct import_place *track)
{
        return track->has_number && track->number < NUMBER_FIRST;
}

/* ---- processes ----------------------------------------------------------------------------------------- */

/* The recording's process with a PID at a time: the last one that was there before. */
static uint32_t find_recorded(const struct import_rows *rows, uint32_t pid, uint64_t time_ns)
{
        uint32_t found = 0, first = 0;

        for (uint32_t i = 1; i <= rows->n_processes_before; i++) {
                const struct trace_process *row = trace_dictionary_row(rows->dictionary,
                                                                       TRACE_TABLE_PROCESSES, i);

                if (row->pid != pid)
                        continue;
                first = first != 0 ? first : i;
                found = row->start_ns <= time_ns ? i : found;
        }
        /* A recorder sees a process later than the process itself does. */
        return found != 0 ? found : first;
}

static int add_process(struct import_rows *rows, uint32_t pid, uint64_t time_ns, uint32_t *ret_process)
{
        struct trace_process row = { .pid = pid, .parent = rows->parent, .start_ns = time_ns };

        return trace_dictionary_add_new(rows->dictionary, TRACE_TABLE_PROCESSES, &row, ret_process);
}

/* PIDs of another boot are of other processes. */
static int find_process(struct import_rows *rows, const struct import_place *track, uint64_t time_ns,
                        uint32_t *ret_process)
{
        bool may_be_recorded = !rows->clocks.clocks[track->clock - 1].is_of_other_boot;
        uint32_t pid = (uint32_t)track->number;
        uint32_t id;
        int r = intern_add_row(&rows->process_keys, &pid, &rows->processes, &rows->processes_capacity,
                               sizeof(*rows->processes), &id);

        if (r == 1) {
                rows->processes[id - 1] = may_be_recorded ? find_recorded(rows, pid, time_ns) : 0;
                r = rows->processes[id - 1] != 0 ? 0
                                                 : add_process(rows, pid, time_ns, &rows->processes[id - 1]);
        }
        if (r < 0)
                return r;
        *ret_process = rows->processes[id - 1];
        return 0;
}

/* A process that has no PID gets one that is none. */
static int name_process(struct import_rows *rows, const struct import_place *track, uint64_t time_ns,
                        uint32_t *ret_process)
{
        struct import_process_key key = { track->file, track->name };
        uint32_t id;
        int r;

        if (track->name == 0)
                return add_process(rows, NUMBER_FIRST + rows->n_numbers++, time_ns, ret_process);
        r = intern_add_row(&rows->named_keys, &key, &rows->named, &rows->named_capacity, sizeof(*rows->named),
                           &id);
        if (r == 1)
                r = add_process(rows, NUMBER_FIRST + rows->n_numbers++, time_ns, &rows->named[id - 1]);
        if (r == 0)
                *ret_process = rows->named[id - 1];
        return r;
}

/* ---- threads of the host ------------------------------------------------------------------------------- */

static int add_thread(struct import_rows *rows, struct import_thread_key key, uint32_t name, uint64_t time_ns,
                      uint32_t *ret_thread, struct error *err)
{
        struct trace_thread row = { .process = key.process, .tid = key.tid, .start_ns = time_ns };
        bool has_switches = rows->files[rows->file_now - 1].n_switches != 0;
        struct trace_event event = { .op = TRACE_OP_THREAD_NAME, .time_ns = time_ns };
        int r;

        row.kind = has_switches ? TRACE_THREAD_KERNEL : TRACE_THREAD_IMPORTED;
        r = trace_dictionary_add_new(rows->dictionary, TRACE_TABLE_THREADS, &row, ret_thread);
        if (r < 0)
                return out_of_memory(r, err);
        event.thread_name.name = name;
        return name != 0 ? import_events_add(rows->events, *ret_thread, &event, err) : 0;
}

/* The thread of a process with this number; a new one gets @name. */
static int find_thread(struct import_rows *rows, struct import_thread_key key, uint32_t name,
                       uint64_t time_ns, uint32_t *ret_index, struct error *err)
{
        struct import_host_thread *t;
        uint32_t id;
        int r = intern_add_row(&rows->thread_keys, &key, &rows->threads, &rows->threads_capacity,
                               sizeof(*rows->threads), &id);

        if (r < 0)
                return out_of_memory(r, err);
        *ret_index = id;
        if (r == 0)
                return 0;
        t = &rows->threads[id - 1];
        t->process = key.process;
        t->name = name;
        return add_thread(rows, key, name, time_ns, &t->thread, err);
}

/* Whether a process track has a thread with this number, of any clock, that has a name. */
static bool has_named_thread(const struct import_rows *rows, uint32_t process, uint32_t tid)
{
        struct import_track_key key = { .number = tid,
                                        .kind = IMPORT_TRACK_THREAD << 1 | 1,
                                        .parent = process };

        for (key.clock = 1; key.clock <= rows->clocks.n_clocks; key.clock++) {
                uint32_t id = intern_find(&rows->track_keys, &key, sizeof(key));

                if (id != 0 && rows->tracks[rows->tracks_by_key[id - 1] - 1].name != 0)
                        return true;
        }
        return false;
}

/* The row of a process track, which may be none: then it is a process of the file's. */
int import_tracks_process(struct import_rows *rows, uint32_t root, uint64_t time_ns, uint32_t *ret_process,
                          struct error *err)
{
        struct import_place *track = &rows->tracks[root - 1];
        bool is_process = track->kind == IMPORT_TRACK_PROCESS;
        const struct trace_process *row;
        struct import_thread_key key;
        uint32_t pid, index;
        int r;

        *ret_process = track->process;
        if (track->process != 0)
                return 0;
        r = import_samples_place_parents(rows, root, time_ns, err);
        if (r < 0)
                return r;
        r = is_process && is_real(track) ? find_process(rows, track, time_ns, ret_process)
                                         : name_process(rows, track, time_ns, ret_process);
        rows->parent = 0;
        if (r < 0)
                return out_of_memory(r, err);
        track->process = *ret_process;
        row = trace_dictionary_row(rows->dictionary, TRACE_TABLE_PROCESSES, track->process);
        pid = row->pid;
        if (!is_process || track->name == 0 || track->process <= rows->n_processes_before)
                return 0;
        /* A process is called like its main thread, unless that has another name. */
        if (has_named_thread(rows, root, pid))
                return 0;
        key = (struct import_thread_key){ track->process, pid };
        return find_thread(rows, key, track->name, time_ns, &index, err);
}

int import_tracks_thread(struct import_rows *rows, uint32_t id, uint64_t time_ns, uint32_t *ret_index,
                         struct error *err)
{
        struct import_place *track = &rows->tracks[id - 1];
        struct import_thread_key key = { .tid = 0 };
        uint32_t name = track->name;
        int r;

        *ret_index = track->thread;
        if (track->thread != 0)
                return 0;
        r = import_tracks_process(rows, track->root, time_ns, &key.process, err);
        if (r < 0)
                return r;
        if (track->kind == IMPORT_TRACK_PROCESS) {
                const struct trace_process *row = trace_dictionary_row(rows->dictionary,
                                                                       TRACE_TABLE_PROCESSES, key.process);

                key.tid = row->pid;
        } else if (track->kind == IMPORT_TRACK_THREAD && is_real(track)) {
                key.tid = (uint32_t)track->number;
        } else {
                key.tid = NUMBER_FIRST + rows->n_numbers++;
                r = import_rows_name_of(rows, track, &name);
        }
        if (r < 0)
                return out_of_memory(r, err);
        r = find_thread(rows, key, name, time_ns, ret_index, err);
        if (r == 0)
                track->thread = *ret_index;
        return r;
}

int import_tracks_add_lane(struct import_rows *rows, uint32_t index, uint32_t last, uint64_t time_ns,
                           uint32_t *ret_lane, struct error *err)
{
        struct import_host_thread *t = &rows->threads[index - 1];
        struct byte_buffer name = { .data = NULL };
        struct text_view was = trace_dictionary_text(rows->dictionary, t->name);
        struct import_thread_key key;
        uint32_t thread = t->thread, string = 0;
        int r = 0;

        if (last != 0) {
                const struct trace_thread *row = trace_dictionary_row(rows->dictionary, TRACE_TABLE_THREADS,
                                                                      t->thread);

                if (was.n_bytes != 0)
                        byte_buffer_add(&name, was.bytes, was.n_bytes);
                else
                        byte_buffer_add_format(&name, "thread %u", row->tid);
                byte_buffer_add_format(&name, " #%u", t->n_lanes + 1);
                r = name.failed ? -ENOMEM
                                : trace_dictionary_add_string(rows->dictionary, name.data, name.used_bytes,
                                                              &string);
                byte_buffer_deinit(&name);
                if (r < 0)
                        return out_of_memory(r, err);
                key = (struct import_thread_key){ t->process, NUMBER_FIRST + rows->n_numbers++ };
                r = add_thread(rows, key, string, time_ns, &thread, err);
        }
        if (r < 0)
                return r;
        t->n_lanes++;
        r = import_lanes_add(&rows->lanes, last, thread, ret_lane);
        if (r == 0 && last == 0)
                t->lane = *ret_lane;
        return r < 0 ? out_of_memory(r, err) : 0;
}

/* ---- devices ------------------------------------------------------------------------------------------- */

static int add_readings(struct import_rows *rows, uint32_t device, uint32_t clock)
{
        const struct import_clocks *c = &rows->clocks;
        struct trace_device_clock row = { .device = device };
        uint32_t id;
        int r = 0;

        for (size_t i = 0; i < c->n_readings && r == 0; i++) {
                const struct import_reading *reading = &c->readings[i];
                uint64_t width = reading->host_end - reading->host_begin;

                if (reading->clock != clock || !c->has_host[reading->host])
                        continue;
                row.ticks = reading->ticks;
                row.epoch = reading->epoch;
                row.raw_ns = import_line_time(&c->host[reading->host], reading->host_begin + width / 2);
                row.error_ns = width == 0 && rows->options.clock_error_ns == 0
                                       ? 0
                                       : (width + 1) / 2 + c->host[reading->host].bound_ns +
                                                 rows->options.clock_error_ns;
                r = trace_dictionary_add(rows->dictionary, TRACE_TABLE_DEVICE_CLOCKS, &row, &id);
        }
        return r;
}

/* The readings of a clock of a device, or two places of a clock that needs none. */
static int add_clock_rows(struct import_rows *rows, uint32_t device, uint32_t clock)
{
        const struct placed_clock *p = &rows->clocks.clocks[clock - 1];
        struct trace_device_clock row = { .device = device };
        uint32_t id;
        int r = 0;

        if (!p->is_placed)
                return 0;
        if (p->clock.kind == IMPORT_CLOCK_OWN && p->n_readings > 0)
                return add_readings(rows, device, clock);
        row.error_ns = p->line.bound_ns == IMPORT_BOUND_UNKNOWN ? 0
                       : p->line.bound_ns != 0                  ? p->line.bound_ns
                                                                : 1;
        for (size_t i = 0; i < p->line.n_knots + 2 && r == 0; i++) {
                bool is_first = i == 0, is_last = i == p->line.n_knots + 1;

                row.ticks = is_first ? p->first : is_last ? p->last : p->line.knots[i - 1].ticks;
                if ((!is_first && row.ticks <= p->first) || (!is_first && !is_last && row.ticks >= p->last))
                        continue;
                row.raw_ns = import_line_time(&p->line, row.ticks);
                /* No time is before 0: a place there lacks room for its error and half a tick. */
                if (row.raw_ns <= row.error_ns) {
                        row.ticks += row.error_ns - row.raw_ns + 1;
                        row.raw_ns = import_line_time(&p->line, row.ticks);
                }
                r = trace_dictionary_add(rows->dictionary, TRACE_TABLE_DEVICE_CLOCKS, &row, &id);
        }
        return r;
}

static int add_device(struct import_rows *rows, struct import_device_key key, uint32_t number,
                      uint64_t time_ns, uint32_t *ret_device, struct error *err)
{
        const struct import_place *root = &rows->tracks[key.root - 1];
        const struct placed_clock *clock = &rows->clocks.clocks[key.clock - 1];
        struct trace_device row = { .number = number, .clock_name = clock->name };
        int r = import_rows_name_of(rows, root, &row.name);

        if (r < 0)
                return out_of_memory(r, err);
        if (clock->clock.period_ns > 0)
                memcpy(&row.period_bits, &clock->clock.period_ns, sizeof(row.period_bits));
        if (root->parent != 0) {
                r = import_tracks_process(rows, rows->tracks[root->parent - 1].root, time_ns, &row.process,
                                          err);
                if (r < 0)
                        return r;
        }
        r = trace_dictionary_add_new(rows->dictionary, TRACE_TABLE_DEVICES, &row, ret_device);
        if (r == 0)
                r = add_clock_rows(rows, *ret_device, key.clock);
        return r < 0 ? out_of_memory(r, err) : 0;
}

static enum trace_track_kind kind_of(enum import_track_kind kind)
{
        if (kind == IMPORT_TRACK_CORE)
                return TRACE_TRACK_CORE;
        if (kind == IMPORT_TRACK_PROCESSOR)
                return TRACE_TRACK_PROCESSOR;
        return kind == IMPORT_TRACK_STREAM ? TRACE_TRACK_STREAM : TRACE_TRACK_OTHER;
}

static int place_device_track(struct import_rows *rows, uint32_t id, uint64_t time_ns, struct error *err)
{
        struct import_place *track = &rows->tracks[id - 1];
        struct import_device_key key = { track->root, track->clock };
        struct trace_track row = { .number = id, .kind = kind_of(track->kind) };
        const struct import_place *parent = track->parent != 0 ? &rows->tracks[track->parent - 1] : NULL;
        uint32_t device;
        int r = intern_add_row(&rows->device_keys, &key, &rows->devices, &rows->devices_capacity,
                               sizeof(*rows->devices), &device);

        if (r == 1)
                r = add_device(rows, key, device, time_ns, &rows->devices[device - 1], err);
        else if (r < 0)
                return out_of_memory(r, err);
        if (r < 0)
                return r;
        track->device = row.device = rows->devices[device - 1];
        /* The device itself is lane 0, which has no row. */
        if (track->kind == IMPORT_TRACK_DEVICE)
                return 0;
        track->lane = id;
        if (parent && parent->device == track->device)
                row.parent = parent->track;
        r = import_rows_name_of(rows, track, &row.name);
        if (r == 0)
                r = trace_dictionary_add(rows->dictionary, TRACE_TABLE_TRACKS, &row, &track->track);
        return r < 0 ? out_of_memory(r, err) : 0;
}

/* Parents first; a track has a bounded number of them. */
int import_tracks_device(struct import_rows *rows, uint32_t id, uint64_t time_ns, struct error *err)
{
        for (;;) {
                uint32_t top = id;
                int r;

                if (rows->tracks[id - 1].device != 0)
                        return 0;
                while (rows->tracks[top - 1].kind != IMPORT_TRACK_DEVICE &&
                       rows->tracks[rows->tracks[top - 1].parent - 1].device == 0)
                        top = rows->tracks[top - 1].parent;
                r = place_device_track(rows, top, time_ns, err);
                if (r < 0)
                        return r;
        }
}

int import_tracks_carrier(struct import_rows *rows, uint32_t file, uint64_t time_ns, uint32_t *ret_thread,
                          struct error *err)
{
        const char *path = rows->files[file - 1].path, *slash = strrchr(path, '/');
        struct import_thread_key key = { .process = 0 };
        uint32_t name;
        int r;

        *ret_thread = rows->carriers[file - 1];
        if (*ret_thread != 0)
                return 0;
        key.tid = NUMBER_FIRST + rows->n_numbers++;
        path = slash && slash[1] != '\0' ? slash + 1 : path;
        r = trace_dictionary_add_string(rows->dictionary, path, strlen(path), &name);
        if (r == 0)
                r = add_process(rows, key.tid, time_ns, &key.process);
        if (r < 0)
                return out_of_memory(r, err);
        r = add_thread(rows, key, name, time_ns, ret_thread, err);
        if (r == 0)
                rows->carriers[file - 1] = *ret_thread;
        return r;
}

/* ---- plots --------------------------------------------------------------------------------------------- */

/* "memory (process 12)" */
static int name_plot_of(struct import_rows *rows, uint32_t root, uint32_t *name)
{
        struct byte_buffer words = { .data = NULL };
        struct text_view was, of;
        uint32_t string;
        int r = import_rows_name_of(rows, &rows->tracks[root - 1], &string);

        if (r < 0)
                return r;
        was = trace_dictionary_text(rows->dictionary, *name);
        byte_buffer_add(&words, was.bytes, was.n_bytes);
        of = trace_dictionary_text(rows->dictionary, string);
        byte_buffer_add_format(&words, " (%.*s)", of.n_bytes < 64 ? (int)of.n_bytes : 64, of.bytes);
        r = words.failed ? -ENOMEM
                         : trace_dictionary_add_string(rows->dictionary, words.data, words.used_bytes, name);
        byte_buffer_deinit(&words);
        return r;
}

int import_tracks_plot(struct import_rows *rows, const struct import_value *value, uint32_t *ret_plot,
                       struct error *err)
{
        const struct import_place *track = &rows->tracks[value->track - 1];
        struct import_plot_key key = { value->name, value->unit, track->is_of_device ? 0 : track->root };
        struct trace_plot row = { .name = value->name, .unit = value->unit, .flags = TRACE_PLOT_STEP };
        uint32_t id, plot;
        int r = intern_add_row(&rows->plot_keys, &key, &rows->plots, &rows->plots_capacity,
                               sizeof(*rows->plots), &plot);

        if (r == 1 && key.root != 0) {
                r = intern_add_row(&rows->plot_names, &value->name, &rows->plot_roots,
                                   &rows->plot_roots_capacity, sizeof(*rows->plot_roots), &id);
                if (r == 1)
                        rows->plot_roots[id - 1] = key.root;
                if (r >= 0)
                        r = rows->plot_roots[id - 1] == key.root          ? 1
                            : name_plot_of(rows, key.root, &row.name) < 0 ? -ENOMEM
                                                                          : 1;
        }
        if (r == 1)
                r = trace_dictionary_add(rows->dictionary, TRACE_TABLE_PLOTS, &row, &rows->plots[plot - 1]);
        if (r < 0)
                return out_of_memory(r, err);
        *ret_plot = rows->plots[plot - 1];
        return 0;
}
