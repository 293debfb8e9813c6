/* SPDX-License-Identifier: MIT */
#include "analyze/waits/ready_owners.h"

#include "analyze/trace/throttled_times.h"
#include "analyze/waits/cpu_lanes.h"
#include "analyze/waits/ready_times.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The times on one CPU that are not over: [next, end) of the sorted times. */
struct ready_range {
        size_t next, end;
        uint32_t cpu;
};

struct ready_list {
        struct ready_times *times;
        struct ready_range *ranges; /* heap; by CPU */
        size_t n_ranges;
};

struct owners_pass {
        struct ready_owners *owners;
        const struct trace_dictionary *dictionary;
        struct ready_list all;    /* the times as they are */
        struct ready_list merged; /* without overlaps on a CPU; only if there is a quota */
        struct cpu_lanes lanes;
        uint64_t n_steps;
};

static int no_memory(struct error *err, int r)
{
        return error_set(err, r, "finding out who had the CPUs: out of memory");
}

void ready_owners_deinit(struct ready_owners *o)
{
        intern_deinit(&o->keys);
        free(o->ns);
        *o = (struct ready_owners){ .ns = NULL };
}

static int add(struct ready_owners *o, const struct ready_owner_key *key, double ns)
{
        uint32_t id;
        int r = intern_add_row(&o->keys, key, &o->ns, &o->capacity, sizeof(*o->ns), &id);

        if (r == -EOVERFLOW)
                return 0;
        if (r >= 0)
                o->ns[id - 1] += ns;
        return r < 0 ? r : 0;
}

/* ------------------------------------------------------------------ lists */

static int list_ranges(struct ready_list *l)
{
        const struct ready_times *t = l->times;
        size_t n = 0;

        for (size_t i = 0; i < t->n_items; i++)
                n += i == 0 || t->items[i].cpu != t->items[i - 1].cpu;
        l->ranges = calloc(n + 1, sizeof(*l->ranges));
        if (!l->ranges)
                return -ENOMEM;
        for (size_t i = 0; i < t->n_items; i++) {
                if (i == 0 || t->items[i].cpu != t->items[i - 1].cpu)
                        l->ranges[l->n_ranges++] = (struct ready_range){ .next = i, .cpu = t->items[i].cpu };
                l->ranges[l->n_ranges - 1].end = i + 1;
        }
        return 0;
}

/* The throttled time of a CPU counts once, however many threads were ready there. */
static int merge_times(struct ready_times *merged, const struct ready_times *all)
{
        int r = 0;

        for (size_t i = 0; i < all->n_items && r == 0; i++) {
                const struct ready_time *time = &all->items[i];
                struct ready_time *last = merged->n_items != 0 ? &merged->items[merged->n_items - 1] : NULL;

                if (!last || last->cpu != time->cpu || last->end_ns < time->begin_ns)
                        r = ready_times_add(merged, time);
                else if (last->end_ns < time->end_ns)
                        last->end_ns = time->end_ns;
        }
        return r;
}

static int compare_ready_ranges(const void *a, const void *b)
{
        const struct ready_range *left = a, *right = b;

        return (left->cpu > right->cpu) - (left->cpu < right->cpu);
}

/* ------------------------------------------------------------------ the pass */

static int give_ready_time(struct owners_pass *p, const struct ready_time *time, uint32_t owner, uint64_t ns)
{
        bool is_own = trace_dictionary_process_of(p->dictionary, time->thread) ==
                      trace_dictionary_process_of(p->dictionary, owner);
        struct ready_owner_key key = { .tag = time->tag,
                                       .cpu = time->cpu,
                                       .kind = is_own ? READY_OWNER_OWN : READY_OWNER_PROGRAM,
                                       .thread = owner };

        return add(p->owners, &key, (double)ns * ready_times_weight(p->all.times));
}

