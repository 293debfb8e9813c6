/* SPDX-License-Identifier: MIT */
#include "import/rows/import_clocks.h"

#include "analyze/trace/meta_value.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "import/rows/import_boot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLEW_PART        2000 /* the kernel slews CLOCK_MONOTONIC and CLOCK_REALTIME by at most 500 ppm */
#define START_NS         NS_PER_S
#define REALTIME_READ_NS 10000 /* within this START and END of META were read, as good as ever */

__extension__ typedef unsigned __int128 wide;

static uint64_t add(uint64_t a, uint64_t b)
{
        uint64_t sum;

        return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t find_distance(uint64_t a, uint64_t b)
{
        return a > b ? a - b : b - a;
}

const char *import_clock_kind_name(enum import_clock_kind kind)
{
        static const char *const names[IMPORT_CLOCK_KINDS] = {
                [IMPORT_CLOCK_UNKNOWN] = "a clock that the file does not name",
                [IMPORT_CLOCK_RAW] = "CLOCK_MONOTONIC_RAW",
                [IMPORT_CLOCK_MONOTONIC] = "CLOCK_MONOTONIC",
                [IMPORT_CLOCK_REALTIME] = "CLOCK_REALTIME",
                [IMPORT_CLOCK_BOOTTIME] = "CLOCK_BOOTTIME",
                [IMPORT_CLOCK_TSC] = "the processor's counter (TSC)",
                [IMPORT_CLOCK_OWN] = "a clock of its own",
        };

        return names[kind];
}

void import_clocks_deinit(struct import_clocks *c)
{
        for (uint32_t i = 0; i < c->n_clocks; i++)
                free(c->clocks[i].line.knots);
        for (unsigned i = 0; i < IMPORT_CLOCK_KINDS; i++)
                free(c->host[i].knots);
        free(c->clocks);
        free(c->readings);
        *c = (struct import_clocks){ .clocks = NULL };
}

int import_clocks_add(struct import_clocks *c, const struct import_clock *clock, uint32_t name,
                      uint32_t *ret_id)
{
        struct placed_clock placed = { .clock = *clock, .name = name, .first = UINT64_MAX };

        if (c->n_clocks == IMPORT_CLOCKS_MAX)
                return -EOVERFLOW;
        if (array_reserve(&c->clocks, &c->clocks_capacity, c->n_clocks + 1, sizeof(*c->clocks)) < 0)
                return -ENOMEM;
        if (clock->of > c->n_clocks)
                placed.clock.of = 0;
        if (!(clock->period_ns > 0 && clock->period_ns < 1e12))
                placed.clock.period_ns = 0;
        if (clock->kind != IMPORT_CLOCK_OWN && clock->kind != IMPORT_CLOCK_TSC)
                placed.clock.period_ns = 1;
        placed.clock.name = (struct text_view){ NULL, 0 };
        c->clocks[c->n_clocks++] = placed;
        *ret_id = c->n_clocks;
        return 0;
}

int import_clocks_add_reading(struct import_clocks *c, const struct import_reading *reading)
{
        if (array_reserve(&c->readings, &c->readings_capacity, c->n_readings + 1, sizeof(*c->readings)) < 0)
                return -ENOMEM;
        c->readings[c->n_readings++] = *reading;
        c->clocks[reading->clock - 1].n_readings++;
        return 0;
}

void import_clocks_use(struct import_clocks *c, uint32_t clock, uint64_t first, uint64_t last)
{
        while (clock != 0) {
                struct placed_clock *p = &c->clocks[clock - 1];

                if (first < p->first)
                        p->first = first;
                if (last > p->last)
                        p->last = last;
                clock = p->clock.of;
        }
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static uint64_t shift_time(uint64_t time_ns, double by_ns)
{
        double at = (double)time_ns + by_ns;

        if (at <= 0)
                return 0;
        if (at >= 0x1p64)
                return UINT64_MAX;
        return by_ns < 0 ? time_ns - (uint64_t)-by_ns : add(time_ns, (uint64_t)by_ns);
}

/* Beyond a knot.  Nanoseconds stay exact: a double has 53 bits only. */
static uint64_t extend(const struct import_line *line, struct import_knot from, uint64_t ticks)
{
        uint64_t by = find_distance(ticks, from.ticks);

        if (line->period_ns == 1)
                return ticks >= from.ticks ? add(from.time_ns, by)
                       : from.time_ns > by ? from.time_ns - by
                                           : 0;
        return shift_time(from.time_ns, ticks >= from.ticks ? (double)by * line->period_ns
                                                            : -((double)by * line->period_ns));
}

uint64_t import_line_time(const struct import_line *line, uint64_t ticks)
{
        const struct import_knot *a, *b;
        size_t n;

        if (line->n_knots == 1)
                return extend(line, line->knots[0], ticks);
        n = array_count_to(line->knots, line->n_knots, sizeof(*line->knots),
                           offsetof(struct import_knot, ticks), ticks);

        if (line->n_knots == 0)
                return 0;
        if (n == 0)
                return extend(line, line->knots[0], ticks);
        if (n == line->n_knots)
                return extend(line, line->knots[n - 1], ticks);
        a = &line->knots[n - 1];
        b = &line->knots[n];
        return a->time_ns +
               (uint64_t)((wide)(ticks - a->ticks) * (b->time_ns - a->time_ns) / (b->ticks - a->ticks));
}

static int compare_knots(const void *a, const void *b)
{
        const struct import_knot *x = a, *y = b;

        if (x->ticks != y->ticks)
                return x->ticks < y->ticks ? -1 : 1;
        return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int add_knot(struct import_line *line, uint64_t ticks, uint64_t time_ns)
{
        if (array_reserve(&line->knots, &line->capacity, line->n_knots + 1, sizeof(*line->knots)) < 0)
                return -ENOMEM;
        line->knots[line->n_knots++] = (struct import_knot){ ticks, time_ns };
        return 0;
}

/* Leaves out knots that go back, and finds the period if the file does not state it. */
static void complete_line(struct import_line *line)
{
        size_t n = 0;

        if (line->n_knots == 0)
                return;
        qsort(line->knots, line->n_knots, sizeof(*line->knots), compare_knots);
        for (size_t i = 0; i < line->n_knots; i++)
                if (n == 0 || (line->knots[i].ticks > line->knots[n - 1].ticks &&
                               line->knots[i].time_ns >= line->knots[n - 1].time_ns))
                        line->knots[n++] = line->knots[i];
        line->n_knots = n;
        if (line->period_ns == 0 && n > 1)
                line->period_ns = (double)(line->knots[n - 1].time_ns - line->knots[0].time_ns) /
                                  (double)(line->knots[n - 1].ticks - line->knots[0].ticks);
        if (line->period_ns == 0)
                line->period_ns = 1;
}

/* ---- clocks of the host -------------------------------------------------------------------------------- */

static enum import_clock_kind kind_of_row(uint32_t kind)
{
        switch (kind) {
        case TRACE_CLOCK_TSC:
        case TRACE_CLOCK_CNTVCT:
        case TRACE_CLOCK_RDTIME:
                return IMPORT_CLOCK_TSC;
        case TRACE_CLOCK_MONOTONIC:
                return IMPORT_CLOCK_MONOTONIC;
        case TRACE_CLOCK_REALTIME:
                return IMPORT_CLOCK_REALTIME;
        case TRACE_CLOCK_BOOTTIME:
                return IMPORT_CLOCK_BOOTTIME;
        default:
                return IMPORT_CLOCK_UNKNOWN;
        }
}

static int compare_times(const void *a, const void *b)
{
        const struct import_knot *x = a, *y = b;

        return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static uint64_t size_of(int64_t by_ns)
{
        return by_ns < 0 ? 0 - (uint64_t)by_ns : (uint64_t)by_ns;
}

/*
 * Finds how far the clock can have been from the straight line between two readings: its slew in that time.
 * If that is more than a clock is slewed, it was set, at an unknown time.  Forward: half of the time counts
 * as that of the old clock, the rest as that of the new one.  Back: the same times came twice, and count as
 * those of the new clock.
 */
static int find_bound(struct import_line *line, uint64_t error_ns)
{
        size_t n = line->n_knots;

        line->bound_ns = 0;
        if (line->period_ns == 1 && n > 0)
                qsort(line->knots, n, sizeof(*line->knots), compare_times);
        for (size_t i = 1; i < n && line->period_ns == 1; i++) {
                const struct import_knot a = line->knots[i - 1], b = line->knots[i];
                uint64_t gap_ns = b.time_ns - a.time_ns, half_ns = gap_ns / 2;
                int64_t by_ns = (int64_t)(b.ticks - a.ticks - gap_ns);
                bool is_step = size_of(by_ns) > add(gap_ns / SLEW_PART, add(error_ns, error_ns));
                uint64_t bound_ns = is_step && by_ns > 0 && half_ns < size_of(by_ns) ? half_ns
                                                                                     : size_of(by_ns);

                if (line->bound_ns < bound_ns)
                        line->bound_ns = bound_ns;
                if (!is_step)
                        continue;
                if (size_of(by_ns) > size_of(line->step_ns)) {
                        line->step_ns = by_ns;
                        line->step_after_ns = a.time_ns;
                }
                if (by_ns > 0 && (add_knot(line, a.ticks + half_ns, a.time_ns + half_ns) < 0 ||
                                  add_knot(line, b.ticks - half_ns, b.time_ns - half_ns) < 0))
                        return -ENOMEM;
        }
        complete_line(line);
        line->bound_ns = add(line->bound_ns, error_ns);
        return 0;
}

/* By the readings that a trace has since version 1.8. */
static int read_rows(struct import_clocks *c, const struct trace_dictionary *d)
{
        uint64_t errors[IMPORT_CLOCK_KINDS] = { 0 };

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_CLOCKS); i++) {
                const struct trace_clock *row = trace_dictionary_row(d, TRACE_TABLE_CLOCKS, i);
                enum import_clock_kind kind = kind_of_row(row->kind);

                /* If there are several recordings, the timeline is of the clocks of the first. */
                if (kind == IMPORT_CLOCK_UNKNOWN || row->recording > 1)
                        continue;
                if (add_knot(&c->host[kind], row->ticks, row->raw_ns) < 0)
                        return -ENOMEM;
                if (row->error_ns > errors[kind])
                        errors[kind] = row->error_ns;
        }
        for (unsigned i = 0; i < IMPORT_CLOCK_KINDS; i++) {
                struct import_line *line = &c->host[i];

                line->period_ns = i == IMPORT_CLOCK_TSC ? 0 : 1;
                if (find_bound(line, errors[i]) < 0)
                        return -ENOMEM;
                c->has_host[i] = line->n_knots > 0;
        }
        return 0;
}

/* Older traces state CLOCK_REALTIME at the start, and most at the end. */
static int read_meta(struct import_clocks *c, const struct trace_dictionary *d)
{
        struct import_line *line = &c->host[IMPORT_CLOCK_REALTIME];
        uint64_t from = meta_value_number(d, "start_realtime_ns"),
                 to = meta_value_number(d, "end_realtime_ns");
        uint64_t raw_from = meta_value_number(d, "start_raw_ns"), raw_to = meta_value_number(d, "end_raw_ns");

        if (c->has_host[IMPORT_CLOCK_REALTIME] || from == 0 || raw_from == 0)
                return 0;
        if (add_knot(line, from, raw_from) < 0)
                return -ENOMEM;
        if (to > from && raw_to > raw_from && add_knot(line, to, raw_to) < 0)
                return -ENOMEM;
        line->period_ns = 1;
        c->has_host[IMPORT_CLOCK_REALTIME] = true;
        if (find_bound(line, REALTIME_READ_NS) < 0)
                return -ENOMEM;
        if (line->n_knots == 1 && raw_to > raw_from)
                line->bound_ns += (raw_to - raw_from) / SLEW_PART;
        return 0;
}

/* A kind is the timeline itself, but for a constant. */
static int put_identity(struct import_clocks *c, enum import_clock_kind kind, uint64_t at_ns)
{
        struct import_line *line = &c->host[kind];

        line->n_knots = 0;
        line->period_ns = 1;
        line->bound_ns = 0;
        c->has_host[kind] = true;
        return add_knot(line, 0, at_ns);
}

/* ---- placing ------------------------------------------------------------------------------------------- */

static bool is_used(const struct placed_clock *p)
{
        return p->first <= p->last;
}

static bool is_of_host(const struct placed_clock *p)
{
        return p->clock.kind != IMPORT_CLOCK_OWN;
}

/*
 * The user's word is for clocks of the host, for those of which nothing else is known, and for what the times
 * of a file were read against; ticks of the processor are no such times.
 */
static void put_said(struct import_clocks *c, enum import_clock_kind said)
{
        for (uint32_t i = 0; i < c->n_clocks && said != IMPORT_CLOCK_UNKNOWN; i++) {
                struct placed_clock *p = &c->clocks[i];

                if (is_of_host(p) || (p->is_for_host && p->n_readings == 0))
                        p->clock.kind = said;
                if (p->clock.kind == said && said != IMPORT_CLOCK_TSC)
                        p->clock.period_ns = 1;
        }
        for (size_t i = 0; i < c->n_readings && said != IMPORT_CLOCK_UNKNOWN && said != IMPORT_CLOCK_TSC;
             i++) {
                struct import_reading *r = &c->readings[i];
                const struct placed_clock *p = &c->clocks[r->clock - 1];

                if (p->is_for_host && !is_of_host(p) && r->host != IMPORT_CLOCK_TSC)
                        r->host = said;
        }
}

/* The clock that is the timeline of a trace without a recording: the first that something happened by. */
static enum import_clock_kind choose_timeline(const struct import_clocks *c)
{
        const struct placed_clock *first = NULL;

        for (uint32_t i = 0; i < c->n_clocks; i++)
                if (is_used(&c->clocks[i]) && is_of_host(&c->clocks[i]) &&
                    (!first || c->clocks[i].is_for_host > first->is_for_host))
                        first = &c->clocks[i];
        if (first)
                return first->clock.kind;
        return c->n_readings > 0 ? c->readings[0].host : IMPORT_CLOCK_OWN;
}

/*
 * A clock that nothing was read against begins at its first event, on a timeline that is of no clock.  If it
 * is the only one, the timeline is its own: what counts from about 0 begins there.
 */
static int start_line(struct import_clocks *c, struct placed_clock *p)
{
        uint64_t at_ns = START_NS;
        bool is_alone = true;

        for (uint32_t i = 0; i < c->n_clocks; i++) {
                const struct placed_clock *other = &c->clocks[i];
                bool goes_with = other->clock.of != 0 && &c->clocks[other->clock.of - 1] == p;

                is_alone = is_alone && (other == p || goes_with || !is_used(other));
        }
        p->line.period_ns = p->clock.period_ns > 0 ? p->clock.period_ns : 1;
        p->line.bound_ns = is_alone ? 0 : IMPORT_BOUND_UNKNOWN;
        p->is_placed = true;
        if (is_alone && is_used(p) && (double)p->first * p->line.period_ns < (double)START_NS) {
                at_ns = shift_time(START_NS, (double)p->first * p->line.period_ns);
                c->start_ns = START_NS;
        }
        return add_knot(&p->line, is_used(p) ? p->first : 0, at_ns);
}

/* Beyond the trace's readings of a clock of the host it may have been slewed all the time. */
static void widen_outside(struct placed_clock *p, const struct import_line *host)
{
        uint64_t from_ns = host->knots[0].time_ns, to_ns = host->knots[host->n_knots - 1].time_ns;
        uint64_t first_ns, last_ns, before = 0, after = 0;

        if (!is_used(p))
                return;
        first_ns = import_line_time(&p->line, p->first);
        last_ns = import_line_time(&p->line, p->last);
        if (first_ns < from_ns)
                before = from_ns - first_ns;
        if (last_ns > to_ns)
                after = last_ns - to_ns;
        p->line.bound_ns = add(p->line.bound_ns, (before > after ? before : after) / SLEW_PART);
}

/*
 * Through the readings of the clock against clocks of the host that have a place: CLOCK_REALTIME alone, if
 * the others began with another boot.
 */
static int place_by_readings(struct import_clocks *c, uint32_t clock, const struct import_placing *how)
{
        struct placed_clock *p = &c->clocks[clock - 1];
        enum import_clock_kind host = IMPORT_CLOCK_RAW;
        uint64_t widest = 0;

        p->line.period_ns = p->clock.period_ns;
        for (size_t i = 0; i < c->n_readings; i++) {
                const struct import_reading *r = &c->readings[i];
                uint64_t width;

                if (r->clock != clock || !c->has_host[r->host] || r->host == p->clock.kind ||
                    (p->is_of_other_boot && r->host != IMPORT_CLOCK_REALTIME))
                        continue;
                width = r->host_end > r->host_begin ? r->host_end - r->host_begin : 0;
                if (add_knot(&p->line, r->ticks,
                             import_line_time(&c->host[r->host], r->host_begin + width / 2)) < 0)
                        return -ENOMEM;
                width = add(width / 2, c->host[r->host].bound_ns);
                if (width > widest)
                        widest = width;
                host = r->host;
        }
        complete_line(&p->line);
        p->line.bound_ns = widest;
        p->is_placed = p->line.n_knots > 0;
        p->line.step_ns = c->host[host].step_ns;
        p->line.step_after_ns = c->host[host].step_after_ns;
        if (how->into && host != IMPORT_CLOCK_RAW)
                widen_outside(p, &c->host[host]);
        return 0;
}

static int copy_line(struct import_line *to, const struct import_line *from)
{
        struct import_knot *knots = malloc((from->n_knots + 1) * sizeof(*knots));

        if (!knots)
                return -ENOMEM;
        memcpy(knots, from->knots, from->n_knots * sizeof(*knots));
        free(to->knots);
        *to = *from;
        to->knots = knots;
        to->capacity = from->n_knots + 1;
        return 0;
}

/* Clocks come after those that they are of. */
static int place_beside(struct placed_clock *p, const struct placed_clock *of)
{
        int r = copy_line(&p->line, &of->line);

        p->is_placed = of->is_placed;
        p->is_of_other_boot = of->is_of_other_boot;
        p->line.bound_ns = add(of->line.bound_ns, p->clock.error_ns);
        return r;
}

static int place_one(struct import_clocks *c, uint32_t clock, const struct import_placing *how)
{
        struct placed_clock *p = &c->clocks[clock - 1];
        int r = 0;

        if (p->clock.of != 0)
                return place_beside(p, &c->clocks[p->clock.of - 1]);
        p->is_of_other_boot = how->into && how->said == IMPORT_CLOCK_UNKNOWN && import_boot_differs(c, clock);
        if (is_of_host(p) && c->has_host[p->clock.kind] && !p->is_of_other_boot) {
                r = copy_line(&p->line, &c->host[p->clock.kind]);
                p->is_placed = true;
                if (how->into && p->clock.kind != IMPORT_CLOCK_RAW)
                        widen_outside(p, &c->host[p->clock.kind]);
        } else if (p->n_readings > 0) {
                r = place_by_readings(c, clock, how);
        } else if (!how->into && !c->has_host[p->clock.kind] && !is_of_host(p)) {
                r = start_line(c, p);
        }
        if (r == 0 && p->is_placed)
                p->line.bound_ns = add(p->line.bound_ns, how->error_ns);
        return r;
}

static int refuse(struct import_clocks *c, uint32_t clock, const struct import_placing *how,
                  struct error *err)
{
        enum import_clock_kind kind = c->clocks[clock - 1].clock.kind;

        c->unplaced = clock;
        for (size_t i = 0; i < c->n_readings && kind == IMPORT_CLOCK_OWN; i++)
                if (c->readings[i].clock == clock)
                        kind = c->readings[i].host;
        if (kind == IMPORT_CLOCK_UNKNOWN || kind == IMPORT_CLOCK_OWN)
                return error_set(err, -EINVAL, "the file does not say which clock its times are of");
        return error_set(err, -EINVAL,
                         how->into
                                 ? "its times are of %s, of which the trace has no readings"
                                 : "its times are of several clocks, and %s was not read against the others",
                         import_clock_kind_name(kind));
}

/* A trace has no events at 0: a clock that counts from about there begins later on the timeline. */
static uint64_t find_start(const struct import_clocks *c, enum import_clock_kind kind)
{
        for (uint32_t i = 0; i < c->n_clocks; i++)
                if (c->clocks[i].clock.kind == kind && c->clocks[i].first < START_NS)
                        return START_NS;
        return 0;
}

static int make_timeline(struct import_clocks *c)
{
        struct import_line *line = &c->host[IMPORT_CLOCK_TSC];

        c->timeline = choose_timeline(c);
        if (c->timeline == IMPORT_CLOCK_OWN)
                return 0;
        c->start_ns = find_start(c, c->timeline);
        if (c->timeline != IMPORT_CLOCK_TSC)
                return put_identity(c, c->timeline, c->start_ns);
        for (uint32_t i = 0; i < c->n_clocks && line->period_ns == 0; i++)
                if (c->clocks[i].clock.kind == IMPORT_CLOCK_TSC)
                        line->period_ns = c->clocks[i].clock.period_ns;
        if (line->period_ns == 0)
                line->period_ns = 1;
        c->has_host[IMPORT_CLOCK_TSC] = true;
        return add_knot(line, 0, c->start_ns);
}

int import_clocks_place(struct import_clocks *c, const struct import_placing *how, struct error *err)
{
        int r;

        put_said(c, how->said);
        if (how->into) {
                r = read_rows(c, how->into);
                if (r == 0)
                        r = read_meta(c, how->into);
                if (r == 0)
                        r = put_identity(c, IMPORT_CLOCK_RAW, 0);
        } else {
                r = make_timeline(c);
        }
        for (uint32_t i = 1; i <= c->n_clocks && r == 0; i++)
                r = place_one(c, i, how);
        if (r < 0)
                return error_set(err, r, "no memory for clocks");
        for (uint32_t i = 1; i <= c->n_clocks; i++)
                if (!c->clocks[i - 1].is_placed && c->clocks[i - 1].is_for_host && is_used(&c->clocks[i - 1]))
                        return refuse(c, i, how, err);
        return 0;
}
