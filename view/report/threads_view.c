/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"
#include "view/waits/owners_view.h"

static const struct view_column columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "thread", .type = VIEW_STRING },
        { .key = "kind", .title = "kind", .type = VIEW_STRING, .n_columns_max = 6, .may_go = true },
        { .key = "on_cpu_ns", .title = "on-CPU", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "on_cpu_share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "waiting_ns", .title = "waiting", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "preempted_ns", .title = "preempted", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_zones", .title = "zones", .type = VIEW_COUNT, .n_columns_max = 14 },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "tid", .title = "tid", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "n_waits", .title = "waits", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_migrations", .title = "migrations", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "first_at_ns", .title = "first", .type = VIEW_TIME, .n_columns_max = 18 },
        { .key = "last_at_ns", .title = "last", .type = VIEW_TIME, .n_columns_max = 18 },
};

static const struct view_column renamed_columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "name", .type = VIEW_STRING },
        { .key = "on_cpu_ns", .title = "on-CPU", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "first_at_ns", .title = "from", .type = VIEW_TIME, .n_columns_max = 18 },
        { .key = "last_at_ns", .title = "until", .type = VIEW_TIME, .n_columns_max = 18 },
};

static void put_time(struct view_document *d, struct view_table *t, const struct report *report, uint64_t ns)
{
        uint64_t start_ns = report->trace.start_ns;

        view_table_put_number(d, t, ns > start_ns ? ns - start_ns : 0);
}

static void put_waits(struct view_document *d, struct view_table *t, const struct report *report,
                      const struct report_thread *thread, const struct wait_thread *waits)
{
        bool known = report->on_cpu_known && !thread->is_fiber;

        report_heading_put_known(d, t, wait_row_total_ns(&waits->waits), known);
        report_heading_put_known(d, t, waits->preempted.total_ns, known);
}

static void put_row(struct view_document *d, struct view_table *t, const struct report *report,
                    const struct report_thread *thread)
{
        static const struct wait_thread none = { .preempted = { .n_waits = 0 } };
        const struct wait_stats *all = &report->totals.waits;
        const struct wait_thread *waits = thread->thread <= all->n_threads ? &all->threads[thread->thread - 1]
                                                                           : &none;
        bool known = report->on_cpu_known;

        view_table_put_handle(d, t, 't', thread->thread);
        report_heading_put_name(d, t, thread->name);
        view_table_put_words(d, t, thread->is_fiber ? "fiber" : "thread");
        report_heading_put_known(d, t, thread->on_cpu_ns, known);
        report_heading_put_share(d, t, thread->on_cpu_ns, thread->last_ns - thread->first_ns, known);
        put_waits(d, t, report, thread, waits);
        view_table_put_number(d, t, thread->n_samples);
        view_table_put_number(d, t, thread->n_zones);
        view_table_put_number(d, t, thread->pid);
        report_heading_put_known(d, t, thread->tid, !thread->is_fiber);
        report_heading_put_known(d, t, waits->waits.ended.n_waits + waits->waits.n_open,
                                 known && !thread->is_fiber);
        view_table_put_number(d, t, report->totals.walk.threads[thread->thread - 1].n_migrations);
        put_time(d, t, report, thread->first_ns);
        put_time(d, t, report, thread->last_ns);
}

void threads_view_add_list(struct view_document *d, const struct report *report, uint32_t limit)
{
        uint32_t n_rows = report_limited(report->n_threads, limit);
        struct view_table *t = view_document_add_table(d, "threads", "Threads, by time on a CPU", columns,
                                                       sizeof(columns) / sizeof(columns[0]));

        view_table_set_about(
                d, t,
                "%% of the time from a thread's first event to its last; preempted: it could have run "
                "on and did not; a fiber's time is also in that of the threads that it ran on%s",
                report->renamed.n_rows != 0 ? "; a thread that had several names is called by its last" : "");
        for (uint32_t i = 0; i < n_rows; i++)
                put_row(d, t, report, &report->threads[i]);
        if (t)
                t->n_left_out = report->n_threads - n_rows;
}

/* The table is left out if no thread had two names that matter. */
static void add_renamed(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_renamed *renamed = &report->renamed;
        uint32_t n_rows = report_limited((uint32_t)renamed->n_rows, limit);
        struct view_table *t;

        if (renamed->n_rows == 0)
                return;
        t = view_document_add_table(d, "names", "Threads that had several names", renamed_columns,
                                    sizeof(renamed_columns) / sizeof(renamed_columns[0]));
        view_table_set_about(
                d, t,
                "%% of the thread's time on a CPU, or of its samples where that is not known; names "
                "of less than 1%% are left out");
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_renamed_row *row = &renamed->rows[i];

                view_table_put_handle(d, t, 't', row->thread);
                report_heading_put_name(d, t, row->is_more ? report_names_words("[more names]") : row->name);
                report_heading_put_known(d, t, row->on_cpu_ns, report->on_cpu_known);
                view_table_put_real(d, t, row->share);
                view_table_put_number(d, t, row->n_samples);
                put_time(d, t, report, row->first_ns);
                put_time(d, t, report, row->last_ns);
        }
        if (t)
                t->n_left_out = renamed->n_rows - n_rows;
}

static void set_answer(struct view_document *d, const struct report *report)
{
        const struct report_thread *first = report->n_threads != 0 ? &report->threads[0] : NULL;
        struct answer_words a = { .used_bytes = 0 };

        if (first && report->on_cpu_known) {
                answer_words_add_name(&a, first->name.n_bytes != 0 ? first->name
                                                                   : report_names_words("a thread"));
                answer_words_add(&a, " ran for %s", text_number_duration(first->on_cpu_ns).text);
                answer_words_add_most(&a, report->n_threads, "threads");
        } else if (!first) {
                answer_words_add(&a, "no threads");
        } else {
                answer_words_add(&a, "%s in %s process%s",
                                 text_number_counted(report->n_kernel_threads, "threads").text,
                                 text_number_count(report->n_processes).text,
                                 report->n_processes == 1 ? "" : "es");
        }
        answer_words_set(&a, d);
}

void threads_view_fill(struct view_document *d, const struct report *report,
                       const struct report_view_options *options)
{
        struct handle_text thread;

        set_answer(d, report);
        report_heading_add(d, report, options->filter);
        view_document_add_number(d, "n_processes", "processes", VIEW_COUNT, report->n_processes);
        threads_view_add_list(d, report, options->limit);
        add_renamed(d, report, options->limit);
        owners_view_add_threads(d, report, options->limit);
        if (report->n_threads == 0)
                return;
        thread = report_heading_thread(report, report->threads[0].thread);
        report_heading_hint(d, options->path, "report --functions --thread %s", thread.text);
        if (report->on_cpu_known)
                report_heading_hint(d, options->path, "report --off-cpu");
        if (report->n_zones != 0)
                report_heading_hint(d, options->path, "report --zones --thread %s", thread.text);
}

const struct answer_schema threads_view_schema = {
        .name = "hyprof.threads/2",
        .command = "hyprof report --threads --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
