/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/stats/call_finder.h"
#include "analyze/trace/zone_pattern.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"

#include <inttypes.h>

#define LITTLE_SHARE 0.05 /* of the time */
#define SURE_SHARE   0.95 /* of the sampled calls: the rest is not worth mentioning */

static struct text_view caller_name(const struct report *report, uint32_t label)
{
        const struct function *function;

        if (label == 0)
                return report_names_words("[unknown]");
        function = function_table_get(&report->samples.functions, label);
        return report_names_function(trace_dictionary_text(report->trace.dictionary, function->name),
                                     (enum function_kind)function->kind);
}

/* ------------------------------------------------------------------ the answer */

static void name_caller(struct answer_words *a, const struct report *report, const struct report_syscall *row)
{
        double share = report_share(row->caller_calls, row->sampled_calls);

        if (row->caller == 0 || share <= 0.5)
                return;
        answer_words_add(a, share >= SURE_SHARE ? ", from " : ", %s of them from ",
                         text_number_share(share).text);
        answer_words_add_name(a, caller_name(report, row->caller));
}

static void name_calls(struct answer_words *a, const struct report_syscall *row)
{
        answer_words_add(a, "%s ", text_number_count(row->n_calls).text);
        answer_words_add_name(a, row->name);
        answer_words_add(a, row->n_calls == 1 ? " call" : " calls");
        if (row->n_bytes != 0)
                answer_words_add(a, " of %s", text_number_bytes(row->n_bytes / row->n_calls).text);
}

static void name_row(struct answer_words *a, const struct report *report, const struct report_syscall *row)
{
        name_calls(a, row);
        answer_words_add(a, ": %s of the %stime",
                         text_number_share(report_share(row->time_ns, report->syscalls.threads_ns)).text,
                         report->n_kernel_threads > 1 ? "threads' " : "");
        name_caller(a, report, row);
}

/* If these calls take little of the time, says so first. */
static void add_all_working(struct answer_words *a, const struct report *report)
{
        const struct report_syscalls *s = &report->syscalls;
        uint64_t sum_ns = 0;

        for (uint32_t i = 0; i < s->n_rows; i++)
                if (!call_finder_only_waits(s->rows[i].name))
                        sum_ns += s->rows[i].time_ns;
        if (report_share(sum_ns, s->threads_ns) < LITTLE_SHARE)
                answer_words_add(a, "%s of the %stime in system calls that do not only wait; ",
                                 text_number_share(report_share(sum_ns, s->threads_ns)).text,
                                 report->n_kernel_threads > 1 ? "threads' " : "");
}

/*
 * Names the system call with the most time among those that do not only wait, then the most frequent one.
 */
static void add_busiest(struct answer_words *a, const struct report *report)
{
        const struct report_syscalls *s = &report->syscalls;
        const struct report_syscall *longest = NULL, *most = NULL;

        for (uint32_t i = 0; i < s->n_rows; i++) {
                const struct report_syscall *row = &s->rows[i];

                if (row->n_calls == 0 || call_finder_only_waits(row->name))
                        continue;
                if (!longest)
                        longest = row;
                if (!most || row->n_calls > most->n_calls)
                        most = row;
        }
        if (!longest && s->n_rows > 0 && s->rows[0].n_calls != 0)
                longest = most = &s->rows[0];
        if (!longest)
                return;
        if (!call_finder_only_waits(longest->name))
                add_all_working(a, report);
        name_row(a, report, longest);
        if (most->n_calls == longest->n_calls)
                return;
        answer_words_add(a, "; ");
        name_row(a, report, most);
}

static void set_answer(struct view_document *d, const struct report *report)
{
        struct answer_words a = { .used_bytes = 0 };

        add_busiest(&a, report);
        if (a.used_bytes == 0)
                answer_words_add(&a, "%s",
                                 !report->syscalls.is_recorded ? "system calls were not counted"
                                 : report->syscalls.lacks_end
                                         ? "the numbers of system calls are not in this trace: a recording "
                                           "writes them at its end"
                                         : "no system call has returned");
        answer_words_set(&a, d);
}

/* ------------------------------------------------------------------ tables */

static struct view_value mean_of(uint64_t sum, uint64_t n)
{
        return n != 0 ? view_number(sum / n) : view_unknown();
}

