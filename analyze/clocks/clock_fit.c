/* SPDX-License-Identifier: MIT */
#include "analyze/clocks/clock_fit.h"

#include "analyze/clocks/clock_epoch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_STEP     1.25  /* between two readings, at most that much slower or faster than around */
#define LATE_NS       1e6   /* a reading without a bracket is late by less */
#define KNOWN_LATE_NS 10000 /* a tick may be known that much before its place */

static bool is_period(double period_ns)
{
        return period_ns >= CLOCK_PERIOD_MIN_NS && period_ns <= CLOCK_PERIOD_MAX_NS;
}

/* ------------------------------------------------------------------ readings */

static double noted_ns(const struct clock_reading *r, const struct clock_reading *origin)
{
        return clock_after(r->begin_ns, origin->begin_ns) + (double)(r->end_ns - r->begin_ns) / 2;
}

/* Nanoseconds a tick, or 0. */
static double rate(const struct clock_reading *a, const struct clock_reading *b)
{
        double ns = noted_ns(b, a) - noted_ns(a, a);

        return b->ticks > a->ticks && ns > 0 && a->epoch == b->epoch ? ns / (double)(b->ticks - a->ticks) : 0;
}

/*
 * Whether the counter went on from @a to @b as it did before and as it does afterwards.
 * @before:  the rate before, or 0
 * @next:    the reading after @b, or NULL
 */
static bool goes_on(const struct clock_build *build, const struct clock_reading *a,
                    const struct clock_reading *b, double before, const struct clock_reading *next)
{
        double afterwards = next ? rate(b, next) : 0, low = build->rate_ns, high = low;
        double width = (double)(a->end_ns - a->begin_ns) + (double)(b->end_ns - b->begin_ns);
        double ticks = clock_after(b->ticks, a->ticks), ns = noted_ns(b, a) - noted_ns(a, a);

        /* The order of overlapping brackets may be the other one. */
        if (b->ticks <= a->ticks)
                return -ticks * build->rate_ns <= width;
        if (before > 0) {
                low = fmin(low, before);
                high = fmax(high, before);
        }
        if (afterwards > 0) {
                low = fmin(low, afterwards);
                high = fmax(high, afterwards);
        }
        if (a->end_ns == a->begin_ns || b->end_ns == b->begin_ns)
                width += LATE_NS;
        return ns >= ticks * low / RATE_STEP - width && ns <= ticks * high * RATE_STEP + width;
}

