/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_explain.h"

#include "analyze/why/why.h"
#include "analyze/why/why_judge.h"
#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Per instance: times are measured, not sampled, so this only keeps variances above zero. */
#define TIMES_UNIT       0.1
#define PLACED_MIN       0.25 /* of the waits without a call stack */
#define MOVED_OF_ALL_MIN 0.5  /* slow instances that were moved, at least */

struct tallies {
        struct why_tally times; /* a part of the duration: locks, places, other waits by enum why_kind */
        struct why_tally runs;  /* a part of the samples: WHY_STACK_* */
        bool are_gaps_moves;    /* preemptions that end on another CPU are more than chance */
        uint32_t n_locks, n_places;
};

static enum why_group group_of(const struct why_instance *instance)
{
        return instance->is_slow ? WHY_SLOW : WHY_TYPICAL;
}

/* ------------------------------------------------------------------ adding up */

static bool is_machine_time(uint32_t kind)
{
        return kind == WHY_PREEMPTED || kind == WHY_DISPLACED || kind == WHY_DELAY || kind == WHY_STOPPED;
}

/* Whether a kind of time is part of the time by which instances are ranked. */
static bool is_ranked(const struct why *w, uint32_t kind)
{
        switch (w->by) {
        case WHY_BY_OWN:
                return !is_machine_time(kind);
        case WHY_BY_ON_CPU:
                return kind == WHY_SAMPLE;
        case WHY_BY_WAITING:
                return kind != WHY_SAMPLE && !is_machine_time(kind);
        case WHY_BY_WALL:
        case WHY_BY_AUTOMATIC:
                break;
        }
        return true;
}

static void add_row(struct why *w, struct tallies *t, enum why_group group, const struct why_row *row)
{
        double amount = (double)row->amount;
        uint32_t kind = row->kind;

        if (!is_ranked(w, kind))
                return;
        switch (kind) {
        case WHY_LOCK:
                why_tally_add(&t->times, group, row->id - 1, amount, row->n);
                break;
        case WHY_WAIT:
                why_tally_add(&t->times, group, t->n_locks + why_place_of(w, row->id) - 1, amount, row->n);
                break;
        case WHY_SAMPLE:
                why_tally_add(&t->runs, group, w->profile.stacks[row->id], amount, row->n);
                break;
        case WHY_COUNTER:
        case WHY_WAKER:
                break;
        default:
                if (kind == WHY_DISPLACED && t->are_gaps_moves)
                        kind = WHY_MOVED;
                why_tally_add(&t->times, group, t->n_locks + t->n_places + kind, amount, row->n);
        }
}

/* The time in which others had the CPU, if that is part of the instance's duration. */
static double machine_ns(const struct why *w, const struct tallies *t, const struct why_instance *instance)
{
        const struct why_instances *s = &w->collector.instances;
        double ns = 0;

        for (size_t k = 0; k < instance->n_rows && w->by == WHY_BY_WALL; k++) {
                const struct why_row *row = &s->rows[instance->first_row + k];

                if (is_machine_time(row->kind) && !(row->kind == WHY_DISPLACED && t->are_gaps_moves))
                        ns += (double)row->amount;
        }
        return ns;
}

static void add_up(struct why *w, struct tallies *t)
{
        const struct why_instances *s = &w->collector.instances;

        for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++) {
                const struct why_group_sum *bare = &w->collector.bare[group].sum;

                w->own_groups[group] = *bare;
                why_tally_skip(&t->times, (enum why_group)group, bare);
        }
        for (size_t i = 0; i < s->n_items; i++) {
                const struct why_instance *instance = &s->items[i];
                enum why_group group = group_of(instance);
                double duration = (double)instance->duration_ns;
                double own = fmax(duration - machine_ns(w, t, instance), 0);

                w->own_groups[group].n++;
                w->own_groups[group].duration += own;
                w->own_groups[group].duration2 += own * own;
                for (size_t k = 0; k < instance->n_rows; k++)
                        add_row(w, t, group, &s->rows[instance->first_row + k]);
                why_tally_close(&t->times, group, duration, duration, own);
                why_tally_close(&t->runs, group, (double)instance->weight, duration, own);
        }
        why_tally_finish(&t->times);
        why_tally_finish(&t->runs);
}

/*
 * Preempted threads occasionally migrate.  Migration is more than the scheduler's usual work only if most
 * of the slow instances are moved, and if their preemptions end on another CPU more often than others do.
 */
