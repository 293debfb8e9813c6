/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"

#include "analyze/report/report_parts.h"
#include "analyze/report/report_samples.h"
#include "analyze/report/report_tables.h"
#include "analyze/trace/clock_step.h"
#include "analyze/trace/meta_value.h"
#include "analyze/trace/process_works.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/zones/trace_totals.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Reads all events into the totals. */
static int read_events(struct report *report, struct error *err)
{
        struct trace_totals *totals = &report->totals;
        int r = trace_totals_start(totals, &report->trace, &report->filter);

        if (r < 0)
                return error_set(err, r, "making the report: out of memory");
        r = loaded_trace_walk(&report->trace, &totals->walk, err);
        if (r < 0)
                return r;
        report->ending = report->trace.ending;
        report->ending_words = report->trace.ending_words;
        return 0;
}

/*
 * Whether a frame says where the kernel's code is in memory, which the kernel hides from most users.  On
 * machines of 64 bits its addresses are the upper half.
 */
static bool has_kernel_addresses(const struct trace_dictionary *d)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_FRAMES);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_frame *frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES, i);
                const struct trace_module *module;

                if (frame->offset <= INT64_MAX)
                        continue;
                module = frame->module != 0 ? trace_dictionary_row(d, TRACE_TABLE_MODULES, frame->module)
                                            : NULL;
                if (!module || module->kind == TRACE_MODULE_KERNEL || module->kind == TRACE_MODULE_ANONYMOUS)
                        return true;
        }
        return false;
}

static void fill_recording(struct report *report, const struct trace_dictionary *d,
                           const struct trace_totals *totals)
{
        uint64_t start_ns = meta_value_number(d, "start_raw_ns");
        uint64_t end_ns = meta_value_number(d, "end_raw_ns");
        struct report_recording *recording = &report->recording;

        /* Events come until the recorder has closed their sources, which takes a while on a busy machine. */
        if (end_ns != 0 && totals->walk.any && totals->walk.last_ns > end_ns)
                end_ns = totals->walk.last_ns;

        *recording = (struct report_recording){
                .command = meta_value_find(d, "command"),
                .hostname = meta_value_find(d, "hostname"),
                .kernel = meta_value_find(d, "kernel"),
                .machine = meta_value_find(d, "machine"),
                .cpus = meta_value_find(d, "cpus"),
                .hyprof_version = meta_value_find(d, "hyprof_version"),
                .environment = meta_value_find(d, "environment"),
                .exit_status = meta_value_find(d, "exit_status"),
                .fallback = meta_value_find(d, "sample_event_fallback"),
                .unwind = meta_value_find(d, "unwind"),
                .scope = meta_value_find(d, "scope"),
                .stack_copy_bytes = meta_value_number(d, "stack_copy_bytes"),
                .n_descriptors = meta_value_number(d, "descriptors"),
                .pinned_bytes = meta_value_number(d, "pinned_bytes"),
                .recorder_cpu_ns = meta_value_number(d, "recorder_cpu_ns"),
                .start_realtime_ns = meta_value_number(d, "start_realtime_ns"),
                .has_kernel_addresses = has_kernel_addresses(d),
        };
        if (start_ns != 0 && end_ns > start_ns)
                recording->duration_ns = end_ns - start_ns;
        else if (totals->walk.any)
                recording->duration_ns = totals->walk.last_ns - totals->walk.first_ns;
        recording->range_ns = recording->duration_ns;
        if (!totals->walk.filter)
                return;
        recording->range = trace_filter_range(totals->walk.filter, &report->trace);
        if (recording->range.is_part)
                recording->range_ns = recording->range.to_ns - recording->range.from_ns;
}

