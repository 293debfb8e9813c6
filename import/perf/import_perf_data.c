/* SPDX-License-Identifier: MIT */
#include "import/perf/import_perf_data.h"

#include "base/error.h"
#include "import/perf/perf_entry.h"
#include "import/perf/perf_file.h"
#include "import/perf/perf_queue.h"
#include "import/perf/perf_stacks.h"
#include "import/perf/perf_tasks.h"
#include "import/perf/perf_unpack.h"
#include "import/rows/import_rows.h"
#include "import/rows/import_samples.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MISC_SWITCH_OUT (1 << 13)
#define MISC_PREEMPTED  (1 << 14)

struct perf_import {
        struct import_rows *rows;
        struct perf_file file;
        struct perf_queue queue;
        struct perf_tasks tasks;
        struct perf_stacks *stacks;
        struct perf_unpack unpack;
        bool is_broken; /* packed records are of no use any more */
        uint32_t clock;
};

bool import_perf_data_recognise(struct text_view head)
{
        return perf_file_recognise(head);
}

/* ---- before the records -------------------------------------------------------------------------------- */

static enum import_clock_kind clock_kind(const struct perf_event *event)
{
        if (!event->has_clock)
                return IMPORT_CLOCK_UNKNOWN;
        switch (event->clock) {
        case CLOCK_MONOTONIC_RAW:
                return IMPORT_CLOCK_RAW;
        case CLOCK_MONOTONIC:
                return IMPORT_CLOCK_MONOTONIC;
        case CLOCK_REALTIME:
                return IMPORT_CLOCK_REALTIME;
        case CLOCK_BOOTTIME:
                return IMPORT_CLOCK_BOOTTIME;
        default:
                return IMPORT_CLOCK_OWN;
        }
}

/*
 * A clock that no other file has, such as CLOCK_TAI, has its place by CLOCK_REALTIME; of other clocks this
 * reading says of which boot they are.
 */
static int add_clock(struct perf_import *p, struct error *err)
{
        struct import_clock clock = { .kind = clock_kind(&p->file.events[0]), .period_ns = 1 };
        struct import_reading reading = { .host = IMPORT_CLOCK_REALTIME,
                                          .ticks = p->file.clock_ns,
                                          .host_begin = p->file.realtime_ns,
                                          .host_end = p->file.realtime_ns };
        int r = import_rows_clock(p->rows, &clock, &p->clock, err);

        reading.clock = p->clock;
        if (r == 0 && p->file.has_clock_pair && clock.kind != IMPORT_CLOCK_UNKNOWN &&
            clock.kind != IMPORT_CLOCK_REALTIME)
                r = import_rows_reading(p->rows, &reading, err);
        return r;
}

/* A file that was cut off has no names. */
static void name_event(const struct perf_event *event, char *name, size_t name_bytes)
{
        static const char *const names[][12] = {
                { "cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
                  "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles" },
                { "cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
                  "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
                  "bpf-output", "cgroup-switches" },
        };

        if (event->type < 2 && event->config < 12 && names[event->type][event->config])
                (void)snprintf(name, name_bytes, "%s", names[event->type][event->config]);
        else
                (void)snprintf(name, name_bytes, "type %u config 0x%llx", event->type,
                               (unsigned long long)event->config);
}

static int add_events(struct perf_import *p, struct error *err)
{
        int r = 0;

        for (uint32_t i = 0; i < p->file.n_events && r == 0; i++) {
                struct perf_event *event = &p->file.events[i];
                struct import_sample_event row = {
                        .type = event->type,
                        .config = event->config,
                        .rate = event->period,
                        .is_frequency = event->is_frequency,
                };
                char name[48];

                name_event(event, name, sizeof(name));
                row.name = (struct text_view){ name, strlen(name) };
                if (event->name_bytes > 0)
                        row.name = (struct text_view){ (const char *)p->file.names.data + event->name_at,
                                                       event->name_bytes };
                r = import_rows_sample_event(p->rows, &row, &event->event, err);
        }
        return r;
}

/* ---- records, by time ---------------------------------------------------------------------------------- */

static int add_sample(struct perf_import *p, const struct perf_entry *entry, struct error *err)
{
        struct import_sample sample = {
                .event = entry->event->event, .cpu = entry->cpu, .weight = entry->period, .time = entry->time
        };
        struct perf_process *process;
        struct perf_thread *thread;
        int r;

        if (entry->pid == PERF_ENTRY_NO_PID || entry->tid == PERF_ENTRY_NO_PID) {
                import_rows_left_out(p->rows, "sample without a thread", 1);
                return 0;
        }
        r = perf_tasks_find(&p->tasks, entry->pid, entry->tid, &thread, &process, err);
        if (r < 0)
                return r;
        sample.track = thread->track;
        r = perf_stacks_add(p->stacks, entry, process, &sample.stack, &sample.state, err);
        return r < 0 ? r : import_rows_sample(p->rows, &sample, err);
}

static int add_switch(struct perf_import *p, const struct perf_entry *entry, struct error *err)
{
        struct import_switch event = { .cpu = entry->cpu,
                                       .is_in = !(entry->misc & MISC_SWITCH_OUT),
                                       .is_preempted = entry->misc & MISC_PREEMPTED,
                                       .time = entry->time };
        struct perf_process *process;
        struct perf_thread *thread;
        int r;

        /* Thread 0 is an idle CPU. */
        if (!entry->has_time || entry->pid == PERF_ENTRY_NO_PID || entry->tid == 0)
                return 0;
        r = perf_tasks_find(&p->tasks, entry->pid, entry->tid, &thread, &process, err);
        event.track = r == 0 ? thread->track : 0;
        return r < 0 ? r : import_rows_switch(p->rows, &event, err);
}

