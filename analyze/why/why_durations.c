/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_durations.h"

#include "analyze/stats/cluster_ratio.h"
#include "analyze/trace/histogram.h"
#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HIGH_SHARE 0.75
/*
 * As a part of the median: if a sample costs less than this, instances with a sample are ranked as exactly as
 * the others.
 */
#define WEIGH_MIN 0.1
/*
 * If slow instances have this many times the samples that their number predicts, some of them are slow only
 * because of their sample.
 */
#define SAMPLED_EXCESS 1.5
#define SAMPLED_SLACK  3
/*
 * The probability that the excess is chance; with more instances, the test adds nothing to SAMPLED_EXCESS.
 */
#define EXCESS_P     0.01
#define EXCESS_N_MAX 1000
#define RAISES_MAX   1000
/* In costs of a sample: an instance that waits at least this long is not slow because of its sample. */
#define SURE_WAIT_COSTS 5

enum { CLASS_NONE, CLASS_ONCE, CLASS_MORE, CLASS_OFF_CPU };

struct why_bin {
        struct why_spent sum;
        uint64_t n;
};

/* Instances that are alike: one, or those of a bin. */
struct ranked {
        double value_ns, on_cpu_ns, machine_ns, waiting_ns,
                n_samples; /* means of the instances; value and on_cpu without the cost of samples */
        double n;          /* instances */
        double weight;     /* how many they stand for */
};

void why_durations_deinit(struct why_durations *d)
{
        for (int by = 0; by < WHY_BY_COUNT; by++)
                for (int class = 0; class < WHY_DURATIONS_CLASSES; class ++)
                        free(d->bins[by][class]);
        free(d->exact);
        *d = (struct why_durations){ .exact = NULL };
}

static int class_of(const struct why_spent *spent)
{
        int class = spent->n_samples < CLASS_MORE ? (int)spent->n_samples : CLASS_MORE;

        return class + (spent->on_cpu_ns < spent->wall_ns ? CLASS_OFF_CPU : 0);
}

static int add_to_bin(struct why_durations *d, enum why_by by, const struct why_spent *spent)
{
        static const struct sample_cost none = { .is_known = false };
        struct why_bin **bins = &d->bins[by][class_of(spent)];
        struct why_bin *bin;

        if (!*bins)
                *bins = calloc(HISTOGRAM_BUCKETS, sizeof(**bins));
        if (!*bins)
                return -ENOMEM;
        bin = &(*bins)[histogram_bucket_of((uint64_t)why_spent_value(spent, by, &none))];
        bin->sum.wall_ns += spent->wall_ns;
        bin->sum.on_cpu_ns += spent->on_cpu_ns;
        bin->sum.machine_ns += spent->machine_ns;
        bin->sum.waiting_ns += spent->waiting_ns;
        bin->sum.n_samples += spent->n_samples;
        bin->n++;
        return 0;
}

static int add_to_bins(struct why_durations *d, const struct why_spent *spent)
{
        int r = 0;

        for (int by = 0; by < WHY_BY_COUNT && r == 0; by++)
                r = add_to_bin(d, (enum why_by)by, spent);
        return r;
}

/* There are too many for the list. */
static int leave_list(struct why_durations *d)
{
        int r = 0;

        for (size_t i = 0; i < d->n_exact && r == 0; i++)
                r = add_to_bins(d, &d->exact[i]);
        free(d->exact);
        d->exact = NULL;
        d->n_exact = 0;
        return r;
}

int why_durations_add(struct why_durations *d, const struct why_spent *spent)
{
        int r = 0;

        d->n++;
        d->n_samples += spent->n_samples;
        d->on_cpu_ns += spent->on_cpu_ns;
        d->n_evident += spent->n_samples != 0 || spent->on_cpu_ns < spent->wall_ns;
        if (d->n == WHY_DURATIONS_EXACT_MAX + 1)
                r = leave_list(d);
        if (r < 0)
                return r;
        if (d->n > WHY_DURATIONS_EXACT_MAX)
                return add_to_bins(d, spent);
        r = array_reserve(&d->exact, &d->capacity, d->n_exact + 1, sizeof(*d->exact));
        if (r < 0)
                return r;
        d->exact[d->n_exact++] = *spent;
        return 0;
}

/* ------------------------------------------------------------------ lists */

static struct ranked ranked_of(const struct why_spent *sum, double n, enum why_by by,
                               const struct sample_cost *cost)
{
        double n_samples = (double)sum->n_samples;

        /* The cost of samples in a sum of durations is the sum of the single costs. */
        return (struct ranked){
                .value_ns = why_spent_value(sum, by, cost) / n,
                .on_cpu_ns = sample_cost_without(cost, (double)sum->on_cpu_ns, n_samples) / n,
                .machine_ns = (double)sum->machine_ns / n,
                .waiting_ns = (double)sum->waiting_ns / n,
                .n_samples = n_samples / n,
                .n = n,
                .weight = n,
        };
}

static int compare(const void *a, const void *b)
{
        const struct ranked *left = a, *right = b;

        return (left->value_ns > right->value_ns) - (left->value_ns < right->value_ns);
}