static int fill_events(struct report *report, const struct trace_dictionary *d,
                       const struct trace_totals *totals)
{
        report->n_events = trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS);
        report->events = calloc((size_t)report->n_events + 1, sizeof(*report->events));
        if (!report->events)
                return -ENOMEM;
        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS,
                                                                            i + 1);

                report->events[i] = (struct report_event){
                        .event = i + 1,
                        .name = trace_dictionary_text(d, row->name),
                        .unit = trace_dictionary_text(d, row->unit),
                        .rate = row->rate,
                        .mode = row->mode,
                        .leader = row->leader,
                        .is_tracepoint = report_samples_is_tracepoint(row),
                };
        }
        for (uint32_t i = 0; i < sample_stats_count(&totals->samples); i++) {
                uint32_t event = sample_stats_key(&totals->samples, i)->event;

                sample_sum_add(&report->events[event - 1].sum, &totals->samples.sums[i]);
        }
        return 0;
}

static int choose_event(struct report *report, const char *name, struct error *err)
{
        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];

                if (name && !text_view_is(event->name, name))
                        continue;
                if (!name && (event->sum.n_samples == 0 || event->mode == TRACE_SAMPLE_MODE_WITH_LEADER))
                        continue;
                if (!report->event || event->sum.n_samples > report->event->sum.n_samples)
                        report->event = event;
        }
        if (name && !report->event)
                return trace_filter_no_event(report->trace.dictionary, name, err);
        if (name && report->event->sum.n_samples == 0)
                return error_set(err, -ENOENT, "no samples of '%s' in %s", name,
                                 report->filter.is_empty ? "this trace" : "what passes the filters");
        return 0;
}

static int compare_threads(const void *a, const void *b)
{
        const struct report_thread *x = a;
        const struct report_thread *y = b;
        int order = report_compare(y->on_cpu_ns, x->on_cpu_ns);

        if (order == 0)
                order = report_compare(y->n_samples, x->n_samples);
        if (order == 0)
                order = report_compare(y->n_zones, x->n_zones);
        return order != 0 ? order : report_compare(x->tid, y->tid);
}

static uint64_t first_in_range_ns(const struct trace_filter *filter, const struct thread_timeline *timeline)
{
        return filter && timeline->first_ns < filter->from_ns ? filter->from_ns : timeline->first_ns;
}

static uint64_t last_in_range_ns(const struct trace_filter *filter, const struct thread_timeline *timeline)
{
        return filter && timeline->last_ns > filter->to_ns ? filter->to_ns : timeline->last_ns;
}

/* Whether the filter wants the thread, and the thread lived in the range of time. */
static bool is_thread_wanted(const struct trace_totals *totals, const struct walked_thread *thread)
{
        return thread->timeline.started && trace_totals_wants_thread(totals, thread->id);
}

/* Counts the processes of the shown threads; a thread of which only the number is known is not shown. */
static int count_processes(struct report *report, const struct trace_dictionary *d)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_PROCESSES);
        bool *seen;

        seen = calloc((size_t)n + 1, sizeof(*seen));
        if (!seen)
                return -ENOMEM;
        report->n_processes = 0;
        for (uint32_t i = 0; i < report->n_threads; i++) {
                const struct trace_thread *row = trace_dictionary_row(d, TRACE_TABLE_THREADS,
                                                                      report->threads[i].thread);

                report->n_processes += !seen[row->process];
                seen[row->process] = true;
        }
        free(seen);
        return 0;
}

static uint64_t sum_suspended(const struct report *report)
{
        const struct zone_instances *all = &report->totals.instances;
        uint64_t sum_ns = 0;

        for (uint32_t i = 0; i < report->n_threads; i++) {
                const struct report_thread *thread = &report->threads[i];
                const struct zone_instance_sum *sum;

                if (!thread->is_fiber || thread->thread > all->n_threads)
                        continue;
                sum = &all->threads[thread->thread - 1];
                if (sum->total_ns > sum->on_cpu_ns)
                        sum_ns += sum->total_ns - sum->on_cpu_ns;
        }
        return sum_ns;
}

