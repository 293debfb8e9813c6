/* SPDX-License-Identifier: MIT */
#include "analyze/walk/trace_walk.h"

#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/error.h"
#include "format/event_batch.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err, int r)
{
        return error_set(err, r, "going through the events: %s",
                         r == -EOVERFLOW ? "too many different paths of zones" : "out of memory");
}

int trace_walk_init_plain(struct trace_walk *w, const struct trace_dictionary *dictionary,
                          const struct trace_sink *sink)
{
        *w = (struct trace_walk){ .dictionary = dictionary,
                                  .sink = *sink,
                                  .follows_zones = sink->wants_zone_paths };
        return zone_paths_init(&w->paths, dictionary, NULL);
}

int trace_walk_init(struct trace_walk *w, const struct loaded_trace *trace, const struct trace_filter *filter,
                    const struct trace_sink *sink)
{
        *w = (struct trace_walk){ .dictionary = trace->dictionary, .sink = *sink };
        if (filter && !filter->is_empty)
                w->filter = filter;
        w->follows_zones = w->filter || sink->asked || sink->wants_zone_paths;
        if (sink->asked) {
                int r = zone_matcher_init(&w->asked, trace->dictionary, sink->asked);

                if (r < 0)
                        return r;
        }
        return zone_paths_init(&w->paths, trace->dictionary,
                               w->filter && w->filter->has_zone ? &w->filter->zone : NULL);
}

void trace_walk_adopt_paths(struct trace_walk *w, struct zone_paths *paths)
{
        zone_paths_deinit(&w->paths);
        w->paths = *paths;
        *paths = (struct zone_paths){ .states = NULL };
}

void trace_walk_deinit(struct trace_walk *w)
{
        for (uint32_t i = 0; i < w->n_threads; i++) {
                struct walked_thread *thread = &w->threads[i];

                thread_timeline_deinit(&thread->timeline);
                for (uint32_t k = 0; k < thread->n_words; k++)
                        zone_words_deinit(&thread->words[k]);
                free(thread->words);
        }
        free(w->threads);
        if (w->batch)
                event_batch_deinit(w->batch);
        free(w->batch);
        zone_matcher_deinit(&w->asked);
        zone_paths_deinit(&w->paths);
        *w = (struct trace_walk){ .threads = NULL };
}

/* This is done once per chunk, so that no event has to check for room. */
static int reserve(struct trace_walk *w)
{
        uint32_t n_threads = trace_dictionary_count(w->dictionary, TRACE_TABLE_THREADS);
        int r;

        if (n_threads <= w->n_threads)
                return 0;
        r = array_extend(&w->threads, &w->threads_capacity, w->n_threads, n_threads, sizeof(*w->threads));
        if (r < 0)
                return r;
        for (uint32_t i = w->n_threads; i < n_threads; i++) {
                const struct trace_thread *row = trace_dictionary_row(w->dictionary, TRACE_TABLE_THREADS,
                                                                      i + 1);

                w->threads[i].id = i + 1;
                w->threads[i].cpu = TRACE_WALK_NO_CPU;
                w->threads[i].timeline.is_fiber = row->kind == TRACE_THREAD_FIBER;
                w->threads[i].timeline.is_imported = row->kind == TRACE_THREAD_IMPORTED;
                w->threads[i].timeline.wants_all = !w->filter;
        }
        w->n_threads = n_threads;
        return 0;
}

/* ------------------------------------------------------------------ what passes the filter */

/* Whether the time is within the range, or after it while a zone of the range still lasts. */
static bool is_time_counted(const struct trace_walk *w, const struct walked_thread *thread, uint64_t time_ns)
{
        return !w->filter || trace_filter_wants_time(w->filter, time_ns) || thread->timeline.n_wanted != 0;
}

static uint32_t cpu_number(uint64_t cpu)
{
        return cpu < TRACE_WALK_NO_CPU ? (uint32_t)cpu : TRACE_WALK_NO_CPU;
}

static void see_cpu(const struct trace_walk *w, struct walked_thread *thread, uint64_t cpu, uint64_t time_ns)
{
        uint32_t number = cpu_number(cpu);

        if (thread->cpu != TRACE_WALK_NO_CPU && number != thread->cpu && is_time_counted(w, thread, time_ns))
                thread->n_migrations++;
        thread->cpu = number;
}