static bool judge_gaps(const struct why *w)
{
        const struct why_instances *s = &w->collector.instances;
        struct cluster_ratio slow = { .n = 0 }, other;

        for (size_t i = 0; i < s->n_items; i++)
                if (s->items[i].is_slow)
                        cluster_ratio_add(&slow, (double)s->items[i].n_moved_gaps,
                                          (double)s->items[i].n_gaps);
        /* Each preemption in an instance that is not slow counts as an observation of its own. */
        other = (struct cluster_ratio){
                .x = (double)w->collector.n_moved_gaps,
                .xx = (double)w->collector.n_moved_gaps,
                .xw = (double)w->collector.n_moved_gaps,
                .w = (double)w->collector.n_gaps,
                .ww = (double)w->collector.n_gaps,
                .n = w->collector.n_gaps,
                .n_with = w->collector.n_moved_gaps,
        };
        return (double)slow.n_with >= MOVED_OF_ALL_MIN * (double)w->groups[WHY_SLOW].n &&
               cluster_ratio_compare(&slow, &other, 1) < WHY_P_HIGH;
}

/* ------------------------------------------------------------------ judging */

static void judge(const struct why *w, struct why_cause *cause)
{
        struct why_evidence e = { .n_slow = w->groups[WHY_SLOW].n,
                                  .n_typical = w->groups[WHY_TYPICAL].n,
                                  .n_slow_with = cause->n_slow,
                                  .n_times = cause->n_times,
                                  .n_tests = w->n_tests,
                                  .p = cause->p,
                                  .share = cause->share.value,
                                  .own_low = cause->own_low,
                                  .is_sampled = cause->is_sampled };

        cause->confidence = why_cause_is_own(cause->kind) ? why_judge(&e) : WHY_CONFIDENCE_NONE;
        cause->p = why_cause_is_own(cause->kind) ? why_judge_p(&e) : 1;
}

/*
 * If slow instances spend less on something than others, the other causes add up to more than the extra
 * time: shares are then relative to that sum.
 */
static void judge_all(struct why *w)
{
        double sum = 0, scale;

        for (size_t i = 0; i < w->n_causes; i++)
                sum += fmax(w->causes[i].share.value, 0);
        scale = sum > 1 ? 1 / sum : 1;
        for (size_t i = 0; i < w->n_causes; i++) {
                struct why_share *share = &w->causes[i].share;

                share->value = fmax(share->value * scale, -1);
                share->low = fmin(fmax(share->low * scale, -1), 1);
                share->high = fmin(fmax(share->high * scale, -1), 1);
                w->causes[i].own_low *= scale;
                judge(w, &w->causes[i]);
        }
}

static int put(struct why *w, const struct why_cause *cause)
{
        int r = array_reserve(&w->causes, &w->causes_capacity, w->n_causes + 1, sizeof(*w->causes));

        if (r == 0)
                w->causes[w->n_causes++] = *cause;
        return r;
}

/* Adds a cause that is a measured part of the extra time, unless no instance of either group has it. */
static int put_measure(struct why *w, struct why_cause cause, const struct why_measure *m)
{
        cause.share = why_share_of(m, w->groups);
        cause.own_low = why_share_of_own(m, w->own_groups).low;
        cause.n_slow = m->ratio[WHY_SLOW].n_with;
        cause.n_typical = m->ratio[WHY_TYPICAL].n_with;
        cause.n_times = m->n_times[WHY_SLOW];
        return cause.n_slow == 0 && cause.n_typical == 0 ? 0 : put(w, &cause);
}

/* The same for a cause from samples, which divide the time on a CPU. */
static int put_run(struct why *w, struct why_cause cause, const struct why_measure *m)
{
        cause.is_sampled = true;
        cause.share = why_share_of_run(m, w->on_cpu_ns, w->groups, w->profile.unit);
        cause.own_low = why_share_of_run(m, w->on_cpu_ns, w->own_groups, w->profile.unit).low;
        cause.n_slow = m->ratio[WHY_SLOW].n_with;
        cause.n_typical = m->ratio[WHY_TYPICAL].n_with;
        cause.n_times = m->n_times[WHY_SLOW];
        return cause.n_slow == 0 && cause.n_typical == 0 ? 0 : put(w, &cause);
}

static double share_of_instances(const struct why *w)
{
        double slow = (double)w->groups[WHY_SLOW].n;

        return slow / fmax(slow + (double)w->groups[WHY_TYPICAL].n, 1);
}

/*
 * Compares a thing's part of all the time of a group, and the number of instances that have it.  Longer
 * instances meet a thing that comes at a fixed pace more often, even if it costs no time: so the time without
 * the thing determines how often it is expected by chance.
 */
