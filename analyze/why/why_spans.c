/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_spans.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/why/why_durations.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

void why_spans_deinit(struct why_spans *s)
{
        lane_names_deinit(&s->names);
        device_works_deinit(&s->works);
        free(s->instances);
        *s = (struct why_spans){ .instances = NULL };
}

static int add_instance(struct why_spans *s, uint32_t i)
{
        const struct device_work *work = &s->works.works[i];

        if (array_reserve(&s->instances, &s->capacity, s->n_instances + 1, sizeof(*s->instances)) < 0)
                return -ENOMEM;
        s->instances[s->n_instances++] = i;
        s->n_unplaced += !s->works.clocks[work->device - 1].is_placed;
        if (why_spans_has_host(work))
                s->n_hosts++;
        else if (work->host != 0)
                s->n_early++;
        else
                s->n_said += work->asked_ns < work->begin_ns;
        return 0;
}

static bool is_wanted(const struct trace_filter *filter, const struct device_work *work)
{
        return !filter || (trace_filter_wants_time(filter, work->begin_ns) &&
                           trace_filter_wants_thread(filter, work->thread));
}

static int choose(struct why_spans *s, const struct trace_filter *filter, const struct zone_pattern *pattern)
{
        uint32_t n = trace_dictionary_count(s->dictionary, TRACE_TABLE_LOCATIONS);
        bool *is_named = calloc((size_t)n + 1, sizeof(*is_named)); /* by location */
        int r = is_named ? 0 : -ENOMEM;

        for (uint32_t i = 1; r == 0 && i <= n; i++)
                is_named[i] = zone_pattern_names(pattern, s->dictionary, i);
        for (uint32_t i = 0; r == 0 && i < s->works.n_works; i++) {
                const struct device_work *work = &s->works.works[i];

                if (is_named[work->location] && is_wanted(filter, work))
                        r = add_instance(s, i);
        }
        free(is_named);
        return r;
}

/* Without the filter: what it leaves out may be the earlier work that an instance waits for. */
int why_spans_take(struct why_spans *s, struct loaded_trace *trace, const struct trace_filter *filter,
                   const struct zone_pattern *pattern, struct error *err)
{
        int r;

        *s = (struct why_spans){ .dictionary = trace->dictionary };
        if (trace_dictionary_count(trace->dictionary, TRACE_TABLE_DEVICES) == 0)
                return 0;
        r = device_works_take_all(&s->works, trace, err);
        if (r == 0 && (lane_names_init(&s->names, trace->dictionary) < 0 || choose(s, filter, pattern) < 0))
                r = error_set(err, -ENOMEM, "going through the zones of devices: out of memory");
        return r;
}

int why_spans_measure(const struct why_spans *s, struct why_durations *durations)
{
        int r = 0;

        for (size_t i = 0; i < s->n_instances && r == 0; i++) {
                const struct device_work *work = &s->works.works[s->instances[i]];
                struct why_spent spent = { .wall_ns = work->end_ns - why_spans_from_ns(work) };

                r = why_durations_add(durations, &spent);
        }
        return r;
}
