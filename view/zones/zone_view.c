/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/trace/zone_pattern.h"
#include "analyze/zones/zone_cost.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/histogram_rows.h"
#include "view/shared/python_columns.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/shared/tree_rows.h"
#include "view/text/text_number.h"
#include "view/zones/group_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#define WAKERS_SHOWN 3 /* for each place, if there is a limit */

/* ------------------------------------------------------------------ summary */

static void add_number(struct view_document *d, const char *key, const char *title, uint64_t ns, bool known)
{
        if (known)
                view_document_add_number(d, key, title, VIEW_DURATION, ns);
        else
                view_document_add_unknown(d, key, title, VIEW_DURATION);
}

static void add_times(struct view_document *d, const struct report *report)
{
        const struct zone_stat *stat = &report->totals.instances.stat;
        const struct histogram *h = &stat->durations_ns;
        uint64_t waiting_ns = stat->total_ns > stat->on_cpu_ns ? stat->total_ns - stat->on_cpu_ns : 0;
        bool closed = h->n_values != 0;

        view_document_add_number(d, "count", "count", VIEW_COUNT, h->n_values);
        report_heading_add_lost(d, &report->lost);
        view_document_add_number(d, "n_unclosed", "n_unclosed", VIEW_COUNT, stat->n_unclosed);
        view_document_add_number(d, "total_ns", "total", VIEW_DURATION, stat->total_ns);
        view_document_add_number(d, "self_ns", "self", VIEW_DURATION, stat->self_ns);
        add_number(d, "on_cpu_ns", "on-CPU", stat->on_cpu_ns, report->on_cpu_known);
        add_number(d, "waiting_ns", "waiting", waiting_ns, report->on_cpu_known);
        add_number(d, "preempted_ns", "preempted", report->waits.preempted.total_ns,
                   report->on_cpu_known && !report->totals.has_durations);
        add_number(d, "min_ns", "min", h->smallest, closed);
        add_number(d, "mean_ns", "mean", closed ? h->sum / h->n_values : 0, closed);
        add_number(d, "p50_ns", "p50", histogram_quantile(h, 0.5), closed);
        add_number(d, "p90_ns", "p90", histogram_quantile(h, 0.9), closed);
        add_number(d, "p99_ns", "p99", histogram_quantile(h, 0.99), closed);
        add_number(d, "p99_9_ns", "p99.9", histogram_quantile(h, 0.999), closed);
        add_number(d, "max_ns", "max", h->largest, closed);
}

/* The cost that sampling added to these times: the times above are as they were recorded. */
static void add_cost(struct view_document *d, const struct report *report)
{
        struct zone_cost cost;

        if (zone_cost_find(&cost, &report->totals.instances.stat) < 0)
                d->failed = true;
        add_number(d, "sample_cost_ns", "a sample costs", (uint64_t)cost.sample.cost_ns, cost.is_known);
        if (cost.is_known)
                view_document_add_real(d, "sample_cost_share", "samples' share", VIEW_SHARE, cost.share);
        else
                view_document_add_unknown(d, "sample_cost_share", "samples' share", VIEW_SHARE);
        add_number(d, "mean_without_samples_ns", "mean, without", cost.mean_ns, cost.is_known);
        add_number(d, "p50_without_samples_ns", "p50, without", cost.p50_ns, cost.is_known);
        add_number(d, "p90_without_samples_ns", "p90, without", cost.p90_ns, cost.is_known);
        add_number(d, "p99_without_samples_ns", "p99, without", cost.p99_ns, cost.is_known);
}

static void add_ratio(struct view_document *d, const char *key, const char *title, double ratio)
{
        if (ratio >= 0)
                view_document_add_real(d, key, title, VIEW_REAL, ratio);
        else
                view_document_add_unknown(d, key, title, VIEW_REAL);
}

static void add_ratios(struct view_document *d, const struct report *report)
{
        const struct report_counters *c = &report->counters;
        struct report_ratios ratios = { -1, -1, -1 };

        if (c->n_counters != 0)
                ratios = report_counters_ratios(c, c->all);
        add_ratio(d, "ipc", "IPC", ratios.instructions_per_cycle);
        add_ratio(d, "cache_misses_per_1000", "cache misses/1000", ratios.cache_misses);
        add_ratio(d, "branch_misses_per_1000", "branch misses/1000", ratios.branch_misses);
}

