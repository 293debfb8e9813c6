/* SPDX-License-Identifier: MIT */
#include "analyze/trace_totals.h"

#include "base/array.h"
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"

#include <stdlib.h>
#include <string.h>

void trace_totals_init(struct trace_totals *t)
{
        *t = (struct trace_totals){ .threads = NULL };
        sample_stats_init(&t->samples);
        wait_stats_init(&t->waits);
        cpu_lanes_init(&t->cpus);
}

void trace_totals_deinit(struct trace_totals *t)
{
        for (uint32_t i = 0; i < t->n_threads; i++)
                thread_timeline_deinit(&t->threads[i]);
        free(t->threads);
        zone_stats_deinit(&t->zones);
        sample_stats_deinit(&t->samples);
        wait_stats_deinit(&t->waits);
        cpu_lanes_deinit(&t->cpus);
        id_set_deinit(&t->frame_names);
        id_set_deinit(&t->plot_names);
        id_set_deinit(&t->pool_names);
        trace_totals_init(t);
}

/* Once a chunk, so that no event has to ask whether there is room. */
static int reserve(struct trace_totals *t, const struct trace_dictionary *dictionary)
{
        uint32_t n_threads = trace_dictionary_count(dictionary, TRACE_TABLE_THREADS);
        int r = t->wants_waits ? wait_stats_reserve(&t->waits, n_threads) : 0;

        if (r == 0 && t->wants_cpus)
                r = cpu_lanes_reserve(&t->cpus, n_threads);
        if (r < 0)
                return r;
        if (n_threads > t->n_threads) {
                r = array_reserve(&t->threads, &t->threads_capacity, n_threads, sizeof(*t->threads));
                if (r < 0)
                        return r;
                memset(t->threads + t->n_threads, 0, (n_threads - t->n_threads) * sizeof(*t->threads));
                for (uint32_t i = t->n_threads; i < n_threads; i++) {
                        const struct trace_thread *row = trace_dictionary_row(dictionary, TRACE_TABLE_THREADS,
                                                                              i + 1);

                        t->threads[i].is_fiber = row->kind == TRACE_THREAD_FIBER;
                }
                t->n_threads = n_threads;
        }
        return zone_stats_reserve(&t->zones, trace_dictionary_count(dictionary, TRACE_TABLE_LOCATIONS));
}

/* What was read with the sample of another event is no sample of its own: its place and state were counted. */
static int add_sample(struct trace_totals *t, const struct trace_dictionary *dictionary,
                      struct thread_timeline *thread, const struct trace_event *event)
{
        const struct trace_sample_event *row = trace_dictionary_row(dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                                                                    (uint32_t)event->sample.event);
        bool with_leader = row->mode == TRACE_SAMPLE_MODE_WITH_LEADER;
        uint64_t state = event->sample.state;

        if (!with_leader) {
                thread->n_samples++;
                t->n_stacks[state < TRACE_STACK_STATE_COUNT ? state : TRACE_STACK_STATE_COUNT]++;
        }
        return sample_stats_add(&t->samples, event, with_leader);
}

static int add_event(struct trace_totals *t, const struct trace_dictionary *dictionary,
                     struct thread_timeline *thread, const struct trace_event *event)
{
        uint64_t now_ns = event->time_ns;