/* Whether the thread and its last known CPU are wanted. */
static bool is_of_wanted(const struct trace_filter *f, const struct walked_thread *thread)
{
        return trace_filter_wants_thread(f, thread->id) && trace_filter_wants_cpu(f, thread->cpu);
}

static bool is_in_range(const struct trace_walk *w, const struct walked_thread *thread, uint64_t time_ns)
{
        const struct trace_filter *f = w->filter;

        return !f || (trace_filter_wants_time(f, time_ns) && is_of_wanted(f, thread));
}

/* Whether the thread is inside a wanted zone, also one that began before the range of time. */
static bool is_inside(const struct trace_walk *w, const struct walked_thread *thread)
{
        return !w->filter || !w->filter->has_zone ||
               thread_timeline_flags(&thread->timeline, THREAD_TIMELINE_FILTER) != 0;
}

static bool is_wanted(const struct trace_walk *w, const struct walked_thread *thread, uint64_t time_ns)
{
        return !w->filter || (is_in_range(w, thread, time_ns) && is_inside(w, thread));
}

static bool is_event_wanted(const struct trace_walk *w, const struct walked_thread *thread,
                            const struct trace_event *event)
{
        if (w->filter && (w->sink.untimed_ops >> event->op & 1) != 0)
                return is_of_wanted(w->filter, thread) && is_inside(w, thread);
        return is_wanted(w, thread, event->time_ns);
}

static bool is_sample_wanted(const struct trace_walk *w, const struct walked_thread *thread,
                             const struct trace_event *event)
{
        const struct trace_filter *f = w->filter;

        return !f || (is_in_range(w, thread, event->time_ns) &&
                      zone_paths_wanted(&w->paths, (uint32_t)event->sample.path) &&
                      (f->event == 0 || f->event == event->sample.event) &&
                      trace_filter_wants_stack(f, event->sample.stack));
}

/* Notes the thread's time on a CPU at both ends of the wanted range, to find its time in between. */
static void pass_range_ends(const struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns)
{
        struct thread_timeline *timeline = &thread->timeline;

        if (!thread->passed_from && time_ns >= w->filter->from_ns) {
                thread->passed_from = true;
                thread->ran_at_from_ns = thread_timeline_ran_until(timeline, w->filter->from_ns);
        }
        if (!thread->passed_to && time_ns >= w->filter->to_ns) {
                thread->passed_to = true;
                thread->ran_at_to_ns = thread_timeline_ran_until(timeline, w->filter->to_ns);
        }
}

/*
 * Adds up how long the thread ran since its previous event outside of the wanted CPUs and zones.  It was on
 * @cpu all the time, or did not run at all.
 */
static void count_elsewhere(const struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns,
                            uint64_t cpu)
{
        uint64_t ran_ns = thread_timeline_ran_until(&thread->timeline, time_ns);
        uint64_t begin_ns = thread->ran_seen_ns;
        uint64_t end_ns = thread->passed_to && thread->ran_at_to_ns < ran_ns ? thread->ran_at_to_ns : ran_ns;

        thread->ran_seen_ns = ran_ns;
        if (begin_ns < thread->ran_at_from_ns)
                begin_ns = thread->ran_at_from_ns;
        if (thread->passed_from && end_ns > begin_ns &&
            (!trace_filter_wants_cpu(w->filter, cpu) || !is_inside(w, thread)))
                thread->ran_elsewhere_ns += end_ns - begin_ns;
}

/* Follows how long the thread ran, and where, before the event changes anything. */
static void follow_time(struct trace_walk *w, struct walked_thread *thread, const struct trace_event *event)
{
        uint64_t cpu = thread->cpu;

        if (event->op == TRACE_OP_SWITCH_OUT)
                cpu = event->operand[0];
        else if (event->op == TRACE_OP_SAMPLE)
                cpu = event->sample.cpu;
        pass_range_ends(w, thread, event->time_ns);
        count_elsewhere(w, thread, event->time_ns, cpu);
}

/*
 * Does the same for the time after the last event of a thread: once the thread is finished, no event shows
 * where it ran.
 */
static void follow_end(struct trace_walk *w, struct walked_thread *thread, uint64_t end_ns)
{
        uint64_t last_ns = thread->timeline.exited ? thread->timeline.last_ns : end_ns;

        if (!w->filter)
                return;
        pass_range_ends(w, thread, last_ns);
        count_elsewhere(w, thread, last_ns, thread->cpu);
}

