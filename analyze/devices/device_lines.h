/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_lines.h - when devices, or lanes of them, were busy, and what the program did in the
 * gaps between
 *
 * Way of the data:  device_zones, host_times -> [device_lines] -> device_stats
 *
 * A line is a device or a lane of one; its zones at the same time count once.  A gap is the time between
 * zones of a line in which none lasts.  A thread ends it, by bringing the next work: the thread of the zone
 * to which the next zone of the line belongs by its key, else the thread that handed the next one over.  The
 * time of a gap belongs to the zones in which that thread was meanwhile, the innermost ones, and the rest to
 * no zone.
 *
 * Zones come in any order: DEVICE_LINES_SPANS_MAX are kept for each line, and the older half counts when
 * there are more; of zones that come even later, the part before that is left out.
 * Memory: 48 bytes a gap, and 24 for each of those spans.  If there are more than DEVICE_LINES_GAPS_MAX gaps,
 * the shorter half is dropped and only summed up.  Not thread-safe.
 */
#ifndef ANALYZE_DEVICES_DEVICE_LINES_H
#define ANALYZE_DEVICES_DEVICE_LINES_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_zone;
struct error;
struct loaded_trace;

#define DEVICE_LINES_GAPS_MAX  (UINT32_C(1) << 18)
#define DEVICE_LINES_SPANS_MAX (UINT32_C(1) << 14)
#define DEVICE_LINES_ROWS_MAX  (UINT32_C(1) << 16)

struct device_gap {
        uint64_t begin_ns, end_ns;
        uint64_t host_ns;          /* for how long the thread was in the zone below */
        uint32_t host_location;    /* the zone in which it was the longest; 0 = in none */
        uint32_t line;             /* as the caller numbers them, from 1 */
        uint32_t thread, location; /* which brings the next zone; of that zone */
};

/* Compared as bytes. */
struct device_idle_key {
        uint32_t line, location; /* of a zone of a thread; 0 = in no zone */
};

struct device_idle_row {
        uint64_t idle_ns; /* in gaps, while the thread was in this zone */
        uint64_t n_gaps;  /* in which it was there the longest */
};

/* Zones of a line that follow each other without a gap. */
struct device_line_span {
        uint64_t begin_ns, end_ns;
        uint32_t thread, location; /* of the first one */
};

struct device_line {
        struct device_line_span *spans; /* heap */
        size_t n_spans, capacity;
        uint64_t settled_ns;        /* if `is_settled`: all before this is known */
        uint64_t first_ns, last_ns; /* if there are zones */
        uint64_t n_zones, total_ns; /* total: zones at the same time count each */
        uint64_t busy_ns;           /* complete after device_lines_finish(), and so is all below */
        uint64_t n_gaps, idle_ns, longest_ns;
        uint64_t host_ns;       /* of the zone of threads that has the most of `idle_ns` */
        uint32_t host_location; /* of that; 0 = none */
        bool is_settled;
        bool has_gaps; /* its times are those of the host, so that its gaps may be looked at */
};

struct device_lines {
        struct device_line *lines; /* heap; by number - 1 */
        size_t lines_capacity;
        uint32_t n_lines;
        struct device_gap *gaps; /* heap; after device_lines_finish(): the longest first */
        size_t n_gaps, capacity;
        struct intern keys;           /* struct device_idle_key */
        struct device_idle_row *rows; /* heap; by id of `keys` - 1 */
        size_t rows_capacity;
        uint32_t n_rows;
        uint64_t n_all, all_ns; /* gaps, also those that were dropped */
        uint64_t n_dropped, dropped_ns;
        uint64_t n_late; /* zones that came after the time around them had been settled */
        uint64_t n_lost; /* gaps that are in no row, beyond the limit */
};

/* With @n_lines lines, and more as they come.  Returns 0 or -ENOMEM; to be deinitialised in any case. */
int device_lines_init(struct device_lines *l, uint32_t n_lines);
void device_lines_deinit(struct device_lines *l);

/*
 * Takes a zone of the line with this number, and who brought it.
 * @has_gaps: the clock of the device is known
 * Returns 0 or -ENOMEM.
 */
int device_lines_add(struct device_lines *l, uint32_t number, const struct device_zone *zone, uint32_t thread,
                     bool has_gaps);

/*
 * device_lines_finish() - after all zones of @n_sets objects: go once through the trace for what the threads
 * did in their gaps, if there are any
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int device_lines_finish(struct device_lines *const *sets, size_t n_sets, struct loaded_trace *trace,
                        struct error *err);

#endif /* ANALYZE_DEVICES_DEVICE_LINES_H */