static int fill_threads(struct report *report, const struct trace_dictionary *d,
                        const struct trace_totals *totals)
{
        const struct trace_walk *walk = &totals->walk;
        uint32_t *works; /* heap */

        report->threads = calloc((size_t)walk->n_threads + 1, sizeof(*report->threads));
        if (!report->threads || process_works_read(d, &works) < 0)
                return -ENOMEM;
        for (uint32_t i = 0; i < walk->n_threads; i++) {
                const struct walked_thread *thread = &walk->threads[i];
                const struct thread_timeline *timeline = &thread->timeline;
                const struct trace_thread *row = trace_dictionary_row(d, TRACE_TABLE_THREADS, i + 1);
                const struct trace_process *process;

                if (!is_thread_wanted(totals, thread))
                        continue;
                process = trace_dictionary_row(d, TRACE_TABLE_PROCESSES, row->process);
                report->n_zone_events += thread->n_zones;
                report->n_kernel_threads += !timeline->is_fiber;
                report->threads[report->n_threads++] = (struct report_thread){
                        .thread = i + 1,
                        .pid = process->pid,
                        .tid = row->tid,
                        .is_fiber = timeline->is_fiber,
                        .is_cpu_unknown = timeline->is_imported,
                        .name = trace_dictionary_text(d, timeline->name),
                        .works_on = trace_dictionary_text(d, works[row->process]),
                        .first_ns = first_in_range_ns(walk->filter, timeline),
                        .last_ns = last_in_range_ns(walk->filter, timeline),
                        .on_cpu_ns = report->on_cpu_known ? trace_walk_ran_ns(walk, thread) : 0,
                        .n_zones = thread->n_zones,
                        .n_samples = thread->n_samples,
                };
        }
        free(works);
        qsort(report->threads, report->n_threads, sizeof(*report->threads), compare_threads);
        report->suspended_ns = report->on_cpu_known ? sum_suspended(report) : 0;
        return count_processes(report, d);
}

static struct report_zone describe_zone(const struct trace_dictionary *d, const struct zone_stat *stat,
                                        uint32_t location)
{
        const struct trace_location *row = trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, location);
        const struct histogram *durations = &stat->durations_ns;
        uint64_t n = durations->n_values;

        return (struct report_zone){
                .location = location,
                .name = trace_dictionary_text(d, row->name),
                .function = trace_dictionary_text(d, row->function),
                .file = trace_dictionary_text(d, row->file),
                .line = row->line,
                .n_closed = n,
                .n_unclosed = stat->n_unclosed,
                .total_ns = stat->total_ns,
                .self_ns = stat->self_ns,
                .on_cpu_ns = stat->on_cpu_ns,
                .is_cpu_unknown = stat->is_cpu_unknown,
                .waiting_ns = stat->total_ns > stat->on_cpu_ns ? stat->total_ns - stat->on_cpu_ns : 0,
                .min_ns = durations->smallest,
                .mean_ns = n != 0 ? durations->sum / n : 0,
                .max_ns = durations->largest,
                .p50_ns = histogram_quantile(durations, 0.5),
                .p90_ns = histogram_quantile(durations, 0.9),
                .p99_ns = histogram_quantile(durations, 0.99),
                .p999_ns = histogram_quantile(durations, 0.999),
        };
}

static int compare_zones(const void *a, const void *b)
{
        const struct report_zone *x = a;
        const struct report_zone *y = b;
        int order = report_compare(y->total_ns, x->total_ns);

        return order != 0 ? order : report_compare(x->location, y->location);
}

static int fill_zones(struct report *report, const struct trace_dictionary *d,
                      const struct trace_totals *totals, const struct report_samples *samples)
{
        struct zone_cost cost;

        report->zones = calloc((size_t)totals->zones.n_zones + 1, sizeof(*report->zones));
        if (!report->zones)
                return -ENOMEM;
        for (uint32_t location = 1; location <= totals->zones.n_zones; location++) {
                const struct zone_stat *stat = &totals->zones.zones[location - 1];
                struct report_zone zone = describe_zone(d, stat, location);

                if (zone_cost_find(&cost, stat) < 0)
                        return -ENOMEM;
                if (cost.is_known && cost.share >= ZONE_COST_SHARE_MIN)
                        zone.mean_without_samples_ns = cost.mean_ns;
                zone.samples = report_samples_in_zone(samples, location);
                report->n_unclosed += zone.n_unclosed;
                /* A zone that was open before the recording began shows in samples only. */
                if (zone.n_closed != 0 || zone.n_unclosed != 0 || zone.samples.n_samples != 0)
                        report->zones[report->n_zones++] = zone;
        }
        qsort(report->zones, report->n_zones, sizeof(*report->zones), compare_zones);
        return 0;
}

