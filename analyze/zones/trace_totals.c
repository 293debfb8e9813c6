/* SPDX-License-Identifier: MIT */
#include "analyze/zones/trace_totals.h"

#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void trace_totals_init(struct trace_totals *t)
{
        memset(t, 0, sizeof(*t));
        sample_stats_init(&t->samples);
        wait_stats_init(&t->waits);
        cpu_lanes_init(&t->cpus);
        name_times_init(&t->names);
}

void trace_totals_deinit(struct trace_totals *t)
{
        trace_walk_deinit(&t->walk);
        zone_stats_deinit(&t->zones);
        sample_stats_deinit(&t->samples);
        wait_stats_deinit(&t->waits);
        cpu_lanes_deinit(&t->cpus);
        ready_times_deinit(&t->ready);
        zone_instances_deinit(&t->instances);
        zone_groups_deinit(&t->groups);
        zone_ranks_deinit(&t->ranks);
        name_times_deinit(&t->names);
        id_set_deinit(&t->frame_names);
        id_set_deinit(&t->plot_names);
        id_set_deinit(&t->pool_names);
        id_set_deinit(&t->locks);
        id_set_deinit(&t->devices);
        trace_totals_init(t);
}

static int no_memory(struct error *err, int r)
{
        return error_set(err, r, "adding up the events: out of memory");
}

/* A fiber's switches are not the kernel's. */
static int add_to_lanes(struct trace_totals *t, const struct walked_thread *thread,
                        const struct trace_event *event, struct error *err)
{
        const struct trace_filter *filter = t->walk.filter;

        if (!t->wants_cpus || thread->timeline.is_fiber)
                return 0;
        if (filter && thread->timeline.first_ns < filter->from_ns)
                cpu_lanes_expect(&t->cpus, thread->id, filter->from_ns);
        return cpu_lanes_add(&t->cpus, thread->id, event) < 0 ? no_memory(err, -ENOMEM) : 0;
}

static int on_begin_zone(void *context, struct walked_thread *thread, const struct trace_event *event,
                         struct error *err)
{
        return add_to_lanes(context, thread, event, err);
}

static bool lasts_so_long(const struct trace_totals *t, const struct zone_instance *zone)
{
        uint64_t duration_ns = zone->end_ns > zone->begin_ns ? zone->end_ns - zone->begin_ns : 0;

        return zone->closed && duration_ns >= t->longer_than_ns && duration_ns < t->shorter_than_ns;
}

/* Adds an instance of the zones that the view of one zone is about. */
static int add_instance(struct trace_totals *t, struct walked_thread *thread,
                        const struct zone_instance *zone)
{
        const struct zone_words *words = trace_walk_words(thread, zone);
        int r;

        if (t->has_durations && !lasts_so_long(t, zone))
                return 0;
        r = zone_ranks_add(&t->ranks, thread->id, zone);
        if (r < 0)
                return r;
        r = zone_instances_add(&t->instances, thread->id, zone, words);
        if (r < 0 || t->group_by == ZONE_GROUP_NONE || !zone->is_named)
                return r;
        return zone_groups_add(&t->groups, thread->id, zone, words,
                               thread_timeline_location(&thread->timeline));
}

static int add_end_to_lanes(struct trace_totals *t, const struct walked_thread *thread,
                            const struct zone_instance *zone, struct error *err)
{
        const struct trace_event end = { .time_ns = zone->end_ns, .op = TRACE_OP_ZONE_END };

        return add_to_lanes(t, thread, &end, err);
}

static int on_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                   struct error *err)
{
        struct trace_totals *t = context;

        if (zone_stats_add(&t->zones, zone) < 0)
                return no_memory(err, -ENOMEM);
        if (t->n_slowest != 0 && add_instance(t, thread, zone) < 0)
                return no_memory(err, -ENOMEM);
        return t->wants_cpus && zone->closed ? add_end_to_lanes(t, thread, zone, err) : 0;
}

/*
 * Leaves out values that were read with the sample of another event: that sample has counted for place and
 * state.
 */
static int on_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                     struct error *err)
{
        struct trace_totals *t = context;
        const struct trace_sample_event *row = trace_dictionary_row(
                t->walk.dictionary, TRACE_TABLE_SAMPLE_EVENTS, (uint32_t)event->sample.event);
        bool with_leader = row->mode == TRACE_SAMPLE_MODE_WITH_LEADER;
        uint64_t state = event->sample.state;
        int r;

        if (!with_leader)
                t->n_stacks[state < TRACE_STACK_STATE_COUNT ? state : TRACE_STACK_STATE_COUNT]++;
        r = sample_stats_add(&t->samples, event, with_leader);
        return r < 0 ? no_memory(err, r) : add_to_lanes(t, thread, event, err);
}

static int on_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                   struct error *err)
{
        struct trace_totals *t = context;
        struct ready_time ready = ready_time_of(wait, thread->id, 0);
        int r = t->wants_waits ? wait_stats_add(&t->waits, thread->id, wait) : 0;

        ready.tag = thread->id;
        if (r == 0 && t->wants_ready)
                r = ready_times_add(&t->ready, &ready);
        return r < 0 ? no_memory(err, r) : 0;
}