        t->n_events[event->op]++;
        if (event->op == TRACE_OP_WAKEUP)
                thread_timeline_wakeup(thread, now_ns);
        else
                thread_timeline_advance(thread, now_ns);
        switch (event->op) {
        case TRACE_OP_ZONE_BEGIN:
                return thread_timeline_begin_zone(thread, now_ns, (uint32_t)event->zone_begin.location);
        case TRACE_OP_ZONE_END:
                return thread_timeline_end_zone(thread, now_ns, &t->zones);
        case TRACE_OP_SAMPLE:
                return add_sample(t, dictionary, thread, event);
        case TRACE_OP_SWITCH_OUT:
                thread_timeline_switch_out(thread, now_ns);
                break;
        case TRACE_OP_SWITCH_IN:
                thread_timeline_switch_in(thread, now_ns);
                break;
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
                return id_set_add(&t->plot_names, (uint32_t)event->operand[0]);
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
                return id_set_add(&t->frame_names, (uint32_t)event->operand[0]);
        case TRACE_OP_MEMORY_ALLOC:
        case TRACE_OP_MEMORY_FREE:
        case TRACE_OP_MEMORY_DISCARD:
                return id_set_add(&t->pool_names, (uint32_t)event->operand[0]);
        case TRACE_OP_THREAD_NAME:
                thread->name = (uint32_t)event->thread_name.name;
                break;
        case TRACE_OP_THREAD_EXIT:
                return thread_timeline_exit(thread, now_ns, &t->zones);
        default: /* counted, and that is all */
                break;
        }
        return 0;
}

/* What only some reports ask for.  A fiber's switches are none of the kernel. */
static int add_switch(struct trace_totals *t, uint32_t thread, const struct trace_event *event)
{
        struct thread_timeline *timeline = &t->threads[thread - 1];
        int r = 0;

        if (timeline->is_fiber)
                return 0;
        if (t->wants_waits)
                r = wait_stats_add(&t->waits, thread, timeline, event);
        if (r == 0 && t->wants_cpus)
                r = cpu_lanes_add(&t->cpus, thread, event);
        return r;
}

static int add_run(struct trace_totals *t, const struct trace_dictionary *dictionary,
                   struct event_decoder *decoder, uint32_t thread, struct error *err)
{
        struct trace_event event;
        int r;

        while ((r = event_decoder_next(decoder, &event, err)) == 1) {
                r = add_event(t, dictionary, &t->threads[thread - 1], &event);
                if (r == 0 && (t->wants_waits || t->wants_cpus))
                        r = add_switch(t, thread, &event);
                if (r < 0)
                        return error_set(err, r, "adding up the events: out of memory");
        }
        return r;
}

int trace_totals_add_chunk(struct trace_totals *t, const struct trace_dictionary *dictionary,
                           const struct trace_item *item, struct error *err)
{
        struct event_decoder decoder;
        struct event_run run;
        int r = reserve(t, dictionary);

        if (r < 0)
                return error_set(err, r, "adding up the events: out of memory");
        r = event_decoder_init(&decoder, dictionary, item->body, item->body_bytes, err);
        if (r < 0)
                return r;
        while ((r = event_decoder_next_run(&decoder, &run, err)) == 1) {
                r = add_run(t, dictionary, &decoder, run.thread, err);
                if (r < 0)
                        break;
        }
        t->n_unknown_ops += decoder.n_unknown_ops;
        return r;
}

int trace_totals_finish(struct trace_totals *t, uint64_t end_ns)
{
        for (uint32_t i = 0; i < t->n_threads; i++) {
                const struct thread_timeline *thread = &t->threads[i];

                if (!thread->started)
                        continue;
                if (!t->any || thread->first_ns < t->first_ns)
                        t->first_ns = thread->first_ns;
                if (thread->last_ns > t->last_ns)
                        t->last_ns = thread->last_ns;
                if (!thread->is_fiber)
                        t->n_switches += thread->n_switches;
                t->any = true;
        }
        if (end_ns < t->last_ns)
                end_ns = t->last_ns;
        for (uint32_t i = 0; i < t->n_threads; i++) {
                int r = thread_timeline_finish(&t->threads[i], end_ns, &t->zones);

                if (r < 0)
                        return r;
        }
        if (t->wants_waits) {
                int r = wait_stats_finish(&t->waits, end_ns);

                if (r < 0)
                        return r;
        }
        return t->wants_cpus ? cpu_lanes_finish(&t->cpus, end_ns) : 0;
}
