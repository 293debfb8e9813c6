/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_collector.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "collecting what happened in the zones: out of memory");
}

void why_collector_deinit(struct why_collector *c)
{
        for (uint32_t i = 0; c->threads && i < c->n_threads; i++) {
                why_draft_deinit(&c->threads[i].draft);
                why_inside_deinit(&c->threads[i].inside);
        }
        free(c->threads);
        why_instances_deinit(&c->instances);
        intern_deinit(&c->waits);
        intern_deinit(&c->wakers);
        why_tally_deinit(&c->zones[0]);
        why_tally_deinit(&c->zones[1]);
        why_common_deinit(&c->common);
        zone_ranks_deinit(&c->ranks);
        why_cpu_owners_deinit(&c->owners);
        *c = (struct why_collector){ .threads = NULL };
}

/* ------------------------------------------------------------------ zones */

static void open_instance(struct why_collector *c, const struct walked_thread *thread, uint64_t time_ns)
{
        struct why_collector_thread *state = &c->threads[thread->id - 1];

        why_cpu_owners_begin(&c->owners, thread->id);
        why_draft_clear(&state->draft);
        why_inside_clear(&state->inside);
        state->is_open = true;
        state->depth = thread->timeline.n_open - 1;
        why_spending_begin(&state->spending, time_ns);
        state->n_migrations = thread->n_migrations;
        state->n_gaps = 0;
        state->n_moved_gaps = 0;
        state->n_samples = 0;
        state->weight = 0;
}

static int begin_zone(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct why_collector *c = context;
        struct why_collector_thread *state = &c->threads[thread->id - 1];

        (void)err;
        if (!state->is_open && trace_walk_names(thread))
                open_instance(c, thread, event->time_ns);
        return 0;
}

/* Adds up the zones inside an instance, for all instances. */
static void take_zones(struct why_collector *c, struct why_inside *inside, enum why_group group,
                       double duration)
{
        for (size_t i = 0; i < inside->n_zones; i++) {
                const struct why_inside_zone *zone = &inside->zones[i];

                why_tally_add(&c->zones[0], group, zone->location, (double)zone->ns, zone->n);
                if (c->has_switches)
                        why_tally_add(&c->zones[1], group, zone->location, (double)zone->ran_ns, zone->n);
        }
        c->instances.n_rows_left_out += inside->n_left_out;
        why_inside_clear(inside);
        why_tally_close(&c->zones[0], group, duration, duration, duration);
        why_tally_close(&c->zones[1], group, duration, duration, duration);
}

static void add_bare(struct why_bare *bare, const struct why_instance *instance)
{
        double duration = (double)instance->duration_ns;

        bare->sum.n++;
        bare->sum.duration += duration;
        bare->sum.duration2 += duration * duration;
        bare->on_cpu_ns += (double)instance->on_cpu_ns;
}

/* One that the hash has chosen. */
static int keep_instance(struct why_collector *c, struct why_collector_thread *state,
                         const struct why_instance *instance, bool is_fiber)
{
        enum why_group group = instance->is_slow ? WHY_SLOW : WHY_TYPICAL;

        take_zones(c, &state->inside, group, (double)instance->duration_ns);
        /* The samples of fibers come later. */
        if (state->draft.n_rows == 0 && instance->n_moves == 0 && !is_fiber) {
                add_bare(&c->bare[group], instance);
                return 0;
        }
        return why_instances_add(&c->instances, instance, &state->draft);
}

static int add_common(struct why_collector *c, const struct walked_thread *thread,
                      const struct zone_instance *zone, bool is_slow)
{
        struct why_common_instance instance = {
                .words = trace_walk_words(thread, zone),
                .begin_ns = zone->begin_ns,
                .thread = thread->id,
                .process = trace_dictionary_process_of(c->dictionary, thread->id),
                .parent = thread_timeline_location(&thread->timeline),
                .cpu = thread->cpu != TRACE_WALK_NO_CPU ? thread->cpu : WHY_COMMON_NO_CPU,
        };

        return why_common_add(&c->common, is_slow ? WHY_SLOW : WHY_TYPICAL, &instance);
}

static int close_instance(struct why_collector *c, const struct walked_thread *thread,
                          const struct zone_instance *zone)
{
        struct why_collector_thread *state = &c->threads[thread->id - 1];
        const struct why_bounds *b = &c->bounds;
        struct why_spent spent = why_spent_of(&state->spending, zone, c->has_switches);
        double value = why_spent_value(&spent, b->by, &b->cost);
        struct why_instance instance = {
                .begin_ns = zone->begin_ns,
                .duration_ns = (uint64_t)value,
                .wall_ns = spent.wall_ns,
                .on_cpu_ns = (uint64_t)why_spent_value(&spent, WHY_BY_ON_CPU, &b->cost),
                .machine_ns = spent.machine_ns,
                .n_samples = state->n_samples,
                .weight = state->weight,
                .n_moves = thread->n_migrations - state->n_migrations,
                .n_gaps = state->n_gaps,
                .n_moved_gaps = state->n_moved_gaps,
                .thread = thread->id,
        };

        if (why_cpu_owners_end(&c->owners, thread->id, &spent) < 0)
                return -ENOMEM;
        instance.is_slow = why_rank_is_slow(&b->rank, &spent, value);
        if (instance.is_slow) {
                c->n_slow++;
        } else {
                c->n_typical++;
                c->n_gaps += state->n_gaps;
                c->n_moved_gaps += state->n_moved_gaps;
        }
        if (add_common(c, thread, zone, instance.is_slow) < 0)
                return -ENOMEM;
        if (trace_walk_chance(thread->id, zone->begin_ns) >=
            (instance.is_slow ? b->keep_slow : b->keep_typical))
                return 0;
        return keep_instance(c, state, &instance, thread->timeline.is_fiber);
}

