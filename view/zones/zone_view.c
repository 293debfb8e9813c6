/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/trace/zone_pattern.h"
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
#include "view/zones/rank_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#define WAKERS_SHOWN 3 /* for each place, if there is a limit */

/* ------------------------------------------------------------------ summary */

/* 0 if the part is larger. */
static uint64_t less(uint64_t whole, uint64_t part)
{
        return whole > part ? whole - part : 0;
}

/* clang-format off */
#define COUNT_FACTS(FACT)                                                                                     \
        FACT(COUNT, "count", "count", view_number(h->n_values),                                               \
             "instances that ended, of all zones that the pattern names")
#define TIME_FACTS(FACT)                                                                                      \
        FACT(COUNT, "n_unclosed", "n_unclosed", view_number(stat->n_unclosed), NULL)                          \
        FACT(DURATION, "total_ns", "total", view_number(stat->total_ns), "recursion counts once")             \
        FACT(DURATION, "self_ns", "self", view_number(stat->self_ns), "without zones inside")                 \
        FACT(DURATION, "on_cpu_ns", "on-CPU", view_known(stat->on_cpu_ns, known), NULL)                       \
        FACT(DURATION, "waiting_ns", "waiting",                                                               \
             view_known(less(stat->total_ns, stat->on_cpu_ns), known), NULL)                                  \
        FACT(DURATION, "preempted_ns", "preempted",                                                           \
             view_known(report->waits.preempted.total_ns, known && !report->totals.has_durations),            \
             "of waiting_ns: it could have run on; null with --longer-than and --shorter-than")               \
        FACT(DURATION, "min_ns", "min", view_known(h->smallest, closed), NULL)                                \
        FACT(DURATION, "mean_ns", "mean", view_mean(h->sum, h->n_values), NULL)                               \
        FACT(DURATION, "p50_ns", "p50", view_known(histogram_quantile(h, 0.5), closed), NULL)                 \
        FACT(DURATION, "p90_ns", "p90", view_known(histogram_quantile(h, 0.9), closed), NULL)                 \
        FACT(DURATION, "p99_ns", "p99", view_known(histogram_quantile(h, 0.99), closed), NULL)                \
        FACT(DURATION, "p99_9_ns", "p99.9", view_known(histogram_quantile(h, 0.999), closed), NULL)           \
        FACT(DURATION, "max_ns", "max", view_known(h->largest, closed), NULL)
#define COST_FACTS(FACT)                                                                                      \
        FACT(DURATION, "sample_cost_ns", "a sample costs",                                                    \
             view_known((uint64_t)cost->sample.cost_ns, cost->is_known), "what a sample adds to an instance") \
        FACT(SHARE, "sample_cost_share", "samples' share", view_real_known(cost->share, cost->is_known),      \
             "what samples cost, of the duration of all instances")                                           \
        FACT(DURATION, "mean_without_samples_ns", "mean, without", view_known(cost->mean_ns, cost->is_known), \
             "this and the percentiles that follow are without what samples cost")                            \
        FACT(DURATION, "p50_without_samples_ns", "p50, without",                                              \
             view_known(cost->p50_ns, cost->is_known), NULL)                                                  \
        FACT(DURATION, "p90_without_samples_ns", "p90, without",                                              \
             view_known(cost->p90_ns, cost->is_known), NULL)                                                  \
        FACT(DURATION, "p99_without_samples_ns", "p99, without",                                              \
             view_known(cost->p99_ns, cost->is_known), NULL) 
#define RATIO_FACTS(FACT)                                                                                     \
        FACT(REAL, "ipc", "IPC", report_heading_ratio(ratios.instructions_per_cycle), NULL)                   \
        FACT(REAL, "cache_misses_per_1000", "cache misses/1000",                                              \
             report_heading_ratio(ratios.cache_misses), NULL)                                                 \
        FACT(REAL, "branch_misses_per_1000", "branch misses/1000",                                            \
             report_heading_ratio(ratios.branch_misses), NULL)
