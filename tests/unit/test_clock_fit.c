/* SPDX-License-Identifier: MIT */
/*
 * Ticks of another clock are placed within the stated bound, whatever the clock did, and the bound is at most
 * twice the best that its readings allow
 */

#include "analyze/clocks/clock_fit.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOGS         100 /* a kind */
#define READINGS_MAX 600
#define EVENTS       200
#define PI           3.14159265358979323846

UNIT_TEST_PLAN(.timeout_s = 120);

/* ------------------------------------------------------------------ logs whose truth is known */

enum trouble {
        SLOW = 1,       /* 1 of 20 readings took up to 50 us longer */
        WANDERS = 2,    /* by 20 ppm, over seconds */
        SET_BACK = 4,   /* the counter starts again in the middle; the readings do not say so */
        NUMBERED = 8,   /* with SET_BACK: they do */
        JUMPS = 16,     /* the counter goes forward by 0.1 to 100 s */
        HUGE = 32,      /* it starts near 2^63 */
        POINTS = 64,    /* readings are noted 0.2 to 1 us late, 1 of 20 by up to 50 us */
        EQUAL = 128,    /* readings come in pairs within a tick */
        NAMED = 256,    /* the period is named, off by up to 80 ppm */
        CUT = 512,      /* only some of the readings, from anywhere */
        OUTSIDE = 1024, /* events before the first and after the last reading as well */
        WEAKLY = 2048,  /* with WANDERS: by 0.02 to 20 ppm */
        EVENLY = 4096,  /* the tick was anywhere in the bracket, also at its ends */
        SMALL = 8192    /* with JUMPS: by 0.1 to 2 ms */
};

struct kind {
        const char *name;
        unsigned trouble;
        size_t n_readings;
        double gap_ns;
        double ticks_per_ns; /* 0 = any of those of real devices */
        double bound_ns;     /* at most, or 0 */
};

/* A log has at most two counters, one after the other. */
struct log {
        uint64_t random;
        const struct kind *kind;
        double named_ns; /* as the period, or 0 */
        double ticks_per_ns, amplitude, period_ns, phase, change_ns, length_ns;
        uint64_t origin_ns, origin[2];
        double at_ns[READINGS_MAX]; /* when the reading's tick was, after the origin */
        struct clock_reading readings[READINGS_MAX];
        size_t n;
};

static double between(struct log *l, double from, double to)
{
        return from + (to - from) * ((double)(fixed_random_next(&l->random) >> 11) / 9007199254740992.0);
}

static bool has(const struct log *l, unsigned trouble)
{
        return (l->kind->trouble & trouble) != 0;
}

static uint64_t ticks_at(const struct log *l, double ns)
{
        bool is_second = has(l, SET_BACK | JUMPS) && ns >= l->change_ns;
        double since = has(l, SET_BACK) && is_second ? l->change_ns : 0;
        double ticks = ns - since;

        if (l->amplitude != 0)
                ticks -= l->amplitude * l->period_ns / (2 * PI) *
                         (cos(2 * PI * ns / l->period_ns + l->phase) -
                          cos(2 * PI * since / l->period_ns + l->phase));
        return l->origin[is_second] + (uint64_t)(int64_t)floor(ticks * l->ticks_per_ns);
}

static void read_clock(struct log *l, double at_ns)
{
        double before = between(l, 0.2, 1) * 450, after = between(l, 0.2, 1) * 450 + 300;
        double before_and_after = before + after;
        bool is_slow = has(l, SLOW | POINTS) && between(l, 0, 1) < 0.05;
        struct clock_reading r = { .ticks = ticks_at(l, at_ns) };

        if (has(l, EVENLY)) {
                before = between(l, 0, 1) * before_and_after;
                after = before_and_after - before;
        }
        if (is_slow)
                after += between(l, 0, 50000);
        if (has(l, POINTS)) {
                r.begin_ns = l->origin_ns + (uint64_t)(at_ns + (is_slow ? after : between(l, 200, 1000)));
                r.end_ns = r.begin_ns;
        } else {
                r.begin_ns = l->origin_ns + (uint64_t)floor(at_ns - before);
                r.end_ns = l->origin_ns + (uint64_t)ceil(at_ns + after);
        }
        if (has(l, NUMBERED))
                r.epoch = at_ns >= l->change_ns;
        l->at_ns[l->n] = at_ns;
        l->readings[l->n++] = r;
}