/* If a new thread turns out not to have run before its first switch onto a CPU, earlier counts are void. */
static void follow_start(struct walked_thread *thread, uint64_t time_ns)
{
        if (thread_timeline_ran_until(&thread->timeline, time_ns) < thread->ran_seen_ns)
                thread->ran_seen_ns = thread->ran_elsewhere_ns = thread->ran_at_from_ns =
                        thread->ran_at_to_ns = 0;
}

/* @ran_ns: all of the thread's time on a CPU since its first event */
static uint64_t wanted_ran_ns(const struct trace_walk *w, const struct walked_thread *thread, uint64_t ran_ns)
{
        uint64_t until_ns = thread->passed_to ? thread->ran_at_to_ns : ran_ns;
        uint64_t without_ns = thread->ran_at_from_ns + thread->ran_elsewhere_ns;

        if (w->filter && !thread->passed_from)
                return 0; /* the range has not begun, or the thread ended before it */
        return until_ns > without_ns ? until_ns - without_ns : 0;
}

uint64_t trace_walk_ran_ns(const struct trace_walk *w, const struct walked_thread *thread)
{
        return wanted_ran_ns(w, thread, thread->timeline.ran_ns);
}

uint64_t trace_walk_ran_so_far_ns(const struct trace_walk *w, const struct walked_thread *thread,
                                  uint64_t now_ns)
{
        return wanted_ran_ns(w, thread, thread_timeline_ran_until(&thread->timeline, now_ns));
}

/* ------------------------------------------------------------------ zones */

/*
 * Patterns are followed in every zone, paths only where a caller asks for them: there may be
 * millions of paths.
 */
static int follow_zone(struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns)
{
        struct thread_timeline *timeline = &thread->timeline;
        int r = 0;

        if (w->filter && w->filter->has_zone)
                r = thread_timeline_match(timeline, THREAD_TIMELINE_FILTER, &w->paths.matcher);
        if (r == 0 && w->sink.asked)
                r = thread_timeline_match(timeline, THREAD_TIMELINE_ASKED, &w->asked);
        if (r == 0 && w->sink.wants_zone_paths) {
                uint32_t path;

                r = thread_timeline_find_path(timeline, &w->paths, &path);
        }
        if (r == 0 && w->filter && is_wanted(w, thread, time_ns))
                thread_timeline_want_zone(timeline);
        return r;
}

/* Prepares the words of the zone that begins, at its depth. */
static int prepare_words(struct walked_thread *thread)
{
        uint32_t n = thread->timeline.n_open;
        size_t capacity = thread->n_words;
        int r;

        if (n > thread->n_words) {
                r = array_reserve(&thread->words, &capacity, n, sizeof(*thread->words));
                if (r < 0)
                        return r;
                memset(thread->words + thread->n_words, 0,
                       (capacity - thread->n_words) * sizeof(*thread->words));
                thread->n_words = (uint32_t)capacity;
        }
        if (thread->words[n - 1].any)
                zone_words_clear(&thread->words[n - 1]);
        return 0;
}

/* Whether the sink gets the zone: it asks for all zones, or for this one. */
static bool is_told(const struct trace_walk *w, const struct timeline_zone *zone)
{
        return w->sink.asked_only == 0 || (zone->flags[THREAD_TIMELINE_ASKED] & w->sink.asked_only) != 0;
}

static int tell_begin(struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns, uint32_t location,
                      struct error *err)
{
        const struct trace_event event = { .time_ns = time_ns,
                                           .op = TRACE_OP_ZONE_BEGIN,
                                           .zone_begin = { .location = location } };

        return w->sink.begin_zone(w->sink.context, thread, &event, err);
}

static int begin_zone(struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns, uint32_t location,
                      struct error *err)
{
        struct thread_timeline *timeline = &thread->timeline;
        uint32_t n_open = timeline->n_open;
        int r = thread_timeline_begin_zone(timeline, time_ns, location);
        const struct timeline_zone *zone;