static int on_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                    struct error *err)
{
        struct trace_totals *t = context;
        int r = 0;

        switch (event->op) {
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
                r = id_set_add(&t->plot_names, (uint32_t)event->operand[0]);
                break;
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
                r = id_set_add(&t->frame_names, (uint32_t)event->operand[0]);
                break;
        case TRACE_OP_MEMORY_ALLOC:
        case TRACE_OP_MEMORY_FREE:
        case TRACE_OP_MEMORY_DISCARD:
                r = id_set_add(&t->pool_names, (uint32_t)event->operand[0]);
                break;
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_RELEASE:
                r = id_set_add(&t->locks, (uint32_t)event->operand[0]);
                break;
        case TRACE_OP_DEVICE_ZONE_BEGIN:
        case TRACE_OP_DEVICE_SPAN:
                r = id_set_add(&t->devices, (uint32_t)event->operand[0]);
                break;
        case TRACE_OP_SWITCH_OUT:
        case TRACE_OP_SWITCH_IN:
                t->n_switches += !thread->timeline.is_fiber;
                break;
        default: /* the walk has counted it; there is nothing else to do */
                break;
        }
        return r < 0 ? no_memory(err, r) : add_to_lanes(t, thread, event, err);
}

static int on_rename(void *context, struct walked_thread *thread, uint64_t time_ns, struct error *err)
{
        struct trace_totals *t = context;
        int r = name_times_end(&t->names, &t->walk, thread, time_ns);

        return r < 0 ? no_memory(err, r) : 0;
}

static struct trace_sink sink_of(struct trace_totals *t)
{
        return (struct trace_sink){
                .context = t,
                .begin_zone = t->wants_cpus ? on_begin_zone : NULL,
                .zone = on_zone,
                .sample = on_sample,
                .wait = t->wants_waits || t->wants_ready ? on_wait : NULL,
                .event = on_event,
                .rename = on_rename,
                .wants_paths = t->wants_waits,
                .may_skip = true,
                .wants_words = t->n_slowest != 0,
        };
}

static int reserve(struct trace_totals *t, const struct trace_dictionary *d)
{
        uint32_t n_threads = trace_dictionary_count(d, TRACE_TABLE_THREADS);
        int r = zone_stats_reserve(&t->zones, trace_dictionary_count(d, TRACE_TABLE_LOCATIONS));

        if (r == 0 && t->wants_waits)
                r = wait_stats_reserve(&t->waits, n_threads);
        if (r == 0 && t->wants_cpus)
                r = cpu_lanes_reserve(&t->cpus, n_threads);
        return r;
}

int trace_totals_start(struct trace_totals *t, const struct loaded_trace *trace,
                       const struct trace_filter *filter)
{
        struct trace_sink sink = sink_of(t);
        int r;

        assert(t->n_slowest == 0 || (filter && filter->has_zone));
        if (t->n_slowest != 0)
                sink.asked = &filter->zone;
        r = trace_walk_init(&t->walk, trace, filter, &sink);
        if (r == 0 && t->n_slowest != 0)
                r = zone_instances_init(&t->instances,
                                        trace_dictionary_count(t->walk.dictionary, TRACE_TABLE_THREADS),
                                        t->n_slowest);
        if (r == 0 && t->n_slowest != 0)
                r = zone_ranks_init(&t->ranks, t->walk.dictionary);
        zone_groups_init(&t->groups, t->group_by, t->walk.dictionary);
        return r == 0 ? reserve(t, t->walk.dictionary) : r;
}

int trace_totals_start_plain(struct trace_totals *t, const struct trace_dictionary *dictionary)
{
        struct trace_sink sink = sink_of(t);
        int r = trace_walk_init_plain(&t->walk, dictionary, &sink);

        return r == 0 ? reserve(t, dictionary) : r;
}

bool trace_totals_wants_thread(const struct trace_totals *t, uint32_t thread)
{
        const struct trace_filter *filter = t->walk.filter;
        const struct thread_timeline *timeline;

        if (!filter)
                return true;
        if (thread > t->walk.n_threads || !trace_filter_wants_thread(filter, thread))
                return false;
        timeline = &t->walk.threads[thread - 1].timeline;
        return timeline->started && timeline->first_ns < filter->to_ns &&
               timeline->last_ns >= filter->from_ns;
}

int trace_totals_finish(struct trace_totals *t, uint64_t end_ns)
{
        const struct trace_filter *filter = t->walk.filter;
        int r;

        zone_instances_sort(&t->instances);
        if (end_ns < t->walk.last_ns)
                end_ns = t->walk.last_ns;
        if (filter && end_ns > filter->to_ns)
                end_ns = filter->to_ns;
        r = name_times_finish(&t->names, &t->walk);
        if (r == 0 && t->n_slowest != 0)
                r = zone_ranks_finish(&t->ranks);
        return r == 0 && t->wants_cpus ? cpu_lanes_finish(&t->cpus, end_ns) : r;
}