static void make_log(struct log *l, const struct kind *kind, uint64_t seed)
{
        static const double clocks[] = { 1, 1.2, 0.1, 0.027, 2.45 };
        double end_ns;

        *l = (struct log){ .random = seed * 2654435761 + 88172645463325252, .kind = kind };
        l->ticks_per_ns = kind->ticks_per_ns;
        if (l->ticks_per_ns == 0)
                l->ticks_per_ns = clocks[fixed_random_next(&l->random) % 5];
        l->ticks_per_ns *= 1 + between(l, -5e-5, 5e-5);
        l->origin_ns = 1000000000 + (fixed_random_next(&l->random) >> 12);
        l->length_ns = (double)kind->n_readings * kind->gap_ns;
        if (has(l, WANDERS)) {
                l->amplitude = has(l, WEAKLY) ? 20e-6 * pow(10, between(l, -3, 0)) : 20e-6;
                l->period_ns = between(l, 2e9, 20e9);
                l->phase = between(l, 0, 2 * PI);
        }
        l->change_ns = between(l, 0.2, 0.8) * l->length_ns;
        l->origin[0] = fixed_random_next(&l->random) >> 30;
        if (has(l, HUGE))
                l->origin[0] = (UINT64_C(1) << 63) - (uint64_t)(l->length_ns * between(l, 0, 1));
        l->origin[1] = l->origin[0];
        if (has(l, SET_BACK))
                l->origin[1] = fixed_random_next(&l->random) % 1000;
        if (has(l, JUMPS))
                l->origin[1] += (uint64_t)((has(l, SMALL) ? between(l, 1e5, 2e6) : between(l, 1e8, 1e11)) *
                                           l->ticks_per_ns);
        if (has(l, NAMED))
                l->named_ns = (1 + between(l, -8e-5, 8e-5)) / l->ticks_per_ns;
        end_ns = has(l, CUT) ? l->length_ns * between(l, 0.05, 0.9) : l->length_ns;
        for (double at = between(l, 1000, kind->gap_ns); at < end_ns && l->n + 1 < READINGS_MAX;
             at += kind->gap_ns * between(l, 0.7, 1.3)) {
                read_clock(l, at);
                if (has(l, EQUAL))
                        read_clock(l, at + between(l, 0, 1) / l->ticks_per_ns);
        }
}

static double event_at(struct log *l)
{
        double length_ns = l->at_ns[l->n - 1] - l->at_ns[0];

        if (has(l, OUTSIDE))
                return l->at_ns[0] + between(l, -0.5, 1.5) * length_ns;
        return l->at_ns[0] + between(l, 0, 1) * length_ns;
}

/* ------------------------------------------------------------------ the best that is possible, slowly */

/* The begin or the end of a bracket; the last digit of the counter is half a tick more. */
static double end_of(const struct log *l, size_t i)
{
        const struct clock_reading *r = &l->readings[i / 2];
        double half_tick_ns = 0.5 / l->ticks_per_ns;

        return i % 2 != 0 ? (double)(r->end_ns - l->origin_ns) + half_tick_ns
                          : (double)(r->begin_ns - l->origin_ns) - half_tick_ns;
}

/* The line through an end of one bracket and an end of another: false if a third excludes it. */
static bool is_line(const struct log *l, double ticks, double ns, double slope)
{
        for (size_t i = 0; i < l->n; i++) {
                const struct clock_reading *r = &l->readings[i];
                double at = ns + slope * ((double)(r->ticks - l->readings[0].ticks) - ticks);

                if (at < end_of(l, 2 * i) - 1e-6 || at > end_of(l, 2 * i + 1) + 1e-6)
                        return false;
        }
        return true;
}

static double tick_of(const struct log *l, size_t i)
{
        return (double)(l->readings[i / 2].ticks - l->readings[0].ticks);
}

struct range {
        double least, most;
};

