/* SPDX-License-Identifier: MIT */
#include "export/shared/export_event.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct event_counts {
        uint64_t *n_samples; /* heap; by event id - 1 */
};

static const struct trace_sample_event *row_of(const struct trace_dictionary *d, uint32_t event)
{
        return trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, event);
}

/* Events with a leader come after it, and have as many samples as it. */
static bool has_own_samples(const struct trace_dictionary *d, uint32_t event)
{
        uint32_t mode = row_of(d, event)->mode;

        return mode != TRACE_SAMPLE_MODE_WITH_LEADER && mode != TRACE_SAMPLE_MODE_COUNTED;
}

static int count_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                        struct error *err)
{
        struct event_counts *counts = context;

        (void)thread;
        (void)err;
        counts->n_samples[event->sample.event - 1]++;
        return 0;
}

static int find_largest(struct loaded_trace *trace, const struct trace_filter *filter, uint32_t *ret_event,
                        struct error *err)
{
        uint32_t n_events = trace_dictionary_count(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS);
        struct event_counts counts = { .n_samples = calloc(n_events, sizeof(uint64_t)) };
        struct trace_sink sink = {
                .context = &counts, .sample = count_sample, .may_skip = true, .devices_follow = true
        };
        struct trace_walk walk = { .n_threads = 0 };
        uint32_t largest = 1;
        int r;

        if (!counts.n_samples)
                return error_set(err, -ENOMEM, "no memory to read the trace");
        r = trace_walk_init(&walk, trace, filter, &sink);
        r = r < 0 ? error_set(err, r, "no memory to read the trace") : loaded_trace_walk(trace, &walk, err);
        for (uint32_t i = 2; r == 0 && i <= n_events; i++)
                if (counts.n_samples[i - 1] > counts.n_samples[largest - 1])
                        largest = i;
        if (r == 0)
                *ret_event = largest;
        trace_walk_deinit(&walk);
        free(counts.n_samples);
        return r;
}

int export_event_choose(struct loaded_trace *trace, const struct trace_filter *filter, uint32_t *ret_event,
                        struct error *err)
{
        const struct trace_dictionary *d = trace->dictionary;
        uint32_t n_events = trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS);
        uint32_t n_own = 0;

        *ret_event = n_events > 0 ? 1 : 0;
        if (filter && filter->event != 0) {
                *ret_event = filter->event;
                return 0;
        }
        for (uint32_t i = n_events; i >= 1; i--) {
                if (!has_own_samples(d, i))
                        continue;
                *ret_event = i;
                n_own++;
        }
        return n_own > 1 ? find_largest(trace, filter, ret_event, err) : 0;
}

bool export_event_is_time(const struct trace_dictionary *d, uint32_t event)
{
        return event != 0 && text_view_is(trace_dictionary_text(d, row_of(d, event)->unit), "ns");
}

uint64_t export_event_interval_ns(const struct trace_dictionary *d, uint32_t event)
{
        const struct trace_sample_event *row = event != 0 ? row_of(d, event) : NULL;

        if (row && row->leader != 0) {
                event = row->leader;
                row = row_of(d, event);
        }
        if (row && row->rate > 0 && row->mode == TRACE_SAMPLE_MODE_FREQUENCY_HZ && row->rate <= NS_PER_S)
                return NS_PER_S / row->rate;
        if (row && row->rate > 0 && row->mode == TRACE_SAMPLE_MODE_PERIOD && export_event_is_time(d, event))
                return row->rate;
        return NS_PER_MS;
}

uint64_t export_event_weight(const struct trace_dictionary *d, uint32_t event, uint64_t weight)
{
        return weight == 0 && row_of(d, event)->mode != TRACE_SAMPLE_MODE_WITH_LEADER ? 1 : weight;
}
