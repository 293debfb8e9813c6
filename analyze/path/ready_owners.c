/* SPDX-License-Identifier: MIT */
#include "analyze/path/ready_owners.h"

#include "analyze/path/past.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

void ready_owners_deinit(struct ready_owners *o)
{
        intern_deinit(&o->keys);
        free(o->ns);
        throttled_times_deinit(&o->quota);
        ready_times_deinit(&o->merged);
        for (int i = 0; i < READY_OWNER_LISTS; i++)
                past_questions_deinit(&o->questions[i]);
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

/* ------------------------------------------------------------------ questions */

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

static int add_questions(struct past_questions *q, const struct ready_times *times)
{
        int r = 0;

        for (size_t i = 0; i < times->n_items && r == 0; i++)
                r = past_questions_add(q, &(struct past_question){ .begin_ns = times->items[i].begin_ns,
                                                                   .end_ns = times->items[i].end_ns,
                                                                   .id = (uint32_t)i });
        return r;
}

/* ------------------------------------------------------------------ answers */

static int give_time(struct ready_owners *o, const struct ready_time *time, const struct past_span *owner)
{
        bool is_own = trace_dictionary_process_of(o->dictionary, time->thread) ==
                      trace_dictionary_process_of(o->dictionary, owner->id);
        struct ready_owner_key key = { .tag = time->tag,
                                       .cpu = time->cpu,
                                       .kind = is_own ? READY_OWNER_OWN : READY_OWNER_PROGRAM,
                                       .thread = owner->id };

        return add(o, &key, (double)(owner->end_ns - owner->begin_ns) * ready_times_weight(o->times));
}

/* @shows_owners: of a thread's own time, in which it is no owner itself; else it counts that there was one */
static int take_part(struct ready_owners *o, struct ready_time *time, const struct past_question *part,
                     bool shows_owners)
{
        struct past_owners owners = past_owners_of(o->past, time->cpu, part->begin_ns, part->end_ns);
        struct past_span owner;
        int r = 0;

        while (r == 0 && o->n_steps++ < READY_OWNER_STEPS_MAX && past_owners_next(&owners, &owner)) {
                if (shows_owners && owner.id == time->thread)
                        continue;
                time->owned_ns += owner.end_ns - owner.begin_ns;
                if (shows_owners)
                        r = give_time(o, time, &owner);
        }
        return r;
}

static int take_time(void *context, const struct past_question *part)
{
        struct ready_owners *o = context;

        return take_part(o, &o->times->items[part->id], part, true);
}

static int take_merged(void *context, const struct past_question *part)
{
        struct ready_owners *o = context;

        return take_part(o, &o->merged.items[part->id], part, false);
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
static void find_parts(struct ready_owners *o, double *parts)
{
        struct throttled_times *t = &o->quota;

        reach_back(t);
        for (size_t i = 0; i < o->merged.n_items; i++) {
                const struct ready_time *time = &o->merged.items[i];

                for (size_t k = find_throttled(t, time->begin_ns);
                     k < t->n_spans && t->spans[k].begin_ns < time->end_ns; k++)
                        parts[k] += unowned_ns(time, t->spans[k].begin_ns, t->spans[k].end_ns) *
                                    ready_times_weight(o->times);
        }
        spread_back(t, parts);
        for (size_t k = 0; k < t->n_spans; k++)
                parts[k] = parts[k] > 0 ? fmin((double)t->spans[k].throttled_ns / parts[k], 1) : 0;
}

static int divide_rest(struct ready_owners *o, const double *parts)
{
        const struct throttled_times *t = &o->quota;
        double weight = ready_times_weight(o->times);
        int r = 0;

        for (size_t i = 0; i < o->times->n_items && r == 0; i++) {
                const struct ready_time *time = &o->times->items[i];
                struct ready_owner_key key = { .tag = time->tag,
                                               .cpu = time->cpu,
                                               .kind = READY_OWNER_QUOTA };
                double rest = unowned_ns(time, 0, UINT64_MAX), throttled = 0;

                for (size_t k = find_throttled(t, time->begin_ns);
                     k < t->n_spans && t->spans[k].begin_ns < time->end_ns; k++)
                        throttled += parts[k] * unowned_ns(time, t->spans[k].begin_ns, t->spans[k].end_ns);
                if (throttled > 0)
                        r = add(o, &key, throttled * weight);
                key.kind = READY_OWNER_OTHERS;
                if (r == 0 && rest > throttled)
                        r = add(o, &key, (rest - throttled) * weight);
        }
        return r;
}

/* ------------------------------------------------------------------ all of it */

int ready_owners_init(struct ready_owners *o, const struct past *past, const struct trace_dictionary *d,
                      struct ready_times *times)
{
        int r;

        *o = (struct ready_owners){ .dictionary = d, .past = past, .times = times };
        intern_init(&o->keys, sizeof(struct ready_owner_key), READY_OWNER_ROWS_MAX);
        o->questions[0] = (struct past_questions){ .take = take_time, .context = o };
        o->questions[1] = (struct past_questions){ .take = take_merged, .context = o };
        ready_times_sort(times);
        r = throttled_times_read(&o->quota, d);
        if (r == 0 && o->quota.n_spans != 0)
                r = merge_times(&o->merged, times);
        if (r == 0)
                r = add_questions(&o->questions[0], times);
        return r == 0 ? add_questions(&o->questions[1], &o->merged) : r;
}

int ready_owners_finish(struct ready_owners *o)
{
        double *parts = calloc(o->quota.n_spans + 1, sizeof(*parts));
        int r;

        if (!parts)
                return -ENOMEM;
        if (o->quota.n_spans != 0)
                find_parts(o, parts);
        r = divide_rest(o, parts);
        free(parts);
        return r;
}

int ready_owners_take(struct ready_owners *o, struct loaded_trace *trace, struct ready_times *times,
                      struct error *err)
{
        struct past_questions *lists[] = { &o->questions[0], &o->questions[1] };
        struct past past;
        int r = past_init(&past, trace, 0);

        past.only_cpus = true;
        past.bytes_max = READY_OWNER_PAST_BYTES;
        if (r == 0)
                r = ready_owners_init(o, &past, trace->dictionary, times);
        else
                *o = (struct ready_owners){ .ns = NULL };
        if (r == 0)
                r = past_questions_answer(&past, trace, lists, READY_OWNER_LISTS, err);
        else
                r = error_set(err, r, "finding out who had the CPUs: out of memory");
        if (r == 0 && ready_owners_finish(o) < 0)
                r = error_set(err, -ENOMEM, "finding out who had the CPUs: out of memory");
        o->n_lost = past.n_forgotten;
        past_deinit(&past);
        return r;
}