/* Adds to @r what a line through an end of a bracket is at @x. */
static void try_line(const struct log *l, size_t end, double slope, double x, struct range *r)
{
        double y = end_of(l, end) + slope * (x - tick_of(l, end));

        if (!is_line(l, tick_of(l, end), end_of(l, end), slope))
                return;
        r->least = fmin(r->least, y);
        r->most = fmax(r->most, y);
}

/* Half of what is possible at reading @at, by all pairs of ends, and by the named period within 100 ppm. */
static double best_line(const struct log *l, size_t at)
{
        struct range r = { (double)INFINITY, -(double)INFINITY };
        double x = tick_of(l, 2 * at), lowest = 0, highest = (double)INFINITY;

        if (l->named_ns > 0) {
                lowest = l->named_ns * (1 - 1e-4);
                highest = l->named_ns * (1 + 1e-4);
        }
        for (size_t i = 0; i < 2 * l->n; i++) {
                for (size_t j = (i | 1) + 1; j < 2 * l->n; j++) {
                        double slope = (end_of(l, j) - end_of(l, i)) / (tick_of(l, j) - tick_of(l, i));

                        if (slope >= lowest && slope <= highest)
                                try_line(l, i, slope, x, &r);
                }
                if (l->named_ns > 0) {
                        try_line(l, i, lowest, x, &r);
                        try_line(l, i, highest, x, &r);
                }
        }
        return (r.most - r.least) / 2;
}

/* The same of a clock whose rate is known within its wander, at a moment. */
static double best_wandering(const struct log *l, double ns)
{
        double least = -(double)INFINITY, most = (double)INFINITY;

        for (size_t i = 0; i < l->n; i++) {
                double away = fabs(ns - l->at_ns[i]) * l->amplitude;

                least = fmax(least, end_of(l, 2 * i) - l->at_ns[i] - away);
                most = fmin(most, end_of(l, 2 * i + 1) - l->at_ns[i] + away);
        }
        return (most - least) / 2;
}

static double best_bound(const struct log *l)
{
        double best = 0;

        if (!has(l, WANDERS))
                return fmax(best_line(l, 0), best_line(l, l->n - 1));
        for (size_t i = 0; i < l->n; i++) {
                best = fmax(best, best_wandering(l, l->at_ns[i]));
                if (i + 1 < l->n)
                        best = fmax(best, best_wandering(l, (l->at_ns[i] + l->at_ns[i + 1]) / 2));
        }
        return best;
}

/* ------------------------------------------------------------------ */

struct seen {
        double error_ns, bound_ns, of_best;
        uint64_t n_wrong, n_left_out, n_late, n_epochs;
        uint64_t n_loose; /* logs whose bound is more than twice the best */
};

static void try_event(struct log *l, const struct clock_fit *f, struct seen *s)
{
        double at_ns = event_at(l), error_ns;
        uint64_t ticks, known_ns, time_ns, bound_ns;

        if (at_ns < 0)
                return;
        ticks = ticks_at(l, at_ns);
        known_ns = l->origin_ns + (uint64_t)at_ns + 20;
        time_ns = clock_fit_time_ns(f, ticks, known_ns);
        bound_ns = clock_fit_error_ns(f, ticks, known_ns);
        error_ns = fabs((double)(int64_t)(time_ns - l->origin_ns) - at_ns);
        s->n_wrong += error_ns > (double)bound_ns;
        if (at_ns >= l->at_ns[0] && at_ns <= l->at_ns[l->n - 1] && !has(l, SET_BACK | JUMPS | POINTS))
                s->n_wrong += bound_ns > f->bound_ns;
        if (error_ns > (double)bound_ns || getenv("HYPROF_TEST_EVENTS"))
                printf("# %s: at %.0f ns, ticks %llu: off by %.1f ns, bound %llu, epochs %zu\n",
                       l->kind->name, at_ns, (unsigned long long)ticks, error_ns,
                       (unsigned long long)bound_ns, f->n_epochs);
        fflush(stdout);
        s->error_ns = fmax(s->error_ns, error_ns);
}