static double compare_times(const struct why *w, const struct why_measure *m)
{
        const struct cluster_ratio *slow = &m->ratio[WHY_SLOW], *typical = &m->ratio[WHY_TYPICAL];
        double n = fmax((double)w->groups[WHY_TYPICAL].n, 1);
        double unit = TIMES_UNIT * w->groups[WHY_TYPICAL].duration / n;
        double slow_ns = fmax(w->groups[WHY_SLOW].duration - slow->x, 0);
        double all_ns = slow_ns + fmax(w->groups[WHY_TYPICAL].duration - typical->x, 0);
        double p = cluster_ratio_compare(slow, typical, unit);
        double presence = 1;

        if (all_ns > 0)
                presence = binomial_tail(slow->n_with, slow->n_with + typical->n_with,
                                         fmax(slow_ns / all_ns, share_of_instances(w)));
        /* The better one of two tests counts, hence twice its probability. */
        return fmin(2 * fmin(p, presence), 1);
}

static double compare_runs(const struct why *w, const struct why_measure *m)
{
        return cluster_ratio_compare(&m->ratio[WHY_SLOW], &m->ratio[WHY_TYPICAL], w->profile.unit);
}

static int put_waits(struct why *w, const struct tallies *t)
{
        int r = 0;

        for (uint32_t i = 0; i < t->n_locks + t->n_places && r == 0; i++) {
                bool is_lock = i < t->n_locks;
                struct why_cause cause = { .kind = is_lock ? WHY_CAUSE_LOCK : WHY_CAUSE_WAIT,
                                           .id = is_lock ? i + 1 : i + 1 - t->n_locks,
                                           .p = compare_times(w, &t->times.measures[i]) };

                if (!is_lock) {
                        struct wait_place place;

                        wait_places_get(&w->places, cause.id, &place);
                        cause.is_unplaced = !place.has_stack;
                }
                r = put_measure(w, cause, &t->times.measures[i]);
        }
        return r;
}

static int put_unwaited(struct why *w, const struct tallies *t)
{
        static const struct {
                enum why_kind kind;
                enum why_cause_kind cause;
        } kinds[] = {
                { WHY_MOVED, WHY_CAUSE_MOVED },         { WHY_SUSPENDED, WHY_CAUSE_SUSPENDED },
                { WHY_STOPPED, WHY_CAUSE_STOPPED },     { WHY_DISPLACED, WHY_CAUSE_DISPLACED },
                { WHY_PREEMPTED, WHY_CAUSE_PREEMPTED }, { WHY_DELAY, WHY_CAUSE_DELAY },
        };
        int r = 0;

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r == 0; i++) {
                const struct why_measure *m = &t->times.measures[t->n_locks + t->n_places + kinds[i].kind];
                struct why_cause cause = { .kind = kinds[i].cause, .p = 1 };

                if (why_cause_is_own(cause.kind))
                        cause.p = compare_times(w, m);
                r = put_measure(w, cause, m);
        }
        return r;
}

/* If a group has too few samples to divide its time, that time is unexplained. */
static int put_runs(struct why *w, const struct tallies *t)
{
        struct why_cause interrupts = { .kind = WHY_CAUSE_INTERRUPTS, .p = 1 };
        struct why_cause faults = { .kind = WHY_CAUSE_FAULTS };
        struct why_cause same = { .kind = WHY_CAUSE_SAME, .p = 1 };
        int r;

        if (!why_compares_functions(w))
                return 0;
        r = why_profile_place(&w->profile, WHY_STACK_FAULT, &faults.id);
        if (r < 0)
                return r;
        r = why_profile_place(&w->profile, WHY_STACK_SAME, &same.id);
        if (r < 0)
                return r;
        faults.p = compare_runs(w, &t->runs.measures[WHY_STACK_FAULT]);
        r = put_run(w, interrupts, &t->runs.measures[WHY_STACK_INTERRUPT]);
        if (r < 0)
                return r;
        r = put_run(w, faults, &t->runs.measures[WHY_STACK_FAULT]);
        if (r < 0)
                return r;
        r = put_run(w, same, &t->runs.measures[WHY_STACK_SAME]);
        for (uint32_t i = 0; i < w->profile.n_labels && r == 0; i++) {
                struct why_cause function = { .kind = WHY_CAUSE_FUNCTION,
                                              .id = w->profile.labels[i],
                                              .outer = w->profile.outer[i],
                                              .p = w->profile.p[i] };

                r = why_profile_place(&w->profile, (uint8_t)(WHY_STACK_FUNCTION + i), &function.place);
                if (r < 0)
                        break;
                r = put_run(w, function, &t->runs.measures[WHY_STACK_FUNCTION + i]);
        }
        return r;
}

