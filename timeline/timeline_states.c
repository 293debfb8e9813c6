/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_states.h"

#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "timeline/timeline_rates.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int states_no_memory(struct error *err, int r)
{
        return r == -ENOMEM || r == -EOVERFLOW
                       ? error_set(err, r, "the index of the time line: out of memory")
                       : r;
}

/* ---- CPUs ---------------------------------------------------------------------------------------------- */

static int find_cpu(struct timeline_states *s, uint64_t number, struct timeline_cpu **ret_cpu)
{
        struct timeline_track_key key = { .kind = TIMELINE_TRACK_CPU };
        char title[40];
        uint32_t id = 0;
        int track;
        int r = array_reserve(&s->cpu_tracks, &s->cpu_capacity, (size_t)s->cpu_numbers.n_items + 1,
                              sizeof(*s->cpu_tracks));

        if (r == 0)
                r = intern_add(&s->cpu_numbers, &number, sizeof(number), &id);
        if (r < 0)
                return r;
        *ret_cpu = &s->cpu_tracks[id - 1];
        if (r == 0)
                return 0;
        s->cpu_tracks[id - 1] = (struct timeline_cpu){ .number = number };
        key.number = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
        track = timeline_index_track(s->index, &key);
        if (track < 0)
                return track;
        s->cpu_tracks[id - 1].track = (uint32_t)track;
        r = snprintf(title, sizeof(title), "CPU %" PRIu64, number);
        return timeline_index_set_title(s->index, (uint32_t)track,
                                        (struct text_view){ .bytes = title, .n_bytes = (size_t)r });
}

static int states_take_cpu(void *context, uint64_t cpu, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        const struct timeline_raw_span span = { .begin_ns = begin_ns, .end_ns = end_ns, .what = thread };
        struct timeline_lane_place place = { .kind = TIMELINE_LANE_CPU };
        struct timeline_states *s = context;
        struct timeline_cpu *row = NULL;
        int r = find_cpu(s, cpu, &row);

        if (s->rates)
                timeline_rates_use(s->rates, TIMELINE_USE_RUNNING,
                                   r >= 0 && row->counted_ns > begin_ns ? row->counted_ns : begin_ns, end_ns);
        if (r == -EOVERFLOW) {
                s->index->n_left_out++;
                return 0;
        }
        if (r < 0)
                return r;
        place.track = row->track;
        return timeline_lane_list_add(&row->lanes, s->index, place, &span, NULL);
}

/* Another program had the CPU, or the kernel, or none by the CPU quota: the trace does not say which. */
static int states_take_unowned(void *context, uint64_t cpu, uint32_t thread, uint64_t begin_ns,
                               uint64_t end_ns)
{
        const struct timeline_raw_span span = { .begin_ns = begin_ns, .end_ns = end_ns, .what = thread };
        struct timeline_lane_place place = { .kind = TIMELINE_LANE_UNRECORDED };
        struct timeline_states *s = context;
        struct timeline_cpu *row = NULL;
        int r = find_cpu(s, cpu, &row);

        if (r == -EOVERFLOW) {
                s->index->n_left_out++;
                return 0;
        }
        if (r < 0)
                return r;
        place.track = row->track;
        return timeline_lane_list_add(&row->unrecorded, s->index, place, &span, NULL);
}

/* ---- threads ------------------------------------------------------------------------------------------- */

void timeline_states_init(struct timeline_states *s, struct timeline_index *index)
{
        *s = (struct timeline_states){ .index = index };
        cpu_lanes_init(&s->cpus);
        s->cpus.take = states_take_cpu;
        s->cpus.take_unowned = states_take_unowned;
        intern_init(&s->cpu_numbers, sizeof(uint64_t), 0);
}

void timeline_states_deinit(struct timeline_states *s)
{
        for (uint32_t i = 0; i < s->n_threads; i++)
                timeline_lane_list_deinit(&s->threads[i].lanes);
        for (uint32_t i = 0; i < s->cpu_numbers.n_items; i++) {
                timeline_lane_list_deinit(&s->cpu_tracks[i].lanes);
                timeline_lane_list_deinit(&s->cpu_tracks[i].unrecorded);
        }
        free(s->threads);
        free(s->cpu_tracks);
        intern_deinit(&s->cpu_numbers);
        cpu_lanes_deinit(&s->cpus);
        *s = (struct timeline_states){ .threads = NULL };
}

int timeline_states_reserve(struct timeline_states *s, uint32_t n_threads)
{
        int r;

        if (n_threads <= s->n_threads)
                return 0;
        r = array_extend(&s->threads, &s->capacity, s->n_threads, n_threads, sizeof(*s->threads));
        if (r < 0)
                return r;
        s->n_threads = n_threads;
        return cpu_lanes_reserve(&s->cpus, n_threads);
}

