/* SPDX-License-Identifier: MIT */
#include "analyze/frame_stats.h"

#include "analyze/event_walk.h"
#include "analyze/loaded_trace.h"
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
        for (uint32_t i = 0; i < s->n_sets; i++)
                histogram_deinit(&s->sets[i].durations_ns);
        free(s->sets);
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

static int add_to_set(struct frame_set *set, const struct ordered_event *event)
{
        int r = 0;

        set->last_ns = event->time_ns;
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
                if (set->is_open)
                        return end_frame(set, event->time_ns);
                set->n_unmatched++;
                return 0;
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
        return r < 0 ? r : add_to_set(&s->sets[id - 1], event);
}

void frame_stats_finish(struct frame_stats *s)
{
        for (uint32_t i = 0; i < s->n_sets; i++) {
                const struct frame_set_key *key = intern_get(&s->keys, i + 1, NULL);

                s->sets[i].n_unmatched += key->has_gaps != 0 && s->sets[i].is_open;
        }
}

static int take(void *context, const struct ordered_event *event, struct error *err)
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
                .take = take,
                .context = s,
        };
        struct event_walk walk;
        int r;

        frame_stats_init(s);
        r = event_walk_take(&walk, trace, filter, &request, err);
        frame_stats_finish(s);
        s->n_late = walk.order.n_late;
        event_walk_deinit(&walk);
        return r;
}