/* ------------------------------------------------------------------ counters */

static const struct view_column counter_columns[] = {
        { .key = "name", .title = "counter", .type = VIEW_STRING },
        { .key = "value", .title = "in all of them", .type = VIEW_COUNT },
        { .key = "per_zone", .title = "each", .type = VIEW_REAL },
};

static void add_counters(struct view_document *d, const struct report *report)
{
        const struct report_counters *c = &report->counters;
        uint64_t n = report->totals.instances.stat.durations_ns.n_values;
        struct view_table *t;

        if (c->n_counters == 0)
                return;
        t = view_document_add_table(d, "counters", "Counters inside", counter_columns,
                                    sizeof(counter_columns) / sizeof(counter_columns[0]));
        view_table_set_about(d, t, "read with the samples: counts up to the last sample inside");
        for (uint32_t i = 0; i < c->n_counters; i++) {
                view_table_put_string(d, t, c->counters[i].name);
                view_table_put_number(d, t, c->all[i]);
                if (n != 0)
                        view_table_put_real(d, t, (double)c->all[i] / (double)n);
                else
                        view_table_put_unknown(d, t);
        }
}

/* ------------------------------------------------------------------ waits */

static const struct view_column wait_columns[] = {
        { .key = "total_ns", .title = "total", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "place", .title = "waits in", .type = VIEW_STRING },
        { .key = "kernel", .title = "kernel", .type = VIEW_STRING, .n_columns_max = 22, .may_go = true },
        { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "state", .title = "state", .type = VIEW_STRING, .n_columns_max = 28, .may_go = true },
        { .key = "n_unended", .title = "n_unended", .type = VIEW_COUNT, .n_columns_max = 10 },
};

