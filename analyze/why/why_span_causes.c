/* SPDX-License-Identifier: MIT */
/* why_span_causes_find(): the parts of the extra time of zones of devices */
#include "analyze/why/why_explain.h"

#include "analyze/why/why.h"
#include "analyze/why/why_judge.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define QUARTILE 0.75
/* From the median to the third quartile there are so many standard deviations of a normal distribution. */
#define QUARTILE_DEVIATIONS 0.6745
/* A part that varies by less than this share of the mean of the others counts as if it varied by that. */
#define SPREAD_MIN 0.01

static const struct {
        enum why_kind kind;
        enum why_cause_kind cause;
} things[] = {
        { WHY_ON_DEVICE, WHY_CAUSE_DEVICE },
        { WHY_BEHIND, WHY_CAUSE_BEHIND },
        { WHY_HOST_LATE, WHY_CAUSE_HOST_LATE },
        { WHY_HANDED_OVER, WHY_CAUSE_HANDED_OVER },
};

#define N_THINGS (sizeof(things) / sizeof(things[0]))

struct span_tallies {
        struct why_tally things;
        struct why_tally details; /* earlier work, by location; then zones of threads, likewise */
        uint32_t n_locations;
        double *amounts; /* heap; of one thing, of all instances that are not slow */
};

static uint32_t thing_of(uint32_t kind)
{
        uint32_t i = 0;

        while (i < N_THINGS && (uint32_t)things[i].kind != kind)
                i++;
        return i;
}

static void add_up(struct why *w, struct span_tallies *t)
{
        const struct why_instances *s = &w->collector.instances;

        for (size_t i = 0; i < s->n_items; i++) {
                const struct why_instance *instance = &s->items[i];
                enum why_group group = instance->is_slow ? WHY_SLOW : WHY_TYPICAL;
                double duration = (double)instance->duration_ns;

                for (size_t k = 0; k < instance->n_rows; k++) {
                        const struct why_row *row = &s->rows[instance->first_row + k];
                        double amount = (double)row->amount;
                        uint32_t thing = thing_of(row->kind);

                        if (thing == N_THINGS)
                                continue;
                        why_tally_add(&t->things, group, thing, amount, row->n);
                        if (row->kind == WHY_BEHIND)
                                why_tally_add(&t->details, group, row->id, amount, row->n);
                        else if (row->kind == WHY_HOST_LATE)
                                why_tally_add(&t->details, group, t->n_locations + row->id, amount, row->n);
                }
                why_tally_close(&t->things, group, duration, duration, duration);
                why_tally_close(&t->details, group, duration, duration, duration);
        }
        why_tally_finish(&t->things);
        why_tally_finish(&t->details);
        w->own_groups[WHY_TYPICAL] = w->groups[WHY_TYPICAL];
        w->own_groups[WHY_SLOW] = w->groups[WHY_SLOW];
}

/* ------------------------------------------------------------------ judging */

static int compare_numbers(const void *left, const void *right)
{
        const double *a = left, *b = right;

        return (*a > *b) - (*a < *b);
}

static double amount_of(const struct why_instances *s, const struct why_instance *instance,
                        enum why_kind kind)
{
        double sum = 0;

        for (size_t k = 0; k < instance->n_rows; k++)
                if (s->rows[instance->first_row + k].kind == (uint32_t)kind)
                        sum += (double)s->rows[instance->first_row + k].amount;
        return sum;
}

/* How far the mean of the slow ones is from the median of the others, in spreads of the others. */
static double apart_of(const struct why *w, struct span_tallies *t, uint32_t thing, double slow_ns)
{
        const struct why_instances *s = &w->collector.instances;
        double floor_ns = SPREAD_MIN * w->groups[WHY_TYPICAL].duration / (double)w->groups[WHY_TYPICAL].n;
        double median, spread;
        size_t n = 0;

        for (size_t i = 0; i < s->n_items; i++)
                if (!s->items[i].is_slow)
                        t->amounts[n++] = amount_of(s, &s->items[i], things[thing].kind);
        qsort(t->amounts, n, sizeof(*t->amounts), compare_numbers);
        median = t->amounts[n / 2];
        spread = (t->amounts[(size_t)(QUARTILE * (double)n)] - median) / QUARTILE_DEVIATIONS;
        return (slow_ns - median) / fmax(fmax(spread, floor_ns), 1);
}

/*
 * Slow ones are chosen by their duration, so that any part that varies is larger in them: no test tells that
 * from a cause.
 */
static enum why_confidence judge(const struct why *w, const struct why_cause *cause, double apart)
{
        double share = cause->share.value;

        if (w->groups[WHY_SLOW].n < WHY_SLOW_MIN || w->groups[WHY_TYPICAL].n < WHY_SLOW_MIN ||
            cause->n_slow < WHY_WITH_MIN)
                return WHY_CONFIDENCE_TOO_FEW;
        if (apart < WHY_APART_MIN || share < WHY_SHARE_HIGH)
                return WHY_CONFIDENCE_LOW;
        if (cause->own_low >= WHY_LOW_HIGH)
                return WHY_CONFIDENCE_HIGH;
        return cause->own_low > 0 && share >= WHY_SHARE_MEDIUM ? WHY_CONFIDENCE_MEDIUM : WHY_CONFIDENCE_LOW;
}