/* clang-format off */
#define CALL_COLUMNS(COLUMN)                                                                                  \
        COLUMN(COUNT, "n_calls", "calls", view_number(row->n_calls), NULL)                                    \
        COLUMN(DURATION, "time_ns", "time", view_number(row->time_ns), "waiting included")                    \
        COLUMN(SHARE, "time_share", "%", report_heading_share(row->time_ns, s->threads_ns),                   \
               "of the time from each thread's first event to its last, or of its calls if that is longer")    \
        COLUMN(DURATION, "mean_ns", "mean", mean_of(row->time_ns, row->n_calls), NULL)                        \
        COLUMN(STRING, "name", "system call", view_text(row->name), NULL, .n_columns_max = 24)                \
        COLUMN(COUNT, "n_errors", "errors", view_number(row->n_errors), NULL)                                 \
        COLUMN(BYTES, "n_bytes", "bytes", view_known(row->n_bytes, row->n_bytes != 0),                        \
               "null for calls that transfer none")                                                           \
        COLUMN(BYTES, "mean_bytes", "each",                                                                   \
               row->n_bytes != 0 ? mean_of(row->n_bytes, row->n_calls) : view_unknown(), "likewise")          \
        COLUMN(SHARE, "caller_share", "%", row->caller != 0                                                   \
               ? report_heading_share(row->caller_calls, row->sampled_calls) : view_unknown(),                \
               "of the sampled calls")                                                                        \
        COLUMN(STRING, "caller", "from (sampled)",                                                            \
               row->caller != 0 ? view_text(caller_name(report, row->caller)) : view_unknown(),               \
               "the most frequent one; null = not known")                                                     \
        COLUMN(DURATION, "longest_ns", "longest", view_number(row->longest_ns), NULL)                         \
        COLUMN(COUNT, "n_threads", "threads", view_number(row->n_threads), NULL)                              \
        COLUMN(COUNT, "n_samples", "samples", view_number(row->n_samples), NULL)
/* clang-format on */

static const struct view_column call_columns[] = { CALL_COLUMNS(VIEW_COLUMN) };
static const struct answer_part calls_part = ANSWER_TABLE("calls", call_columns, "a system call, by time");

static void add_calls(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_syscalls *s = &report->syscalls;
        uint32_t n_rows = report_limited(s->n_rows, limit);
        struct view_table *t = view_document_add_part(d, &calls_part, "System calls, by time");

        view_table_set_about(
                d, t,
                "numbers, times with waiting, and bytes are exact%s; %% of the time from each thread's "
                "first event to its last; who called is known of %s",
                report->recording.filter.n_bytes != 0 ? ", of the whole recording" : "",
                text_number_counted(s->n_samples, "sampled calls").text);
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_syscall *row = &s->rows[i];

                CALL_COLUMNS(VIEW_CELL)
        }
        if (t)
                t->n_left_out = s->n_rows - n_rows;
}

/* ---------------------------------------------------------------- where they were made, as far as sampled */

static struct view_value module_of(const struct report *report, uint32_t label)
{
        const struct function_table *functions = &report->samples.functions;

        if (label == 0)
                return view_unknown();
        return view_place(
                trace_dictionary_text(report->trace.dictionary, function_table_get(functions, label)->module),
                0);
}

static struct text_view zone_name(const struct report *report, uint32_t location)
{
        return location == 0 ? report_names_words("[outside of zones]")
                             : zone_pattern_name_of(report->trace.dictionary, location);
}

/* clang-format off */
#define PLACE_COLUMNS(COLUMN, letter, words)                                                                  \
        COLUMN(HANDLE, "handle", "", view_handle(letter, place->place), words)                                \
        COLUMN(COUNT, "n_calls_estimated", "calls, about",                                                    \
               view_number(report_syscalls_estimate(row, place->sampled_calls)), NULL)                        \
        COLUMN(SHARE, "share", "%", report_heading_share(place->sampled_calls, row->sampled_calls),           \
               "of the calls of that name")                                                                   \
        COLUMN(COUNT, "n_samples", "samples", view_number(place->n_samples), NULL)                            \
        COLUMN(STRING, "name", "system call", view_text(row->name), NULL, .n_columns_max = 24)
#define CALLER_COLUMNS(COLUMN)                                                                                \
        PLACE_COLUMNS(COLUMN, 'f', "null = not known")                                                        \
        COLUMN(STRING, "function", "from", view_text(caller_name(report, place->place)),                      \
               "the innermost outside of the C library; in the Python view a Python one, if there is one")    \
        COLUMN(PLACE, "module", "module", module_of(report, place->place), NULL, .n_columns_max = 26)
#define ZONE_COLUMNS(COLUMN)                                                                                  \
        PLACE_COLUMNS(COLUMN, 'z', "null = outside of zones")                                                 \
        COLUMN(STRING, "zone", "in zone", view_name(zone_name(report, place->place)),                         \
               "the innermost one that was open on the thread")
/* clang-format on */

static const struct view_column caller_columns[] = { CALLER_COLUMNS(VIEW_COLUMN) };
static const struct view_column zone_columns[] = { ZONE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part callers_part = ANSWER_TABLE(
        "callers", caller_columns, "a function that made calls, as far as calls were sampled");
static const struct answer_part zones_part = ANSWER_TABLE(
        "zones", zone_columns,
        "a zone in which calls were made, as far as calls were sampled; no rows without samples in zones");

static void add_callers(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_syscalls *s = &report->syscalls;
        uint32_t n_rows = report_limited(s->n_callers, limit);
        struct view_table *t = view_document_add_part(d, &callers_part,
                                                      "Callers, as far as calls were sampled");

        view_table_set_about(
                d, t,
                "%% of the calls of the same name; the caller is the innermost %sfunction outside of "
                "the C library",
                report->samples.is_folded ? "Python function or, if there is none, " : "");
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_syscall_place *place = &s->callers[i];
                const struct report_syscall *row = &s->rows[place->syscall];

                CALLER_COLUMNS(VIEW_CELL)
        }
        if (t)
                t->n_left_out = s->n_callers - n_rows;
}