static int apply(struct perf_import *p, const struct perf_raw_record *record, struct error *err)
{
        struct perf_entry entry;

        if (perf_entry_decode(&p->file, record, &entry) < 0)
                return 0; /* counted when it was read */
        switch (record->type) {
        case PERF_ENTRY_SAMPLE:
                return add_sample(p, &entry, err);
        case PERF_ENTRY_SWITCH:
        case PERF_ENTRY_SWITCH_CPU_WIDE:
                return add_switch(p, &entry, err);
        case PERF_ENTRY_LOST:
        case PERF_ENTRY_LOST_SAMPLES:
                import_rows_dropped(p->rows, entry.n_lost);
                return 0;
        default:
                return perf_tasks_apply(&p->tasks, &entry, err);
        }
}

static int apply_ready(struct perf_import *p, struct error *err)
{
        struct perf_raw_record record;
        int r = 0;

        while (r == 0 && perf_queue_next(&p->queue, &record))
                r = apply(p, &record, err);
        return r;
}

/* ---- records, as they come ----------------------------------------------------------------------------- */

static int end_round(struct perf_import *p, struct error *err)
{
        perf_queue_mark(&p->queue, false);
        return apply_ready(p, err);
}

static int take_plain(struct perf_import *p, const struct perf_raw_record *record, struct error *err)
{
        struct perf_entry entry;

        import_rows_count_row(p->rows);
        if (record->type >= PERF_ENTRY_USER)
                return record->type == PERF_ENTRY_FINISHED_ROUND ? end_round(p, err) : 0;
        if (perf_entry_decode(&p->file, record, &entry) < 0) {
                import_rows_malformed(p->rows, record->at,
                                      "the record is shorter than it says, or of no event");
                return 0;
        }
        /* Records without a time are of what perf found when it began: they come before all else. */
        if (record->type == PERF_ENTRY_SAMPLE && !entry.has_time) {
                import_rows_left_out(p->rows, "sample without a time", 1);
                return 0;
        }
        if (!entry.has_time || entry.time == 0 || entry.time == UINT64_MAX)
                return apply(p, record, err);
        if (perf_queue_add(&p->queue, record, entry.time) < 0)
                return error_set(err, -ENOMEM, "no memory for records");
        return p->queue.n_ready > 0 ? apply_ready(p, err) : 0;
}

static bool is_packed(const struct perf_raw_record *record)
{
        return record->type == PERF_ENTRY_COMPRESSED || record->type == PERF_ENTRY_COMPRESSED2;
}

static int take_packed(struct perf_import *p, const struct perf_raw_record *packed, struct error *err)
{
        struct perf_raw_record record;
        int r;

        if (p->is_broken) {
                import_rows_malformed(p->rows, packed->at, "the packing before is broken");
                return 0;
        }
        r = perf_unpack_add(&p->unpack, packed);
        while (r >= 0 && (r = perf_unpack_next(&p->unpack, &record)) == 1) {
                if (is_packed(&record))
                        import_rows_malformed(p->rows, packed->at, "the record is packed twice");
                else if ((r = take_plain(p, &record, err)) < 0)
                        return r;
        }
        if (r == -EBADMSG) {
                p->is_broken = true;
                import_rows_malformed(p->rows, packed->at, "the packing is broken");
        }
        return r == -ENOMEM ? error_set(err, r, "no memory to unpack") : 0;
}

static int take(struct perf_import *p, const struct perf_raw_record *record, struct error *err)
{
        if (!is_packed(record))
                return take_plain(p, record, err);
        import_rows_count_row(p->rows);
        return take_packed(p, record, err);
}

static int read_records(struct perf_import *p, struct error *err)
{
        struct perf_raw_record record;
        int r;

        while ((r = perf_file_next(&p->file, &record, err)) == 1) {
                r = take(p, &record, err);
                if (r < 0)
                        return r;
        }
        if (r == -EBADMSG)
                import_rows_malformed(p->rows, p->file.at, "no record can begin here");
        if (r == -ENODATA || r == -EBADMSG || p->file.has_no_end)
                import_rows_cut(p->rows, p->file.at);
        if (r < 0 && r != -ENODATA && r != -EBADMSG)
                return r;
        perf_queue_mark(&p->queue, true);
        return apply_ready(p, err);
}

int import_perf_data_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        struct perf_import p = { .rows = rows };
        int r = perf_file_open(&p.file, source, import_rows_spool(rows), err);

        if (r < 0)
                return r;
        r = import_rows_file(rows, "perf.data", (struct text_view){ p.file.version, strlen(p.file.version) },
                             err);
        if (r == 0)
                r = add_clock(&p, err);
        if (r == 0)
                r = add_events(&p, err);
        perf_tasks_init(&p.tasks, rows, &p.file, p.clock);
        p.stacks = perf_stacks_new(&p.tasks);
        if (r == 0 && !p.stacks)
                r = error_set(err, -ENOMEM, "no memory for stacks");
        if (r == 0)
                r = read_records(&p, err);
        perf_stacks_free(p.stacks);
        perf_tasks_deinit(&p.tasks);
        perf_queue_deinit(&p.queue);
        perf_unpack_deinit(&p.unpack);
        perf_file_close(&p.file);
        return r;
}