/* All instances, or those of one class, sorted; @class below 0 = all. */
static int list(const struct why_durations *d, int class, enum why_by by, const struct sample_cost *cost,
                struct ranked **ret_list, size_t *ret_n)
{
        size_t room = d->n_exact + (size_t)WHY_DURATIONS_CLASSES * HISTOGRAM_BUCKETS, n = 0;
        struct ranked *items = calloc(room, sizeof(*items));

        if (!items)
                return -ENOMEM;
        for (size_t i = 0; i < d->n_exact; i++)
                if (class < 0 || class_of(&d->exact[i]) == class)
                        items[n++] = ranked_of(&d->exact[i], 1, by, cost);
        for (int k = 0; k < WHY_DURATIONS_CLASSES; k++)
                for (uint32_t i = 0; d->bins[by][k] && i < HISTOGRAM_BUCKETS; i++)
                        if ((class < 0 || class == k) && d->bins[by][k][i].n != 0)
                                items[n++] = ranked_of(&d->bins[by][k][i].sum, (double)d->bins[by][k][i].n,
                                                       by, cost);
        if (n > 1)
                qsort(items, n, sizeof(*items), compare);
        *ret_list = items;
        *ret_n = n;
        return 0;
}

/* ------------------------------------------------------------------ what samples cost */

static int list_points(const struct why_durations *d, int class, struct sample_cost_point **ret_points,
                       size_t *ret_n)
{
        static const struct sample_cost none = { .is_known = false };
        struct ranked *items;
        int r = list(d, class, WHY_BY_WALL, &none, &items, ret_n);

        if (r < 0)
                return r;
        *ret_points = calloc(*ret_n + 1, sizeof(**ret_points));
        for (size_t i = 0; i < *ret_n && *ret_points; i++)
                (*ret_points)[i] = (struct sample_cost_point){ .duration_ns = items[i].value_ns,
                                                               .n = items[i].n };
        free(items);
        return *ret_points ? 0 : -ENOMEM;
}

int why_durations_learn(const struct why_durations *d, struct sample_cost *ret_cost)
{
        double period_ns = (double)d->on_cpu_ns / fmax((double)d->n_samples, 1);
        struct sample_cost_point *without = NULL, *once = NULL;
        size_t n_without, n_once;
        int r = list_points(d, CLASS_NONE, &without, &n_without);

        if (r == 0)
                r = list_points(d, CLASS_ONCE, &once, &n_once);
        if (r == 0)
                r = sample_cost_learn(ret_cost, without, n_without, once, n_once, period_ns);
        free(without);
        free(once);
        return r;
}

/* ------------------------------------------------------------------ the slow ones */

/*
 * Whether a sample decides how such an instance is ranked.  Nearly all instances that run for most of a
 * period have a sample, and no sample makes an instance wait.
 */
static bool is_doubtful(const struct ranked *item, const struct sample_cost *cost, double sure_wait_ns)
{
        return item->on_cpu_ns < SAMPLE_COST_PERIOD_MAX * cost->period_ns && item->waiting_ns < sure_wait_ns;
}

/*
 * An instance without a sample stands for those of its length that have one, whose durations are less
 * exact; the weights of all doubtful instances add up to their number.
 */
static void weigh(struct ranked *items, size_t n, const struct sample_cost *cost, double sure_wait_ns)
{
        double n_doubtful = 0, predicted = 0;

        for (size_t i = 0; i < n; i++) {
                struct ranked *item = &items[i];

                if (!is_doubtful(item, cost, sure_wait_ns))
                        continue;
                n_doubtful += item->n;
                item->weight = item->n_samples > 0 ? 0 : item->n / (1 - item->on_cpu_ns / cost->period_ns);
                predicted += item->weight;
        }
        for (size_t i = 0; i < n && predicted > 0; i++)
                if (is_doubtful(&items[i], cost, sure_wait_ns))
                        items[i].weight *= n_doubtful / predicted;
}

static double total_of(const struct ranked *items, size_t n)
{
        double total = 0;

        for (size_t i = 0; i < n; i++)
                total += items[i].weight;
        return total;
}

/* The smallest value that at least @wanted instances, by weight, do not exceed. */
static double value_at(const struct ranked *items, size_t n, double wanted)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++) {
                sum += items[i].weight;
                /* 1e-9: rounding may make a third of three a little more than one. */
                if (items[i].weight > 0 && sum >= wanted - 1e-9)
                        return items[i].value_ns;
        }
        return n != 0 ? items[n - 1].value_ns : 0;
}

/* The duration that the slowest instances reach: a share of @share of all, but at least one. */
static double slowest_from(const struct ranked *items, size_t n, double total, double share)
{
        double wanted = fmax(ceil(fmin(fmax(share, 0), 1) * total - 1e-9), 1), sum = 0;

        for (size_t i = n; i > 0; i--) {
                sum += items[i - 1].weight;
                if (items[i - 1].weight > 0 && sum >= wanted - 1e-9)
                        return items[i - 1].value_ns;
        }
        return 0;
}

