/* SPDX-License-Identifier: MIT */
#include "analyze/clocks/clock_bracket.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define BLOCK          32 /* readings in a row, where the clock wanders */
#define ROUNDS         8
#define WANDERS_FACTOR 3.0  /* the strip of all is that much wider than that of most blocks */
#define MORE_OF_FEW    1.75 /* a strip of a few readings is narrower than their errors */

size_t clock_bracket_count(const struct clock_bracket *brackets, size_t n)
{
        size_t n_known = 0;

        for (size_t i = 0; i < n; i++)
                n_known += brackets[i].high_ns > brackets[i].low_ns;
        return n_known;
}

static int compare_brackets(const void *left, const void *right)
{
        const struct clock_bracket *a = left, *b = right;

        if (a->ticks != b->ticks)
                return a->ticks < b->ticks ? -1 : 1;
        if (a->low_ns != b->low_ns)
                return a->low_ns < b->low_ns ? -1 : 1;
        return a->high_ns < b->high_ns ? -1 : a->high_ns > b->high_ns;
}

void clock_bracket_sort(struct clock_bracket *brackets, size_t n)
{
        if (n > 1)
                qsort(brackets, n, sizeof(*brackets), compare_brackets);
}

size_t clock_bracket_keep(struct clock_bracket *brackets, size_t *n)
{
        size_t n_before = *n, n_kept = 0;

        for (size_t i = 0; i < n_before; i++)
                if (brackets[i].high_ns > brackets[i].low_ns)
                        brackets[n_kept++] = brackets[i];
        *n = n_kept;
        return n_before - n_kept;
}

static uint64_t shift(uint64_t ns, int64_t by)
{
        uint64_t moved;

        if (by < 0)
                return ns < (uint64_t)-by ? 0 : ns - (uint64_t)-by;
        return __builtin_add_overflow(ns, (uint64_t)by, &moved) ? UINT64_MAX : moved;
}

void clock_bracket_widen(struct clock_bracket *brackets, size_t n, uint64_t by_ns)
{
        int64_t by = by_ns > INT64_MAX ? INT64_MAX : (int64_t)by_ns;

        for (size_t i = 0; i < n; i++) {
                brackets[i].low_ns = shift(brackets[i].low_ns, -by);
                brackets[i].high_ns = shift(brackets[i].high_ns, by);
        }
}

size_t clock_bracket_merge(struct clock_bracket *brackets, size_t *n)
{
        size_t n_kept = 0, n_left_out = 0;

        for (size_t i = 0; i < *n; i++) {
                const struct clock_bracket *at = &brackets[i];
                struct clock_bracket *last = n_kept != 0 ? &brackets[n_kept - 1] : NULL;

                if (!last || at->ticks != last->ticks) {
                        brackets[n_kept++] = *at;
                } else if (at->low_ns > last->high_ns || at->high_ns < last->low_ns) {
                        n_left_out++;
                } else {
                        last->low_ns = at->low_ns > last->low_ns ? at->low_ns : last->low_ns;
                        last->high_ns = at->high_ns < last->high_ns ? at->high_ns : last->high_ns;
                }
        }
        *n = n_kept;
        return n_left_out;
}

/* ------------------------------------------------------------------ brackets that are not known */

struct point {
        double x, y; /* ticks and nanoseconds after the first reading */
};

struct strip {
        double slope, bottom, height; /* from bottom + slope * x, height upwards */
};

/* Heap, as many as there are readings each. */
struct workspace {
        struct point *points, *upper, *lower;
        double *above, *sorted;
        double *heights;                      /* one a block */
        const struct clock_bracket *brackets; /* borrowed */
};

static int compare(const void *left, const void *right)
{
        const double *a = left, *b = right;

        return *a < *b ? -1 : *a > *b;
}

