/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_calls.h"
#include "analyze/diff/diff_devices.h"
#include "analyze/diff/diff_run.h"
#include "format/trace_dictionary.h"

#include "analyze/samples/function_table.h"
#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/saturating.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* If a larger share of the switches was lost, zones are not judged by their time on a CPU. */
#define LOST_SWITCHES_MAX 0.001
/* Each switch belongs to one wait, so waits lose the same share; but waits vary by more than that. */
#define LOST_WAITS_MAX 0.05

/* One pass through one trace. */
struct loading {
        struct diff_run *run;
        struct diff_names *names;
        const struct trace_dictionary *dictionary;
        const struct zone_pattern *unit;
        struct function_table functions;
        struct trace_walk walk;
        struct diff_calls calls;
        uint32_t *function_keys; /* heap; by label, 0 = not asked for yet */
        uint32_t *caller_names;  /* heap; the same */
        uint32_t *zone_keys;     /* heap; by location */
        uint64_t from_ns;        /* of what is compared; it lasts run->duration_ns */
        bool *is_unit;           /* heap; by location */
        struct sample_sum sum;   /* of the samples as they are */
        double *scales;          /* heap; by thread - 1; NULL = no samples are known to be lost */
        struct python_stacks python;
};

static uint32_t label_of(const struct loading *l, uint64_t stack)
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

/*
 * The caller of the innermost function; the innermost one may be inlined into it, in the same frame.  0 =
 * none.
 */
static uint32_t caller_label_of(const struct loading *l, const struct diff_run *run, uint64_t stack)
{
        const struct label_groups *groups = &l->functions.frames;
        const struct trace_stack *row;

        if (stack == 0)
                return 0;
        row = trace_dictionary_row(l->dictionary, TRACE_TABLE_STACKS, (uint32_t)stack);
        if (groups->first[row->frame] + 1 < groups->first[row->frame + 1])
                return groups->labels[groups->first[row->frame] + 1];
        if (row->parent == 0)
                return 0;
        return label_of(l,
                        run == l->run->folded ? python_stacks_shown(&l->python, row->parent) : row->parent);
}

/* A caller whose name finds no room counts as unknown. */
static int add_caller(struct loading *l, struct diff_run *run, uint32_t key, uint64_t stack, double weight)
{
        uint32_t label = caller_label_of(l, run, stack), *name = &l->caller_names[label];
        int r = 0;

        if (label != 0 && *name == 0)
                r = diff_names_add_name(l->names, l->dictionary, function_table_get(&l->functions, label),
                                        function_table_symbol(&l->functions, l->dictionary, label), name);
        if (r == 0 || r == -EOVERFLOW)
                diff_run_add_caller(run, key, label != 0 ? *name : 0, weight);
        return r == -EOVERFLOW ? 0 : r;
}

/* If there are too many names, counts the loss. */
static int take_key(struct diff_run *run, int r, uint32_t *key)
{
        if (r != -EOVERFLOW)
                return r;
        run->n_unnamed++;
        *key = 0;
        return 0;
}

/* Samples of a thread also stand for those that it lost. */
static double scale_of(const struct loading *l, const struct walked_thread *thread)
{
        return l->scales ? l->scales[thread->id - 1] : 1;
}

/* The number of the part of the recording that contains a time. */
static uint32_t block_of(const struct loading *l, uint64_t time_ns)
{
        uint64_t block_ns = l->run->duration_ns / DIFF_RUN_BLOCKS + 1;
        uint64_t block = time_ns > l->from_ns ? (time_ns - l->from_ns) / block_ns : 0;

        return block < DIFF_RUN_BLOCKS ? (uint32_t)block : DIFF_RUN_BLOCKS - 1;
}