/* clang-format on */

static const struct view_column fact_columns[] = { COUNT_FACTS(VIEW_MEMBER) TIME_FACTS(VIEW_MEMBER)
                                                           COST_FACTS(VIEW_MEMBER) RATIO_FACTS(VIEW_MEMBER) };
static const struct answer_part facts = ANSWER_FACTS(fact_columns);

/* The times are as they were recorded; the cost is what sampling added to them. */
static void add_facts(struct view_document *d, const struct report *report)
{
        const struct zone_stat *stat = &report->totals.instances.stat;
        const struct report_counters *c = &report->counters;
        const struct zone_cost *cost = &report->cost;
        const struct histogram *h = &stat->durations_ns;
        struct report_ratios ratios = { -1, -1, -1 };
        bool closed = h->n_values != 0, known = report->on_cpu_known && !stat->is_cpu_unknown;

        if (c->n_counters != 0)
                ratios = report_counters_ratios(c, c->all);
        COUNT_FACTS(VIEW_FACT)
        report_heading_add_lost(d, &report->lost);
        TIME_FACTS(VIEW_FACT)
        COST_FACTS(VIEW_FACT)
        RATIO_FACTS(VIEW_FACT)
}

/* ------------------------------------------------------------------ counters */

/* clang-format off */
#define COUNTER_COLUMNS(COLUMN)                                                                               \
        COLUMN(STRING, "name", "counter", view_text(c->counters[i].name), NULL)                               \
        COLUMN(COUNT, "value", "in all of them", view_number(c->all[i]), NULL)                                \
        COLUMN(REAL, "per_zone", "each", view_real_known((double)c->all[i] / (double)n, n != 0), NULL)
/* clang-format on */

static const struct view_column counter_columns[] = { COUNTER_COLUMNS(VIEW_COLUMN) };
static const struct answer_part counters_part = ANSWER_TABLE(
        "counters", counter_columns, "an event that was read with the samples", .may_be_absent = true);

static void add_counters(struct view_document *d, const struct report *report)
{
        const struct report_counters *c = &report->counters;
        uint64_t n = report->totals.instances.stat.durations_ns.n_values;
        struct view_table *t;

        if (c->n_counters == 0)
                return;
        t = view_document_add_part(d, &counters_part, "Counters inside");
        view_table_set_about(d, t, "read with the samples: counts up to the last sample inside");
        for (uint32_t i = 0; i < c->n_counters; i++) {
                COUNTER_COLUMNS(VIEW_CELL)
        }
}

/* ------------------------------------------------------------------ waits */

static struct text_view name_of_place(const struct report_wait_place *place)
{
        uint32_t i = place->frame < place->n_frames ? place->frame : 0;

        if (!place->has_stack)
                return report_names_words(place->is_idle ? "[idle threads]" : "[place unknown]");
        if (place->n_frames == 0)
                return place->kernel;
        return report_names_function(place->frames[i].name, place->frames[i].kind);
}

/* A row: waits at a place, or the time of fibers, of which no more is known. */
struct wait_line {
        uint64_t total_ns, n_unended;
        struct text_view place, kernel;
        const char *state; /* NULL = not known */
        struct wait_sum ended;
        bool is_suspended; /* fibers */
};

/* clang-format off */
#define WAIT_COLUMNS(COLUMN)                                                                                  \
        COLUMN(DURATION, "total_ns", "total", view_number(row->total_ns), NULL)                               \
        COLUMN(SHARE, "share", "%", report_heading_share(row->total_ns, whole_ns),                            \
               "of the zones' total")                                                                         \
        COLUMN(STRING, "place", "waits in", view_name(row->place),                                            \
               "the innermost function outside of the C library")                                             \
        COLUMN(STRING, "kernel", "kernel", view_name(row->kernel), "function of the kernel",                  \
               .n_columns_max = 22, .may_go = true)                                                           \
        COLUMN(COUNT, "count", "count", view_known(row->ended.n_waits, !row->is_suspended), NULL,             \
               .may_be_null = true)                                                                           \
        COLUMN(DURATION, "mean_ns", "mean", view_mean(row->ended.total_ns, row->ended.n_waits), NULL)         \
        COLUMN(DURATION, "max_ns", "max", view_known(row->ended.max_ns, any), NULL)                           \
        COLUMN(STRING, "state", "state", view_words(row->state), NULL, .n_columns_max = 28, .may_go = true)   \
        COLUMN(COUNT, "n_unended", "n_unended", view_known(row->n_unended, !row->is_suspended), NULL,         \
               .may_be_null = true)