static const struct view_column waker_columns[] = {
        { .key = "total_ns", .title = "ended", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "place", .title = "of waits in", .type = VIEW_STRING },
        { .key = "thread", .title = "by thread", .type = VIEW_STRING, .n_columns_max = 16 },
        { .key = "function", .title = "which was in", .type = VIEW_STRING, .n_columns_max = 30 },
        { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
};

static struct text_view name_of_place(const struct report_wait_place *place)
{
        uint32_t i = place->frame < place->n_frames ? place->frame : 0;

        if (!place->has_stack)
                return report_names_words(place->is_idle ? "[idle threads]" : "[place unknown]");
        if (place->n_frames == 0)
                return place->kernel;
        return report_names_function(place->frames[i].name, place->frames[i].kind);
}

static void put_wait(struct view_document *d, struct view_table *t, const struct report *report,
                     const struct report_wait_place *place)
{
        const struct wait_sum *ended = &place->sum.ended;

        view_table_put_number(d, t, wait_row_total_ns(&place->sum));
        report_heading_put_share(d, t, wait_row_total_ns(&place->sum), report->totals.instances.stat.total_ns,
                                 true);
        report_heading_put_name(d, t, name_of_place(place));
        report_heading_put_name(d, t, place->kernel);
        view_table_put_number(d, t, ended->n_waits);
        report_heading_put_known(d, t, ended->n_waits != 0 ? ended->total_ns / ended->n_waits : 0,
                                 ended->n_waits != 0);
        report_heading_put_known(d, t, ended->max_ns, ended->n_waits != 0);
        view_table_put_words(d, t, place->wait_words);
        view_table_put_number(d, t, place->sum.n_open);
}

/*
 * The time that fibers waited: on no thread, or while their thread did not run.  The trace does not say
 * which of the two, or in what function.
 */
static uint64_t suspended_ns(const struct report *report)
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

static void put_suspended(struct view_document *d, struct view_table *t, const struct report *report,
                          uint64_t ns)
{
        view_table_put_number(d, t, ns);
        report_heading_put_share(d, t, ns, report->totals.instances.stat.total_ns, true);
        view_table_put_words(d, t, "suspended (fiber)");
        for (uint32_t i = 3; i < sizeof(wait_columns) / sizeof(wait_columns[0]); i++)
                view_table_put_unknown(d, t);
}

static void add_waits(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_waits *waits = &report->waits;
        uint32_t n_rows = report_limited(waits->n_places, limit);
        uint64_t fibers_ns = report->on_cpu_known ? suspended_ns(report) : 0;
        struct view_table *t = view_document_add_table(d, "waits", "Waits inside", wait_columns,
                                                       sizeof(wait_columns) / sizeof(wait_columns[0]));

        view_table_set_about(
                d, t, "%s",
                report->on_cpu_known
                        ? "% of the zones' total; with the delay until they ran again; without being preempted"
                        : "unknown: the trace has no context switches");
        for (uint32_t i = 0; i < n_rows; i++) {
                if (fibers_ns > wait_row_total_ns(&waits->places[i].sum)) {
                        put_suspended(d, t, report, fibers_ns);
                        fibers_ns = 0;
                }
                put_wait(d, t, report, &waits->places[i]);
        }
        if (fibers_ns != 0)
                put_suspended(d, t, report, fibers_ns);
        if (t)
                t->n_left_out = waits->n_places - n_rows;
}

static void put_waker(struct view_document *d, struct view_table *t, const struct report_wait_place *place,
                      const struct report_waker *waker)
{
        view_table_put_number(d, t, waker->ended.total_ns);
        report_heading_put_share(d, t, waker->ended.total_ns, place->sum.ended.total_ns, true);
        report_heading_put_name(d, t, name_of_place(place));
        if (waker->thread.n_bytes != 0)
                view_table_put_string(d, t, waker->thread);
        else
                view_table_put_words(d, t, "[unknown, or an interrupt]");
        if (waker->has_function)
                report_heading_put_function(d, t, waker->function.name, waker->function.kind);
        else
                view_table_put_unknown(d, t);
        view_table_put_number(d, t, waker->ended.n_waits);
        view_table_put_number(d, t, waker->ended.max_ns);
}

static void add_wakers(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_waits *waits = &report->waits;
        uint32_t n_places = report_limited(waits->n_places, limit);
        struct view_table *t;

        if (!waits->has_wakeups)
                return;
        t = view_document_add_table(d, "wakers", "Wakers that ended these waits", waker_columns,
                                    sizeof(waker_columns) / sizeof(waker_columns[0]));
        view_table_set_about(d, t, "%% of the waits there that ended");
        for (uint32_t i = 0; i < n_places; i++) {
                const struct report_wait_place *place = &waits->places[i];
                uint32_t n = limit != 0 ? report_limited(place->n_wakers, WAKERS_SHOWN) : place->n_wakers;

                for (uint32_t j = 0; j < n; j++)
                        put_waker(d, t, place, &place->wakers[j]);
                if (t)
                        t->n_left_out += place->n_wakers - n;
        }
}

/* ------------------------------------------------------------------ threads */

static const struct view_column thread_columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "thread", .type = VIEW_STRING },
        { .key = "total_ns", .title = "total", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "on_cpu_ns", .title = "on-CPU", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "self_ns", .title = "self", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_unclosed", .title = "n_unclosed", .type = VIEW_COUNT, .n_columns_max = 10 },
        { .key = "tid", .title = "tid", .type = VIEW_ID, .n_columns_max = 10 },
};

struct thread_row {
        const struct report_thread *thread;
        const struct zone_instance_sum *sum;
};

static int compare_threads(const void *a, const void *b)
{
        const struct thread_row *x = a;
        const struct thread_row *y = b;
        int order = report_compare(y->sum->total_ns, x->sum->total_ns);

        return order != 0 ? order : report_compare(x->thread->thread, y->thread->thread);
}

static void put_thread(struct view_document *d, struct view_table *t, const struct report *report,
                       const struct thread_row *row)
{
        const struct zone_instance_sum *sum = row->sum;
        bool closed = sum->n_closed != 0;

        view_table_put_handle(d, t, 't', row->thread->thread);
        report_heading_put_name(d, t, row->thread->name);
        view_table_put_number(d, t, sum->total_ns);
        report_heading_put_share(d, t, sum->total_ns, report->totals.instances.stat.total_ns, true);
        view_table_put_number(d, t, sum->n_closed);
        report_heading_put_known(d, t, closed ? sum->total_ns / sum->n_closed : 0, closed);
        report_heading_put_known(d, t, sum->max_ns, closed);
        report_heading_put_known(d, t, sum->on_cpu_ns, report->on_cpu_known);
        view_table_put_number(d, t, sum->self_ns);
        view_table_put_number(d, t, row->thread->n_samples);
        view_table_put_number(d, t, sum->n_unclosed);
        report_heading_put_known(d, t, row->thread->tid, !row->thread->is_fiber);
}

