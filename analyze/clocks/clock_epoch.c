/* SPDX-License-Identifier: MIT */
#include "analyze/clocks/clock_epoch.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define PERIOD_ERROR      1e-4  /* of a period that someone named, relative */
#define RATE_ERROR        5e-7  /* around the rates of a clock that wanders, relative, at least */
#define RATE_SHARE        0.05  /* of the range of rates: more than that lies beyond its ends */
#define PIECE_READINGS    4     /* fewer may have any slope */
#define ESTIMATE_READINGS 5     /* fewer without a bracket say nothing of their error */
#define BEND_BLOCKS       8     /* stretches whose medians are compared */
#define BEND_READINGS     5     /* in each, at least */
#define BEND_CHANCE       4.0   /* times the error of a median: less may be chance */
#define BEND_SHARE        0.8   /* of the bound, at most: it shall not be twice the best */
#define DOUBLE_ERROR      4e-16 /* relative: a few roundings */

uint64_t clock_whole(double ns)
{
        /* 2^63: beyond it nothing is a time. */
        if (!(ns < 9223372036854775808.0))
                return UINT64_MAX;
        return ns > 0 ? (uint64_t)ns : 0;
}

double clock_reasonable(double slope_ns)
{
        return fmin(fmax(slope_ns, CLOCK_PERIOD_MIN_NS), CLOCK_PERIOD_MAX_NS);
}

int clock_compare_numbers(const void *left, const void *right)
{
        const double *a = left, *b = right;

        return *a < *b ? -1 : *a > *b;
}

/* ------------------------------------------------------------------ what is possible in an epoch */

/*
 * A limit at a tick between two of its corners: on the edge of a hull, or, where the clock wanders, what its
 * rates allow from both.
 */
static double between(const struct clock_epoch *e, const struct clock_limit *l, uint64_t ticks, bool is_upper)
{
        double run = clock_after(ticks, l[0].ticks), rest = clock_after(l[1].ticks, ticks);

        if (!e->is_wandering)
                return l[0].ns + (l[1].ns - l[0].ns) * (run / (run + rest));
        if (is_upper)
                return fmin(l[0].ns + run * e->steepest_ns, l[1].ns - rest * e->flattest_ns);
        return fmax(l[0].ns + run * e->flattest_ns, l[1].ns - rest * e->steepest_ns);
}

static double limit(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks, bool is_upper)
{
        const struct clock_limit *l = &f->limits[is_upper ? e->upper : e->lower];
        size_t n = is_upper ? e->n_upper : e->n_lower;
        size_t i = array_count_to(l, n, sizeof(*l), offsetof(struct clock_limit, ticks), ticks);

        if (i == 0)
                return l[0].ns +
                       clock_after(ticks, l[0].ticks) * (is_upper ? e->flattest_ns : e->steepest_ns);
        if (i == n)
                return l[n - 1].ns +
                       clock_after(ticks, l[n - 1].ticks) * (is_upper ? e->steepest_ns : e->flattest_ns);
        return between(e, &l[i - 1], ticks, is_upper);
}

/* Where the clock wanders, there are two limits for each reading. */
static double middle(const struct clock_limit *upper, const struct clock_limit *lower, size_t i)
{
        return lower[i].ns + (upper[i].ns - lower[i].ns) / 2;
}

double clock_epoch_place(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks)
{
        const struct clock_limit *upper = &f->limits[e->upper], *lower = &f->limits[e->lower];
        size_t i;
        double from, to;

        if (!e->is_wandering || ticks <= e->first_ticks)
                return e->place_ns + clock_after(ticks, e->first_ticks) * e->slope_ns;
        i = array_count_to(upper, e->n_upper, sizeof(*upper), offsetof(struct clock_limit, ticks), ticks);
        from = middle(upper, lower, i - 1);
        if (i == e->n_upper)
                return from + clock_after(ticks, e->last_ticks) * e->slope_ns;
        to = middle(upper, lower, i);
        return fmin(from + (to - from) * (clock_after(ticks, upper[i - 1].ticks) /
                                          clock_after(upper[i].ticks, upper[i - 1].ticks)),
                    to);
}