/* Zones without samples have nothing to list, and do not use up the number of zones wanted. */
static int fill_functions_inside(struct report *report, struct report_samples *samples,
                                 const struct report_options *options)
{
        uint32_t n_wanted = options->n_zones_inside != 0 ? options->n_zones_inside : UINT32_MAX;

        for (uint32_t i = 0; i < report->n_zones && n_wanted > 0; i++) {
                struct report_zone *zone = &report->zones[i];
                int r;

                if (zone->samples.n_samples == 0)
                        continue;
                r = report_samples_functions_in_zone(samples, zone->location, options->n_functions_inside,
                                                     &zone->functions);
                if (r < 0)
                        return r;
                zone->has_functions = true;
                n_wanted--;
        }
        return 0;
}

static bool is_about_python(const struct report_samples *samples, const struct report_options *options)
{
        return !options->shows_native && python_parts_are_most(&samples->parts) &&
               !(options->function && options->is_native(samples, options->function));
}

static int fill_samples_and_zones(struct report *report, const struct trace_dictionary *d,
                                  const struct trace_totals *totals, const struct report_options *options)
{
        struct report_samples *samples = &report->samples;
        int r = report_samples_init(samples, &totals->samples, d, report->event ? report->event->event : 0);

        if (r < 0)
                return r;
        if (is_about_python(samples, options))
                report_samples_fold(samples);
        r = report_samples_functions(samples, &report->functions);
        if (r == 0 && (options->wants_lines || samples->is_folded))
                r = report_lines_fill(&report->lines, report);
        if (r == 0)
                r = fill_zones(report, d, totals, samples);
        if (r == 0)
                r = zone_cost_find(&report->cost, &totals->instances.stat);
        if (r == 0)
                r = fill_functions_inside(report, samples, options);
        return r == 0 ? report_counters_fill(report, d, samples) : r;
}

/* ------------------------------------------------------------------ counts */

static void count_sources(struct report_also *also, const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_ATTACHMENTS); i++) {
                const struct trace_attachment *row = trace_dictionary_row(d, TRACE_TABLE_ATTACHMENTS, i);

                if (row->kind != TRACE_ATTACHMENT_SOURCE_TEXT)
                        continue;
                also->n_source_texts++;
                also->n_source_bytes += row->size_bytes;
        }
}

static void count_code_regions(struct report_also *also, const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_CODE_REGIONS); i++) {
                const struct trace_code_region *row = trace_dictionary_row(d, TRACE_TABLE_CODE_REGIONS, i);

                also->n_code_regions += row->gone == 0;
        }
}

static void count_fibers(struct report_also *also, const struct trace_totals *totals,
                         const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_THREADS); i++) {
                const struct trace_thread *row = trace_dictionary_row(d, TRACE_TABLE_THREADS, i);

                also->n_fibers += row->kind == TRACE_THREAD_FIBER && trace_totals_wants_thread(totals, i);
        }
}

