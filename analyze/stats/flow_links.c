/* SPDX-License-Identifier: MIT */
#include "analyze/stats/flow_links.h"

#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "format/trace_spec.h"

#include <errno.h>

struct linking {
        struct flow_links *links;
        flow_links_take_link *take;
        void *context;
};

bool flow_links_wants(const struct flow_links *l, const struct flow_point *point)
{
        const struct trace_filter *f = l->filter;

        return !f ||
               (trace_filter_wants_thread(f, point->thread) && trace_filter_wants_time(f, point->time_ns) &&
                zone_paths_wanted(l->naming, point->place));
}

static int take_event(void *context, const struct ordered_event *event, struct error *err)
{
        struct linking *w = context;
        struct flow_links *l = w->links;
        const struct flow_point point = flow_match_point(&l->match, event);
        struct flow_link link;
        bool has_passed = flow_links_wants(l, &point);
        int r = flow_match_add(&l->match, &point, &link);

        if (r < 0)
                return error_set(err, r, "following flows: out of memory");
        l->n_begun += has_passed && point.phase == TRACE_FLOW_BEGIN;
        l->n_ended += has_passed && r == 1 && point.phase == TRACE_FLOW_END;
        l->n_steps_of_none += has_passed && r == 0 && point.phase == TRACE_FLOW_STEP;
        l->n_ends_of_none += has_passed && r == 0 && point.phase == TRACE_FLOW_END;
        if (r == 0 || (!has_passed && !flow_links_wants(l, &link.from)))
                return 0;
        l->n_links++;
        return w->take ? w->take(w->context, l, &link, err) : 0;
}

static void count_open(void *context, const struct flow_point *begin)
{
        struct flow_links *l = context;

        l->n_open += flow_links_wants(l, begin);
}

int flow_links_take(struct flow_links *l, struct loaded_trace *trace, const struct trace_filter *filter,
                    flow_links_take_link *take, void *context, struct error *err)
{
        struct linking linking = { .links = l, .take = take, .context = context };
        struct event_walk_request request = {
                .ops = EVENT_WALK_OP(TRACE_OP_FLOW),
                .take = take_event,
                .context = &linking,
                .wants_paths = true,
                .paths = &l->paths,
        };
        struct event_walk walk = { .walk = { .threads = NULL } };
        int r;

        *l = (struct flow_links){ .filter = filter && !filter->is_empty ? filter : NULL };
        l->naming = &walk.walk.paths;
        flow_match_init(&l->match, trace->dictionary);
        l->match.forget = count_open;
        l->match.context = l;
        r = zone_paths_init(&l->paths, trace->dictionary, filter && filter->has_zone ? &filter->zone : NULL);
        r = r < 0 ? error_set(err, r, "following flows: out of memory")
                  : event_walk_take(&walk, trace, NULL, &request, err);
        l->naming = &l->paths;
        flow_match_each_open(&l->match, count_open, l);
        l->n_late = walk.events.order.n_late;
        event_walk_deinit(&walk);
        return r;
}

void flow_links_deinit(struct flow_links *l)
{
        flow_match_deinit(&l->match);
        zone_paths_deinit(&l->paths);
}