static void try_log(struct log *l, struct seen *s, bool compare_best)
{
        struct clock_fit f;

        /* The best is found first: readings are sorted by the fit. */
        double best_ns = compare_best ? best_bound(l) : 0;

        ck_assert_int_eq(clock_fit_init(&f, l->readings, l->n, l->named_ns), 0);
        for (int i = 0; i < EVENTS; i++)
                try_event(l, &f, s);
        if (compare_best) {
                /* The last digit of an event's own ticks is half a tick, and places are whole nanoseconds. */
                double of_best = ((double)f.bound_ns - 3 - 0.5 / l->ticks_per_ns) / best_ns;

                s->of_best = fmax(s->of_best, of_best);
                s->n_loose += of_best > 2;
        }
        s->bound_ns = fmax(s->bound_ns, (double)f.bound_ns);
        s->n_left_out += f.n_left_out;
        s->n_late += f.n_late;
        s->n_epochs += f.n_epochs;
        clock_fit_deinit(&f);
}

static const struct kind kinds[] = {
        { "drift", 0, 20, 1e7, 0, 0 },
        { "drift, outside", OUTSIDE, 20, 1e7, 0, 0 },
        { "slow readings", SLOW, 20, 1e7, 0, 0 },
        { "slow readings, many", SLOW | OUTSIDE, 249, 1e7, 0, 0 },
        { "as a GPU", SLOW | OUTSIDE, 13, 1e8, 0, 0 },
        { "wander", WANDERS | SLOW, 500, 1e7, 0, 0 },
        { "wander, each 0.1 s", WANDERS | SLOW, 300, 1e8, 0, 0 },
        { "wander, weakly", WANDERS | WEAKLY | SLOW, 300, 1e7, 0, 0 },
        { "anywhere in the bracket", EVENLY | SLOW, 50, 1e7, 0, 0 },
        { "set back", SET_BACK | SLOW, 100, 1e7, 0, 0 },
        { "set back, told", SET_BACK | NUMBERED | SLOW, 100, 1e7, 0, 0 },
        { "set back, wander", SET_BACK | NUMBERED | WANDERS | SLOW, 500, 1e7, 0, 0 },
        { "jump", JUMPS | SLOW, 100, 1e7, 0, 0 },
        { "cut short", CUT | SLOW | OUTSIDE, 60, 1e7, 0, 0 },
        { "hours", SLOW | OUTSIDE, 20, 1e12, 0, 0 },
        { "small jump", JUMPS | SMALL | SLOW, 200, 1e7, 0, 3000 },
        { "small jump, wander", JUMPS | SMALL | WANDERS | SLOW, 500, 1e7, 0, 0 },
        { "2 readings", OUTSIDE, 2, 1e9, 0, 0 },
        { "2 readings near each other", OUTSIDE | NAMED, 2, 1e5, 0, 0 },
        { "equal ticks", EQUAL | OUTSIDE, 40, 1e7, 0.001, 0 },
        { "coarse", OUTSIDE | SLOW, 100, 1e6, 0.0001, 0 },
        { "huge origin", HUGE | SLOW | OUTSIDE, 60, 1e7, 0, 0 },
        { "named period", NAMED | SLOW | OUTSIDE, 20, 1e6, 0, 0 },
        { "no brackets", POINTS, 249, 1e7, 0, 0 },
        { "no brackets, 40", POINTS, 40, 1e7, 0, 0 },
        { "no brackets, wander", POINTS | WANDERS, 500, 1e7, 0, 8000 },
        { "no brackets, set back", POINTS | SET_BACK, 200, 1e7, 0, 0 },
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

START_LOOP_TEST(test_truth_within_bound, 0, N_KINDS)
{
        const struct kind *kind = &kinds[_i];
        bool compare_best = (kind->trouble & (SET_BACK | JUMPS | POINTS | EQUAL)) == 0 &&
                            (kind->ticks_per_ns == 0) &&
                            (kind->n_readings <= 60 || (kind->trouble & WANDERS));
        static struct log l;
        struct seen s = { .n_wrong = 0 };

        for (uint64_t seed = 1; seed <= LOGS; seed++) {
                make_log(&l, kind, seed);
                if (l.n >= 2)
                        try_log(&l, &s, compare_best);
        }
        printf("# %-28s error %10.0f ns, bound %10.0f ns, at most %.2f of the best; left out %llu, late %llu, "
               "epochs %llu\n",
               kind->name, s.error_ns, s.bound_ns, s.of_best, (unsigned long long)s.n_left_out,
               (unsigned long long)s.n_late, (unsigned long long)s.n_epochs);
        ck_assert_uint_eq(s.n_wrong, 0);
        /* With ticks anywhere in their brackets the best may be next to nothing, and chance a bend. */
        ck_assert_uint_le(s.n_loose, (kind->trouble & EVENLY) != 0 ? LOGS / 20 : 0);
        /* Nothing bends between two: the bound is the best. */
        ck_assert(kind->n_readings > 2 || s.of_best <= 1.01);
        ck_assert(kind->bound_ns == 0 || s.bound_ns <= kind->bound_ns);
        if ((kind->trouble & POINTS) == 0)
                ck_assert_uint_eq(s.n_left_out, 0);
}
END_TEST

/* Readings of 1 GHz, 10 ms apart, from @ticks at @ns on. */
static size_t put(struct clock_reading *readings, size_t n, uint64_t ticks, uint64_t ns, uint32_t epoch)
{
        for (uint64_t i = 0; i < 5; i++)
                readings[n++] = (struct clock_reading){ .ticks = ticks + i * 10000000,
                                                        .begin_ns = ns + i * 10000000 - 400,
                                                        .end_ns = ns + i * 10000000 + 400,
                                                        .epoch = epoch };
        return n;
}

/* Another number is another epoch, also where the ticks go on. */
START_TEST(test_numbered_epochs)
{
        struct clock_reading readings[10];
        size_t n = put(readings, 0, 0, 1000000000, 7);
        struct clock_fit f;

        n = put(readings, n, 50000100, 1050000000, 3);
        ck_assert_int_eq(clock_fit_init(&f, readings, n, 0), 0);
        ck_assert_uint_eq(f.n_epochs, 2);
        ck_assert_uint_eq(clock_fit_time_ns(&f, 40000000, CLOCK_FIT_NO_HINT), 1040000000);
        ck_assert_uint_eq(clock_fit_time_ns(&f, 50000100, CLOCK_FIT_NO_HINT), 1050000000);
        clock_fit_deinit(&f);
        for (size_t i = 0; i < n; i++)
                readings[i].epoch = 0;
        ck_assert_int_eq(clock_fit_init(&f, readings, n, 0), 0);
        ck_assert_uint_eq(f.n_epochs, 1);
        clock_fit_deinit(&f);
}
END_TEST

/* An epoch that had ended does not have a tick, however late that was reported. */
START_TEST(test_ended_epochs)
{
        struct clock_reading readings[15];
        size_t n = put(readings, 0, 0, 1000000000, 0);
        struct clock_fit f;

        n = put(readings, n, 0, 1100000000, 1);
        n = put(readings, n, 200000000, 1200000000, 2);
        ck_assert_int_eq(clock_fit_init(&f, readings, n, 0), 0);
        ck_assert_uint_eq(f.n_epochs, 3);
        ck_assert_uint_eq(clock_fit_time_ns(&f, 205000000, 5000000000), 1205000000);
        ck_assert_uint_eq(clock_fit_time_ns(&f, 245000000, 5000000000), 1245000000);
        ck_assert_uint_eq(clock_fit_time_ns(&f, 5000000, 5000000000), 1105000000);
        ck_assert_uint_eq(clock_fit_time_ns(&f, 5000000, 1006000000), 1005000000);
        clock_fit_deinit(&f);
}
END_TEST

/* Without readings, a tick counts as a nanosecond. */
START_TEST(test_nothing)
{
        struct clock_fit f;

        ck_assert_int_eq(clock_fit_init(&f, NULL, 0, 0), 0);
        ck_assert_int_eq(f.quality, CLOCK_UNPLACED);
        ck_assert_uint_eq(clock_fit_time_ns(&f, 17, 0), 17);
        ck_assert_uint_eq(clock_fit_error_ns(&f, 17, 0), CLOCK_FIT_NO_BOUND);
        clock_fit_deinit(&f);
}
END_TEST
