/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_clocks.h - where ticks of a file's clocks are on a trace's timeline, and how exactly
 *
 * Way of the data:  import_rows: clocks and readings; CLOCKS and META of a trace -> [import_clocks] ->
 *                   import_trace
 *
 * Times of the file are placed by clocks of the host.  Into a trace: by that trace's readings of the same
 * clock against CLOCK_MONOTONIC_RAW.  Without one, the file's first clock of the host is the timeline.
 * A clock with readings of its own goes through the clock of the host that it was read against.  If it was
 * read against CLOCK_REALTIME too, and that says another boot, by that one alone.
 *
 * Owns everything in it.  Not thread-safe.
 */
#ifndef IMPORT_IMPORT_CLOCKS_H
#define IMPORT_IMPORT_CLOCKS_H

#include "import/rows/import_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_dictionary;

#define IMPORT_CLOCKS_MAX    1024
#define IMPORT_BOUND_UNKNOWN UINT64_MAX
#define IMPORT_CLOCK_KINDS   (IMPORT_CLOCK_OWN + 1)

/* Two clocks at the same instant. */
struct import_knot {
        uint64_t ticks, time_ns;
};

/* From ticks to times: straight from knot to knot; outside of them with the nominal period. */
struct import_line {
        struct import_knot *knots; /* heap; both ascend */
        size_t n_knots, capacity;
        double period_ns;  /* of a tick, outside of the knots */
        uint64_t bound_ns; /* of a place, while the clock runs evenly; IMPORT_BOUND_UNKNOWN */
        int64_t step_ns;   /* the clock was set by so much, or the machine slept: the largest; 0 = none */
        uint64_t step_after_ns; /* the time of the last reading before it */
};

struct placed_clock {
        struct import_clock clock; /* `name` is not kept here */
        uint32_t name;             /* string */
        uint64_t first, last;      /* ticks of what happened by it; first > last: nothing */
        bool is_for_host;          /* tracks of the host have it */
        uint32_t n_readings;
        bool is_placed;
        bool is_of_other_boot;   /* than the recording: placed by CLOCK_REALTIME */
        struct import_line line; /* if it is placed */
};

struct import_clocks {
        struct placed_clock *clocks; /* heap; by id - 1 */
        uint32_t n_clocks;
        size_t clocks_capacity;
        struct import_reading *readings; /* heap; in the order of arrival */
        size_t n_readings, readings_capacity;

        struct import_line host[IMPORT_CLOCK_KINDS]; /* by kind: those that have knots, or are the timeline */
        bool has_host[IMPORT_CLOCK_KINDS];
        enum import_clock_kind timeline; /* without a trace: the clock that it is of */
        uint64_t start_ns;               /* the same: where it is 0, if it counts from about there; or 0 */
        uint32_t unplaced;               /* after -EINVAL of the placing: the clock */
};

struct import_placing {
        const struct trace_dictionary *into; /* NULL = the file's own clock is the timeline */
        enum import_clock_kind said;         /* by the user, of clocks of the host; UNKNOWN = nothing */
        uint64_t error_ns;                   /* stated by the user: added to each bound */
};

/* Zero-initialised is empty and valid. */
void import_clocks_deinit(struct import_clocks *c);

/* Return 0, -ENOMEM, -EOVERFLOW. */
int import_clocks_add(struct import_clocks *c, const struct import_clock *clock, uint32_t name,
                      uint32_t *ret_id);
int import_clocks_add_reading(struct import_clocks *c, const struct import_reading *reading);

/* Something happened by the clock, from @first to @last. */
void import_clocks_use(struct import_clocks *c, uint32_t clock, uint64_t first, uint64_t last);

/*
 * import_clocks_place() - after the file was read
 * Clocks of devices may stay unplaced.  Returns 0, -ENOMEM, or -EINVAL: times of the host cannot be placed.
 */
int import_clocks_place(struct import_clocks *c, const struct import_placing *how, struct error *err);

uint64_t import_line_time(const struct import_line *line, uint64_t ticks);

/* Never decreases with the ticks.  A clock that is not placed: 0. */
static inline uint64_t import_clocks_time(const struct import_clocks *c, uint32_t clock, uint64_t ticks)
{
        const struct import_line *line = &c->clocks[clock - 1].line;
        uint64_t time_ns;

        /* Most clocks are nanoseconds after one moment. */
        if (line->n_knots == 1 && line->period_ns == 1 && ticks >= line->knots[0].ticks &&
            !__builtin_add_overflow(line->knots[0].time_ns, ticks - line->knots[0].ticks, &time_ns))
                return time_ns;
        return import_line_time(line, ticks);
}

/* "CLOCK_MONOTONIC", for people. */
const char *import_clock_kind_name(enum import_clock_kind kind);

#endif /* IMPORT_IMPORT_CLOCKS_H */
