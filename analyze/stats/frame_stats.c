/* SPDX-License-Identifier: MIT */
#include "analyze/stats/frame_stats.h"

#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

void frame_stats_init(struct frame_stats *s)
{
        *s = (struct frame_stats){ .sets = NULL };
        intern_init(&s->keys, sizeof(struct frame_set_key), FRAME_STATS_SETS_MAX);
}

void frame_stats_deinit(struct frame_stats *s)
{
        for (uint32_t i = 0; i < s->n_sets; i++) {
                histogram_deinit(&s->sets[i].durations_ns);
                id_set_deinit(&s->sets[i].around);
                free(s->sets[i].spans);
        }
        free(s->sets);
        zone_paths_deinit(&s->paths);
        s->sets = NULL;
        s->n_sets = 0;
        intern_deinit(&s->keys);
}

static void keep_slowest(struct frame_set *set, const struct slow_frame *frame)
{
        uint32_t at = set->n_slowest;

        if (at == FRAME_STATS_SLOWEST && frame->duration_ns <= set->slowest[at - 1].duration_ns)
                return;
        if (at < FRAME_STATS_SLOWEST)
                set->n_slowest++;
        else
                at--;
        for (; at > 0 && set->slowest[at - 1].duration_ns < frame->duration_ns; at--)
                set->slowest[at] = set->slowest[at - 1];
        set->slowest[at] = *frame;
}

/* Frames that end after the spans are full are not split among zones. */
static int keep_span(struct frame_stats *s, struct frame_set *set, uint64_t end_ns)
{
        const struct frame_span *last = set->n_spans > 0 ? &set->spans[set->n_spans - 1] : NULL;
        struct frame_span span = { .begin_ns = set->begin_ns, .end_ns = end_ns };
        int r;

        if (last && span.begin_ns < last->end_ns)
                span.begin_ns = last->end_ns; /* events that came too late */
        if (span.end_ns <= span.begin_ns)
                return 0;
        if (set->is_cut || s->n_spans >= FRAME_STATS_SPANS_MAX) {
                set->is_cut = true;
                return 0;
        }
        if (last)
                span.before_ns = last->before_ns + (last->end_ns - last->begin_ns);
        r = array_reserve(&set->spans, &set->spans_capacity, set->n_spans + 1, sizeof(*set->spans));
        if (r < 0)
                return r;
        set->spans[set->n_spans++] = span;
        s->n_spans++;
        return 0;
}

static int end_frame(struct frame_set *set, uint64_t time_ns)
{
        struct slow_frame frame = { .begin_ns = set->begin_ns };

        if (time_ns > set->begin_ns)
                frame.duration_ns = time_ns - set->begin_ns;
        if (histogram_add(&set->durations_ns, frame.duration_ns) < 0)
                return -ENOMEM;
        frame.number = set->durations_ns.n_values;
        set->is_open = false;
        keep_slowest(set, &frame);
        return 0;
}

static void begin_frame(struct frame_set *set, uint64_t time_ns)
{
        set->is_open = true;
        set->begin_ns = time_ns;
        set->n_marks++;
}

/* Boyer and Moore: one candidate and a count find the thread of more than half of the marks. */
static void vote(struct frame_set *set, uint32_t thread)
{
        if (set->n_votes == 0)
                set->marker = thread;
        if (set->marker == thread)
                set->n_votes++;
        else
                set->n_votes--;
}

/*
 * Zones that are open at a mark enclose frames, and are not in them.  If a zone is noted already, so are the
 * zones around it.
 */
static int note_around(struct frame_stats *s, struct frame_set *set, uint32_t path)
{
        for (; s->naming && path != 0 && !id_set_has(&set->around, path);
             path = zone_paths_parent(s->naming, path))
                if (id_set_add(&set->around, path) < 0)
                        return -ENOMEM;
        return 0;
}

