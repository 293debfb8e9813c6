/* SPDX-License-Identifier: MIT */
#include "analyze/samples/sample_cost.h"

#include "analyze/trace/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SPREAD_SHARE 0.9
/* Standard error of a median: 1.25 sigma / sqrt(n), sigma = quartile distance / 1.35. */
#define ERROR_OF_QUARTILES (1.25 / 1.35)

/* The time beyond the prediction of one instance with a sample, or of several of one duration. */
struct excess {
        double ns, n;
};

static int compare(const void *a, const void *b)
{
        const struct excess *left = a, *right = b;

        return (left->ns > right->ns) - (left->ns < right->ns);
}

static double quantile(const struct excess *list, size_t n, double total, double share)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++) {
                sum += list[i].n;
                if (sum >= share * total)
                        return list[i].ns;
        }
        return n != 0 ? list[n - 1].ns : 0;
}

struct lists {
        const struct sample_cost_point *without, *once;
        size_t n_without, n_once;
};

/* For how many instances with a sample one instance without a sample stands, or several of one duration. */
static double predicted_by(const struct sample_cost_point *p, double period_ns)
{
        return p->n * p->duration_ns / (period_ns - p->duration_ns);
}

static bool is_short(double duration_ns, double period_ns)
{
        return duration_ns < SAMPLE_COST_PERIOD_MAX * period_ns;
}

/*
 * By chance, slightly more or fewer instances have a sample than predicted: finds the ratio, once the cost
 * is roughly known.
 */
static double find_scale(const struct lists *l, const struct sample_cost *c)
{
        double predicted = 0, seen = 0;

        for (size_t i = 0; i < l->n_without && is_short(l->without[i].duration_ns, c->period_ns); i++)
                predicted += predicted_by(&l->without[i], c->period_ns);
        for (size_t k = 0; k < l->n_once && is_short(l->once[k].duration_ns - c->cost_ns, c->period_ns); k++)
                seen += l->once[k].n;
        return predicted > 0 && seen > 0 ? fmin(fmax(seen / predicted, 0.5), 2) : 1;
}

/*
 * Matches the instances with a sample, in the order of their durations, with the predicted ones: each
 * instance without a sample stands for d / (period - d) instances with one.  The prediction ends where
 * nearly all instances have a sample.
 */
static size_t match(const struct lists *l, double period_ns, double scale, struct excess *ret_list)
{
        double predicted = 0, seen = 0;
        size_t i = 0, n = 0;

        for (size_t k = 0; k < l->n_once; k++) {
                double rank = seen + l->once[k].n / 2;

                while (i < l->n_without && is_short(l->without[i].duration_ns, period_ns)) {
                        double more = scale * predicted_by(&l->without[i], period_ns);

                        if (predicted + more >= rank)
                                break;
                        predicted += more;
                        i++;
                }
                if (i == l->n_without || !is_short(l->without[i].duration_ns, period_ns))
                        break;
                ret_list[n].ns = l->once[k].duration_ns - l->without[i].duration_ns;
                ret_list[n].n = l->once[k].n;
                n++;
                seen += l->once[k].n;
        }
        return n;
}

static void take(struct sample_cost *c, struct excess *list, size_t n)
{
        double total = 0, quartiles;

        for (size_t i = 0; i < n; i++)
                total += list[i].n;
        if (n > 1)
                qsort(list, n, sizeof(*list), compare);
        c->n = (uint64_t)total;
        c->cost_ns = quantile(list, n, total, 0.5);
        c->spread_ns = fmax(quantile(list, n, total, SPREAD_SHARE) - c->cost_ns,
                            c->cost_ns - quantile(list, n, total, 1 - SPREAD_SHARE));
        quartiles = quantile(list, n, total, 0.75) - quantile(list, n, total, 0.25);
        c->error_ns = ERROR_OF_QUARTILES * quartiles / sqrt(fmax(total, 1));
        c->is_known = c->n >= SAMPLE_COST_LEARN_MIN && c->cost_ns > 0 && c->cost_ns < c->period_ns &&
                      c->error_ns < c->cost_ns / 2;
}

int sample_cost_learn(struct sample_cost *c, const struct sample_cost_point *without, size_t n_without,
                      const struct sample_cost_point *once, size_t n_once, double period_ns)
{
        const struct lists lists = {
                .without = without, .once = once, .n_without = n_without, .n_once = n_once
        };
        struct excess *list;

        *c = (struct sample_cost){ .period_ns = period_ns };
        if (n_once == 0 || n_without == 0 || !(period_ns > 0))
                return 0;
        list = calloc(n_once, sizeof(*list));
        if (!list)
                return -ENOMEM;
        take(c, list, match(&lists, period_ns, 1, list));
        if (c->is_known) {
                double scale;

                /* No sample falls into the time that samples cost. */
                c->period_ns = period_ns - c->cost_ns;
                scale = find_scale(&lists, c);
                take(c, list, match(&lists, c->period_ns, scale, list));
        }
        free(list);
        return 0;
}

/* Adds the counts of @h to the buckets of @points, times @sign, which is 1 or -1. */
static void add_counts(const struct histogram *h, double sign, struct sample_cost_point *points)
{
        uint64_t value, n;

        for (uint32_t i = 0; histogram_get(h, i, &value, &n); i++)
                points[histogram_bucket_of(value)].n += sign * (double)n;
}

static size_t compact(struct sample_cost_point *points)
{
        size_t n = 0;

        for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
                struct sample_cost_point point = { .duration_ns = (double)histogram_bucket_middle(i),
                                                   .n = points[i].n };

                if (point.n > 0)
                        points[n++] = point;
        }
        return n;
}

int sample_cost_learn_histograms(struct sample_cost *c, const struct histogram *all,
                                 const struct histogram *once, const struct histogram *more, double period_ns)
{
        struct sample_cost_point *points = calloc((size_t)2 * HISTOGRAM_BUCKETS, sizeof(*points));
        struct sample_cost_point *with_one = points ? points + HISTOGRAM_BUCKETS : NULL;
        int r;

        if (!points)
                return -ENOMEM;
        add_counts(all, 1, points);
        add_counts(once, -1, points);
        add_counts(more, -1, points);
        add_counts(once, 1, with_one);
        r = sample_cost_learn(c, points, compact(points), with_one, compact(with_one), period_ns);
        free(points);
        return r;
}

bool sample_cost_is_exact(const struct sample_cost *c)
{
        return c->is_known && c->n >= SAMPLE_COST_PRINT_MIN && c->error_ns < c->cost_ns / 10;
}

double sample_cost_without(const struct sample_cost *c, double duration_ns, double n_samples)
{
        return c->is_known ? fmax(duration_ns - n_samples * c->cost_ns, 0) : duration_ns;
}