uint64_t clock_epoch_error_ns(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks)
{
        double at = clock_epoch_place(f, e, ticks), above = limit(f, e, ticks, true) - at;
        double below = at - limit(f, e, ticks, false);
        double length = clock_after(e->last_ticks, e->first_ticks) * e->slope_ns;
        double rounding = (fabs(at) + length) * DOUBLE_ERROR + 0.5, half_tick = f->slope_ns / 2;

        if (e->quality < CLOCK_ESTIMATED)
                return CLOCK_FIT_NO_BOUND;
        return clock_whole(ceil(fmax(fmax(above, below), 0) + e->bend_ns + rounding + half_tick));
}

uint64_t clock_epoch_time_ns(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks)
{
        double ns = clock_epoch_place(f, e, ticks);
        uint64_t away_ns = clock_whole(fabs(ns) + 0.5), time_ns;

        if (ns < 0)
                return away_ns >= e->origin_ns ? 0 : e->origin_ns - away_ns;
        return away_ns == UINT64_MAX || __builtin_add_overflow(e->origin_ns, away_ns, &time_ns) ? UINT64_MAX
                                                                                                : time_ns;
}

/* Between two readings, the upper limit is farthest away where both its edges meet; so is the lower. */
static uint64_t error_between(const struct clock_fit *f, const struct clock_epoch *e, size_t i)
{
        const struct clock_limit *u = &f->limits[e->upper + i], *l = &f->limits[e->lower + i];
        double run = clock_after(u[1].ticks, u->ticks), range = e->steepest_ns - e->flattest_ns;
        const double at[] = { (u[1].ns - u->ns - e->flattest_ns * run) / range,
                              (l->ns - l[1].ns + e->steepest_ns * run) / range };
        uint64_t worst_ns = 0;

        for (size_t k = 0; k < 4; k++) {
                double x = floor(at[k / 2]) + (double)(k % 2);
                uint64_t error_ns;

                if (!(x > 0 && x < run))
                        continue;
                error_ns = clock_epoch_error_ns(f, e, u->ticks + (uint64_t)x);
                worst_ns = error_ns > worst_ns ? error_ns : worst_ns;
        }
        return worst_ns;
}

uint64_t clock_epoch_bound_ns(const struct clock_fit *f, const struct clock_epoch *e)
{
        uint64_t first_ns = clock_epoch_error_ns(f, e, e->first_ticks),
                 last_ns = clock_epoch_error_ns(f, e, e->last_ticks);
        uint64_t bound_ns = first_ns > last_ns ? first_ns : last_ns;

        /* Along a line the distance to the limits is convex: nowhere between is it larger. */
        for (size_t i = 0; e->is_wandering && e->quality >= CLOCK_ESTIMATED && i < e->n_upper; i++) {
                uint64_t here_ns = clock_epoch_error_ns(f, e, f->limits[e->upper + i].ticks);
                uint64_t next_ns = i + 1 < e->n_upper ? error_between(f, e, i) : 0;

                bound_ns = here_ns > bound_ns ? here_ns : bound_ns;
                bound_ns = next_ns > bound_ns ? next_ns : bound_ns;
        }
        return bound_ns;
}

/* ------------------------------------------------------------------ an epoch, from brackets */

/* Returns NULL without memory, or where there are too many epochs; *@r says which. */
static struct clock_epoch *add_epoch(struct clock_build *b, size_t from, size_t n, enum clock_quality quality,
                                     int *r)
{
        struct clock_fit *f = b->fit;
        struct clock_epoch *e;

        *r = 0;
        if (f->n_epochs == CLOCK_FIT_EPOCHS_MAX) {
                f->n_left_out += n;
                return NULL;
        }
        if (array_reserve(&f->epochs, &f->epochs_capacity, f->n_epochs + 1, sizeof(*f->epochs)) < 0 ||
            array_reserve(&f->limits, &f->limits_capacity, f->n_limits + 2 * n, sizeof(*f->limits)) < 0) {
                *r = -ENOMEM;
                return NULL;
        }
        e = &f->epochs[f->n_epochs++];
        *e = (struct clock_epoch){ .first_ticks = b->brackets[from].ticks,
                                   .last_ticks = b->brackets[from + n - 1].ticks,
                                   .origin_ns = b->brackets[from].low_ns,
                                   .from_ns = b->brackets[from + n - 1].low_ns,
                                   .until_ns = b->brackets[from].high_ns,
                                   .n_readings = n,
                                   .n_pieces = 1,
                                   .quality = quality };
        return e;
}