/* ------------------------------------------------------------------ parts of one kind */

static struct why_part part_of(const struct why *w, const struct why_measure *m, uint32_t id)
{
        double n_slow = fmax((double)w->groups[WHY_SLOW].n, 1);
        double n_typical = fmax((double)w->groups[WHY_TYPICAL].n, 1);

        return (struct why_part){
                .id = id,
                .slow = m->ratio[WHY_SLOW].x / n_slow,
                .typical = m->ratio[WHY_TYPICAL].x / n_typical,
                .slow_n = (double)m->n_times[WHY_SLOW] / n_slow,
                .typical_n = (double)m->n_times[WHY_TYPICAL] / n_typical,
                .n_slow = m->ratio[WHY_SLOW].n_with,
                .n_typical = m->ratio[WHY_TYPICAL].n_with,
                .share = why_share_of(m, w->groups),
                .p = compare_times(w, m),
        };
}

static int list_parts(const struct why *w, const struct why_tally *tally, struct why_part **ret_parts,
                      size_t *ret_n)
{
        *ret_parts = calloc((size_t)tally->n + 1, sizeof(**ret_parts));
        for (uint32_t id = 1; id < tally->n && *ret_parts; id++)
                if (tally->measures[id].n_times[WHY_SLOW] + tally->measures[id].n_times[WHY_TYPICAL] != 0)
                        (*ret_parts)[(*ret_n)++] = part_of(w, &tally->measures[id], id);
        return *ret_parts ? 0 : -ENOMEM;
}

static int find_counters(struct why *w)
{
        const struct why_instances *s = &w->collector.instances;
        uint32_t n = trace_dictionary_count(w->dictionary, TRACE_TABLE_SAMPLE_EVENTS);
        struct why_tally tally;
        int r = why_tally_init(&tally, n + 1);

        if (r < 0)
                return r;
        for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++)
                why_tally_skip(&tally, (enum why_group)group, &w->collector.bare[group].sum);
        for (size_t i = 0; i < s->n_items; i++) {
                const struct why_instance *instance = &s->items[i];
                double duration = (double)instance->duration_ns;

                for (size_t k = 0; k < instance->n_rows; k++) {
                        const struct why_row *row = &s->rows[instance->first_row + k];

                        if (row->kind == WHY_COUNTER)
                                why_tally_add(&tally, group_of(instance), row->id, (double)row->amount,
                                              row->n);
                }
                why_tally_close(&tally, group_of(instance), duration, duration, duration);
        }
        why_tally_finish(&tally);
        r = list_parts(w, &tally, &w->counters, &w->n_counters);
        why_tally_deinit(&tally);
        return r;
}

/*
 * ------------------------------------------------------------------ what ran without samples, and the rest
 */

/* Without switches, waits for locks are in the zones around them as well. */
static bool overlaps_locks(const struct why *w)
{
        bool found = false;

        for (size_t i = 0; i < w->n_causes && !w->collector.has_switches; i++)
                found |= w->causes[i].kind == WHY_CAUSE_LOCK && w->causes[i].share.value >= WHY_SHARE_HIGH;
        return found;
}

static int put_zone_part(struct why *w, const struct why_part *parts, size_t n_parts)
{
        const struct why_part *best = NULL;
        struct why_cause cause = { .kind = WHY_CAUSE_ZONE };

        for (size_t i = 0; i < n_parts; i++)
                if (parts[i].share.value > 0 && (!best || parts[i].share.value > best->share.value))
                        best = &parts[i];
        if (!best)
                return 0;
        cause.id = best->id;
        cause.share = best->share;
        cause.own_low = best->share.low;
        cause.p = best->p;
        cause.n_slow = best->n_slow;
        cause.n_typical = best->n_typical;
        cause.n_times = best->n_slow;
        return put(w, &cause);
}

/*
 * Without samples, only nested zones show what ran: the cause is the zone with most of the extra time.  Its
 * waits are already among the waits.
 */
static int put_zone(struct why *w)
{
        struct why_part *parts = NULL;
        size_t n_parts = 0;
        int r;

        if (why_compares_functions(w) || overlaps_locks(w))
                return 0;
        if (!w->collector.has_switches || w->by == WHY_BY_WAITING)
                return put_zone_part(w, w->zones, w->n_zones);
        r = list_parts(w, &w->collector.zones[1], &parts, &n_parts);
        if (r == 0)
                r = put_zone_part(w, parts, n_parts);
        free(parts);
        return r;
}