/* By the innermost zone that was open. */
static void add_zones(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_syscalls *s = &report->syscalls;
        uint32_t n_all = s->has_zones ? s->n_zones : 0, n_rows = report_limited(n_all, limit);
        struct view_table *t = view_document_add_part(d, &zones_part, "Zones, as far as calls were sampled");

        view_table_set_about(
                d, t, "the innermost zone that was open on the thread; %% of the calls of the same name");
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_syscall_place *place = &s->zones[i];
                const struct report_syscall *row = &s->rows[place->syscall];

                ZONE_COLUMNS(VIEW_CELL)
        }
        if (t) {
                t->n_left_out = n_all - n_rows;
                t->is_hidden_if_empty = true;
        }
}

/* ------------------------------------------------------------------ threads */

static struct view_value thread_name(const struct report_syscall_thread *row,
                                     const struct report_thread *thread)
{
        if (row->thread == 0)
                return view_words("[several]");
        return thread ? view_name(thread->name) : view_unknown();
}

/* clang-format off */
#define THREAD_COLUMNS(COLUMN)                                                                                \
        COLUMN(HANDLE, "handle", "", view_handle('t', row->thread), "null = several threads")                 \
        COLUMN(COUNT, "n_calls", "calls", view_number(row->n_calls), NULL)                                    \
        COLUMN(DURATION, "time_ns", "time", view_number(row->time_ns), NULL)                                  \
        COLUMN(STRING, "name", "system call", view_text(s->rows[row->syscall].name), NULL,                    \
               .n_columns_max = 24)                                                                           \
        COLUMN(STRING, "thread_name", "thread", thread_name(row, thread),                                     \
               "[several]: threads for which the kernel's table had no room")                                 \
        COLUMN(ID, "pid", "pid", thread ? view_number(thread->pid) : view_unknown(), NULL,                    \
               .may_be_null = true)                                                                           \
        COLUMN(ID, "tid", "tid", thread ? view_number(thread->tid) : view_unknown(), NULL,                    \
               .may_be_null = true)                                                                           \
        COLUMN(COUNT, "n_errors", "errors", view_number(row->n_errors), NULL)                                 \
        COLUMN(BYTES, "n_bytes", "bytes", view_known(row->n_bytes, row->n_bytes != 0), NULL)
/* clang-format on */

static const struct view_column thread_columns[] = { THREAD_COLUMNS(VIEW_COLUMN) };
static const struct answer_part threads_part = ANSWER_TABLE(
        "threads", thread_columns, "a thread and one of its system calls, by time; the numbers are exact");

static void add_threads(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_syscalls *s = &report->syscalls;
        uint32_t n_rows = report_limited(s->n_threads, limit);
        struct view_table *t = view_document_add_part(d, &threads_part, "Threads and their system calls");

        view_table_set_about(d, t, "exact; [several]: threads for which the kernel's table had no room");
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_syscall_thread *row = &s->threads[i];
                const struct report_thread *thread = row->thread != 0
                                                             ? report_heading_find_thread(report, row->thread)
                                                             : NULL;

                THREAD_COLUMNS(VIEW_CELL)
        }
        if (t)
                t->n_left_out = s->n_threads - n_rows;
}

/* clang-format off */
#define CALLS_FACTS(FACT)                                                                                     \
        FACT(COUNT, "n_calls", "system calls", view_number(s->n_calls), "all that were counted")              \
        FACT(DURATION, "time_ns", "time in them", view_number(s->time_ns), "in all counted calls")            \
        FACT(COUNT, "n_errors", "errors", view_number(s->n_errors), "of these")                               \
        FACT(COUNT, "n_sampled_calls", "sampled calls", view_number(s->n_samples), NULL)
/* clang-format on */

static const struct view_column fact_columns[] = { CALLS_FACTS(VIEW_MEMBER) };
static const struct answer_part facts = ANSWER_FACTS(fact_columns);
const struct answer_schema syscalls_view_schema = {
        .name = "hyprof.syscalls/1",
        .command = "hyprof report --syscalls --json",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &facts,
                                                      &report_heading_missing_part, &calls_part,
                                                      &callers_part, &zones_part, &threads_part, NULL },
};

void syscalls_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options)
{
        const struct report_syscalls *s = &report->syscalls;

        set_answer(d, report);
        report_heading_add(d, report, options->filter);
        CALLS_FACTS(VIEW_FACT)
        if (!s->is_recorded)
                view_document_warn(d, "system calls were not counted; hyprof record --syscalls counts them");
        add_calls(d, report, options->limit);
        add_callers(d, report, options->limit);
        add_zones(d, report, options->limit);
        add_threads(d, report, options->limit);
        if (s->n_samples != 0)
                report_heading_hint(d, options->path, "report --top-down -e syscalls");
}