        if (r < 0)
                return no_memory(err, r);
        if (timeline->n_open == n_open) /* too deep */
                return 0;
        if (w->follows_zones)
                r = follow_zone(w, thread, time_ns);
        if (r == 0 && w->sink.wants_words)
                r = prepare_words(thread);
        if (r < 0)
                return no_memory(err, r);
        zone = thread_timeline_innermost(timeline);
        if (!zone->wanted)
                return 0;
        w->n_events[TRACE_OP_ZONE_BEGIN]++;
        thread->n_zones++;
        return w->sink.begin_zone && is_told(w, zone) ? tell_begin(w, thread, time_ns, location, err) : 0;
}

static int tell_zone(struct trace_walk *w, struct walked_thread *thread, const struct zone_instance *zone,
                     struct error *err)
{
        if (!thread->timeline.dropped_wanted)
                return 0;
        w->n_events[TRACE_OP_ZONE_END] += zone->closed;
        return w->sink.zone && is_told(w, &thread->timeline.open[zone->depth])
                       ? w->sink.zone(w->sink.context, thread, zone, err)
                       : 0;
}

/* One that the sink hears of. */
static int close_zone(struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns, struct error *err)
{
        struct zone_instance zone;

        thread_timeline_close(&thread->timeline, time_ns, true, &zone);
        if (!thread->timeline.dropped_wanted)
                return 0;
        w->n_events[TRACE_OP_ZONE_END]++;
        return w->sink.zone ? w->sink.zone(w->sink.context, thread, &zone, err) : 0;
}

static int end_zone(struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns, struct error *err)
{
        struct thread_timeline *timeline = &thread->timeline;

        if (!thread_timeline_can_end(timeline))
                return 0;
        if (is_told(w, thread_timeline_innermost(timeline)))
                return close_zone(w, thread, time_ns, err);
        w->n_events[TRACE_OP_ZONE_END] += thread_timeline_innermost(timeline)->wanted;
        (void)thread_timeline_pop(timeline, time_ns);
        return 0;
}

static int drop_zones(struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns, struct error *err)
{
        struct zone_instance zone;
        int r = 0;

        while (r == 0 && thread_timeline_drop_zone(&thread->timeline, time_ns, &zone))
                r = tell_zone(w, thread, &zone, err);
        return r;
}

const struct timeline_zone *trace_walk_zone_at(const struct walked_thread *thread, uint64_t level)
{
        uint32_t n_open = thread->timeline.n_open;

        if (thread->timeline.n_open_too_deep != 0 || level >= n_open)
                return NULL;
        return &thread->timeline.open[n_open - 1 - (uint32_t)level];
}

static int add_words(struct walked_thread *thread, const struct trace_event *event, struct error *err)
{
        const struct timeline_zone *zone = trace_walk_zone_at(thread, event->operand[1]);

        if (zone && zone_words_add(&thread->words[zone - thread->timeline.open], event) < 0)
                return no_memory(err, -ENOMEM);
        return 0;
}

const struct zone_words *trace_walk_words(const struct walked_thread *thread,
                                          const struct zone_instance *zone)
{
        if (zone->depth >= thread->n_words || !thread->words[zone->depth].any)
                return NULL;
        return &thread->words[zone->depth];
}

int trace_walk_path(struct trace_walk *w, struct walked_thread *thread, uint32_t *ret_path)
{
        return thread_timeline_find_path(&thread->timeline, &w->paths, ret_path);
}

bool trace_walk_names(const struct walked_thread *thread)
{
        return thread_timeline_flags(&thread->timeline, THREAD_TIMELINE_ASKED) & ZONE_MATCHER_NAMED;
}

/* ------------------------------------------------------------------ waits */

static bool is_wait_wanted(const struct trace_walk *w, const struct walked_thread *thread)
{
        const struct thread_wait *wait = &thread->wait;

        return !w->filter || (thread->is_wait_in_zone && trace_filter_wants_time(w->filter, wait->out_ns) &&
                              trace_filter_wants_thread(w->filter, thread->id) &&
                              trace_filter_wants_cpu(w->filter, wait->out_cpu) &&
                              trace_filter_wants_stack(w->filter, wait->stack));
}