static struct report_also count_rest(const struct trace_totals *totals,
                                     const struct trace_dictionary *dictionary)
{
        const uint64_t *n = totals->walk.n_events;
        bool is_part = totals->walk.filter != NULL;
        struct report_also also = {
                .n_messages = n[TRACE_OP_MESSAGE] + n[TRACE_OP_MESSAGE_TEXT],
                .n_frame_marks = n[TRACE_OP_FRAME_MARK],
                .n_frame_begins = n[TRACE_OP_FRAME_BEGIN],
                .n_frame_ends = n[TRACE_OP_FRAME_END],
                .n_frame_names = totals->frame_names.n_ids,
                .n_plot_values = n[TRACE_OP_PLOT_I64] + n[TRACE_OP_PLOT_F64],
                .n_plots = totals->plot_names.n_ids,
                .n_allocations = n[TRACE_OP_MEMORY_ALLOC],
                .n_frees = n[TRACE_OP_MEMORY_FREE],
                .n_discards = n[TRACE_OP_MEMORY_DISCARD],
                .n_pools = totals->pool_names.n_ids,
                .n_locks = is_part ? totals->locks.n_ids
                                   : trace_dictionary_count(dictionary, TRACE_TABLE_LOCKS),
                .n_lock_waits = n[TRACE_OP_LOCK_WAIT],
                .n_lock_obtains = n[TRACE_OP_LOCK_OBTAIN],
                .n_fiber_enters = n[TRACE_OP_FIBER_ENTER],
                .n_devices = is_part ? totals->devices.n_ids
                                     : trace_dictionary_count(dictionary, TRACE_TABLE_DEVICES),
                .n_device_zones = n[TRACE_OP_DEVICE_ZONE_BEGIN],
                .n_device_spans = n[TRACE_OP_DEVICE_SPAN],
                .n_device_values = n[TRACE_OP_DEVICE_VALUE],
                .n_device_instants = n[TRACE_OP_DEVICE_INSTANT],
                .n_zone_texts = n[TRACE_OP_ZONE_TEXT],
                .n_zone_names = n[TRACE_OP_ZONE_NAME],
                .n_zone_values = n[TRACE_OP_ZONE_VALUE],
                .n_zone_colors = n[TRACE_OP_ZONE_COLOR],
                .n_zone_keys = n[TRACE_OP_ZONE_KEY],
                .n_flow_events = n[TRACE_OP_FLOW],
                .n_switches = totals->n_switches,
        };

        count_fibers(&also, totals, dictionary);
        count_sources(&also, dictionary);
        count_code_regions(&also, dictionary);
        return also;
}

/* @n_stacks: as in struct trace_totals. */
static struct report_callstacks count_callstacks(const uint64_t n_stacks[TRACE_STACK_STATE_COUNT + 1])
{
        /* All other states are from newer versions, and unknown to this one. */
        static const bool is_known[TRACE_STACK_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = true,
                TRACE_STACK_STATES(X)
#undef X
                        [TRACE_STACK_STATE_COUNT] = true,
        };
        struct report_callstacks c = { .n_samples = 0 };

        for (uint32_t state = TRACE_STACK_COMPLETE; state <= TRACE_STACK_STATE_COUNT; state++) {
                if (!is_known[state])
                        continue;
                c.by_state[state] = n_stacks[state];
                c.n_samples += n_stacks[state];
                if (state >= TRACE_STACK_TRUNCATED)
                        c.n_truncated += n_stacks[state];
        }
        c.n_stitched = n_stacks[TRACE_STACK_STITCHED];
        c.n_approximate = n_stacks[TRACE_STACK_APPROXIMATE];
        c.n_complete = n_stacks[TRACE_STACK_COMPLETE] + c.n_stitched + c.n_approximate;
        c.n_frame_pointers = n_stacks[TRACE_STACK_FRAME_POINTERS];
        return c;
}

/* ------------------------------------------------------------------ the whole */

