/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_tally.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int why_tally_init(struct why_tally *t, uint32_t n)
{
        *t = (struct why_tally){ .n = n };
        t->measures = calloc((size_t)n + 1, sizeof(*t->measures));
        t->amounts = calloc((size_t)n + 1, sizeof(*t->amounts));
        t->touched = calloc((size_t)n + 1, sizeof(*t->touched));
        if (t->measures && t->amounts && t->touched)
                return 0;
        why_tally_deinit(t);
        return -ENOMEM;
}

void why_tally_deinit(struct why_tally *t)
{
        free(t->measures);
        free(t->amounts);
        free(t->touched);
        *t = (struct why_tally){ .n = 0 };
}

void why_tally_add(struct why_tally *t, enum why_group group, uint32_t thing, double amount, uint64_t n_times)
{
        t->measures[thing].n_times[group] += n_times;
        if (!(amount > 0))
                return;
        if (!(t->amounts[thing] > 0))
                t->touched[t->n_touched++] = thing;
        t->amounts[thing] += amount;
}

void why_tally_close(struct why_tally *t, enum why_group group, double base, double duration, double own)
{
        for (uint32_t i = 0; i < t->n_touched; i++) {
                struct why_measure *m = &t->measures[t->touched[i]];
                double amount = t->amounts[t->touched[i]];

                cluster_ratio_add(&m->ratio[group], amount, base);
                m->by_duration[group] += amount * duration;
                m->by_own[group] += amount * own;
                t->amounts[t->touched[i]] = 0;
        }
        t->n_touched = 0;
        cluster_ratio_add(&t->base[group], 0, base);
}

void why_tally_skip(struct why_tally *t, enum why_group group, const struct why_group_sum *sum)
{
        struct cluster_ratio *base = &t->base[group];

        base->w += sum->duration;
        base->ww += sum->duration2;
        base->n += sum->n;
}

void why_tally_finish(struct why_tally *t)
{
        for (uint32_t i = 0; i < t->n; i++)
                for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++) {
                        struct cluster_ratio *r = &t->measures[i].ratio[group];

                        r->w = t->base[group].w;
                        r->ww = t->base[group].ww;
                        r->n = t->base[group].n;
                }
}

/* The variance of the mean of amount - share * duration over the instances of a group. */
static double variance_of(const struct cluster_ratio *r, const struct why_group_sum *g, double product,
                          double share)
{
        double n = (double)g->n;
        double mean = (r->x - share * g->duration) / n;
        double squares = r->xx - 2 * share * product + share * share * g->duration2;

        return g->n < 2 ? 0 : fmax(squares - n * mean * mean, 0) / (n - 1) / n;
}

static struct why_share share_of(const struct why_measure *m, const double products[2],
                                 const struct why_group_sum groups[2])
{
        struct why_share s = { .slow_ns = 0 };
        double extra, deviation;

        if (groups[WHY_SLOW].n == 0 || groups[WHY_TYPICAL].n == 0)
                return s;
        s.slow_ns = m->ratio[WHY_SLOW].x / (double)groups[WHY_SLOW].n;
        s.typical_ns = m->ratio[WHY_TYPICAL].x / (double)groups[WHY_TYPICAL].n;
        extra = groups[WHY_SLOW].duration / (double)groups[WHY_SLOW].n -
                groups[WHY_TYPICAL].duration / (double)groups[WHY_TYPICAL].n;
        if (!(extra > 0))
                return s;
        s.value = (s.slow_ns - s.typical_ns) / extra;
        deviation = sqrt(variance_of(&m->ratio[WHY_SLOW], &groups[WHY_SLOW], products[WHY_SLOW], s.value) +
                         variance_of(&m->ratio[WHY_TYPICAL], &groups[WHY_TYPICAL], products[WHY_TYPICAL],
                                     s.value)) /
                    extra;
        s.low = s.value - 1.96 * deviation;
        s.high = s.value + 1.96 * deviation;
        return s;
}

struct why_share why_share_of(const struct why_measure *m, const struct why_group_sum groups[2])
{
        return share_of(m, m->by_duration, groups);
}

struct why_share why_share_of_own(const struct why_measure *m, const struct why_group_sum own_groups[2])
{
        return share_of(m, m->by_own, own_groups);
}

/* Variance of the mean duration. */
static double duration_variance(const struct why_group_sum *g)
{
        double n = (double)g->n, mean = g->duration / n;

        return g->n < 2 ? 0 : fmax(g->duration2 - n * mean * mean, 0) / (n - 1) / n;
}

/*
 * The variance of the ratio, plus that of the durations, as far as the function's share of the time on a
 * CPU differs from its share of the extra time.
 */
struct why_share why_share_of_run(const struct why_measure *m, const double on_cpu_ns[2],
                                  const struct why_group_sum groups[2], double unit)
{
        struct why_share s = { .slow_ns = 0 };
        double variance = 0, extra;

        if (groups[WHY_SLOW].n == 0 || groups[WHY_TYPICAL].n == 0)
                return s;
        s.slow_ns = cluster_ratio_value(&m->ratio[WHY_SLOW]) * on_cpu_ns[WHY_SLOW];
        s.typical_ns = cluster_ratio_value(&m->ratio[WHY_TYPICAL]) * on_cpu_ns[WHY_TYPICAL];
        extra = groups[WHY_SLOW].duration / (double)groups[WHY_SLOW].n -
                groups[WHY_TYPICAL].duration / (double)groups[WHY_TYPICAL].n;
        if (!(extra > 0))
                return s;
        s.value = (s.slow_ns - s.typical_ns) / extra;
        for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++) {
                double apart = cluster_ratio_value(&m->ratio[group]) - s.value;

                variance += on_cpu_ns[group] * on_cpu_ns[group] *
                                    cluster_ratio_variance(&m->ratio[group], unit) +
                            apart * apart * duration_variance(&groups[group]);
        }
        s.low = s.value - 1.96 * sqrt(variance) / extra;
        s.high = s.value + 1.96 * sqrt(variance) / extra;
        return s;
}