static struct timeline_raw_span state_span(enum timeline_state state, uint64_t value, uint64_t begin_ns,
                                           uint64_t end_ns)
{
        uint32_t bits = value < TIMELINE_STATE_VALUE_MAX ? (uint32_t)value : TIMELINE_STATE_VALUE_MAX;

        return (struct timeline_raw_span){ .begin_ns = begin_ns,
                                           .end_ns = end_ns,
                                           .what = (uint32_t)state << TIMELINE_STATE_SHIFT | bits };
}

static int add(struct timeline_states *s, uint32_t track, uint32_t thread, struct timeline_raw_span span,
               struct error *err)
{
        const struct timeline_lane_place place = { track, 0, TIMELINE_LANE_STATES };

        return timeline_lane_list_add(&s->threads[thread - 1].lanes, s->index, place, &span, err);
}

/*
 * A thread runs from its first event on, unless that is a wake-up by another thread or a switch-in before any
 * zone.  A fiber runs only when it is entered; of an imported thread only context switches say when it runs.
 */
static void begin_thread(struct timeline_thread_states *state, const struct walked_thread *thread,
                         const struct trace_event *event)
{
        bool has_zones = thread->timeline.n_zones != 0;
        bool is_woken = event->op == TRACE_OP_WAKEUP && !trace_event_wakes_itself(event, thread->id);

        state->has_begun = true;
        state->since_ns = thread->timeline.first_ns;
        state->is_running = !thread->timeline.is_fiber && !thread->timeline.is_imported &&
                            (has_zones || (!is_woken && event->op != TRACE_OP_SWITCH_IN));
}

static int follow_switch(struct timeline_states *s, uint32_t track, const struct walked_thread *thread,
                         const struct trace_event *event, struct error *err)
{
        struct timeline_thread_states *state = &s->threads[thread->id - 1];
        bool was_running = state->is_running;

        if (event->op == TRACE_OP_SWITCH_IN) {
                if (!was_running)
                        state->since_ns = event->time_ns;
                state->is_running = true;
                return 0;
        }
        state->is_running = false;
        if (!was_running)
                return 0;
        return add(s, track, thread->id,
                   state_span(TIMELINE_STATE_RUNNING, thread->cpu, state->since_ns, event->time_ns), err);
}

/* cpu_lanes does not get each single zone: the first zone of a thread is all that it needs to know. */
static int follow_cpu(struct timeline_states *s, const struct walked_thread *thread,
                      const struct trace_event *event, bool is_first, struct error *err)
{
        const struct trace_event zone = { .time_ns = thread->timeline.first_ns, .op = TRACE_OP_ZONE_BEGIN };
        int r = 0;

        s->cpus.context = s;
        if (is_first && thread->timeline.n_zones != 0)
                r = cpu_lanes_add(&s->cpus, thread->id, &zone);
        if (r == 0)
                r = cpu_lanes_add(&s->cpus, thread->id, event);
        return states_no_memory(err, r);
}

int timeline_states_event(struct timeline_states *s, uint32_t track, const struct walked_thread *thread,
                          const struct trace_event *event, struct error *err)
{
        struct timeline_thread_states *state = &s->threads[thread->id - 1];
        bool is_first = !state->has_begun;

        if (is_first)
                begin_thread(state, thread, event);
        if (!thread->timeline.is_fiber) {
                int r = follow_cpu(s, thread, event, is_first, err);

                if (r < 0)
                        return r;
        }
        if (event->op == TRACE_OP_SWITCH_IN || event->op == TRACE_OP_SWITCH_OUT)
                return follow_switch(s, track, thread, event, err);
        return 0;
}

/* A thread could run from @since_ns on; what was counted while it waited still is not counted again. */
static void count_wanted(struct timeline_states *s, uint32_t thread, uint64_t since_ns, uint64_t until_ns)
{
        uint64_t *counted_ns = &s->threads[thread - 1].counted_ns;

        if (s->rates)
                timeline_rates_use(s->rates, TIMELINE_USE_WANTED,
                                   *counted_ns > since_ns ? *counted_ns : since_ns, until_ns);
        if (*counted_ns < until_ns)
                *counted_ns = until_ns;
}

