/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_run.h"
#include "format/trace_dictionary.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/function_table.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One pass through one trace. */
struct loading {
        struct diff_run *run;
        struct diff_names *names;
        const struct trace_dictionary *dictionary;
        const struct zone_pattern *unit;
        struct function_table functions;
        struct trace_walk walk;
        uint32_t *function_keys; /* heap; by label, 0 = not asked for yet */
        uint32_t *zone_keys;     /* heap; by location */
        bool *is_unit;           /* heap; by location */
};

static uint32_t diff_load_label_of(const struct loading *l, uint64_t stack)
{
        const struct label_groups *groups = &l->functions.frames;
        uint32_t group = groups->n_groups; /* that of samples without a call stack */

        if (stack != 0) {
                const struct trace_stack *row = trace_dictionary_row(l->dictionary, TRACE_TABLE_STACKS,
                                                                     (uint32_t)stack);

                group = row->frame;
        }
        return groups->labels[groups->first[group]];
}

/* Too many names are a loss, which is counted. */
static int take_key(struct loading *l, int r, uint32_t *key)
{
        if (r != -EOVERFLOW)
                return r;
        l->run->n_unnamed++;
        *key = 0;
        return 0;
}

static int diff_load_take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                                 struct error *err)
{
        struct loading *l = context;
        uint32_t label, *key;
        double weight;
        int r;

        (void)thread;
        if (event->sample.event != l->run->event)
                return 0;
        label = diff_load_label_of(l, event->sample.stack);
        key = &l->function_keys[label];
        weight = event->sample.weight != 0 ? (double)event->sample.weight : 1;
        l->run->n_samples++;
        l->run->weight += weight;
        if (*key == 0) {
                r = diff_names_add_function(l->names, l->dictionary, function_table_get(&l->functions, label),
                                            key);
                r = take_key(l, r, key);
                if (r < 0)
                        return error_set(err, r, "names of functions");
        }
        if (*key == 0)
                return 0;
        r = diff_run_add_sample(l->run, *key, weight);
        return r < 0 ? error_set(err, r, "sums of functions") : 0;
}

static int diff_load_take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                               struct error *err)
{
        struct loading *l = context;
        uint32_t *key = &l->zone_keys[zone->location];
        int r;

        (void)thread;
        if (!zone->closed)
                return 0;
        if (*key == 0) {
                r = diff_names_add_zone(
                        l->names, l->dictionary,
                        trace_dictionary_row(l->dictionary, TRACE_TABLE_LOCATIONS, zone->location), key);
                r = take_key(l, r, key);
                if (r < 0)
                        return error_set(err, r, "names of zones");
                l->is_unit[zone->location] = l->unit &&
                                             zone_pattern_names(l->unit, l->dictionary, zone->location);
        }
        l->run->n_zones++;
        l->run->n_units += l->is_unit[zone->location];
        if (*key == 0)
                return 0;
        r = diff_run_add_zone(l->run, *key, (double)zone->on_cpu_ns, (double)(zone->end_ns - zone->begin_ns),
                              (double)zone->self_ns);
        return r < 0 ? error_set(err, r, "sums of zones") : 0;
}

/* The first pass, if no event was chosen: how many samples each has. */
struct event_counts {
        uint64_t *n_samples; /* heap; by event */
};

static bool is_read_with_leader(const struct trace_dictionary *d, uint32_t event)
{
        const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, event);

        return row->mode == TRACE_SAMPLE_MODE_WITH_LEADER || row->mode == TRACE_SAMPLE_MODE_COUNTED;
}

static int diff_load_count_sample(void *context, struct walked_thread *thread,
                                  const struct trace_event *event, struct error *err)
{
        struct event_counts *counts = context;

        (void)thread;
        (void)err;
        counts->n_samples[event->sample.event]++;
        return 0;
}

static int diff_load_count_events(struct loaded_trace *trace, const struct trace_filter *filter,
                                  struct event_counts *counts, struct error *err)
{
        struct trace_sink sink = { .context = counts, .sample = diff_load_count_sample, .may_skip = true };
        struct trace_walk walk;
        int r = trace_walk_init(&walk, trace, filter, &sink);

        if (r == 0)
                r = loaded_trace_walk(trace, &walk, err);
        trace_walk_deinit(&walk);
        return r;
}