/* Stretches of a CPU come in the order of time, so times that are over are not examined again. */
static int give_stretch(struct owners_pass *p, struct ready_list *l, uint64_t cpu,
                        const struct ready_time *stretch)
{
        struct ready_range key = { .cpu = (uint32_t)cpu }, *range = NULL;
        int r = 0;

        if (l->n_ranges != 0 && cpu <= UINT32_MAX)
                range = bsearch(&key, l->ranges, l->n_ranges, sizeof(*l->ranges), compare_ready_ranges);
        if (!range)
                return 0;
        while (range->next < range->end && l->times->items[range->next].end_ns <= stretch->begin_ns)
                range->next++;
        for (size_t i = range->next; i < range->end && r == 0 && p->n_steps < READY_OWNER_STEPS_MAX; i++) {
                struct ready_time *time = &l->times->items[i];
                uint64_t from_ns = time->begin_ns > stretch->begin_ns ? time->begin_ns : stretch->begin_ns;
                uint64_t to_ns = time->end_ns < stretch->end_ns ? time->end_ns : stretch->end_ns;

                p->n_steps++;
                if (time->begin_ns >= stretch->end_ns)
                        break;
                if (to_ns <= from_ns || (l == &p->all && time->thread == stretch->thread))
                        continue;
                time->owned_ns += to_ns - from_ns;
                if (l == &p->all)
                        r = give_ready_time(p, time, stretch->thread, to_ns - from_ns);
        }
        return r;
}

static int take_stretch(void *context, uint64_t cpu, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        const struct ready_time stretch = { .begin_ns = begin_ns, .end_ns = end_ns, .thread = thread };
        struct owners_pass *p = context;
        int r = give_stretch(p, &p->all, cpu, &stretch);

        return r == 0 ? give_stretch(p, &p->merged, cpu, &stretch) : r;
}

/* Lanes use only the first zone of a thread. */
static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        const struct trace_event zone = { .time_ns = thread->timeline.first_ns, .op = TRACE_OP_ZONE_BEGIN };
        struct owners_pass *p = context;
        int r = 0;

        if (thread->timeline.is_fiber)
                return 0;
        if (!p->lanes.threads[thread->id - 1].has_begun && thread->timeline.n_zones != 0)
                r = cpu_lanes_add(&p->lanes, thread->id, &zone);
        if (r == 0)
                r = cpu_lanes_add(&p->lanes, thread->id, event);
        return r < 0 ? no_memory(err, r) : 0;
}

static int walk_lanes(struct owners_pass *p, struct loaded_trace *trace, struct error *err)
{
        struct trace_sink sink = { .context = p, .sample = take_event, .event = take_event };
        struct trace_walk walk;
        int r;

        cpu_lanes_init(&p->lanes);
        p->lanes.take = take_stretch;
        p->lanes.context = p;
        r = cpu_lanes_reserve(&p->lanes, trace_dictionary_count(p->dictionary, TRACE_TABLE_THREADS));
        if (r < 0)
                return no_memory(err, r);
        r = trace_walk_init(&walk, trace, NULL, &sink);
        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : no_memory(err, r);
        if (r == 0 && cpu_lanes_finish(&p->lanes, walk.last_ns) < 0)
                r = no_memory(err, -ENOMEM);
        trace_walk_deinit(&walk);
        return r;
}

/* ------------------------------------------------------------------ the quota */

/*
 * The part of a ready time in [begin_ns, end_ns) that no recorded thread had; it is taken to be spread
 * evenly.
 */
static double unowned_ns(const struct ready_time *time, uint64_t begin_ns, uint64_t end_ns)
{
        uint64_t from_ns = time->begin_ns > begin_ns ? time->begin_ns : begin_ns;
        uint64_t to_ns = time->end_ns < end_ns ? time->end_ns : end_ns;
        uint64_t all_ns = ready_time_ns(time);

        if (to_ns <= from_ns || time->owned_ns >= all_ns)
                return 0;
        return (double)(all_ns - time->owned_ns) * ((double)(to_ns - from_ns) / (double)all_ns);
}

/* The first span that ends after @time_ns. */
static size_t find_throttled(const struct throttled_times *t, uint64_t time_ns)
{
        return array_count_to(t->spans, t->n_spans, sizeof(*t->spans),
                              offsetof(struct throttled_span, end_ns), time_ns);
}

/*
 * The kernel counts throttled time when that time is over.  So each span is extended back by its length, at
 * most to the previous span, and throttled time that does not fit into a span moves to the previous one.
 */
static void spread_back(struct throttled_times *t, const double *there)
{
        for (size_t i = t->n_spans; i > 1; i--) {
                struct throttled_span *span = &t->spans[i - 1], *before = &t->spans[i - 2];
                double excess = (double)span->throttled_ns - there[i - 1];

                if (before->end_ns != span->begin_ns || !(excess > 0))
                        continue;
                before->throttled_ns += (uint64_t)fmin(excess, (double)(span->end_ns - span->begin_ns));
        }
}