int timeline_states_wait(struct timeline_states *s, uint32_t track, const struct walked_thread *thread,
                         const struct thread_wait *wait, struct error *err)
{
        uint64_t until_ns = wait->is_woken && wait->woken_ns < wait->in_ns ? wait->woken_ns : wait->in_ns;
        int r;

        count_wanted(s, thread->id, wait->preempted ? wait->out_ns : until_ns, wait->in_ns);
        if (wait->preempted)
                return add(s, track, thread->id,
                           state_span(TIMELINE_STATE_PREEMPTED, wait->out_cpu, wait->out_ns, wait->in_ns),
                           err);
        r = add(s, track, thread->id, state_span(TIMELINE_STATE_WAITING, wait->state, wait->out_ns, until_ns),
                err);
        if (r < 0 || !wait->is_woken)
                return r;
        return add(s, track, thread->id,
                   state_span(TIMELINE_STATE_RUNNABLE, wait->waker_thread, until_ns, wait->in_ns), err);
}

int timeline_states_finish_thread(struct timeline_states *s, uint32_t track,
                                  const struct walked_thread *thread, uint64_t end_ns, struct error *err)
{
        struct timeline_thread_states *state = &s->threads[thread->id - 1];

        if (!state->is_running)
                return 0;
        state->is_running = false;
        return add(s, track, thread->id,
                   state_span(TIMELINE_STATE_RUNNING, thread->cpu, state->since_ns, end_ns), err);
}

int timeline_states_finish(struct timeline_states *s, uint64_t end_ns, struct error *err)
{
        s->cpus.context = s;
        return states_no_memory(err, cpu_lanes_finish(&s->cpus, end_ns));
}

/* ---- while the trace grows ----------------------------------------------------------------------------- */

int timeline_states_grow(struct timeline_states *s, uint64_t until_ns, struct error *err)
{
        int r;

        s->cpus.context = s;
        r = cpu_lanes_hand_out(&s->cpus, until_ns);
        for (uint32_t i = 0; i < s->cpus.cpus.n_items && r == 0; i++) {
                struct cpu_lane_open open = cpu_lanes_open(&s->cpus, i);
                struct timeline_cpu *row = NULL;

                r = find_cpu(s, open.cpu, &row);
                if (r == -EOVERFLOW) {
                        r = 0; /* its stretches are counted as left out when they end */
                        continue;
                }
                if (r < 0)
                        break;
                row->thread = open.thread;
                row->since_ns = open.since_ns;
                if (open.thread == 0)
                        continue;
                r = timeline_lane_list_get(&row->lanes, s->index, row->track, TIMELINE_LANE_CPU, 0);
                r = r == -ENOMEM ? r : 0;
                if (s->rates)
                        timeline_rates_use(s->rates, TIMELINE_USE_RUNNING,
                                           row->counted_ns > open.since_ns ? row->counted_ns : open.since_ns,
                                           until_ns);
                if (row->counted_ns < until_ns)
                        row->counted_ns = until_ns;
        }
        return states_no_memory(err, r);
}

void timeline_states_wants(struct timeline_states *s, const struct walked_thread *thread, uint64_t until_ns)
{
        const struct thread_wait *wait = &thread->wait;

        if (thread->is_out && (wait->preempted || wait->is_woken))
                count_wanted(s, thread->id, wait->preempted ? wait->out_ns : wait->woken_ns, until_ns);
}

uint32_t timeline_states_open(const struct timeline_states *s, const struct walked_thread *thread,
                              uint64_t now_ns, struct timeline_raw_span spans[2])
{
        const struct timeline_thread_states *state = &s->threads[thread->id - 1];
        const struct thread_wait *wait = &thread->wait;
        uint64_t woken_ns = wait->is_woken && wait->woken_ns < now_ns ? wait->woken_ns : now_ns;

        if (state->is_running) {
                uint64_t end_ns = thread->has_ended ? thread->timeline.last_ns : now_ns;

                spans[0] = state_span(TIMELINE_STATE_RUNNING, thread->cpu, state->since_ns, end_ns);
                return 1;
        }
        if (!thread->is_out)
                return 0;
        if (wait->preempted) {
                spans[0] = state_span(TIMELINE_STATE_PREEMPTED, wait->out_cpu, wait->out_ns, now_ns);
                return 1;
        }
        spans[0] = state_span(TIMELINE_STATE_WAITING, wait->state, wait->out_ns, woken_ns);
        spans[1] = state_span(TIMELINE_STATE_RUNNABLE, wait->waker_thread, woken_ns, now_ns);
        return wait->is_woken ? 2 : 1;
}

const struct timeline_cpu *timeline_states_find_cpu(const struct timeline_states *s, uint32_t track)
{
        for (uint32_t i = 0; i < s->cpu_numbers.n_items; i++)
                if (s->cpu_tracks[i].track == track)
                        return &s->cpu_tracks[i];
        return NULL;
}