static void add_threads(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct zone_instances *all = &report->totals.instances;
        struct thread_row *rows = calloc((size_t)report->n_threads + 1, sizeof(*rows));
        struct view_table *t = view_document_add_table(d, "threads", "Threads, by time in them",
                                                       thread_columns,
                                                       sizeof(thread_columns) / sizeof(thread_columns[0]));
        uint32_t n_found = 0, n_rows;

        if (!rows) {
                d->failed = true;
                return;
        }
        for (uint32_t i = 0; i < report->n_threads; i++) {
                const struct report_thread *thread = &report->threads[i];
                const struct zone_instance_sum *sum = &all->threads[thread->thread - 1];

                if (thread->thread > all->n_threads)
                        continue;
                /* A fiber's zones are sampled on the threads that it runs on. */
                if (sum->n_closed + sum->n_unclosed + thread->n_samples != 0)
                        rows[n_found++] = (struct thread_row){ .thread = thread, .sum = sum };
        }
        qsort(rows, n_found, sizeof(*rows), compare_threads);
        n_rows = report_limited(n_found, limit);
        for (uint32_t i = 0; i < n_rows; i++)
                put_thread(d, t, report, &rows[i]);
        if (t)
                t->n_left_out = n_found - n_rows;
        free(rows);
}

/* ------------------------------------------------------------------ the slowest */

static const struct view_column slow_columns[] = {
        { .key = "duration_ns", .title = "took", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "at_ns", .title = "began at", .type = VIEW_TIME, .n_columns_max = 20 },
        { .key = "thread", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "thread_name", .title = "thread", .type = VIEW_STRING, .n_columns_max = 20 },
        { .key = "on_cpu_ns", .title = "on-CPU", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "waiting_ns", .title = "waiting", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "self_ns", .title = "self", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "zone", .type = VIEW_STRING, .may_go = true },
        { .key = "text", .title = "text", .type = VIEW_STRING },
        { .key = "value", .title = "value", .type = VIEW_STRING, .n_columns_max = 20 },
        { .key = "instance_name", .title = "called", .type = VIEW_STRING, .n_columns_max = 40 },
};

#define N_SLOW_COLUMNS  ((uint32_t)(sizeof(slow_columns) / sizeof(slow_columns[0])))
#define N_WORDS_COLUMNS 3 /* the last ones: most programs say nothing about an instance */

static uint64_t since_start(const struct report *report, uint64_t time_ns)
{
        return time_ns > report->trace.start_ns ? time_ns - report->trace.start_ns : 0;
}

/* Puts the program's texts about this instance alone, such as which request it was. */
static void put_words(struct view_document *d, struct view_table *t, const struct slow_zone *zone)
{
        group_rows_put_text(d, t, slow_zone_text(zone), zone->is_text_cut);
        if (zone->has_value)
                view_table_put_format(d, t, "%" PRIi64, zone->value);
        else
                view_table_put_unknown(d, t);
        group_rows_put_text(d, t, slow_zone_name(zone), zone->is_name_cut);
}

static void put_slow(struct view_document *d, struct view_table *t, const struct report *report,
                     const struct slow_zone *zone)
{
        const struct report_thread *thread = report_heading_find_thread(report, zone->thread);
        uint64_t waiting_ns = zone->duration_ns > zone->on_cpu_ns ? zone->duration_ns - zone->on_cpu_ns : 0;

        view_table_put_number(d, t, zone->duration_ns);
        view_table_put_number(d, t, since_start(report, zone->begin_ns));
        view_table_put_handle(d, t, 't', zone->thread);
        if (thread)
                report_heading_put_name(d, t, thread->name);
        else
                view_table_put_unknown(d, t);
        report_heading_put_known(d, t, zone->on_cpu_ns, report->on_cpu_known);
        report_heading_put_known(d, t, waiting_ns, report->on_cpu_known);
        view_table_put_number(d, t, zone->self_ns);
        view_table_put_handle(d, t, 'z', zone->location);
        view_table_put_string(d, t, zone_pattern_name_of(report->trace.dictionary, zone->location));
        put_words(d, t, zone);
}

