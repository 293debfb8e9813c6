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

#define COUNT_OF(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

#define LITTLE_SHARE 0.05 /* of the time */
#define SURE_SHARE   0.95 /* of the sampled calls: the others need no word */

static const struct view_column call_columns[] = {
        { .key = "n_calls", .title = "calls", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "time_ns", .title = "time", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "time_share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "name", .title = "system call", .type = VIEW_STRING, .n_columns_max = 24 },
        { .key = "n_errors", .title = "errors", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_bytes", .title = "bytes", .type = VIEW_BYTES, .n_columns_max = 10 },
        { .key = "mean_bytes", .title = "each", .type = VIEW_BYTES, .n_columns_max = 10 },
        { .key = "caller_share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "caller", .title = "from (sampled)", .type = VIEW_STRING },
        { .key = "longest_ns", .title = "longest", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "n_threads", .title = "threads", .type = VIEW_COUNT, .n_columns_max = 8 },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT, .n_columns_max = 9 },
};

static const struct view_column caller_columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "n_calls_estimated", .title = "calls, about", .type = VIEW_COUNT, .n_columns_max = 13 },
        { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT, .n_columns_max = 9 },
        { .key = "name", .title = "system call", .type = VIEW_STRING, .n_columns_max = 24 },
        { .key = "function", .title = "from", .type = VIEW_STRING },
        { .key = "module", .title = "module", .type = VIEW_PLACE, .n_columns_max = 26 },
};

static const struct view_column zone_columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "n_calls_estimated", .title = "calls, about", .type = VIEW_COUNT, .n_columns_max = 13 },
        { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT, .n_columns_max = 9 },
        { .key = "name", .title = "system call", .type = VIEW_STRING, .n_columns_max = 24 },
        { .key = "zone", .title = "in zone", .type = VIEW_STRING },
};

static const struct view_column thread_columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "n_calls", .title = "calls", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "time_ns", .title = "time", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "name", .title = "system call", .type = VIEW_STRING, .n_columns_max = 24 },
        { .key = "thread_name", .title = "thread", .type = VIEW_STRING },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "tid", .title = "tid", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "n_errors", .title = "errors", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_bytes", .title = "bytes", .type = VIEW_BYTES, .n_columns_max = 10 },
};

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

static void add_calls(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_syscalls *s = &report->syscalls;
        uint32_t n_rows = report_limited(s->n_rows, limit);
        struct view_table *t = view_document_add_table(d, "calls", "System calls, by time", call_columns,
                                                       COUNT_OF(call_columns));

        view_table_set_about(
                d, t,
                "numbers, times with waiting, and bytes are exact%s; %% of the time from each thread's "
                "first event to its last; who called is known of %s",
                report->recording.filter.n_bytes != 0 ? ", of the whole recording" : "",
                text_number_counted(s->n_samples, "sampled calls").text);
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_syscall *row = &s->rows[i];

                view_table_put_number(d, t, row->n_calls);
                view_table_put_number(d, t, row->time_ns);
                report_heading_put_share(d, t, row->time_ns, s->threads_ns, s->threads_ns != 0);
                report_heading_put_known(d, t, row->n_calls != 0 ? row->time_ns / row->n_calls : 0,
                                         row->n_calls != 0);
                view_table_put_string(d, t, row->name);
                view_table_put_number(d, t, row->n_errors);
                report_heading_put_known(d, t, row->n_bytes, row->n_bytes != 0);
                report_heading_put_known(d, t, row->n_calls != 0 ? row->n_bytes / row->n_calls : 0,
                                         row->n_calls != 0 && row->n_bytes != 0);
                report_heading_put_share(d, t, row->caller_calls, row->sampled_calls, row->caller != 0);
                if (row->caller != 0)
                        view_table_put_string(d, t, caller_name(report, row->caller));
                else
                        view_table_put_unknown(d, t);
                view_table_put_number(d, t, row->longest_ns);
                view_table_put_number(d, t, row->n_threads);
                view_table_put_number(d, t, row->n_samples);
        }
        if (t)
                t->n_left_out = s->n_rows - n_rows;
}

/* Cells that callers and zones share. */
static void put_estimate(struct view_document *d, struct view_table *t, const struct report_syscalls *s,
                         const struct report_syscall_place *place)
{
        const struct report_syscall *row = &s->rows[place->syscall];

        view_table_put_number(d, t, report_syscalls_estimate(row, place->sampled_calls));
        report_heading_put_share(d, t, place->sampled_calls, row->sampled_calls, true);
        view_table_put_number(d, t, place->n_samples);
        view_table_put_string(d, t, row->name);
}