static int fill(struct report *report, const struct report_options *options, struct error *err)
{
        const struct trace_dictionary *d = trace_reader_dictionary(report->reader);
        struct trace_totals *totals = &report->totals;
        const struct sample_sum none = { .n_samples = 0 };
        int r = trace_totals_finish(totals, meta_value_number(d, "end_raw_ns"));

        if (r < 0)
                goto fail;
        report->also = count_rest(totals, d);
        report->callstacks = count_callstacks(totals->n_stacks);
        report->on_cpu_known = totals->walk.n_switches != 0;
        fill_recording(report, d, totals);
        report->recording.filter = options->filter_words;
        r = fill_events(report, d, totals);
        if (r < 0)
                goto fail;
        r = choose_event(report, options->event, err);
        if (r < 0)
                return r;
        report->clock_step_ns = clock_step_ns(d);
        unsampled_time_take(&report->unsampled, &totals->walk, 0);
        unsampled_time_judge(&report->unsampled, d, report->event ? report->event->event : 0,
                             report->event ? &report->event->sum : &none);
        r = lost_zones_find(&report->lost, &totals->walk);
        if (r == 0)
                r = fill_threads(report, d, totals);
        if (r == 0)
                r = report_renamed_fill(&report->renamed, report);
        if (r < 0)
                goto fail;
        r = fill_samples_and_zones(report, d, totals, options);
        if (r < 0)
                goto fail;
        if (options->wants_waits)
                r = report_waits_fill(&report->waits, totals, d, &report->samples.python,
                                      options->shows_native       ? REPORT_WAITS_NATIVE
                                      : report->samples.is_folded ? REPORT_WAITS_PYTHON
                                                                  : REPORT_WAITS_AS_MOST);
        if (options->wants_waits && r == 0)
                r = kernel_calls_fill(&report->kernel_calls, report);
        if (r == 0 && options->wants_syscalls)
                r = report_syscalls_fill(&report->syscalls, report);
        if (r == 0 && options->wants_cpus)
                r = report_cpus_fill(&report->cpus, totals, d);
        if (r < 0)
                goto fail;
        r = report_gaps_find(report, totals);
        if (r == 0)
                return 0;
fail:
        return error_set(err, r, "making the report: out of memory");
}

int report_load(const char *path, const struct report_options *options, struct report **ret_report,
                struct error *err)
{
        static const struct report_options defaults = { .event = NULL };
        struct report *report = calloc(1, sizeof(*report));
        int r;

        if (!report)
                return error_set(err, -ENOMEM, "making the report: out of memory");
        if (!options)
                options = &defaults;
        report->path = path;
        trace_totals_init(&report->totals);
        report->filter.is_empty = true;
        report->totals.wants_waits = options->wants_waits;
        report->totals.wants_cpus = options->wants_cpus;
        report->totals.wants_ready = options->wants_ready;
        report->totals.n_slowest = options->n_slowest;
        report->totals.group_by = options->group_by;
        report->totals.has_durations = options->longer_than_ns != 0 || options->shorter_than_ns != 0;
        report->totals.longer_than_ns = options->longer_than_ns;
        report->totals.shorter_than_ns = options->shorter_than_ns != 0 ? options->shorter_than_ns
                                                                       : UINT64_MAX;
        r = loaded_trace_open(&report->trace, path, err);
        if (r < 0)
                goto fail;
        report->reader = report->trace.reader;
        if (options->filter)
                r = trace_filter_init(&report->filter, options->filter, &report->trace, err);
        if (r < 0)
                goto fail;
        r = read_events(report, err);
        if (r < 0)
                goto fail;
        r = fill(report, options, err);
        if (r == 0 && options->wants_ready)
                r = report_owners_fill(&report->owners, &report->trace, &report->totals, err);
        if (r < 0)
                goto fail;
        *ret_report = report;
        return 0;
fail:
        report_free(report);
        return r;
}

void report_free(struct report *report)
{
        if (!report)
                return;
        for (uint32_t i = 0; i < report->n_zones; i++)
                free(report->zones[i].functions.rows);
        free(report->zones);
        free(report->threads);
        free(report->functions.rows);
        report_lines_deinit(&report->lines);
        free(report->events);
        report_counters_deinit(&report->counters);
        report_waits_deinit(&report->waits);
        report_cpus_deinit(&report->cpus);
        report_owners_deinit(&report->owners);
        report_renamed_deinit(&report->renamed);
        report_syscalls_deinit(&report->syscalls);
        report_gaps_deinit(&report->gaps);
        report_samples_deinit(&report->samples);
        trace_totals_deinit(&report->totals);
        trace_filter_deinit(&report->filter);
        loaded_trace_close(&report->trace);
        free(report);
}