static int put_rest(struct why *w)
{
        struct why_cause rest = { .kind = WHY_CAUSE_UNEXPLAINED, .p = 1 };
        double sums[2];

        for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++)
                sums[group] = w->groups[group].n != 0 ? w->groups[group].duration / (double)w->groups[group].n
                                                      : 0;
        rest.share.slow_ns = sums[WHY_SLOW];
        rest.share.typical_ns = sums[WHY_TYPICAL];
        for (size_t i = 0; i < w->n_causes; i++) {
                rest.share.slow_ns -= w->causes[i].share.slow_ns;
                rest.share.typical_ns -= w->causes[i].share.typical_ns;
        }
        if (w->extra_ns > 0)
                rest.share.value = (rest.share.slow_ns - rest.share.typical_ns) / w->extra_ns;
        rest.share.low = rest.share.value;
        rest.share.high = rest.share.value;
        rest.n_slow = w->groups[WHY_SLOW].n;
        rest.n_typical = w->groups[WHY_TYPICAL].n;
        return put(w, &rest);
}

int why_causes_compare(const void *a, const void *b)
{
        const struct why_cause *left = a, *right = b;
        bool left_good = left->confidence >= WHY_CONFIDENCE_MEDIUM;
        bool right_good = right->confidence >= WHY_CONFIDENCE_MEDIUM;

        if (left_good != right_good)
                return left_good ? -1 : 1;
        return (left->share.value < right->share.value) - (left->share.value > right->share.value);
}

/* The rate of recorded call stacks of waits is limited: known places come first, then unknown ones. */
static void put_placed_first(struct why *w)
{
        struct why_cause placed;

        for (size_t i = 1; i < w->n_causes && w->causes[0].is_unplaced; i++) {
                placed = w->causes[i];
                if (placed.kind != WHY_CAUSE_WAIT || placed.confidence < WHY_CONFIDENCE_MEDIUM ||
                    placed.share.value < PLACED_MIN * w->causes[0].share.value)
                        continue;
                for (; i > 0; i--)
                        w->causes[i] = w->causes[i - 1];
                w->causes[0] = placed;
                return;
        }
}

static uint64_t count_waits(const struct tallies *t)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < t->n_locks + t->n_places; i++)
                n += t->times.measures[i].ratio[WHY_SLOW].n_with != 0;
        return n;
}

int why_causes_find(struct why *w)
{
        struct tallies t = { .n_locks = trace_dictionary_count(w->dictionary, TRACE_TABLE_LOCKS),
                             .n_places = w->places.places.n_items };
        int r = why_tally_init(&t.times, t.n_locks + t.n_places + WHY_KINDS);

        if (r != 0)
                goto done;
        r = why_tally_init(&t.runs, WHY_STACK_KINDS);
        if (r != 0)
                goto done;
        t.are_gaps_moves = judge_gaps(w);
        add_up(w, &t);
        /* Moves and page faults are two more. */
        w->n_tests = w->profile.n_tested + w->waits.n_tested + count_waits(&t) + w->n_zones + 2 +
                     w->are_fibers;
        r = put_waits(w, &t);
        if (r != 0)
                goto done;
        r = put_unwaited(w, &t);
        if (r != 0)
                goto done;
        r = put_runs(w, &t);
        if (r != 0)
                goto done;
        r = put_zone(w);
        if (r != 0)
                goto done;
        r = put_rest(w);
        if (r != 0)
                goto done;
        judge_all(w);
        qsort(w->causes, w->n_causes, sizeof(*w->causes), why_causes_compare);
        put_placed_first(w);

done:
        why_tally_deinit(&t.times);
        why_tally_deinit(&t.runs);
        return r;
}

/* ------------------------------------------------------------------ zones inside, and counters */

static int compare_parts(const void *a, const void *b)
{
        const struct why_part *left = a, *right = b;
        double difference = (left->slow - left->typical) - (right->slow - right->typical);

        return (difference < 0) - (difference > 0);
}

int why_causes_find_parts(struct why *w)
{
        int r = list_parts(w, &w->collector.zones[0], &w->zones, &w->n_zones);

        if (r == 0)
                r = find_counters(w);
        if (r == 0)
                qsort(w->zones, w->n_zones, sizeof(*w->zones), compare_parts);
        return r;
}
