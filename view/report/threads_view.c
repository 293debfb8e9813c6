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

static uint64_t since_start(const struct report *report, uint64_t ns)
{
        return ns > report->trace.start_ns ? ns - report->trace.start_ns : 0;
}

/* clang-format off */
#define THREAD_COLUMNS(COLUMN)                                                                                \
        COLUMN(HANDLE, "handle", "", view_handle('t', thread->thread), NULL)                                  \
        COLUMN(STRING, "name", "thread", view_name(thread->name), NULL)                                       \
        COLUMN(STRING, "works_on", "works on", view_name(thread->works_on),                                   \
               "the file on which the process of a compiler, an assembler or a linker works",                 \
               .is_optional = true, .may_go = true)                                                           \
        COLUMN(STRING, "kind", "kind", view_words(thread->is_fiber ? "fiber" : "thread"),                     \
               "a fiber's time is also that of the threads that it ran on", .one_of = "thread|fiber",         \
               .n_columns_max = 6, .may_go = true)                                                            \
        COLUMN(DURATION, "on_cpu_ns", "on-CPU", view_known(thread->on_cpu_ns, known),                         \
               "with filters only what passed them: in the range, on those CPUs, inside of those zones")      \
        COLUMN(SHARE, "on_cpu_share", "%", report_heading_share(thread->on_cpu_ns, known ? lived_ns : 0),     \
               "of the time from its first event to its last")                                                \
        COLUMN(DURATION, "waiting_ns", "waiting",                                                             \
               view_known(wait_row_total_ns(&waits->waits), has_waits), NULL)                                 \
        COLUMN(DURATION, "preempted_ns", "preempted", view_known(waits->preempted.total_ns, has_waits),       \
               "the thread was ready to run and did not run")                                                 \
        COLUMN(COUNT, "n_samples", "samples", view_number(thread->n_samples), NULL)                           \
        COLUMN(COUNT, "n_zones", "zones", view_number(thread->n_zones), NULL)                                 \
        COLUMN(ID, "pid", "pid", view_number(thread->pid), NULL)                                              \
        COLUMN(ID, "tid", "tid", view_known(thread->tid, !thread->is_fiber), "null = a fiber",                \
               .may_be_null = true)                                                                           \
        COLUMN(COUNT, "n_waits", "waits",                                                                     \
               view_known(waits->waits.ended.n_waits + waits->waits.n_open, has_waits), NULL,                 \
               .may_be_null = true)                                                                           \
        COLUMN(COUNT, "n_migrations", "migrations",                                                           \
               view_number(report->totals.walk.threads[thread->thread - 1].n_migrations),                     \
               "from one CPU to another, as far as events show")                                              \
        COLUMN(TIME, "first_at_ns", "first", view_number(since_start(report, thread->first_ns)),              \
               "first_at_ns and last_at_ns lie within the range of time")                                     \
        COLUMN(TIME, "last_at_ns", "last", view_number(since_start(report, thread->last_ns)), NULL)
#define RENAMED_COLUMNS(COLUMN)                                                                               \
        COLUMN(HANDLE, "handle", "", view_handle('t', row->thread), NULL)                                     \
        COLUMN(STRING, "name", "name", row->is_more ? view_words("[more names]") : view_name(row->name),      \
               "a thread's 17th name and later ones are one row, [more names]")                               \
        COLUMN(DURATION, "on_cpu_ns", "on-CPU", view_known(row->on_cpu_ns, report->on_cpu_known), NULL)       \
        COLUMN(SHARE, "share", "%", view_real(row->share),                                                    \
               "of the thread's time on a CPU, or of its samples where that is not known")                    \
        COLUMN(COUNT, "n_samples", "samples", view_number(row->n_samples), NULL)                              \
        COLUMN(TIME, "first_at_ns", "from", view_number(since_start(report, row->first_ns)),                  \
               "when it got the name first")                                                                  \
        COLUMN(TIME, "last_at_ns", "until", view_number(since_start(report, row->last_ns)),                   \
               "when it lost it last")
/* clang-format on */

static const struct view_column columns[] = { THREAD_COLUMNS(VIEW_COLUMN) };
static const struct view_column renamed_columns[] = { RENAMED_COLUMNS(VIEW_COLUMN) };
const struct answer_part threads_view_list_part = ANSWER_TABLE(
        "threads", columns, "a thread or fiber, by time on a CPU; not there if it did not live in the range");
static const struct answer_part renamed_part = ANSWER_TABLE(
        "names", renamed_columns,
        "what a thread did under a name, if it had several one after the other: it renamed itself, or executed "
        "another program; in the order of time. Names with less than 1 % of it are left out",
        .may_be_absent = true);

static void put_row(struct view_document *d, struct view_table *t, const struct report *report,
                    const struct report_thread *thread)
{
        static const struct wait_thread none = { .preempted = { .n_waits = 0 } };
        const struct wait_stats *all = &report->totals.waits;
        const struct wait_thread *waits = thread->thread <= all->n_threads ? &all->threads[thread->thread - 1]
                                                                           : &none;
        uint64_t lived_ns = thread->last_ns - thread->first_ns;
        bool known = report->on_cpu_known && !thread->is_cpu_unknown, has_waits = known && !thread->is_fiber;

        THREAD_COLUMNS(VIEW_CELL)
}

void threads_view_add_list(struct view_document *d, const struct report *report, uint32_t limit)
{
        uint32_t n_rows = report_limited(report->n_threads, limit);
        struct view_table *t = view_document_add_part(d, &threads_view_list_part,
                                                      "Threads, by time on a CPU");

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
        t = view_document_add_part(d, &renamed_part, "Threads that had several names");
        view_table_set_about(
                d, t,
                "%% of the thread's time on a CPU, or of its samples where that is not known; names "
                "of less than 1%% are left out");
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_renamed_row *row = &renamed->rows[i];

                RENAMED_COLUMNS(VIEW_CELL)
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

/* clang-format off */
#define THREADS_FACTS(FACT)                                                                                   \
        FACT(COUNT, "n_processes", "processes", view_number(report->n_processes),                             \
               "to which the threads here belong")
/* clang-format on */

static const struct view_column fact_columns[] = { THREADS_FACTS(VIEW_MEMBER) };
static const struct answer_part facts = ANSWER_FACTS(fact_columns);
const struct answer_schema threads_view_schema = {
        .name = "hyprof.threads/2",
        .command = "hyprof report --threads --json",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &facts,
                                                      &report_heading_missing_part, &threads_view_list_part,
                                                      &renamed_part, &owners_view_threads_part, NULL },
};

void threads_view_fill(struct view_document *d, const struct report *report,
                       const struct report_view_options *options)
{
        struct handle_text thread;

        set_answer(d, report);
        report_heading_add(d, report, options->filter);
        THREADS_FACTS(VIEW_FACT)
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