/* Adds a sample to the innermost function of @stack, in the trace's run or in the folded one. */
static int add_to_function(struct loading *l, struct diff_run *run, const struct trace_event *event,
                           uint64_t stack, double weight, double added)
{
        uint32_t label = label_of(l, stack), *key = &l->function_keys[label];
        int r = 0;

        if (*key == 0) {
                r = diff_names_add_function(l->names, l->dictionary, function_table_get(&l->functions, label),
                                            function_table_symbol(&l->functions, l->dictionary, label), key);
                r = take_key(run, r, key);
        }
        if (r == 0 && *key != 0)
                r = diff_run_add_sample(run, *key, weight, added);
        if (r == 0)
                diff_run_add_block(run, *key, block_of(l, event->time_ns));
        return r == 0 && *key != 0 ? add_caller(l, run, *key, stack, weight) : r;
}

static int result(int r, struct error *err)
{
        return r < 0 ? error_set(err, r, "sums of waits and system calls") : 0;
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct loading *l = context;

        (void)thread;
        return result(diff_calls_take_wait(&l->calls, wait), err);
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct loading *l = context;
        uint64_t stack = event->sample.stack;
        double weight, added;
        int r;

        if (event->sample.event != l->run->event)
                return result(diff_calls_take_sample(&l->calls, event), err);
        weight = event->sample.weight != 0 ? (double)event->sample.weight : 1;
        added = weight * (scale_of(l, thread) - 1);
        sample_sum_add(&l->sum, &(struct sample_sum){ .n_samples = 1, .weight = (uint64_t)weight });
        l->run->n_samples++;
        l->run->weight += weight + added;
        l->run->added += added;
        r = add_to_function(l, l->run, event, stack, weight + added, added);
        if (r == 0 && l->run->folded) {
                python_stacks_add(&l->python, l->dictionary, (uint32_t)stack, (uint64_t)weight,
                                  &l->run->parts);
                r = add_to_function(l, l->run->folded, event,
                                    python_stacks_shown(&l->python, (uint32_t)stack), weight + added, added);
        }
        return r < 0 ? error_set(err, r, "sums of functions") : 0;
}

static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
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
                r = take_key(l->run, r, key);
                if (r < 0)
                        return error_set(err, r, "names of zones");
                l->is_unit[zone->location] = l->unit &&
                                             zone_pattern_names(l->unit, l->dictionary, zone->location);
        }
        if (*key == 0 && l->run->folded)
                l->run->folded->n_unnamed++;
        l->run->n_zones++;
        l->run->n_units += l->is_unit[zone->location];
        if (*key == 0)
                return 0;
        r = diff_run_add_zone(l->run, *key, (double)zone->on_cpu_ns, (double)(zone->end_ns - zone->begin_ns),
                              (double)zone->self_ns);
        return r < 0 ? error_set(err, r, "sums of zones") : 0;
}

/* The state of the first pass, if no event was chosen: the number of samples of each event. */
struct event_counts {
        uint64_t *n_samples; /* heap; by event */
};

static bool is_read_with_leader(const struct trace_dictionary *d, uint32_t event)
{
        const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, event);

        return row->mode == TRACE_SAMPLE_MODE_WITH_LEADER || row->mode == TRACE_SAMPLE_MODE_COUNTED;
}

static int count_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                        struct error *err)
{
        struct event_counts *counts = context;

        (void)thread;
        (void)err;
        counts->n_samples[event->sample.event]++;
        return 0;
}