static int begin_wait(struct trace_walk *w, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        uint64_t state = event->switch_out.wait;
        int r;

        thread->is_out = false;
        if (thread->has_ended || state == TRACE_WAIT_ENDED || state == TRACE_WAIT_IDLE)
                return 0;
        thread->is_out = true;
        thread->is_wait_in_zone = is_inside(w, thread);
        thread->wait = (struct thread_wait){
                .out_ns = event->time_ns,
                .stack = (uint32_t)event->switch_out.stack,
                /* One number stands for all states of newer versions. */
                .state = state < TRACE_WAIT_STATE_COUNT ? (uint32_t)state : TRACE_WAIT_STATE_COUNT,
                .wake_cpu = TRACE_WALK_NO_CPU,
                .out_cpu = thread->cpu,
                .in_cpu = TRACE_WALK_NO_CPU,
                .successor = (uint32_t)event->switch_out.successor,
                .preempted = event->switch_out.preempted != 0 || state == TRACE_WAIT_PREEMPTED,
        };
        if (!w->sink.wants_paths && !w->sink.wants_zone_paths)
                return 0;
        r = trace_walk_path(w, thread, &thread->wait.path);
        return r < 0 ? no_memory(err, r) : 0;
}

/*
 * The first wake-up ends the wait; a later one finds the thread ready to run.  One by the thread itself ends
 * none: the thread was still on its CPU.
 */
static void wake_up(struct walked_thread *thread, const struct trace_event *event)
{
        struct thread_wait *wait = &thread->wait;

        if (!thread->is_out || wait->is_woken || wait->preempted ||
            trace_event_wakes_itself(event, thread->id))
                return;
        wait->is_woken = true;
        wait->woken_ns = event->time_ns;
        wait->waker_thread = (uint32_t)event->wakeup.waker;
        wait->waker_name = (uint32_t)event->wakeup.name;
        wait->waker_stack = (uint32_t)event->wakeup.stack;
        wait->below = (uint32_t)event->wakeup.below;
        wait->wake_cpu = cpu_number(event->wakeup.cpu);
}

/* The call stack of a long wait may be known only when it ends. */
static void place_wait(struct walked_thread *thread, const struct trace_event *event)
{
        if (!thread->is_out)
                return;
        thread->wait.idle_ns = event->switch_in.idle_ns;
        if (thread->wait.stack == 0)
                thread->wait.stack = (uint32_t)event->switch_in.stack;
}

static int end_wait(struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns, bool ended,
                    struct error *err)
{
        if (!thread->is_out)
                return 0;
        thread->is_out = false;
        thread->wait.in_ns = time_ns;
        thread->wait.ended = ended;
        thread->wait.in_cpu = ended ? thread->cpu : TRACE_WALK_NO_CPU;
        if (!is_wait_wanted(w, thread))
                return 0;
        w->n_waits++;
        return w->sink.wait ? w->sink.wait(w->sink.context, thread, &thread->wait, err) : 0;
}

/* ------------------------------------------------------------------ events */

static int walk_sample(struct trace_walk *w, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        const struct trace_sample_event *row = trace_dictionary_row(w->dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                                                                    (uint32_t)event->sample.event);
        bool has_copy = thread->has_copy;

        thread->has_copy = false;
        see_cpu(w, thread, event->sample.cpu, event->time_ns);
        thread->timeline.n_samples++;
        thread->timeline.n_interrupts += row->mode != TRACE_SAMPLE_MODE_WITH_LEADER;
        if (!is_sample_wanted(w, thread, event))
                return 0;
        if (row->mode != TRACE_SAMPLE_MODE_WITH_LEADER) {
                thread->n_samples++;
                w->n_samples++;
                w->n_truncated += event->sample.state >= TRACE_STACK_TRUNCATED;
                w->n_kept_copies += has_copy && trace_event_lacks_table(event);
                if (event->sample.state == TRACE_STACK_NO_TABLE)
                        bare_stacks_add(&w->bare_stacks, w->dictionary, (uint32_t)event->sample.stack);
        }
        w->n_events[event->op]++;
        return w->sink.sample ? w->sink.sample(w->sink.context, thread, event, err) : 0;
}

/* Fiber switches are not kernel context switches, so no wait starts. */
static int walk_switch(struct trace_walk *w, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        bool is_out = event->op == TRACE_OP_SWITCH_OUT;

        see_cpu(w, thread, event->operand[0], event->time_ns);
        if (is_out)
                thread_timeline_switch_out(&thread->timeline, event->time_ns);
        else
                thread_timeline_switch_in(&thread->timeline, event->time_ns);
        follow_start(thread, event->time_ns);
        if (thread->timeline.is_fiber)
                return 0;
        w->n_switches++;
        if (!is_out)
                place_wait(thread, event);
        return is_out ? begin_wait(w, thread, event, err) : end_wait(w, thread, event->time_ns, true, err);
}