static void put_corners(struct clock_fit *f, const struct clock_epoch *e, const struct clock_corner *corners,
                        size_t n)
{
        for (size_t i = 0; i < n; i++)
                f->limits[f->n_limits++] = (struct clock_limit){
                        .ticks = corners[i].ticks, .ns = clock_after(corners[i].ns, e->origin_ns)
                };
}

/* A named period narrows the slopes, if it can be right. */
static void find_slopes(struct clock_build *b, struct clock_epoch *e, const struct clock_hull *h)
{
        double least = b->period_ns * (1 - PERIOD_ERROR), most = b->period_ns * (1 + PERIOD_ERROR);

        e->flattest_ns = clock_reasonable(e->n_readings > 1 ? clock_hull_flattest(h) : 0);
        e->steepest_ns = clock_reasonable(e->n_readings > 1 ? clock_hull_steepest(h) : CLOCK_PERIOD_MAX_NS);
        if (b->period_ns == 0)
                return;
        if (least > e->steepest_ns || most < e->flattest_ns) {
                b->fit->period_disagrees = true;
                return;
        }
        e->flattest_ns = fmax(e->flattest_ns, least);
        e->steepest_ns = fmin(e->steepest_ns, most);
}

static double middle_at(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks)
{
        return (limit(f, e, ticks, true) + limit(f, e, ticks, false)) / 2;
}

static int add_line(struct clock_build *b, size_t from, struct clock_hull *h, enum clock_quality quality)
{
        struct clock_fit *f = b->fit;
        int r;
        struct clock_epoch *e = add_epoch(b, from, h->n_brackets, quality, &r);

        if (!e)
                return r;
        find_slopes(b, e, h);
        clock_hull_limit(h, e->flattest_ns, e->steepest_ns);
        e->upper = f->n_limits;
        e->n_upper = h->upper_end - h->upper_first;
        put_corners(f, e, &h->upper[h->upper_first], e->n_upper);
        e->lower = f->n_limits;
        e->n_lower = h->lower_end - h->lower_first;
        put_corners(f, e, &h->lower[h->lower_first], e->n_lower);
        e->place_ns = middle_at(f, e, e->first_ticks);
        e->slope_ns = (e->flattest_ns + e->steepest_ns) / 2;
        if (e->n_readings > 1)
                e->slope_ns = fmax((middle_at(f, e, e->last_ticks) - e->place_ns) /
                                           clock_after(e->last_ticks, e->first_ticks),
                                   CLOCK_PERIOD_MIN_NS);
        return 0;
}

/* ------------------------------------------------------------------ a clock that wanders */

struct rates {
        size_t n_pieces;
        double least_ns, most_ns; /* of its pieces */
        double whole_ticks;       /* of all pieces but the last, which may have been cut short */
        bool vary;                /* not only the places differ */
};

/* One piece has no slope above least_ns, one none below most_ns. */
static void add_piece(struct rates *rates, const struct clock_hull *h)
{
        rates->n_pieces++;
        if (h->n_brackets < 2)
                return;
        rates->least_ns = fmin(rates->least_ns, clock_reasonable(clock_hull_steepest(h)));
        rates->most_ns = fmax(rates->most_ns, clock_reasonable(clock_hull_flattest(h)));
}

/* The longest stretches through which a line goes, one after the other; the last remains in @h. */
static struct rates split(struct clock_build *b, size_t from, size_t n, struct clock_hull *h)
{
        struct rates all = { .least_ns = (double)INFINITY, .most_ns = 0 }, long_ones = all;
        size_t first = from;