#define WAKER_COLUMNS(COLUMN)                                                                                 \
        COLUMN(DURATION, "total_ns", "ended", view_number(waker->ended.total_ns), NULL)                       \
        COLUMN(SHARE, "share", "%",                                                                           \
               report_heading_share(waker->ended.total_ns, place->sum.ended.total_ns),                        \
               "of the waits there that ended")                                                               \
        COLUMN(STRING, "place", "of waits in", view_name(name_of_place(place)), "as in `waits`")              \
        COLUMN(STRING, "thread", "by thread",                                                                 \
               waker->thread.n_bytes != 0 ? view_text(waker->thread)                                          \
                                          : view_words("[unknown, or an interrupt]"), NULL,                   \
               .n_columns_max = 16)                                                                           \
        COLUMN(STRING, "function", "which was in",                                                            \
               waker->has_function ? name_of_frame(&waker->function) : view_unknown(), NULL,                  \
               .n_columns_max = 30)                                                                           \
        COLUMN(COUNT, "count", "count", view_number(waker->ended.n_waits), NULL)                              \
        COLUMN(DURATION, "max_ns", "max", view_number(waker->ended.max_ns), NULL)
/* clang-format on */

static const struct view_column wait_columns[] = { WAIT_COLUMNS(VIEW_COLUMN) };
static const struct view_column waker_columns[] = { WAKER_COLUMNS(VIEW_COLUMN) };
static const struct answer_part waits_part = ANSWER_TABLE(
        "waits", wait_columns,
        "what it waited for; one row, suspended (fiber), is of fibers that were on no thread, "
        "or whose thread did not run",
        .may_be_absent = true);
static const struct answer_part wakers_part = ANSWER_TABLE(
        "wakers", waker_columns, "who ended these waits; not there if no wake-ups were recorded",
        .may_be_absent = true);

static struct view_value name_of_frame(const struct report_wait_frame *frame)
{
        return view_text(report_names_function(frame->name, frame->kind));
}

static void put_wait(struct view_document *d, struct view_table *t, const struct report *report,
                     const struct wait_line *row)
{
        uint64_t whole_ns = report->totals.instances.stat.total_ns;
        bool any = row->ended.n_waits != 0;

        WAIT_COLUMNS(VIEW_CELL)
}

static struct wait_line line_of(const struct report_wait_place *place)
{
        return (struct wait_line){
                .total_ns = wait_row_total_ns(&place->sum),
                .n_unended = place->sum.n_open,
                .place = name_of_place(place),
                .kernel = place->kernel,
                .state = place->wait_words,
                .ended = place->sum.ended,
        };
}

static void add_waits(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_waits *waits = &report->waits;
        uint32_t n_rows = report_limited(waits->n_places, limit);
        struct wait_line fibers = { .total_ns = report->suspended_ns,
                                    .place = report_names_words("suspended (fiber)"),
                                    .is_suspended = true };
        struct view_table *t = view_document_add_part(d, &waits_part, "Waits inside");
        bool has_fibers = fibers.total_ns != 0;

        view_table_set_about(
                d, t, "%s",
                report->on_cpu_known
                        ? "% of the zones' total; with the delay until they ran again; without being preempted"
                        : "unknown: the trace has no context switches");
        for (uint32_t i = 0; i < n_rows; i++) {
                struct wait_line row = line_of(&waits->places[i]);

                if (has_fibers && fibers.total_ns > row.total_ns) {
                        put_wait(d, t, report, &fibers);
                        has_fibers = false;
                }
                put_wait(d, t, report, &row);
        }
        if (has_fibers)
                put_wait(d, t, report, &fibers);
        if (t)
                t->n_left_out = waits->n_places - n_rows;
}