static void add_slowest(struct view_document *d, const struct report *report)
{
        const struct zone_instances *all = &report->totals.instances;
        struct view_table *t = view_document_add_table(d, "slowest", "The slowest", slow_columns,
                                                       N_SLOW_COLUMNS);

        for (uint32_t i = 0; i < all->n_slowest; i++)
                put_slow(d, t, report, &all->slowest[i]);
        if (!t)
                return;
        t->optional_from = N_SLOW_COLUMNS - N_WORDS_COLUMNS;
        t->n_left_out = all->stat.durations_ns.n_values - all->n_slowest;
}

/* ------------------------------------------------------------------ all of it */

static void add_hints(struct view_document *d, const struct report *report,
                      const struct report_view_options *options)
{
        const struct zone_instances *all = &report->totals.instances;
        const struct slow_zone *slow = all->n_slowest != 0 ? &all->slowest[0] : NULL;
        struct handle_text zone;

        if (!slow) {
                report_heading_hint(d, options->path, "report --zones");
                return;
        }
        zone = report_heading_zone(report->trace.dictionary, slow->location);
        report_heading_hint(d, options->path, "why --zone %s", zone.text);
        if (slow->text_bytes != 0 && report->totals.group_by == ZONE_GROUP_NONE)
                report_heading_hint(d, options->path, "report --zone %s --group-by text", zone.text);
        report_heading_hint(d, options->path, "report --zones --thread %s --from %lluns --to %lluns",
                            report_heading_thread(report, slow->thread).text,
                            (unsigned long long)since_start(report, slow->begin_ns),
                            (unsigned long long)since_start(report, slow->begin_ns) + slow->duration_ns + 1);
        report_heading_hint(d, options->path, "report --functions --zone %s", zone.text);
}

static void set_answer(struct view_document *d, const struct report *report, const char *pattern)
{
        const struct zone_stat *stat = &report->totals.instances.stat;
        const struct histogram *h = &stat->durations_ns;
        struct answer_words a = { .used_bytes = 0 };

        answer_words_add(&a, "zone ");
        answer_words_add_name(&a, report_names_words(pattern));
        answer_words_add(&a, ": %s, %s%s in all", text_number_counted(h->n_values, "instances").text,
                         report->lost.n_lost != 0 ? "at least " : "",
                         text_number_duration(stat->total_ns).text);
        if (h->n_values != 0)
                answer_words_add(&a, "; median %s, longest %s",
                                 text_number_duration(histogram_quantile(h, 0.5)).text,
                                 text_number_duration(h->largest).text);
        answer_words_set(&a, d);
}

static void add_inside(struct view_document *d, const struct report *report,
                       const struct report_view_options *options)
{
        tree_rows_add(d, report, options,
                      &(struct tree_rows){ .part = &tree_rows_calls_part, .title = "Calls inside" });
        add_waits(d, report, options->limit);
        add_wakers(d, report, options->limit);
        add_counters(d, report);
}

void zone_view_fill(struct view_document *d, const struct report *report,
                    const struct report_view_options *options)
{
        const struct zone_stat *stat = &report->totals.instances.stat;
        struct view_table *t;

        set_answer(d, report, options->zone);
        report_heading_add(d, report, options->filter);
        python_columns_add_facts(d, report);
        add_times(d, report);
        add_cost(d, report);
        add_ratios(d, report);
        if (report->totals.group_by != ZONE_GROUP_NONE)
                group_rows_add(d, report, options->group_limit, options->has_group_histograms);
        if (!options->has_group_histograms) {
                t = histogram_rows_begin(d, "Durations", false);
                histogram_rows_add(d, t, 0, report_names_words(""), &stat->durations_ns,
                                   report->clock_step_ns);
        }
        histogram_rows_add_distribution(d, &stat->durations_ns);
        if (report->totals.has_durations)
                view_document_warn(
                        d,
                        "samples are of instances of any duration; calls, waits and counters are left out");
        else
                add_inside(d, report, options);
        add_threads(d, report, options->limit);
        add_slowest(d, report);
        add_hints(d, report, options);
}

const struct answer_schema zone_view_schema = {
        .name = "hyprof.zone/2",
        .command = "hyprof report --zone NAME --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