static int walk_exit(struct trace_walk *w, struct walked_thread *thread, uint64_t time_ns, struct error *err)
{
        int r = drop_zones(w, thread, time_ns, err);

        thread_timeline_exit(&thread->timeline);
        thread->has_ended = true;
        thread->is_out = false;
        return r;
}

static int walk_name(struct trace_walk *w, struct walked_thread *thread, const struct trace_event *event,
                     struct error *err)
{
        uint32_t name = (uint32_t)event->thread_name.name;
        int r = 0;

        if (w->filter && event->time_ns >= w->filter->to_ns)
                return 0;
        if (w->sink.rename && name != thread->timeline.name)
                r = w->sink.rename(w->sink.context, thread, event->time_ns, err);
        thread_timeline_name(&thread->timeline, name);
        return r;
}

/* Applies the effects of an event, before the sink gets it. */
static int follow_event(struct trace_walk *w, struct walked_thread *thread, const struct trace_event *event,
                        struct error *err)
{
        switch (event->op) {
        case TRACE_OP_SWITCH_OUT:
        case TRACE_OP_SWITCH_IN:
                return walk_switch(w, thread, event, err);
        case TRACE_OP_WAKEUP:
                wake_up(thread, event);
                return 0;
        case TRACE_OP_THREAD_EXIT:
                return walk_exit(w, thread, event->time_ns, err);
        case TRACE_OP_ZONES_GONE:
                return drop_zones(w, thread, event->time_ns, err);
        case TRACE_OP_THREAD_NAME:
                return walk_name(w, thread, event, err);
        case TRACE_OP_STACK_COPY:
                thread->has_copy = true;
                return 0;
        case TRACE_OP_ZONE_TEXT:
        case TRACE_OP_ZONE_NAME:
        case TRACE_OP_ZONE_VALUE:
        case TRACE_OP_ZONE_COLOR:
                return w->sink.wants_words ? add_words(thread, event, err) : 0;
        default:
                return 0;
        }
}

static int take_event(struct trace_walk *w, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        int r;

        if (event->op == TRACE_OP_ZONE_BEGIN)
                return begin_zone(w, thread, event->time_ns, (uint32_t)event->zone_begin.location, err);
        if (event->op == TRACE_OP_ZONE_END)
                return end_zone(w, thread, event->time_ns, err);
        if (event->op == TRACE_OP_SAMPLE)
                return walk_sample(w, thread, event, err);
        r = follow_event(w, thread, event, err);
        if (r < 0 || !is_event_wanted(w, thread, event))
                return r;
        w->n_events[event->op]++;
        return w->sink.event ? w->sink.event(w->sink.context, thread, event, err) : 0;
}

/* Oddities in a thread's events are reported only if they lie in the range of time. */
static int walk_event(struct trace_walk *w, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct thread_timeline *timeline = &thread->timeline;
        uint64_t n_lost = timeline->n_lost, n_unbalanced = timeline->n_unbalanced;
        uint64_t n_too_deep = timeline->n_too_deep;
        int r;

        if (event->op == TRACE_OP_WAKEUP && !trace_event_wakes_itself(event, thread->id))
                thread_timeline_wakeup(timeline, event->time_ns);
        else
                thread_timeline_advance(timeline, event->time_ns);
        if (!w->filter)
                return take_event(w, thread, event, err);
        follow_time(w, thread, event);
        r = take_event(w, thread, event, err);
        if (!trace_filter_wants_time(w->filter, event->time_ns)) {
                timeline->n_lost = n_lost;
                timeline->n_unbalanced = n_unbalanced;
                timeline->n_too_deep = n_too_deep;
        }
        return r;
}

bool trace_walk_is_done(const struct trace_walk *w)
{
        for (uint32_t i = 0; i < w->n_threads; i++) {
                const struct walked_thread *thread = &w->threads[i];

                if (thread->timeline.n_wanted != 0 || (thread->is_out && is_wait_wanted(w, thread)))
                        return false;
        }
        return true;
}