        clock_hull_init(h, b->upper, b->lower);
        for (size_t i = from; i < from + n; i++) {
                if (clock_hull_add(h, &b->brackets[i]))
                        continue;
                add_piece(&all, h);
                if (h->n_brackets >= PIECE_READINGS)
                        add_piece(&long_ones, h);
                all.whole_ticks += clock_after(b->brackets[i].ticks, b->brackets[first].ticks);
                first = i;
                clock_hull_init(h, b->upper, b->lower);
                (void)clock_hull_add(h, &b->brackets[i]);
        }
        add_piece(&all, h);
        if (h->n_brackets >= PIECE_READINGS)
                add_piece(&long_ones, h);
        if (long_ones.n_pieces == 0)
                return all;
        long_ones.n_pieces = all.n_pieces;
        long_ones.whole_ticks = all.whole_ticks;
        return long_ones;
}

static double width(const struct clock_bracket *b)
{
        return (double)(b->high_ns - b->low_ns);
}

static double usual_width(struct clock_build *b, size_t from, size_t n)
{
        for (size_t i = 0; i < n; i++)
                b->low[i] = width(&b->brackets[from + i]);
        qsort(b->low, n, sizeof(*b->low), clock_compare_numbers);
        return b->low[n / 2];
}

/*
 * A piece ends where the clock has bent by the width of a bracket.  If it bends evenly, its rate has changed
 * by 8 such widths over the piece's length then, from 4 below the slope of the piece to 4 above.
 */
static void widen(struct clock_build *b, struct rates *rates)
{
        double low = rates->least_ns, high = rates->most_ns, more, bent;

        if (low > high)
                low = high = (low + high) / 2;
        bent = 4 * usual_width(b, 0, b->n_brackets) * (double)(rates->n_pieces - 1) / rates->whole_ticks;
        more = bent + (high - low) * fmax(1.0 / (double)(2 * rates->n_pieces - 3), RATE_SHARE) +
               high * RATE_ERROR;
        rates->vary = high - low > bent;
        rates->least_ns = clock_reasonable(low - more);
        rates->most_ns = clock_reasonable(high + more);
}

static void join(double *low, double *high)
{
        if (*low > *high)
                *low = *high = (*low + *high) / 2;
}

/* Leaves at reading @i only what a clock with such rates, which passed the one before, can have done. */
static void pass_on(struct clock_build *b, const struct rates *rates, size_t i)
{
        double run = clock_after(b->brackets[i].ticks, b->brackets[i - 1].ticks);

        b->low[i] = fmax(b->low[i], b->low[i - 1] + run * rates->least_ns);
        b->high[i] = fmin(b->high[i], b->high[i - 1] + run * rates->most_ns);
}

static void pass_both_ways(struct clock_build *b, const struct rates *rates, size_t from, size_t n)
{
        for (size_t i = from; i < from + n; i++) {
                b->low[i] = clock_after(b->brackets[i].low_ns, b->brackets[from].low_ns);
                b->high[i] = clock_after(b->brackets[i].high_ns, b->brackets[from].low_ns);
                if (i > from)
                        pass_on(b, rates, i);
                join(&b->low[i], &b->high[i]);
        }
        for (size_t i = from + n - 1; i-- > from;) {
                double run = clock_after(b->brackets[i + 1].ticks, b->brackets[i].ticks);

                b->low[i] = fmax(b->low[i], b->low[i + 1] - run * rates->most_ns);
                b->high[i] = fmin(b->high[i], b->high[i + 1] - run * rates->least_ns);
                join(&b->low[i], &b->high[i]);
        }
}

static int add_wandering(struct clock_build *b, size_t from, size_t n, const struct rates *rates,
                         enum clock_quality quality)
{
        struct clock_fit *f = b->fit;
        int r;
        struct clock_epoch *e = add_epoch(b, from, n, quality, &r);
        double last = -(double)INFINITY;