static int end_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err)
{
        struct why_collector *c = context;
        struct why_collector_thread *state = &c->threads[thread->id - 1];
        struct zone_instance of_rank = *zone;
        int r;

        if (!state->is_open)
                return 0;
        of_rank.is_named = zone->depth == state->depth;
        of_rank.is_inside = false;
        r = zone_ranks_add(&c->ranks, thread->id, &of_rank);
        if (r < 0)
                return no_memory(err);
        if (zone->depth != state->depth) {
                if (zone->closed && zone->outermost)
                        r = why_inside_add(&state->inside, zone->location, zone_instance_duration_ns(zone),
                                           zone->on_cpu_ns);
        } else {
                state->is_open = false;
                if (zone->closed)
                        r = close_instance(c, thread, zone);
        }
        return r < 0 ? no_memory(err) : 0;
}

/* ------------------------------------------------------------------ samples and waits */

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct why_collector *c = context;
        struct why_collector_thread *state = &c->threads[thread->id - 1];
        uint32_t id = (uint32_t)event->sample.event;
        const struct trace_sample_event *row;
        uint64_t weight = event->sample.weight;
        int r;

        if (!state->is_open)
                return 0;
        row = trace_dictionary_row(c->dictionary, TRACE_TABLE_SAMPLE_EVENTS, id);
        if (weight == 0 && row->mode != TRACE_SAMPLE_MODE_WITH_LEADER)
                weight = 1;
        if (id == c->event) {
                state->n_samples++;
                state->weight += weight;
                r = why_draft_add(&state->draft, WHY_SAMPLE, (uint32_t)event->sample.stack, weight);
        } else {
                r = why_draft_add(&state->draft, WHY_COUNTER, id, weight);
        }
        return r < 0 ? no_memory(err) : 0;
}

/* A key beyond the limit gets the id 0, unknown. */
static int find_id(struct intern *keys, const void *key, uint32_t *ret_id)
{
        int r = intern_add(keys, key, keys->item_bytes, ret_id);

        if (r == -EOVERFLOW)
                *ret_id = 0;
        return r == -ENOMEM ? r : 0;
}

static int add_waker(struct why_collector *c, struct why_draft *draft, const struct thread_wait *wait,
                     struct why_row of)
{
        struct why_waker_key key = { .kind = of.kind,
                                     .id = of.id,
                                     .thread = wait->waker_thread,
                                     .name = wait->waker_name,
                                     .stack = wait->waker_stack };
        uint32_t id;
        int r = find_id(&c->wakers, &key, &id);

        return r < 0 || id == 0 ? r : why_draft_add(draft, WHY_WAKER, id, of.amount);
}

/* A thread waited until it was made ready to run; the time after that is the scheduler's delay. */
static int add_wait(struct why_collector *c, struct why_collector_thread *state,
                    const struct thread_wait *wait, const struct why_wait_parts *parts)
{
        struct why_wait_key key = { .stack = wait->stack, .state = wait->state };
        struct why_row row = { .kind = WHY_LOCK, .id = state->lock };
        int r = 0;

        row.amount = parts->ready_ns - parts->begin_ns;
        if (parts->is_stopped) {
                row.kind = WHY_STOPPED;
                row.id = 0;
        } else if (state->lock == 0) {
                row.kind = WHY_WAIT;
                r = find_id(&c->waits, &key, &row.id);
        }
        if (r < 0)
                return r;
        r = why_draft_add(&state->draft, row.kind, row.id, row.amount);
        if (r == 0 && wait->is_woken && !parts->is_stopped)
                r = add_waker(c, &state->draft, wait, row);
        if (r < 0 || wait->in_ns <= parts->ready_ns)
                return r;
        return why_draft_add(&state->draft, WHY_DELAY, 0, wait->in_ns - parts->ready_ns);
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct why_collector *c = context;
        struct why_collector_thread *state = &c->threads[thread->id - 1];
        uint64_t begin_ns = wait->out_ns > state->spending.begin_ns ? wait->out_ns : state->spending.begin_ns;
        struct why_wait_parts parts;
        int r;

        if (!state->is_open)
                begin_ns = wait->out_ns;
        if (!wait->ended || wait->in_ns <= begin_ns)
                return 0;
        parts = why_wait_parts_of(c->dictionary, wait, begin_ns);
        if (why_cpu_owners_wait(&c->owners, thread->id, wait, &parts, state->is_open) < 0)
                return no_memory(err);
        if (!state->is_open)
                return 0;
        why_spending_wait(&state->spending, c->dictionary, wait);
        if (parts.is_preempted) {
                state->n_gaps++;
                state->n_moved_gaps += parts.is_moved;
                r = why_draft_add(&state->draft, parts.is_moved ? WHY_DISPLACED : WHY_PREEMPTED, 0,
                                  wait->in_ns - begin_ns);
        } else if (parts.is_sent) {
                r = why_draft_add(&state->draft, WHY_MOVED, 0, wait->in_ns - begin_ns);
        } else {
                r = add_wait(c, state, wait, &parts);
        }
        return r < 0 ? no_memory(err) : 0;
}