int trace_walk_name(struct trace_walk *w, uint32_t thread, uint32_t name)
{
        int r = reserve(w);

        if (r == 0)
                thread_timeline_name(&w->threads[thread - 1].timeline, name);
        return r;
}

static int walk_filtered_zone(struct trace_walk *w, struct walked_thread *thread,
                              const struct packed_event *packed, struct error *err)
{
        const struct trace_event event = { .time_ns = packed->time_ns,
                                           .op = packed->op,
                                           .zone_begin = { .location = packed->value } };

        return walk_event(w, thread, &event, err);
}

static int walk_run(struct trace_walk *w, struct walked_thread *thread, const struct event_batch *batch,
                    const struct packed_event *events, size_t n_events, struct error *err)
{
        int r = 0;

        for (const struct packed_event *e = events; e != events + n_events && r >= 0; e++) {
                if (e->op != TRACE_OP_ZONE_BEGIN && e->op != TRACE_OP_ZONE_END) {
                        r = walk_event(w, thread, &batch->others[e->value], err);
                        continue;
                }
                if (w->filter) {
                        r = walk_filtered_zone(w, thread, e, err);
                        continue;
                }
                thread_timeline_advance(&thread->timeline, e->time_ns);
                r = e->op == TRACE_OP_ZONE_END ? end_zone(w, thread, e->time_ns, err)
                                               : begin_zone(w, thread, e->time_ns, e->value, err);
        }
        return r;
}

int trace_walk_batch(struct trace_walk *w, struct event_batch *batch, struct error *err)
{
        int r = reserve(w);

        if (r < 0)
                return no_memory(err, r);
        while ((r = event_batch_next(batch, EVENT_BATCH_EVENTS, err)) == 1) {
                const struct packed_event *events = batch->events;

                for (size_t i = 0; i < batch->n_runs; i++) {
                        const struct event_run *run = &batch->runs[i];

                        r = walk_run(w, &w->threads[run->thread - 1], batch, events, run->n_events, err);
                        if (r < 0)
                                return r;
                        events += run->n_events;
                }
        }
        w->n_unknown_ops += batch->decoder.n_unknown_ops;
        if (r == 0 && w->sink.chunk)
                return w->sink.chunk(w->sink.context, err);
        return r == -ENOMEM ? no_memory(err, r) : r;
}

int trace_walk_chunk(struct trace_walk *w, const struct trace_item *item, struct error *err)
{
        if (!w->batch)
                w->batch = calloc(1, sizeof(*w->batch));
        if (!w->batch)
                return no_memory(err, -ENOMEM);
        event_batch_open(w->batch, w->dictionary, item->body, item->body_bytes);
        return trace_walk_batch(w, w->batch, err);
}

static void find_range(struct trace_walk *w)
{
        for (uint32_t i = 0; i < w->n_threads; i++) {
                const struct thread_timeline *thread = &w->threads[i].timeline;

                if (!thread->started)
                        continue;
                if (!w->any || thread->first_ns < w->first_ns)
                        w->first_ns = thread->first_ns;
                if (thread->last_ns > w->last_ns)
                        w->last_ns = thread->last_ns;
                w->any = true;
        }
}

int trace_walk_finish(struct trace_walk *w, uint64_t end_ns, struct error *err)
{
        find_range(w);
        if (end_ns < w->last_ns)
                end_ns = w->last_ns;
        for (uint32_t i = 0; i < w->n_threads; i++) {
                struct walked_thread *thread = &w->threads[i];
                int r;

                if (!thread->timeline.started)
                        continue;
                follow_end(w, thread, end_ns);
                thread_timeline_finish(&thread->timeline, end_ns);
                r = end_wait(w, thread, end_ns, false, err);
                if (r == 0)
                        r = drop_zones(w, thread, thread->timeline.last_ns, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A module or an event selects samples only: the zones around them pass in any case. */
bool trace_walk_found(const struct trace_walk *w)
{
        if (!w->filter)
                return true;
        if (w->filter->stacks || w->filter->event != 0)
                return w->n_events[TRACE_OP_SAMPLE] != 0 || (w->filter->stacks && w->n_waits != 0);
        for (int op = 0; op < TRACE_OP_COUNT; op++)
                if (w->n_events[op] != 0)
                        return true;
        return w->n_waits != 0;
}