static int find_busiest_event(struct loaded_trace *trace, const struct trace_filter *filter,
                              uint32_t *ret_event, struct error *err)
{
        uint32_t n = trace_dictionary_count(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS);
        struct event_counts counts = { .n_samples = NULL };
        uint32_t best = 0, n_candidates = 0;
        int r = 0;

        for (uint32_t i = 1; i <= n; i++) {
                if (is_read_with_leader(trace->dictionary, i))
                        continue;
                n_candidates++;
                best = i;
        }
        if (n_candidates > 1) {
                counts.n_samples = calloc((size_t)n + 1, sizeof(*counts.n_samples));
                r = counts.n_samples ? diff_load_count_events(trace, filter, &counts, err) : -ENOMEM;
                for (uint32_t i = n; r == 0 && i > 0; i--)
                        if (!is_read_with_leader(trace->dictionary, i) &&
                            counts.n_samples[i] >= counts.n_samples[best])
                                best = i;
        }
        free(counts.n_samples);
        if (r == 0)
                *ret_event = best;
        return r;
}

static uint32_t diff_load_find_event(const struct loaded_trace *trace, const char *name)
{
        uint32_t n = trace_dictionary_count(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_sample_event *row = trace_dictionary_row(trace->dictionary,
                                                                            TRACE_TABLE_SAMPLE_EVENTS, i);
                struct text_view s = trace_dictionary_text(trace->dictionary, row->name);

                if (s.n_bytes == strlen(name) && (s.n_bytes == 0 || memcmp(s.bytes, name, s.n_bytes) == 0))
                        return i;
        }
        return 0;
}

/* Which samples count, and whether their weight is a time. */
static int diff_load_choose_event(struct diff_run *run, struct loaded_trace *trace,
                                  const struct diff_run_request *request, struct error *err)
{
        const struct trace_sample_event *row;
        struct text_view unit;
        int r = 0;

        if (request->event)
                run->event = diff_load_find_event(trace, request->event);
        else
                r = find_busiest_event(trace, request->filter, &run->event, err);

        if (r < 0 || run->event == 0)
                return r;
        row = trace_dictionary_row(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, run->event);
        unit = trace_dictionary_text(trace->dictionary, row->unit);
        run->weight_is_ns = unit.n_bytes == 2 && memcmp(unit.bytes, "ns", 2) == 0;
        return 0;
}

static uint64_t find_duration(const struct loaded_trace *trace, const struct trace_filter *filter)
{
        uint64_t from_ns = trace->start_ns, to_ns = trace->end_ns;

        if (filter && filter->from_ns > from_ns)
                from_ns = filter->from_ns;
        if (filter && filter->to_ns < to_ns)
                to_ns = filter->to_ns;
        return to_ns > from_ns ? to_ns - from_ns : 0;
}

static int walk_events(struct loading *l, struct loaded_trace *trace, const struct trace_filter *filter,
                       struct error *err)
{
        struct trace_sink sink = {
                .context = l, .sample = diff_load_take_sample, .zone = diff_load_take_zone, .may_skip = true
        };
        uint32_t n_locations = trace_dictionary_count(trace->dictionary, TRACE_TABLE_LOCATIONS);
        int r = function_table_init(&l->functions, trace->dictionary);

        if (r < 0)
                return error_set(err, r, "functions");
        l->function_keys = calloc((size_t)l->functions.frames.n_labels + 1, sizeof(*l->function_keys));
        l->zone_keys = calloc((size_t)n_locations + 1, sizeof(*l->zone_keys));
        l->is_unit = calloc((size_t)n_locations + 1, sizeof(*l->is_unit));
        if (!l->function_keys || !l->zone_keys || !l->is_unit)
                return error_set(err, -ENOMEM, "functions and zones");
        r = trace_walk_init(&l->walk, trace, filter, &sink);
        if (r == 0)
                r = loaded_trace_walk(trace, &l->walk, err);
        if (r == 0 && lost_zones_find(&l->run->lost, &l->walk) < 0)
                r = error_set(err, -ENOMEM, "no memory for counts of programs");
        l->run->has_switches = l->walk.n_switches > 0;
        trace_walk_deinit(&l->walk);
        return r;
}

int diff_run_load(struct diff_run *run, struct diff_names *names, struct loaded_trace *trace,
                  const struct diff_run_request *request, struct error *err)
{
        struct loading l = {
                .run = run,
                .names = names,
                .dictionary = trace->dictionary,
                .unit = request->unit,
        };
        int r;

        *run = (struct diff_run){ .sums = NULL };
        r = diff_load_choose_event(run, trace, request, err);
        if (r < 0)
                return r;
        run->duration_ns = find_duration(trace, request->filter);
        r = walk_events(&l, trace, request->filter, err);
        diff_run_finish(run);
        free(l.function_keys);
        free(l.zone_keys);
        free(l.is_unit);
        function_table_deinit(&l.functions);
        return r;
}