/*
 * Whether more slow instances have a sample than the slow ones without a sample predict, and than chance
 * explains.
 */
static bool has_excess(const struct ranked *items, size_t n, const struct sample_cost *cost,
                       double sure_wait_ns, double from_ns)
{
        double seen = 0, without = 0, predicted = 0, longer = 0, expected = 0;

        for (size_t i = n; i > 0 && items[i - 1].value_ns >= from_ns; i--) {
                const struct ranked *item = &items[i - 1];

                if (item->waiting_ns >= sure_wait_ns)
                        continue;
                if (!is_doubtful(item, cost, sure_wait_ns)) {
                        longer += item->n * item->n_samples;
                        continue;
                }
                expected += item->n * item->on_cpu_ns / cost->period_ns;
                if (item->n_samples > 0) {
                        seen += item->n;
                } else {
                        without += item->n;
                        predicted += item->n * item->on_cpu_ns / (cost->period_ns - item->on_cpu_ns);
                }
        }
        if (seen + longer <= SAMPLED_EXCESS * (predicted + longer) + SAMPLED_SLACK)
                return false;
        return seen + without > EXCESS_N_MAX || binomial_tail((uint64_t)seen, (uint64_t)(seen + without),
                                                              expected / (seen + without)) < EXCESS_P;
}

/*
 * An instance with a sample is slow if the spread of the cost cannot explain it, and if there are no more
 * such instances than there can be.
 */
static double slow_sampled_from(const struct ranked *items, size_t n, const struct sample_cost *cost,
                                const struct why_rank *rank)
{
        double from_ns = fmax(rank->slow_ns, rank->high_ns + cost->spread_ns);
        double step_ns = fmax(cost->spread_ns / 2, 1);

        for (int i = 0; i < RAISES_MAX && has_excess(items, n, cost, rank->sure_wait_ns, from_ns); i++) {
                from_ns += step_ns;
                step_ns *= 1.1;
        }
        return from_ns;
}

static double machine_share(const struct ranked *items, size_t n, double slow_ns)
{
        double weight[2] = { 0, 0 }, value[2] = { 0, 0 }, machine[2] = { 0, 0 }, extra;

        for (size_t i = 0; i < n; i++) {
                int group = items[i].value_ns >= slow_ns;

                weight[group] += items[i].weight;
                value[group] += items[i].weight * items[i].value_ns;
                machine[group] += items[i].weight * items[i].machine_ns;
        }
        if (!(weight[0] > 0) || !(weight[1] > 0))
                return 0;
        extra = value[1] / weight[1] - value[0] / weight[0];
        return extra > 0 ? fmin(fmax((machine[1] / weight[1] - machine[0] / weight[0]) / extra, 0), 1) : 0;
}

int why_durations_rank(const struct why_durations *d, const struct why_rank_request *request,
                       const struct sample_cost *cost, struct why_rank *ret_rank)
{
        static const struct sample_cost none = { .is_known = false };
        struct why_rank rank = { .sure_wait_ns = (double)INFINITY };
        struct ranked *items;
        double total;
        size_t n;
        int r = list(d, -1, request->by, cost, &items, &n);

        if (r < 0)
                return r;
        /* Samples do not change how long an instance waits. */
        if (request->by == WHY_BY_WAITING)
                cost = &none;
        if (request->by != WHY_BY_ON_CPU)
                rank.sure_wait_ns = SURE_WAIT_COSTS * cost->cost_ns;
        total = total_of(items, n);
        if (cost->is_known && cost->cost_ns > WEIGH_MIN * value_at(items, n, total / 2))
                weigh(items, n, cost, rank.sure_wait_ns);
        total = total_of(items, n);
        rank.median_ns = value_at(items, n, total / 2);
        rank.high_ns = value_at(items, n, total * HIGH_SHARE);
        rank.slow_ns = request->slower_than_ns != 0 ? (double)request->slower_than_ns
                                                    : slowest_from(items, n, total, request->slowest);
        /*
         * If the slowest instances take no longer than three quarters of all, none is slow, and there is
         * nothing to compare.
         */
        if (request->slower_than_ns == 0 && rank.slow_ns <= rank.high_ns)
                rank.slow_ns = rank.high_ns + 1;
        /* Samples cannot be the reason if most instances exceed the limit. */
        rank.slow_sampled_ns = rank.slow_ns;
        if (cost->is_known && rank.slow_ns > rank.high_ns)
                rank.slow_sampled_ns = slow_sampled_from(items, n, cost, &rank);
        for (size_t i = 0; i < n; i++)
                if (items[i].value_ns >= rank.slow_ns)
                        rank.n_slow += items[i].n;
        if (request->by == WHY_BY_WALL)
                rank.machine_share = machine_share(items, n, rank.slow_ns);
        free(items);
        *ret_rank = rank;
        return 0;
}

bool why_rank_is_slow(const struct why_rank *rank, const struct why_spent *spent, double value_ns)
{
        bool is_sure = spent->n_samples == 0 || (double)spent->waiting_ns >= rank->sure_wait_ns;

        return value_ns >= (is_sure ? rank->slow_ns : rank->slow_sampled_ns);
}