static int count_events(struct loaded_trace *trace, const struct trace_filter *filter,
                        struct event_counts *counts, struct error *err)
{
        struct trace_sink sink = { .context = counts, .sample = count_sample, .may_skip = true };
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
                r = counts.n_samples ? count_events(trace, filter, &counts, err) : -ENOMEM;
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

static uint32_t find_event(const struct loaded_trace *trace, const char *name)
{
        uint32_t n = trace_dictionary_count(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_sample_event *row = trace_dictionary_row(trace->dictionary,
                                                                            TRACE_TABLE_SAMPLE_EVENTS, i);

                if (text_view_is(trace_dictionary_text(trace->dictionary, row->name), name))
                        return i;
        }
        return 0;
}

/* Chooses the event whose samples count, and finds whether their weight is a time. */
static int choose_event(struct diff_run *run, struct loaded_trace *trace,
                        const struct diff_run_request *request, struct error *err)
{
        const struct trace_sample_event *row;
        struct text_view unit;
        int r = 0;

        if (request->event)
                run->event = find_event(trace, request->event);
        else
                r = find_busiest_event(trace, request->filter, &run->event, err);

        if (r < 0 || run->event == 0)
                return r;
        row = trace_dictionary_row(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, run->event);
        unit = trace_dictionary_text(trace->dictionary, row->unit);
        run->weight_is_ns = text_view_is(unit, "ns");
        return 0;
}

static uint64_t begin(const struct loaded_trace *trace, const struct trace_filter *filter)
{
        return filter && filter->from_ns > trace->start_ns ? filter->from_ns : trace->start_ns;
}

static uint64_t find_duration(const struct loaded_trace *trace, const struct trace_filter *filter)
{
        uint64_t from_ns = begin(trace, filter), to_ns = trace->end_ns;

        if (filter && filter->to_ns < to_ns)
                to_ns = filter->to_ns;
        return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The times of zones on a CPU are only as good as the switches are complete. */
static double share_of_lost_switches(const struct trace_walk *walk)
{
        const struct trace_dictionary *d = walk->dictionary;
        uint64_t n_lost = trace_dictionary_loss_count(d, TRACE_LOSS_SWITCHES_LOST);

        if (trace_dictionary_has_notice(d, TRACE_NOTICE_WAITING_BY_PERF))
                n_lost = saturating_add(n_lost, unsampled_time_lost_records(d));
        return (double)n_lost / ((double)walk->n_switches + 1);
}

/*
 * The first pass, if samples were lost: finds how long each thread ran for each nanosecond that its samples
 * stand for.
 */
struct thread_weights {
        double *weights; /* heap; by thread - 1 */
        uint32_t event;
};

static int weigh_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                        struct error *err)
{
        struct thread_weights *w = context;

        (void)err;
        if (event->sample.event == w->event)
                w->weights[thread->id - 1] += (double)event->sample.weight;
        return 0;
}

static void find_scales(struct loading *l, const struct trace_walk *walk)
{
        for (uint32_t i = 0; i < walk->n_threads; i++) {
                double ran_ns = (double)trace_walk_ran_ns(walk, &walk->threads[i]), *scale = &l->scales[i];

                *scale = *scale > 0 && ran_ns > *scale ? ran_ns / *scale : 1;
        }
}

/* Time that is not sampled at all belongs to no function that has samples. */
static bool can_be_scaled(const struct loading *l, const struct unsampled_time *u)
{
        return l->run->weight_is_ns && u->n_lost != 0 && u->on_cpu_ns != 0 && !u->is_kernel_left_out &&
               !u->is_user_left_out;
}

static int weigh_threads(struct loading *l, struct loaded_trace *trace, const struct trace_filter *filter,
                         struct error *err)
{
        struct thread_weights w = { .weights = l->scales, .event = l->run->event };
        struct trace_sink sink = { .context = &w, .sample = weigh_sample, .may_skip = true };
        const struct sample_sum none = { .n_samples = 0 };
        struct unsampled_time unsampled;
        struct trace_walk walk;
        int r = trace_walk_init(&walk, trace, filter, &sink);

        if (r == 0)
                r = loaded_trace_walk(trace, &walk, err);
        if (r == 0) {
                unsampled_time_take(&unsampled, &walk, 0);
                unsampled_time_judge(&unsampled, trace->dictionary, l->run->event, &none);
                find_scales(l, &walk);
                if (!can_be_scaled(l, &unsampled)) {
                        free(l->scales);
                        l->scales = NULL;
                }
        }
        trace_walk_deinit(&walk);
        return r;
}

static int scale_threads(struct loading *l, struct loaded_trace *trace, const struct trace_filter *filter,
                         struct error *err)
{
        uint32_t n_threads = trace_dictionary_count(trace->dictionary, TRACE_TABLE_THREADS);