        if (!e)
                return r;
        pass_both_ways(b, rates, from, n);
        e->n_pieces = rates->n_pieces;
        e->is_wandering = true;
        e->flattest_ns = rates->least_ns;
        e->steepest_ns = rates->most_ns;
        e->slope_ns = (rates->least_ns + rates->most_ns) / 2;
        e->upper = f->n_limits;
        e->lower = f->n_limits + n;
        e->n_upper = e->n_lower = n;
        f->n_limits += 2 * n;
        for (size_t i = 0; i < n; i++) {
                /* Sums of doubles may be off in their last digit: places ascend all the same. */
                double short_of = fmax(last - (b->low[from + i] + b->high[from + i]) / 2, 0);

                f->limits[e->upper + i] = (struct clock_limit){ .ticks = b->brackets[from + i].ticks,
                                                                .ns = b->high[from + i] + 2 * short_of };
                f->limits[e->lower + i] = (struct clock_limit){ .ticks = b->brackets[from + i].ticks,
                                                                .ns = b->low[from + i] };
                last = middle(&f->limits[e->upper], &f->limits[e->lower], i);
        }
        e->place_ns = middle(&f->limits[e->upper], &f->limits[e->lower], 0);
        return 0;
}

/* The medians of blocks, as seen from the line that is nearest to them: the largest. */
static double farthest(const double *medians, size_t n)
{
        double mean = 0, tilt = 0, weights = 0, most = 0;

        for (size_t k = 0; k < n; k++)
                mean += medians[k] / (double)n;
        for (size_t k = 0; k < n; k++) {
                double x = (double)k - (double)(n - 1) / 2;

                tilt += x * medians[k];
                weights += x * x;
        }
        for (size_t k = 0; k < n; k++)
                most = fmax(most,
                            fabs(medians[k] - mean - tilt / weights * ((double)k - (double)(n - 1) / 2)));
        return most;
}

/*
 * How far the middles of the brackets bend from a line, in nanoseconds, and how far they may by chance.  A
 * clock that wanders by less than a bracket leaves a line through all, and little room beside it: the truth
 * is elsewhere.
 */
static double bend(struct clock_build *b, size_t from, size_t n, double slope_ns, double *ret_chance_ns)
{
        double usual_ns = usual_width(b, from, n), medians[BEND_BLOCKS];
        const struct clock_bracket *origin = &b->brackets[from];
        size_t n_narrow = 0, n_blocks, n_each;

        *ret_chance_ns = 0;
        for (size_t i = from; i < from + n; i++) {
                const struct clock_bracket *at = &b->brackets[i];

                if (width(at) <= 1.5 * usual_ns)
                        b->high[n_narrow++] = clock_after(at->low_ns, origin->low_ns) + width(at) / 2 -
                                              clock_after(at->ticks, origin->ticks) * slope_ns;
        }
        n_blocks = n_narrow / BEND_READINGS < BEND_BLOCKS ? n_narrow / BEND_READINGS : BEND_BLOCKS;
        if (n_blocks < 3)
                return 0;
        n_each = n_narrow / n_blocks;
        for (size_t k = 0; k < n_blocks; k++) {
                double *here = &b->high[k * n_each];

                qsort(here, n_each, sizeof(*here), clock_compare_numbers);
                medians[k] = here[n_each / 2];
                for (size_t i = 0; i < n_each; i++)
                        here[i] = fabs(here[i] - medians[k]);
        }
        qsort(b->high, n_blocks * n_each, sizeof(*b->high), clock_compare_numbers);
        /* The error of a median, of numbers half of which are that near to it. */
        *ret_chance_ns = 1.25 * 1.48 * b->high[n_blocks * n_each / 2] / sqrt((double)n_each);
        /* At the ends of an even bend it is twice what it is in the middle of the last blocks. */
        return 2 * farthest(medians, n_blocks);
}

static double half_width(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks)
{
        return (limit(f, e, ticks, true) - limit(f, e, ticks, false)) / 2;
}

/*
 * One line, and how far the clock seems to bend beside it: at most as far as the line is uncertain
 * anyway.  If it bends farther, and not by chance, the clock wanders.
 */