static void reach_back(struct throttled_times *t)
{
        uint64_t done_ns = 0;

        for (size_t i = 0; i < t->n_spans; i++) {
                struct throttled_span *span = &t->spans[i];
                uint64_t length_ns = span->end_ns - span->begin_ns, end_ns = span->end_ns;
                uint64_t begin_ns = span->begin_ns > length_ns ? span->begin_ns - length_ns : 0;

                if (done_ns != span->begin_ns)
                        span->begin_ns = begin_ns > done_ns ? begin_ns : done_ns;
                done_ns = end_ns;
        }
}

/* @parts: for each span, the throttled share of the time that no recorded thread had. */
static void find_parts(const struct owners_pass *p, struct throttled_times *t, double *parts)
{
        const struct ready_times *merged = p->merged.times;

        reach_back(t);
        for (size_t i = 0; i < merged->n_items; i++) {
                const struct ready_time *time = &merged->items[i];

                for (size_t k = find_throttled(t, time->begin_ns);
                     k < t->n_spans && t->spans[k].begin_ns < time->end_ns; k++)
                        parts[k] += unowned_ns(time, t->spans[k].begin_ns, t->spans[k].end_ns) *
                                    ready_times_weight(p->all.times);
        }
        spread_back(t, parts);
        for (size_t k = 0; k < t->n_spans; k++)
                parts[k] = parts[k] > 0 ? fmin((double)t->spans[k].throttled_ns / parts[k], 1) : 0;
}

static int divide_rest(struct owners_pass *p, const struct throttled_times *t, const double *parts)
{
        double weight = ready_times_weight(p->all.times);
        int r = 0;

        for (size_t i = 0; i < p->all.times->n_items && r == 0; i++) {
                const struct ready_time *time = &p->all.times->items[i];
                struct ready_owner_key key = { .tag = time->tag,
                                               .cpu = time->cpu,
                                               .kind = READY_OWNER_QUOTA };
                double rest = unowned_ns(time, 0, UINT64_MAX), throttled = 0;

                for (size_t k = find_throttled(t, time->begin_ns);
                     k < t->n_spans && t->spans[k].begin_ns < time->end_ns; k++)
                        throttled += parts[k] * unowned_ns(time, t->spans[k].begin_ns, t->spans[k].end_ns);
                if (throttled > 0)
                        r = add(p->owners, &key, throttled * weight);
                key.kind = READY_OWNER_OTHERS;
                if (r == 0 && rest > throttled)
                        r = add(p->owners, &key, (rest - throttled) * weight);
        }
        return r;
}

/* ------------------------------------------------------------------ all of it */

static int run(struct owners_pass *p, struct loaded_trace *trace, struct throttled_times *quota,
               struct error *err)
{
        double *parts = calloc(quota->n_spans + 1, sizeof(*parts));
        int r;

        if (!parts)
                return no_memory(err, -ENOMEM);
        r = list_ranges(&p->all);
        if (r == 0 && quota->n_spans != 0)
                r = merge_times(p->merged.times, p->all.times);
        if (r == 0)
                r = list_ranges(&p->merged);
        r = r < 0 ? no_memory(err, r) : walk_lanes(p, trace, err);
        if (r == 0 && quota->n_spans != 0)
                find_parts(p, quota, parts);
        if (r == 0 && divide_rest(p, quota, parts) < 0)
                r = no_memory(err, -ENOMEM);
        free(parts);
        return r;
}

int ready_owners_take(struct ready_owners *o, struct loaded_trace *trace, struct ready_times *times,
                      struct error *err)
{
        struct ready_times merged = { .items = NULL };
        struct owners_pass pass = { .owners = o,
                                    .dictionary = trace->dictionary,
                                    .all = { .times = times },
                                    .merged = { .times = &merged } };
        struct throttled_times quota;
        int r;

        *o = (struct ready_owners){ .ns = NULL };
        intern_init(&o->keys, sizeof(struct ready_owner_key), READY_OWNER_ROWS_MAX);
        if (times->n_items == 0)
                return 0;
        ready_times_sort(times);
        r = throttled_times_read(&quota, trace->dictionary);
        r = r == 0 ? run(&pass, trace, &quota, err) : no_memory(err, r);
        throttled_times_deinit(&quota);
        cpu_lanes_deinit(&pass.lanes);
        ready_times_deinit(&merged);
        free(pass.all.ranges);
        free(pass.merged.ranges);
        return r;
}