static double cross(const struct point *a, const struct point *b, const struct point *c)
{
        return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

/* A hull of the points that lie at most @limit above the strip; @sign: 1 from above, -1 from below. */
static size_t hull(const struct workspace *w, size_t from, size_t n, double limit, double sign,
                   struct point *out)
{
        size_t n_out = 0;

        for (size_t i = from; i < from + n; i++) {
                if (w->above[i] > limit)
                        continue;
                while (n_out > 1 && sign * cross(&out[n_out - 2], &out[n_out - 1], &w->points[i]) >= 0)
                        n_out--;
                out[n_out++] = w->points[i];
        }
        return n_out;
}

/*
 * The slope for which the strip is least high: the steeper the strip, the more to the left lies what
 * touches it from above, and the more to the right what touches it from below.
 */
static double best_slope(const struct workspace *w, size_t n_upper, size_t n_lower)
{
        size_t top = n_upper - 1, low = 0;
        double slope = 0;

        while (w->lower[low].x < w->upper[top].x) {
                double next_upper = (double)INFINITY, next_lower = (double)INFINITY;

                if (top > 0)
                        next_upper = (w->upper[top].y - w->upper[top - 1].y) /
                                     (w->upper[top].x - w->upper[top - 1].x);
                if (low + 1 < n_lower)
                        next_lower = (w->lower[low + 1].y - w->lower[low].y) /
                                     (w->lower[low + 1].x - w->lower[low].x);
                if (top == 0 && low + 1 >= n_lower)
                        break;
                slope = fmin(next_upper, next_lower);
                if (next_upper <= next_lower)
                        top--;
                else
                        low++;
        }
        return slope;
}

/* The least strip of 9 of 10: fitted to all, then again to those that are nearest to its bottom. */
static struct strip fit(struct workspace *w, size_t from, size_t n, size_t n_kept)
{
        struct strip best = { .height = (double)INFINITY };
        double limit = (double)INFINITY;

        for (size_t i = from; i < from + n; i++)
                w->above[i] = 0;
        for (int round = 0; round < ROUNDS; round++) {
                size_t n_upper = hull(w, from, n, limit, 1, w->upper);
                size_t n_lower = hull(w, from, n, limit, -1, w->lower);
                struct strip s = { .slope = best_slope(w, n_upper, n_lower) };

                for (size_t i = 0; i < n; i++)
                        w->sorted[i] = w->points[from + i].y - s.slope * w->points[from + i].x;
                qsort(w->sorted, n, sizeof(*w->sorted), compare);
                s.bottom = w->sorted[0];
                s.height = w->sorted[n_kept - 1] - s.bottom;
                if (s.height >= best.height)
                        break;
                best = s;
                limit = s.height;
                for (size_t i = from; i < from + n; i++)
                        w->above[i] = w->points[i].y - s.slope * w->points[i].x - s.bottom;
        }
        return best;
}

/* Writes those that are kept to @out; returns how many. */
static size_t put(const struct workspace *w, double more, const struct strip *s, size_t from, size_t n,
                  struct clock_bracket *out)
{
        /* Beyond 2^62 nothing is a time. */
        double height = fmin(s->height * more, 2e18), least = fmax(height, 1);
        int64_t below = -(int64_t)ceil(height + least), above = (int64_t)ceil(least);
        size_t n_out = 0;

        for (size_t i = from; i < from + n; i++) {
                if (w->points[i].y - s->slope * w->points[i].x - s->bottom > s->height)
                        continue;
                out[n_out] = w->brackets[i];
                out[n_out].low_ns = shift(w->brackets[i].low_ns, below);
                out[n_out].high_ns = shift(w->brackets[i].high_ns, above);
                n_out++;
        }
        return n_out;
}

static size_t bracket(struct workspace *w, struct clock_bracket *b, size_t n)
{
        struct strip all = fit(w, 0, n, n - n / 10);
        size_t n_blocks = n / BLOCK, n_out = 0;
        double usual;

        if (n_blocks < 2)
                return put(w, 1, &all, 0, n, b);
        for (size_t k = 0; k < n_blocks; k++)
                w->heights[k] = fit(w, k * BLOCK, BLOCK, BLOCK - BLOCK / 5).height;
        qsort(w->heights, n_blocks, sizeof(*w->heights), compare);
        usual = fmax(w->heights[n_blocks / 2], 1);
        if (all.height <= WANDERS_FACTOR * usual)
                return put(w, 1, &all, 0, n, b);
        for (size_t k = 0; k < n_blocks; k++) {
                size_t n_here = k + 1 < n_blocks ? BLOCK : n - k * BLOCK;
                struct strip s = fit(w, k * BLOCK, n_here, n_here - n_here / 5);

                s.height = fmax(s.height, usual);
                n_out += put(w, MORE_OF_FEW, &s, k * BLOCK, n_here, &b[n_out]);
        }
        return n_out;
}

int64_t clock_bracket_estimate(struct clock_bracket *brackets, size_t *n)
{
        size_t n_before = *n;
        struct workspace w = { .points = calloc(n_before + 1, sizeof(*w.points)),
                               .upper = calloc(n_before + 1, sizeof(*w.upper)),
                               .lower = calloc(n_before + 1, sizeof(*w.lower)),
                               .above = calloc(n_before + 1, sizeof(*w.above)),
                               .sorted = calloc(n_before + 1, sizeof(*w.sorted)),
                               .heights = calloc(n_before + 1, sizeof(*w.heights)),
                               .brackets = brackets };
        int64_t r = -ENOMEM;

        if (w.points && w.upper && w.lower && w.above && w.sorted && w.heights) {
                for (size_t i = 0; i < n_before; i++) {
                        uint64_t at = brackets[i].low_ns, first = brackets[0].low_ns;

                        w.points[i].x = (double)(brackets[i].ticks - brackets[0].ticks);
                        w.points[i].y = at < first ? -(double)(first - at) : (double)(at - first);
                }
                if (n_before != 0)
                        *n = bracket(&w, brackets, n_before);
                r = (int64_t)(n_before - *n);
        }
        free(w.points);
        free(w.upper);
        free(w.lower);
        free(w.above);
        free(w.sorted);
        free(w.heights);
        return r;
}