static int compare_readings(const void *left, const void *right)
{
        const struct clock_reading *a = left, *b = right;

        if (a->begin_ns != b->begin_ns)
                return a->begin_ns < b->begin_ns ? -1 : 1;
        if (a->end_ns != b->end_ns)
                return a->end_ns < b->end_ns ? -1 : 1;
        return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

static double usual_rate(struct clock_build *b)
{
        size_t n = 0;

        for (size_t i = 1; i < b->n_readings; i++) {
                b->low[n] = rate(&b->readings[i - 1], &b->readings[i]);
                n += b->low[n] > 0;
        }
        if (n == 0)
                return b->period_ns;
        qsort(b->low, n, sizeof(*b->low), clock_compare_numbers);
        return b->low[n / 2];
}

static void take(struct clock_build *b, const struct clock_reading *r)
{
        b->brackets[b->n_brackets++] =
                (struct clock_bracket){ .ticks = r->ticks, .low_ns = r->begin_ns, .high_ns = r->end_ns };
}

/*
 * For a reading that does not go on from the last one: returns whether it is left out.
 * @ret_is_other:  whether it is of another epoch
 */
static bool leave_out(struct clock_build *b, const struct clock_reading *last, const struct clock_reading *r,
                      double before, const struct clock_reading *next, bool *ret_is_other)
{
        bool is_passed = !next || goes_on(b, last, next, before, NULL);

        /* If both may be right, the brackets decide. */
        *ret_is_other = !is_passed || !next || r->ticks <= last->ticks || !goes_on(b, r, next, 0, NULL);
        if (!*ret_is_other)
                return false;
        if (is_passed && b->n_brackets > 1) {
                b->fit->n_left_out++;
                return true;
        }
        if (b->n_brackets == 1) {
                /* Alone, the last one may be wrong as well. */
                b->fit->n_left_out++;
                b->n_brackets = 0;
        }
        return false;
}

/* Readings one after the other, epoch by epoch. */
static int take_all(struct clock_build *b)
{
        const struct clock_reading *last = NULL;
        double before = 0;

        for (size_t i = 0; i < b->n_readings; i++) {
                const struct clock_reading *r = &b->readings[i];
                const struct clock_reading *next = i + 1 < b->n_readings && r[1].epoch == r->epoch ? r + 1
                                                                                                   : NULL;
                bool is_other = last && last->epoch != r->epoch;

                if (last && !is_other && !goes_on(b, last, r, before, next) &&
                    leave_out(b, last, r, before, next, &is_other))
                        continue;
                if (is_other) {
                        int r_epoch = b->n_brackets != 0 ? clock_epoch_add(b) : 0;

                        if (r_epoch < 0)
                                return r_epoch;
                        b->n_brackets = 0;
                        last = NULL;
                }
                take(b, r);
                if (!last || r->ticks > last->ticks) {
                        before = last ? rate(last, r) : 0;
                        last = r;
                }
        }
        return b->n_brackets != 0 ? clock_epoch_add(b) : 0;
}

/* ------------------------------------------------------------------ all epochs together */

/* One slope: the mean of all readings. */
static void find_slope(struct clock_build *b)
{
        struct clock_fit *f = b->fit;
        double ns = 0, ticks = 0, least = (double)INFINITY, most = 0;

        for (size_t i = 0; i < f->n_epochs; i++) {
                const struct clock_epoch *e = &f->epochs[i];

                if (e->n_readings < 2)
                        continue;
                ns += clock_epoch_place(f, e, e->last_ticks) - e->place_ns;
                ticks += clock_after(e->last_ticks, e->first_ticks);
                least = fmin(least, e->flattest_ns);
                most = fmax(most, e->steepest_ns);
        }
        f->has_slope = ticks > 0 || b->period_ns > 0;
        f->slope_ns = b->period_ns > 0 ? b->period_ns : 1;
        if (ticks > 0)
                f->slope_ns = clock_reasonable(ns / ticks);
        for (size_t i = 0; i < f->n_epochs; i++) {
                struct clock_epoch *e = &f->epochs[i];

                if (e->n_readings > 1 || b->period_ns > 0)
                        continue;
                e->slope_ns = f->slope_ns;
                if (ticks > 0) {
                        e->flattest_ns = fmin(least, f->slope_ns);
                        e->steepest_ns = fmax(most, f->slope_ns);
                }
        }
}

static void complete(struct clock_build *b)
{
        struct clock_fit *f = b->fit;
        uint64_t last_ns = 0, next_ns = UINT64_MAX;

        find_slope(b);
        f->quality = f->n_epochs != 0 ? CLOCK_PROVEN : CLOCK_UNPLACED;
        f->bound_ns = f->n_epochs != 0 ? 0 : CLOCK_FIT_NO_BOUND;
        /* So far, an epoch has its own first and last reading there. */
        for (size_t i = 0; i < f->n_epochs; i++) {
                uint64_t own_ns = f->epochs[i].from_ns;

                f->epochs[i].from_ns = last_ns;
                last_ns = own_ns;
        }
        for (size_t i = f->n_epochs; i-- > 0;) {
                struct clock_epoch *e = &f->epochs[i];
                uint64_t own_ns = e->until_ns;

                e->until_ns = next_ns;
                next_ns = own_ns;
                e->bound_ns = clock_epoch_bound_ns(f, e);
                f->quality = e->quality < f->quality ? e->quality : f->quality;
                f->bound_ns = e->bound_ns > f->bound_ns ? e->bound_ns : f->bound_ns;
        }
}

static size_t without_nonsense(struct clock_fit *f, struct clock_reading *readings, size_t n)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < n; i++)
                if (readings[i].begin_ns <= readings[i].end_ns)
                        readings[n_kept++] = readings[i];
        f->n_left_out += n - n_kept;
        return n_kept;
}

int clock_fit_init(struct clock_fit *f, struct clock_reading *readings, size_t n, double period_ns)
{
        struct clock_build b = { .fit = f,
                                 .readings = readings,
                                 .period_ns = is_period(period_ns) ? period_ns : 0 };
        int r = -ENOMEM;

        *f = (struct clock_fit){ .epochs = NULL };
        b.n_readings = without_nonsense(f, readings, n);
        b.brackets = calloc(n + 1, sizeof(*b.brackets));
        b.upper = calloc(n + 1, sizeof(*b.upper));
        b.lower = calloc(n + 1, sizeof(*b.lower));
        b.low = calloc(n + 1, sizeof(*b.low));
        b.high = calloc(n + 1, sizeof(*b.high));
        if (b.brackets && b.upper && b.lower && b.low && b.high) {
                if (b.n_readings > 1)
                        qsort(readings, b.n_readings, sizeof(*readings), compare_readings);
                b.rate_ns = usual_rate(&b);
                r = take_all(&b);
        }
        complete(&b);
        free(b.brackets);
        free(b.upper);
        free(b.lower);
        free(b.low);
        free(b.high);
        return r;
}

/* ------------------------------------------------------------------ which epoch a tick belongs to */

static uint64_t known_error(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks)
{
        uint64_t error_ns = clock_epoch_error_ns(f, e, ticks);

        return error_ns == CLOCK_FIT_NO_BOUND ? 0 : error_ns;
}