/* ------------------------------------------------------------------ locks */

static int obtain_lock(struct why_collector *c, struct why_collector_thread *state, uint64_t time_ns)
{
        uint64_t begin_ns = state->lock_since_ns > state->spending.begin_ns ? state->lock_since_ns
                                                                            : state->spending.begin_ns;

        if (!state->is_open || time_ns <= begin_ns || c->has_switches)
                return 0;
        return why_draft_add(&state->draft, WHY_LOCK, state->lock, time_ns - begin_ns);
}

/*
 * The kernel reports no waits of fibers: a fiber does not run if it left its thread, or if its thread left
 * the CPU.
 */
static int take_fiber_switch(struct why_collector_thread *state, const struct trace_event *event)
{
        uint64_t out_ns = why_spending_fiber(&state->spending, event);

        if (!state->is_open || out_ns == 0)
                return 0;
        return why_draft_add(&state->draft, state->spending.is_preempted ? WHY_PREEMPTED : WHY_SUSPENDED, 0,
                             out_ns);
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct why_collector *c = context;
        struct why_collector_thread *state = &c->threads[thread->id - 1];
        int r = 0;

        if (event->op == TRACE_OP_LOCK_WAIT) {
                state->lock = (uint32_t)event->lock_wait.lock;
                state->lock_since_ns = event->time_ns;
        } else if (event->op == TRACE_OP_LOCK_OBTAIN && state->lock == event->lock_obtain.lock) {
                r = obtain_lock(c, state, event->time_ns);
                state->lock = 0;
        } else if (event->op == TRACE_OP_LOCK_RELEASE || event->op == TRACE_OP_LOCK_OBTAIN) {
                /*
                 * A thread that uses another lock has given up waiting: it tried to get this one with a time
                 * limit.
                 */
                state->lock = 0;
        } else if (thread->timeline.is_fiber &&
                   (event->op == TRACE_OP_SWITCH_OUT || event->op == TRACE_OP_SWITCH_IN)) {
                r = take_fiber_switch(state, event);
        }
        return r < 0 ? no_memory(err) : 0;
}

/* ------------------------------------------------------------------ the pass */

int why_collector_take(struct why_collector *c, struct loaded_trace *trace, const struct trace_filter *filter,
                       struct error *err)
{
        struct trace_sink sink = {
                .context = c,
                .begin_zone = begin_zone,
                .zone = end_zone,
                .sample = take_sample,
                .wait = take_wait,
                .event = take_event,
                .asked = c->pattern,
                .asked_only = ZONE_MATCHER_NAMED | ZONE_MATCHER_INSIDE,
                .may_skip = true,
                .wants_words = true,
        };
        uint32_t n_locations = trace_dictionary_count(trace->dictionary, TRACE_TABLE_LOCATIONS);
        struct trace_walk walk;
        int r;

        c->dictionary = trace->dictionary;
        why_common_init(&c->common, trace->start_ns, trace->end_ns);
        intern_init(&c->waits, sizeof(struct why_wait_key), WHY_KEYS_MAX);
        intern_init(&c->wakers, sizeof(struct why_waker_key), WHY_KEYS_MAX);
        c->n_threads = trace_dictionary_count(trace->dictionary, TRACE_TABLE_THREADS);
        c->threads = calloc((size_t)c->n_threads + 1, sizeof(*c->threads));
        r = c->threads ? why_tally_init(&c->zones[0], n_locations + 1) : -ENOMEM;
        if (r == 0)
                r = why_tally_init(&c->zones[1], n_locations + 1);
        if (r == 0)
                r = zone_ranks_init(&c->ranks, c->dictionary);
        if (r < 0)
                return no_memory(err);
        c->ranks.looks_at_slow = true;
        r = trace_walk_init(&walk, trace, filter, &sink);
        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : no_memory(err);
        trace_walk_deinit(&walk);
        why_tally_finish(&c->zones[0]);
        why_tally_finish(&c->zones[1]);
        if (r == 0 && zone_ranks_finish(&c->ranks) < 0)
                return no_memory(err);
        return r;
}