static void put_thing(struct why *w, struct span_tallies *t, uint32_t thing)
{
        const struct why_measure *m = &t->things.measures[thing];
        struct why_cause cause = { .kind = things[thing].cause,
                                   .p = 1,
                                   .share = why_share_of(m, w->groups),
                                   .n_slow = m->ratio[WHY_SLOW].n_with,
                                   .n_typical = m->ratio[WHY_TYPICAL].n_with,
                                   .n_times = m->n_times[WHY_SLOW] };

        if (cause.n_slow == 0 && cause.n_typical == 0)
                return;
        cause.own_low = cause.share.low;
        cause.confidence = WHY_CONFIDENCE_TOO_FEW;
        if (w->groups[WHY_TYPICAL].n != 0)
                cause.confidence = judge(w, &cause, apart_of(w, t, thing, cause.share.slow_ns));
        w->causes[w->n_causes++] = cause;
}

/*
 * If slow instances wait less for something than the others, the other parts add up to more than the extra
 * time: shares are then relative to that sum.
 */
static void limit_shares(struct why *w)
{
        double sum = 0;

        for (size_t i = 0; i < w->n_causes; i++)
                sum += fmax(w->causes[i].share.value, 0);
        for (size_t i = 0; i < w->n_causes && sum > 1; i++) {
                struct why_share *share = &w->causes[i].share;

                share->value = fmax(share->value / sum, -1);
                share->low = fmin(fmax(share->low / sum, -1), 1);
                share->high = fmin(fmax(share->high / sum, -1), 1);
        }
}

/* ------------------------------------------------------------------ what they waited for */

static int compare_delays(const void *a, const void *b)
{
        const struct why_delay *left = a, *right = b;
        double difference = (left->slow_ns - left->typical_ns) - (right->slow_ns - right->typical_ns);

        if (difference != 0)
                return difference < 0 ? 1 : -1;
        return (left->location > right->location) - (left->location < right->location);
}

static int list_delays(struct why *w, const struct span_tallies *t)
{
        size_t n = 0;

        for (uint32_t i = 0; i < t->details.n; i++)
                n += t->details.measures[i].n_times[WHY_SLOW] + t->details.measures[i].n_times[WHY_TYPICAL] !=
                     0;
        w->delays = calloc(n + 1, sizeof(*w->delays));
        if (!w->delays)
                return -ENOMEM;
        for (uint32_t i = 0; i < t->details.n; i++) {
                const struct why_measure *m = &t->details.measures[i];
                struct why_share share = why_share_of(m, w->groups);
                bool is_behind = i < t->n_locations;

                if (m->n_times[WHY_SLOW] + m->n_times[WHY_TYPICAL] == 0)
                        continue;
                w->delays[w->n_delays++] = (struct why_delay){
                        .kind = is_behind ? WHY_CAUSE_BEHIND : WHY_CAUSE_HOST_LATE,
                        .location = is_behind ? i : i - t->n_locations,
                        .slow_ns = share.slow_ns,
                        .typical_ns = share.typical_ns,
                        .share = share.value,
                        .n_slow = m->ratio[WHY_SLOW].n_with,
                        .n_typical = m->ratio[WHY_TYPICAL].n_with,
                };
        }
        qsort(w->delays, w->n_delays, sizeof(*w->delays), compare_delays);
        return 0;
}

/* The first delay of each kind has most of the extra time. */
static void name_causes(struct why *w)
{
        for (size_t i = 0; i < w->n_causes; i++)
                for (size_t k = w->n_delays; k > 0; k--)
                        if (w->delays[k - 1].kind == w->causes[i].kind)
                                w->causes[i].id = w->delays[k - 1].location;
}

int why_span_causes_find(struct why *w)
{
        struct span_tallies t = { .n_locations =
                                          trace_dictionary_count(w->dictionary, TRACE_TABLE_LOCATIONS) + 1 };
        int r = why_tally_init(&t.things, N_THINGS);

        if (r == 0)
                r = why_tally_init(&t.details, 2 * t.n_locations);
        t.amounts = calloc(w->collector.instances.n_items + 1, sizeof(*t.amounts));
        w->causes = calloc(N_THINGS, sizeof(*w->causes));
        if (!t.amounts || !w->causes)
                r = -ENOMEM;
        if (r == 0) {
                add_up(w, &t);
                for (uint32_t i = 0; i < N_THINGS; i++)
                        put_thing(w, &t, i);
                limit_shares(w);
                w->n_tests = w->n_causes;
                r = list_delays(w, &t);
        }
        if (r == 0) {
                name_causes(w);
                qsort(w->causes, w->n_causes, sizeof(*w->causes), why_causes_compare);
        }
        why_tally_deinit(&t.things);
        why_tally_deinit(&t.details);
        free(t.amounts);
        return r;
}
