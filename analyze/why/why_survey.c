/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_survey.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void why_survey_deinit(struct why_survey *s)
{
        why_durations_deinit(&s->durations);
        free(s->threads);
        free(s->samples);
        free(s->n_inside);
        free(s->lock_names);
        *s = (struct why_survey){ .threads = NULL };
}

static int begin_zone(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct why_survey *s = context;
        struct why_survey_thread *state = &s->threads[thread->id - 1];

        (void)err;
        if (state->is_open)
                return 0;
        state->is_open = trace_walk_names(thread);
        state->depth = thread->timeline.n_open - 1;
        why_spending_begin(&state->spending, event->time_ns);
        return 0;
}

static int end_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err)
{
        struct why_survey *s = context;
        struct why_survey_thread *state = &s->threads[thread->id - 1];
        struct why_spent spent;

        if (!state->is_open || zone->depth != state->depth)
                return 0;
        state->is_open = false;
        if (!zone->closed) {
                s->n_unclosed++;
                return 0;
        }
        spent = why_spent_of(&state->spending, zone, true);
        if (why_durations_add(&s->durations, &spent) < 0)
                return error_set(err, -ENOMEM, "going through the zones: out of memory");
        return 0;
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct why_survey *s = context;
        struct sample_sum sum = { .n_samples = 1, .weight = event->sample.weight };

        (void)err;
        sample_sum_add(&s->samples[event->sample.event - 1], &sum);
        s->n_inside[event->sample.event - 1] += s->threads[thread->id - 1].is_open;
        return 0;
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct why_survey *s = context;
        struct why_survey_thread *state = &s->threads[thread->id - 1];

        (void)err;
        if (state->is_open)
                why_spending_wait(&state->spending, s->dictionary, wait);
        return 0;
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct why_survey *s = context;

        (void)err;
        if (thread->timeline.is_fiber &&
            (event->op == TRACE_OP_SWITCH_OUT || event->op == TRACE_OP_SWITCH_IN))
                (void)why_spending_fiber(&s->threads[thread->id - 1].spending, event);
        if (event->op == TRACE_OP_LOCK_NAME)
                s->lock_names[event->lock_name.lock - 1] = (uint32_t)event->lock_name.name;
        return 0;
}

static int reserve(struct why_survey *s)
{
        s->n_threads = trace_dictionary_count(s->dictionary, TRACE_TABLE_THREADS);
        s->n_events = trace_dictionary_count(s->dictionary, TRACE_TABLE_SAMPLE_EVENTS);
        s->n_locks = trace_dictionary_count(s->dictionary, TRACE_TABLE_LOCKS);
        s->threads = calloc((size_t)s->n_threads + 1, sizeof(*s->threads));
        s->samples = calloc((size_t)s->n_events + 1, sizeof(*s->samples));
        s->n_inside = calloc((size_t)s->n_events + 1, sizeof(*s->n_inside));
        s->lock_names = calloc((size_t)s->n_locks + 1, sizeof(*s->lock_names));
        return s->threads && s->samples && s->n_inside && s->lock_names ? 0 : -ENOMEM;
}

int why_survey_take(struct why_survey *s, struct loaded_trace *trace, const struct trace_filter *filter,
                    const struct zone_pattern *pattern, struct error *err)
{
        struct trace_sink sink = {
                .context = s,
                .begin_zone = begin_zone,
                .zone = end_zone,
                .sample = take_sample,
                .wait = take_wait,
                .event = take_event,
                .asked = pattern,
                .asked_only = ZONE_MATCHER_NAMED,
                .may_skip = true,
        };
        struct trace_walk walk;
        int r;

        *s = (struct why_survey){ .dictionary = trace->dictionary };
        r = reserve(s);
        if (r < 0)
                return error_set(err, r, "going through the zones: out of memory");
        r = trace_walk_init(&walk, trace, filter, &sink);
        if (r == 0)
                r = loaded_trace_walk(trace, &walk, err);
        else
                (void)error_set(err, r, "going through the zones: out of memory");
        if (r == 0 && lost_zones_find(&s->lost, &walk) < 0)
                r = error_set(err, -ENOMEM, "going through the zones: out of memory");
        if (r == 0)
                unsampled_time_take(&s->unsampled, &walk, 0);
        s->n_switches = walk.n_switches;
        s->n_wakeups = walk.n_events[TRACE_OP_WAKEUP];
        trace_walk_deinit(&walk);
        return r;
}

/* Clocks and cycles measure time; faults and switches do not show where time goes. */
static bool is_time(const struct why_survey *s, const struct trace_sample_event *event)
{
        struct text_view unit = trace_dictionary_text(s->dictionary, event->unit);

        return text_view_is(unit, "ns") || text_view_is(unit, "cycles");
}

uint32_t why_survey_choose_event(const struct why_survey *s)
{
        uint32_t best = 0;
        bool best_is_time = false;

        for (uint32_t i = 1; i <= s->n_events; i++) {
                const struct trace_sample_event *row = trace_dictionary_row(s->dictionary,
                                                                            TRACE_TABLE_SAMPLE_EVENTS, i);
                bool time = is_time(s, row);

                if (row->mode == TRACE_SAMPLE_MODE_WITH_LEADER || s->samples[i - 1].n_samples == 0 ||
                    (best_is_time && !time))
                        continue;
                if (best == 0 || (time && !best_is_time) ||
                    s->samples[i - 1].n_samples > s->samples[best - 1].n_samples) {
                        best = i;
                        best_is_time = time;
                }
        }
        return best;
}
