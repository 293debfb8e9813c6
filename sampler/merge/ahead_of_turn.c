/* SPDX-License-Identifier: MIT */
#include "sampler/merge/kernel_side.h"

#include "base/clock.h"
#include "base/error.h"
#include "instrument/region_finder.h"
#include "sampler/events/event_set.h"
#include "sampler/images/code_images.h"
#include "sampler/jit/jit_files.h"
#include "sampler/keep/opened_files.h"
#include "sampler/merge/kernel_side_parts.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/proc/process_filter.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/recording.h"
#include "sampler/zones/zone_source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

void kernel_side_set_table_deadline(struct kernel_side *s)
{
        struct code_tables *tables = s->recording->tables;
        bool has_zones = s->recording->zones && s->recording->zones->n_regions > 0;
        uint64_t now_ns = clock_raw_ns();

        if (!tables)
                return;
        code_tables_set_patient(tables, recorder_pace_tables_may_wait(s->recording->pace, has_zones, now_ns));
        if (stack_unwinder_is_overdue(s->recording->unwinder, now_ns))
                code_tables_release(tables);
}

/* True for mappings of code and, among the many mappings of data, for clients' regions. */
static bool may_matter(const struct kernel_side *s, const struct perf_record *rec)
{
        const struct perf_mmap *m = &rec->mmap;

        if (rec->kind != PERF_RECORD_KIND_MMAP ||
            (s->recording->filter && !process_filter_may_take(s->recording->filter, rec->pid)))
                return false;
        return m->executable || region_finder_is_region_name(m->path, m->path_bytes);
}

/*
 * Announces the file of a mapping ahead of the record's turn: the file may be gone by then, and an
 * interpreter must be known while its program runs.  A full table is no reason to stop.
 */
static int want_file(struct kernel_side *s, const struct perf_record *rec)
{
        struct address_range range = { .start_avma = rec->mmap.start_avma,
                                       .file_offset_bytes = rec->mmap.file_offset_bytes };
        int r;

        if (rec->mmap.executable && s->recording->jit &&
            mapped_modules_kind(&rec->mmap) == TRACE_MODULE_ANONYMOUS)
                return jit_files_note_mapping(s->recording->jit, rec->pid, 0, &rec->mmap, rec->time_ns);
        if ((!s->recording->tables && !s->recording->keeper) || !rec->mmap.executable ||
            mapped_modules_kind(&rec->mmap) == TRACE_MODULE_ANONYMOUS)
                return 0;
        r = mapped_modules_add(s, 0, rec, &range.module);
        opened_files_forget(s->recording->opened, rec->pid, &rec->mmap);
        if (r == 0 && !__builtin_add_overflow(range.start_avma, rec->mmap.length_bytes, &range.end_avma))
                r = code_images_announce_file(s->images, rec->pid, &range, rec->time_ns);
        return r == -EOVERFLOW ? 0 : r;
}

/*
 * True for most records, which need not be decoded: mappings of data that are no region, and records that
 * are neither mappings nor forks.
 */
static bool is_of_no_interest(const uint8_t *bytes, size_t n_bytes)
{
        uint32_t type = perf_record_type(bytes, n_bytes);
        const char *path;
        size_t path_bytes;

        if (type != PERF_RECORD_MMAP2)
                return type != PERF_RECORD_FORK;
        return perf_record_maps_data(bytes, n_bytes, &path, &path_bytes) &&
               !region_finder_is_region_name(path, path_bytes);
}

/* Fetches the heads of a ring whose turn comes soon. */
static void prefetch_ring(const struct kernel_side *s, size_t ring)
{
        if (ring >= s->recording->events->n_rings)
                return;
        perf_ring_prefetch(&s->recording->events->rings[ring]);
        __builtin_prefetch(&s->rings.heads[ring].scan_bytes);
}

/* One round through the rings.  Returns 1 if a region is announced, 0, -ENOMEM, -errno. */
static int scan_rings(struct kernel_side *s, bool *ret_has_code, uint32_t *ret_pid, struct error *err)
{
        size_t n_rings = s->recording->events->n_rings;

        *ret_has_code = false;
        for (size_t i = 0; i < n_rings; i++) {
                const uint8_t *bytes;
                size_t n_bytes;
                struct perf_record rec;
                int r;

                if (!event_set_is_tracker_ring(s->recording->events, i))
                        continue;
                prefetch_ring(s, i + 2 * (size_t)PERF_RINGS_AHEAD);
                while ((r = perf_ring_scan(&s->recording->events->rings[i], &s->rings.heads[i].scan_bytes,
                                           &bytes, &n_bytes, err)) == 1) {
                        s->rings.heads[i].ready =
                                false; /* the head may have borrowed a wrapped record's copy */
                        if (is_of_no_interest(bytes, n_bytes) ||
                            perf_record_decode(bytes, n_bytes, &s->recording->events->layout, &rec, NULL) < 0)
                                continue;
                        if (rec.kind == PERF_RECORD_KIND_FORK && rec.fork.parent_pid != rec.pid) {
                                recorder_pace_note_fork(s->recording->pace, rec.time_ns);
                                kernel_side_set_table_deadline(s);
                        }
                        if (!may_matter(s, &rec))
                                continue;
                        if (region_finder_is_region_name(rec.mmap.path, rec.mmap.path_bytes)) {
                                *ret_pid = rec.pid;
                                return 1;
                        }
                        *ret_has_code |= rec.mmap.executable;
                        if (want_file(s, &rec) < 0 || code_images_look(s->images, &rec) < 0)
                                return error_set(err, -ENOMEM, "no memory for files of code");
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

/*
 * Repeats the round while it finds new code: looking at code takes time, and code that comes meanwhile may
 * soon be gone.
 */
int kernel_side_scan(struct kernel_side *s, uint32_t *ret_pid, struct error *err)
{
        bool has_code = true;
        int r = 0;

        if (code_images_update(s->images) < 0)
                return error_set(err, -ENOMEM, "no memory for objects of JITs");
        opened_files_expire(s->recording->opened, clock_raw_ns());
        for (unsigned i = 0; i < PACE_AHEAD_SCANS && has_code && r == 0; i++)
                r = scan_rings(s, &has_code, ret_pid, err);
        return r;
}