static int add_single(struct clock_build *b, size_t from, struct clock_hull *h, enum clock_quality quality)
{
        struct clock_fit *f = b->fit;
        size_t n = h->n_brackets, n_epochs = f->n_epochs, n_limits = f->n_limits;
        double bend_ns, chance_ns, width_ns, more;
        struct rates rates = { .n_pieces = 1 };
        struct clock_epoch *e;
        int r = add_line(b, from, h, quality);

        if (r < 0 || b->fit->n_epochs == n_epochs)
                return r;
        e = &f->epochs[n_epochs];
        bend_ns = bend(b, from, n, e->slope_ns, &chance_ns);
        width_ns = fmax(half_width(f, e, e->first_ticks), half_width(f, e, e->last_ticks));
        e->bend_ns = fmin(bend_ns + chance_ns, BEND_SHARE * width_ns);
        if (bend_ns <= width_ns || bend_ns <= 2 * BEND_CHANCE * chance_ns)
                return 0;
        /* Twice what it is from the middle of an even bend to both ends: it may be uneven. */
        more = 12 * bend_ns / clock_after(e->last_ticks, e->first_ticks);
        rates.least_ns = clock_reasonable(e->flattest_ns - more);
        rates.most_ns = clock_reasonable(e->steepest_ns + more);
        f->n_epochs = n_epochs;
        f->n_limits = n_limits;
        return add_wandering(b, from, n, &rates, quality);
}

static int add_either(struct clock_build *b, size_t from, size_t n, const struct rates *rates,
                      enum clock_quality quality)
{
        struct clock_hull h;
        struct rates here = split(b, from, n, &h);

        if (here.n_pieces == 1 && !rates->vary)
                return add_single(b, from, &h, quality);
        return add_wandering(b, from, n, rates, quality);
}

/* Where the brackets exclude each other at all rates of the range, the counter jumped. */
static int add_epochs(struct clock_build *b, struct rates *rates, enum clock_quality quality)
{
        size_t from = 0;

        widen(b, rates);
        for (size_t i = 0; i < b->n_brackets; i++) {
                const struct clock_bracket *at = &b->brackets[i];
                uint64_t origin_ns = b->brackets[from].low_ns;

                b->low[i] = clock_after(at->low_ns, origin_ns);
                b->high[i] = clock_after(at->high_ns, origin_ns);
                if (i > from)
                        pass_on(b, rates, i);
                if (b->low[i] > b->high[i] + 0.5) {
                        int r = add_either(b, from, i - from, rates, quality);

                        if (r < 0)
                                return r;
                        from = i--;
                        continue;
                }
                join(&b->low[i], &b->high[i]);
        }
        return add_either(b, from, b->n_brackets - from, rates, quality);
}

int clock_epoch_add(struct clock_build *b)
{
        struct clock_fit *f = b->fit;
        size_t n_bracketed = clock_bracket_count(b->brackets, b->n_brackets);
        enum clock_quality quality = CLOCK_PROVEN;
        struct clock_hull h;
        struct rates rates;

        clock_bracket_sort(b->brackets, b->n_brackets);
        if (n_bracketed > 1 || n_bracketed == b->n_brackets) {
                f->n_left_out += clock_bracket_keep(b->brackets, &b->n_brackets);
        } else {
                int64_t n_late;

                f->n_left_out += clock_bracket_merge(b->brackets, &b->n_brackets);
                quality = b->n_brackets < ESTIMATE_READINGS ? CLOCK_ERROR_UNKNOWN : CLOCK_ESTIMATED;
                n_late = clock_bracket_estimate(b->brackets, &b->n_brackets);
                if (n_late < 0)
                        return -ENOMEM;
                f->n_late += (uint64_t)n_late;
        }
        clock_bracket_widen(b->brackets, b->n_brackets, clock_whole(ceil(b->rate_ns / 2)));
        f->n_left_out += clock_bracket_merge(b->brackets, &b->n_brackets);
        rates = split(b, 0, b->n_brackets, &h);
        return rates.n_pieces == 1 ? add_single(b, 0, &h, quality) : add_epochs(b, &rates, quality);
}