static bool is_possible(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks)
{
        uint64_t time_ns = clock_epoch_time_ns(f, e, ticks);
        uint64_t error_ns = known_error(f, e, ticks);
        uint64_t early_ns, late_ns;

        if (ticks >= e->first_ticks && ticks <= e->last_ticks)
                return true;
        early_ns = time_ns > error_ns ? time_ns - error_ns : 0;
        if (__builtin_add_overflow(time_ns, error_ns, &late_ns))
                late_ns = UINT64_MAX;
        return early_ns <= e->until_ns && late_ns >= e->from_ns;
}

/* 0 between its readings. */
static uint64_t ticks_away(const struct clock_epoch *e, uint64_t ticks)
{
        if (ticks < e->first_ticks)
                return e->first_ticks - ticks;
        return ticks > e->last_ticks ? ticks - e->last_ticks : 0;
}

static const struct clock_epoch *nearest(const struct clock_fit *f, uint64_t ticks)
{
        const struct clock_epoch *best = &f->epochs[0];

        for (size_t i = 1; i < f->n_epochs; i++)
                if (ticks_away(&f->epochs[i], ticks) < ticks_away(best, ticks))
                        best = &f->epochs[i];
        return best;
}

static const struct clock_epoch *epoch_of(const struct clock_fit *f, uint64_t ticks, uint64_t known_ns)
{
        const struct clock_epoch *best = NULL;
        uint64_t best_ns = 0;

        if (f->n_epochs == 1)
                return &f->epochs[0];
        if (known_ns == CLOCK_FIT_NO_HINT)
                return nearest(f, ticks);
        for (size_t i = 0; i < f->n_epochs; i++) {
                const struct clock_epoch *e = &f->epochs[i];
                uint64_t time_ns = clock_epoch_time_ns(f, e, ticks);
                uint64_t error_ns = known_error(f, e, ticks);

                if ((time_ns > known_ns && time_ns - known_ns > error_ns + KNOWN_LATE_NS) ||
                    !is_possible(f, e, ticks))
                        continue;
                if (!best || time_ns >= best_ns) {
                        best = e;
                        best_ns = time_ns;
                }
        }
        return best ? best : nearest(f, ticks);
}

/* ------------------------------------------------------------------ answers */

uint64_t clock_fit_time_ns(const struct clock_fit *f, uint64_t ticks, uint64_t known_ns)
{
        if (f->n_epochs == 0)
                return clock_fit_duration_ns(f, ticks);
        return clock_epoch_time_ns(f, epoch_of(f, ticks, known_ns), ticks);
}

uint64_t clock_fit_error_ns(const struct clock_fit *f, uint64_t ticks, uint64_t known_ns)
{
        if (f->n_epochs == 0)
                return CLOCK_FIT_NO_BOUND;
        return clock_epoch_error_ns(f, epoch_of(f, ticks, known_ns), ticks);
}

uint64_t clock_fit_duration_ns(const struct clock_fit *f, uint64_t ticks)
{
        return clock_whole((double)ticks * f->slope_ns + 0.5);
}

/* Bounds are rounded up. */
static void put_bound_words(const struct clock_fit *f, char words[CLOCK_FIT_WORDS_BYTES])
{
        static const struct {
                double ns;
                const char *unit;
        } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
        bool is_proven = f->quality == CLOCK_PROVEN;
        const char *about = is_proven ? "" : "about ", *estimated = is_proven ? "" : " (estimated)";
        size_t i = 0;

        while (i < 2 && (double)f->bound_ns < units[i].ns)
                i++;
        if (f->bound_ns < 100)
                (void)snprintf(words, CLOCK_FIT_WORDS_BYTES, "placed within %s%u ns%s", about,
                               (unsigned)f->bound_ns, estimated);
        else
                (void)snprintf(words, CLOCK_FIT_WORDS_BYTES, "placed within %s%.1f %s%s", about,
                               ceil((double)f->bound_ns / units[i].ns * 10) / 10, units[i].unit, estimated);
}

const char *clock_fit_words(const struct clock_fit *f, char words[CLOCK_FIT_WORDS_BYTES])
{
        size_t n_bytes;

        if (f->quality == CLOCK_UNPLACED)
                return "clock unknown";
        if (f->quality < CLOCK_ESTIMATED || f->bound_ns == CLOCK_FIT_NO_BOUND)
                (void)snprintf(words, CLOCK_FIT_WORDS_BYTES, "placed, error unknown");
        else
                put_bound_words(f, words);
        n_bytes = strlen(words);
        if (f->n_epochs > 1)
                (void)snprintf(words + n_bytes, CLOCK_FIT_WORDS_BYTES - n_bytes, ", %zu epochs", f->n_epochs);
        return words;
}

const char *clock_fit_quality(enum clock_quality quality)
{
        switch (quality) {
        case CLOCK_UNPLACED:
                return "unplaced";
        case CLOCK_ESTIMATED:
                return "estimated";
        case CLOCK_PROVEN:
                return "proven";
        case CLOCK_ERROR_UNKNOWN:
                break;
        }
        return "unknown";
}

void clock_fit_deinit(struct clock_fit *f)
{
        free(f->epochs);
        free(f->limits);
        *f = (struct clock_fit){ .epochs = NULL };
}