static void add_callers(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_syscalls *s = &report->syscalls;
        uint32_t n_rows = report_limited(s->n_callers, limit);
        struct view_table *t = view_document_add_table(d, "callers", "Callers, as far as calls were sampled",
                                                       caller_columns, COUNT_OF(caller_columns));

        view_table_set_about(
                d, t,
                "%% of the calls of the same name; the caller is the innermost %sfunction outside of "
                "the C library",
                report->samples.is_folded ? "Python function or, if there is none, " : "");
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_syscall_place *place = &s->callers[i];

                view_table_put_handle(d, t, 'f', place->place);
                put_estimate(d, t, s, place);
                view_table_put_string(d, t, caller_name(report, place->place));
                if (place->place != 0)
                        view_table_put_place(
                                d, t,
                                trace_dictionary_text(
                                        report->trace.dictionary,
                                        function_table_get(&report->samples.functions, place->place)->module),
                                0);
                else
                        view_table_put_unknown(d, t);
        }
        if (t)
                t->n_left_out = s->n_callers - n_rows;
}

static struct text_view zone_name(const struct report *report, uint32_t location)
{
        return location == 0 ? report_names_words("[outside of zones]")
                             : zone_pattern_name_of(report->trace.dictionary, location);
}

/* By the innermost zone that was open. */
static void add_zones(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_syscalls *s = &report->syscalls;
        uint32_t n_all = s->has_zones ? s->n_zones : 0, n_rows = report_limited(n_all, limit);
        struct view_table *t = view_document_add_table(d, "zones", "Zones, as far as calls were sampled",
                                                       zone_columns, COUNT_OF(zone_columns));

        view_table_set_about(
                d, t, "the innermost zone that was open on the thread; %% of the calls of the same name");
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_syscall_place *place = &s->zones[i];

                view_table_put_handle(d, t, 'z', place->place);
                put_estimate(d, t, s, place);
                report_heading_put_name(d, t, zone_name(report, place->place));
        }
        if (t) {
                t->n_left_out = n_all - n_rows;
                t->is_hidden_if_empty = true;
        }
}

static void add_threads(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_syscalls *s = &report->syscalls;
        uint32_t n_rows = report_limited(s->n_threads, limit);
        struct view_table *t = view_document_add_table(d, "threads", "Threads and their system calls",
                                                       thread_columns, COUNT_OF(thread_columns));

        view_table_set_about(d, t, "exact; [several]: threads for which the kernel's table had no room");
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_syscall_thread *row = &s->threads[i];
                const struct report_thread *thread = row->thread != 0
                                                             ? report_heading_find_thread(report, row->thread)
                                                             : NULL;

                view_table_put_handle(d, t, 't', row->thread);
                view_table_put_number(d, t, row->n_calls);
                view_table_put_number(d, t, row->time_ns);
                view_table_put_string(d, t, s->rows[row->syscall].name);
                report_heading_put_name(d, t,
                                        row->thread == 0 ? report_names_words("[several]")
                                        : thread         ? thread->name
                                                         : report_names_words(""));
                report_heading_put_known(d, t, thread ? thread->pid : 0, thread != NULL);
                report_heading_put_known(d, t, thread ? thread->tid : 0, thread != NULL);
                view_table_put_number(d, t, row->n_errors);
                report_heading_put_known(d, t, row->n_bytes, row->n_bytes != 0);
        }
        if (t)
                t->n_left_out = s->n_threads - n_rows;
}

void syscalls_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options)
{
        const struct report_syscalls *s = &report->syscalls;

        set_answer(d, report);
        report_heading_add(d, report, options->filter);
        view_document_add_number(d, "n_calls", "system calls", VIEW_COUNT, s->n_calls);
        view_document_add_number(d, "time_ns", "time in them", VIEW_DURATION, s->time_ns);
        view_document_add_number(d, "n_errors", "errors", VIEW_COUNT, s->n_errors);
        view_document_add_number(d, "n_sampled_calls", "sampled calls", VIEW_COUNT, s->n_samples);
        if (!s->is_recorded)
                view_document_warn(d, "system calls were not counted; hyprof record --syscalls counts them");
        add_calls(d, report, options->limit);
        add_callers(d, report, options->limit);
        add_zones(d, report, options->limit);
        add_threads(d, report, options->limit);
        if (s->n_samples != 0)
                report_heading_hint(d, options->path, "report --top-down -e syscalls");
}

const struct answer_schema syscalls_view_schema = {
        .name = "hyprof.syscalls/1",
        .command = "hyprof report --syscalls --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