        if (!l->run->weight_is_ns || unsampled_time_lost_records(trace->dictionary) == 0)
                return 0;
        l->scales = calloc((size_t)n_threads + 1, sizeof(*l->scales));
        return l->scales ? weigh_threads(l, trace, filter, err)
                         : error_set(err, -ENOMEM, "no memory for threads");
}

/*
 * A trace with Python functions has two sets of sums; the one to show is chosen when all traces are known.
 */
static int prepare_python(struct loading *l, bool shows_native)
{
        int r = shows_native ? 0 : python_stacks_init(&l->python, l->dictionary);

        if (r < 0 || !l->python.innermost)
                return r;
        l->run->folded = calloc(1, sizeof(*l->run->folded));
        return l->run->folded ? 0 : -ENOMEM;
}

/* The sums of system calls cover the whole recording, so they are not compared if there is a filter. */
static int begin_calls(struct loading *l, const struct trace_filter *filter, struct error *err)
{
        const struct call_finder finder = { l->dictionary, &l->functions, &l->python, false };
        int r = 0;

        diff_calls_init(&l->calls, l->run, l->names, &finder);
        l->calls.from_ns = l->from_ns;
        if (filter && !filter->is_empty)
                l->run->has_calls = false;
        if (l->run->has_calls)
                r = diff_calls_add_counted(&l->calls);
        return result(r, err);
}

static int walk_events(struct loading *l, struct loaded_trace *trace, const struct trace_filter *filter,
                       struct error *err)
{
        struct trace_sink sink = {
                .context = l, .sample = take_sample, .zone = take_zone, .wait = take_wait, .may_skip = true
        };
        uint32_t n_locations = trace_dictionary_count(trace->dictionary, TRACE_TABLE_LOCATIONS);
        int r = function_table_init(&l->functions, trace->dictionary);

        if (r < 0)
                return error_set(err, r, "functions");
        l->function_keys = calloc((size_t)l->functions.frames.n_labels + 1, sizeof(*l->function_keys));
        l->zone_keys = calloc((size_t)n_locations + 1, sizeof(*l->zone_keys));
        l->is_unit = calloc((size_t)n_locations + 1, sizeof(*l->is_unit));
        l->caller_names = calloc((size_t)l->functions.frames.n_labels + 1, sizeof(*l->caller_names));
        if (!l->function_keys || !l->caller_names || !l->zone_keys || !l->is_unit)
                return error_set(err, -ENOMEM, "functions and zones");
        r = begin_calls(l, filter, err);
        if (r < 0)
                return r;
        r = trace_walk_init(&l->walk, trace, filter, &sink);
        if (r == 0)
                r = loaded_trace_walk(trace, &l->walk, err);
        if (r == 0)
                r = result(diff_calls_finish(&l->calls), err);
        if (r == 0 && lost_zones_find(&l->run->lost, &l->walk) < 0)
                r = error_set(err, -ENOMEM, "no memory for counts of programs");
        l->run->has_switches = l->walk.n_switches > 0;
        l->run->lost_switches = share_of_lost_switches(&l->walk) > LOST_SWITCHES_MAX;
        l->run->lost_waits = share_of_lost_switches(&l->walk) > LOST_WAITS_MAX;
        if (r == 0) {
                unsampled_time_take(&l->run->unsampled, &l->walk, 0);
                unsampled_time_judge(&l->run->unsampled, l->dictionary, l->run->event, &l->sum);
                if (l->run->weight_is_ns && l->run->unsampled.on_cpu_ns != 0 && !diff_run_has_time(l->run))
                        l->run->lost_switches = true;
        }
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
        r = choose_event(run, trace, request, err);
        if (r < 0)
                return r;
        run->duration_ns = find_duration(trace, request->filter);
        l.from_ns = begin(trace, request->filter);
        r = scale_threads(&l, trace, request->filter, err);
        if (r == 0 && prepare_python(&l, request->shows_native) < 0)
                r = error_set(err, -ENOMEM, "no memory for Python functions");
        if (r == 0)
                r = walk_events(&l, trace, request->filter, err);
        if (r == 0)
                r = diff_devices_take(run, names, trace, request->filter, err);
        run->is_cut = trace_ending_is_early(trace->ending);
        diff_run_finish(run);
        free(l.function_keys);
        free(l.caller_names);
        free(l.zone_keys);
        free(l.is_unit);
        free(l.scales);
        python_stacks_deinit(&l.python);
        diff_calls_deinit(&l.calls);
        function_table_deinit(&l.functions);
        return r;
}