static int add_to_set(struct frame_stats *s, struct frame_set *set, const struct ordered_event *event)
{
        bool is_split = (size_t)(set - s->sets) < FRAME_STATS_SPLIT_MAX;
        int r = 0;

        set->last_ns = event->time_ns;
        if (is_split) {
                vote(set, event->thread);
                r = note_around(s, set, event->path);
                if (r < 0)
                        return r;
        }
        switch (event->op) {
        case TRACE_OP_FRAME_MARK:
                if (set->is_open)
                        r = end_frame(set, event->time_ns);
                begin_frame(set, event->time_ns);
                return r;
        case TRACE_OP_FRAME_BEGIN:
                set->n_unmatched += set->is_open;
                begin_frame(set, event->time_ns);
                return 0;
        default:
                if (!set->is_open) {
                        set->n_unmatched++;
                        return 0;
                }
                if (is_split)
                        r = keep_span(s, set, event->time_ns);
                return r < 0 ? r : end_frame(set, event->time_ns);
        }
}

int frame_stats_add(struct frame_stats *s, const struct ordered_event *event)
{
        struct frame_set_key key = { .name = event->subject, .has_gaps = event->op != TRACE_OP_FRAME_MARK };
        uint32_t id;
        int r = intern_add(&s->keys, &key, sizeof(key), &id);

        if (r == -EOVERFLOW) {
                s->n_lost++;
                return 0;
        }
        if (r == 1) {
                r = array_reserve(&s->sets, &s->capacity, id, sizeof(*s->sets));
                if (r < 0)
                        return r;
                s->n_sets = id;
                s->sets[id - 1] = (struct frame_set){ .first_ns = event->time_ns };
        }
        return r < 0 ? r : add_to_set(s, &s->sets[id - 1], event);
}

uint64_t frame_set_split_ns(const struct frame_set *set, const struct frame_set_key *key)
{
        if (key->has_gaps == 0)
                return set->durations_ns.sum;
        return frame_set_time_before(set, key, UINT64_MAX);
}

/* Marks leave no gaps: all time from the first mark to the last is in a frame. */
static uint64_t marked_before(const struct frame_set *set, uint64_t time_ns)
{
        if (time_ns > set->last_ns)
                time_ns = set->last_ns;
        return time_ns > set->first_ns ? time_ns - set->first_ns : 0;
}

uint64_t frame_set_time_before(const struct frame_set *set, const struct frame_set_key *key, uint64_t time_ns)
{
        size_t begin = 0, end = set->n_spans;
        const struct frame_span *span;

        if (key->has_gaps == 0)
                return marked_before(set, time_ns);
        while (begin < end) {
                size_t middle = begin + (end - begin) / 2;

                if (set->spans[middle].begin_ns < time_ns)
                        begin = middle + 1;
                else
                        end = middle;
        }
        if (begin == 0)
                return 0;
        span = &set->spans[begin - 1];
        return span->before_ns + ((time_ns < span->end_ns ? time_ns : span->end_ns) - span->begin_ns);
}

void frame_stats_finish(struct frame_stats *s)
{
        for (uint32_t i = 0; i < s->n_sets; i++) {
                const struct frame_set_key *key = intern_get(&s->keys, i + 1, NULL);

                s->sets[i].n_unmatched += key->has_gaps != 0 && s->sets[i].is_open;
        }
}

static int take_event(void *context, const struct ordered_event *event, struct error *err)
{
        int r = frame_stats_add(context, event);

        return r < 0 ? error_set(err, r, "adding up frames: out of memory") : 0;
}

int frame_stats_take(struct frame_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                     struct error *err)
{
        struct event_walk_request request = {
                .ops = EVENT_WALK_OP(TRACE_OP_FRAME_MARK) | EVENT_WALK_OP(TRACE_OP_FRAME_BEGIN) |
                       EVENT_WALK_OP(TRACE_OP_FRAME_END),
                .take = take_event,
                .context = s,
                .wants_paths = true,
        };
        struct event_walk walk;
        int r;

        frame_stats_init(s);
        s->naming = &walk.walk.paths;
        r = event_walk_take(&walk, trace, filter, &request, err);
        frame_stats_finish(s);
        s->n_late = walk.events.order.n_late;
        s->naming = NULL;
        s->paths = walk.walk.paths;
        walk.walk.paths = (struct zone_paths){ .states = NULL };
        event_walk_deinit(&walk);
        return r;
}