static void put_waker(struct view_document *d, struct view_table *t, const struct report_wait_place *place,
                      const struct report_waker *waker)
{
        WAKER_COLUMNS(VIEW_CELL)
}

static void add_wakers(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_waits *waits = &report->waits;
        uint32_t n_places = report_limited(waits->n_places, limit);
        struct view_table *t;

        if (!waits->has_wakeups)
                return;
        t = view_document_add_part(d, &wakers_part, "Wakers that ended these waits");
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

/* clang-format off */
#define THREAD_COLUMNS(COLUMN)                                                                                \
        COLUMN(HANDLE, "handle", "", view_handle('t', row->thread->thread), NULL)                             \
        COLUMN(STRING, "name", "thread", view_name(row->thread->name), NULL)                                  \
        COLUMN(DURATION, "total_ns", "total", view_number(sum->total_ns), NULL)                               \
        COLUMN(SHARE, "share", "%", report_heading_share(sum->total_ns, whole_ns),                            \
               "of the zones' total")                                                                         \
        COLUMN(COUNT, "count", "count", view_number(sum->n_closed), NULL)                                     \
        COLUMN(DURATION, "mean_ns", "mean", view_mean(sum->total_ns, sum->n_closed), NULL)                    \
        COLUMN(DURATION, "max_ns", "max", view_known(sum->max_ns, closed), NULL)                              \
        COLUMN(DURATION, "on_cpu_ns", "on-CPU", view_known(sum->on_cpu_ns, report->on_cpu_known && !row->thread->is_cpu_unknown), NULL)       \
        COLUMN(DURATION, "self_ns", "self", view_number(sum->self_ns), NULL)                                  \
        COLUMN(COUNT, "n_samples", "samples", view_number(row->thread->n_samples), NULL)                      \
        COLUMN(COUNT, "n_unclosed", "n_unclosed", view_number(sum->n_unclosed), NULL)                         \
        COLUMN(ID, "tid", "tid", view_known(row->thread->tid, !row->thread->is_fiber), "null = a fiber",      \
               .may_be_null = true)
/* clang-format on */

static const struct view_column thread_columns[] = { THREAD_COLUMNS(VIEW_COLUMN) };
static const struct answer_part threads_part = ANSWER_TABLE("threads", thread_columns,
                                                            "a thread, by the time in these zones");

static void put_thread(struct view_document *d, struct view_table *t, const struct report *report,
                       const struct thread_row *row)
{
        uint64_t whole_ns = report->totals.instances.stat.total_ns;
        const struct zone_instance_sum *sum = row->sum;
        bool closed = sum->n_closed != 0;

        THREAD_COLUMNS(VIEW_CELL)
}

static void add_threads(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct zone_instances *all = &report->totals.instances;
        struct thread_row *rows = calloc((size_t)report->n_threads + 1, sizeof(*rows));
        struct view_table *t = view_document_add_part(d, &threads_part, "Threads, by time in them");
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

static uint64_t since_start(const struct report *report, uint64_t time_ns)
{
        return time_ns > report->trace.start_ns ? time_ns - report->trace.start_ns : 0;
}

/* clang-format off */
#define SLOW_COLUMNS(COLUMN)                                                                                  \
        COLUMN(DURATION, "duration_ns", "took", view_number(zone->duration_ns), NULL)                         \
        COLUMN(TIME, "at_ns", "began at", view_number(since_start(report, zone->begin_ns)), NULL)             \
        COLUMN(HANDLE, "thread", "", view_handle('t', zone->thread), NULL)                                    \
        COLUMN(STRING, "thread_name", "thread", thread ? view_name(thread->name) : view_unknown(), NULL,      \
               .n_columns_max = 20)                                                                           \
        COLUMN(DURATION, "on_cpu_ns", "on-CPU", view_known(zone->on_cpu_ns, known), NULL)                     \
        COLUMN(DURATION, "waiting_ns", "waiting",                                                             \
               view_known(less(zone->duration_ns, zone->on_cpu_ns), known), NULL)                             \
        COLUMN(DURATION, "self_ns", "self", view_number(zone->self_ns), NULL)                                 \
        COLUMN(HANDLE, "handle", "", view_handle('z', zone->location), "of the zone, as the name")            \
        COLUMN(STRING, "name", "zone",                                                                        \
               view_text(zone_pattern_name_of(report->trace.dictionary, zone->location)), NULL,               \
               .may_go = true)
/* The program's words about this instance alone, such as which request it was: most say nothing. */
#define WORDS_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "text", "text", group_rows_text(slow_zone_text(zone), zone->is_text_cut),              \
               "that the program gave to this instance alone; … ends one of more than 4,096 bytes")           \
        COLUMN(STRING, "value", "value", zone->has_value ? view_format(d, "%" PRIi64, zone->value)            \
                                                         : view_unknown(),                                    \
               "a number of the program's, as text", .n_columns_max = 20)                                     \
        COLUMN(STRING, "instance_name", "called", group_rows_text(slow_zone_name(zone), zone->is_name_cut),   \
               "its name for it; … ends one of more than 256 bytes", .n_columns_max = 40)
/* clang-format on */

static const struct view_column slow_columns[] = { SLOW_COLUMNS(VIEW_COLUMN) WORDS_COLUMNS(VIEW_COLUMN) };
static const struct answer_part slowest_part = ANSWER_TABLE("slowest", slow_columns,
                                                            "one of the slowest instances: ten, or --limit");

static void put_slow(struct view_document *d, struct view_table *t, const struct report *report,
                     const struct slow_zone *zone)
{
        const struct report_thread *thread = report_heading_find_thread(report, zone->thread);
        bool known = report->on_cpu_known && !(thread && thread->is_cpu_unknown);

        SLOW_COLUMNS(VIEW_CELL)
        WORDS_COLUMNS(VIEW_CELL)
}

static void add_slowest(struct view_document *d, const struct report *report)
{
        const struct zone_instances *all = &report->totals.instances;
        struct view_table *t = view_document_add_part(d, &slowest_part, "The slowest");

        for (uint32_t i = 0; i < all->n_slowest; i++)
                put_slow(d, t, report, &all->slowest[i]);
        if (!t)
                return;
        t->optional_from = 0 SLOW_COLUMNS(VIEW_PLUS_ONE);
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
        report_heading_hint(d, options->path, "path --zone %s", zone.text);
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
        rank_rows_say(&a, report);
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

const struct answer_schema zone_view_schema = {
        .name = "hyprof.zone/2",
        .command = "hyprof report --zone NAME --json",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &python_columns_facts_part,
                                                      &facts, &report_heading_lost_part,
                                                      &group_rows_facts_part, &rank_rows_facts_part,
                                                      &report_heading_missing_part, &rank_rows_part,
                                                      &group_rows_part, &histogram_rows_part,
                                                      &histogram_rows_distribution_part,
                                                      &tree_rows_calls_part, &waits_part, &wakers_part,
                                                      &counters_part, &threads_part, &slowest_part, NULL },
};

void zone_view_fill(struct view_document *d, const struct report *report,
                    const struct report_view_options *options)
{
        const struct zone_stat *stat = &report->totals.instances.stat;
        struct view_table *t;

        set_answer(d, report, options->zone);
        report_heading_add(d, report, options->filter);
        python_columns_add_facts(d, report);
        add_facts(d, report);
        if (report->totals.group_by != ZONE_GROUP_NONE)
                group_rows_add(d, report, options->group_limit, options->has_group_histograms);
        rank_rows_add(d, report, options->limit);
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
