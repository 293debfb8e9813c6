/* SPDX-License-Identifier: MIT */
#include "view/shared/answer_words.h"

#include "analyze/report/report.h"
#include "analyze/stats/call_finder.h"
#include "analyze/trace/meta_value.h"
#include "base/byte_buffer.h"
#include "view/document/view_document.h"
#include "view/shared/python_columns.h"
#include "view/shared/report_names.h"
#include "view/text/name_short.h"
#include "view/text/text_number.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KERNEL_MODULE    "[kernel]"
#define NAME_COLUMNS_MAX 80
#define SAMPLES_MIN      20  /* with fewer, a share is within 20 points or more of the truth */
#define ENOUGH_STACKS    0.9 /* if fewer waits have a call stack, the sentence says so */

void answer_words_add(struct answer_words *a, const char *format, ...)
{
        size_t room = sizeof(a->text) - a->used_bytes;
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(a->text + a->used_bytes, room, format, args);
        va_end(args);
        if (n > 0)
                a->used_bytes += (size_t)n < room ? (size_t)n : room - 1;
}

void answer_words_add_name(struct answer_words *a, struct text_view name)
{
        struct byte_buffer brief = { .data = NULL };

        name_short(&brief, name.bytes, name.n_bytes, NAME_COLUMNS_MAX);
        if (brief.failed)
                answer_words_add(a, "%.*s",
                                 name.n_bytes < NAME_COLUMNS_MAX ? (int)name.n_bytes : NAME_COLUMNS_MAX,
                                 name.bytes);
        else if (brief.used_bytes != 0)
                answer_words_add(a, "%.*s", (int)brief.used_bytes, (const char *)brief.data);
        byte_buffer_deinit(&brief);
}

void answer_words_add_function(struct answer_words *a, struct text_view name)
{
        answer_words_add_name(a, name);
        if (name.n_bytes != 0 && name.bytes[0] != '[' && !memchr(name.bytes, '(', name.n_bytes))
                answer_words_add(a, "()");
}

void answer_words_add_most(struct answer_words *a, uint64_t count, const char *things)
{
        if (count > 1)
                answer_words_add(a, ", the most of %s", text_number_counted(count, things).text);
}

/* The hottest real function; marks only stand for missing callers. */
static const struct report_function *hottest(const struct report *report)
{
        for (uint32_t i = 0; i < report->functions.n_rows; i++)
                if (report->functions.rows[i].kind != FUNCTION_MARK)
                        return &report->functions.rows[i];
        return NULL;
}

static bool has_hidden_programs(const struct report *report)
{
        return trace_dictionary_has_notice(report->trace.dictionary, TRACE_NOTICE_OUT_OF_REACH);
}

void answer_words_add_missing(struct answer_words *a, const struct report *report)
{
        char clause[UNSAMPLED_TIME_WORDS_BYTES];

        unsampled_time_clause(&report->unsampled, NULL, clause);
        answer_words_add(a, "%s", clause);
        if (has_hidden_programs(report))
                answer_words_add(a, "; programs with other rights were not recorded");
}

static void add_hot_share(struct answer_words *a, const struct report *report, uint64_t weight)
{
        const struct unsampled_time *u = &report->unsampled;

        answer_words_add(a, "%s of the samples",
                         text_number_share(report_share(weight, report->event->sum.weight)).text);
        if (u->of == UNSAMPLED_ON_CPU)
                answer_words_add(a, " (%s%s of the time on CPUs)", u->lost_weight > 0 ? "at least " : "",
                                 text_number_share(report_share(weight, u->whole)).text);
}

/* ------------------------------------------------------------------ calls into the kernel */

static void add_call(struct answer_words *a, const struct kernel_call *call)
{
        if (call->call.n_bytes != 0)
                answer_words_add_name(a, call_finder_as_written(call->call));
        else
                answer_words_add(a, "page faults");
        if (call->caller.n_bytes == 0 && call->module.n_bytes == 0)
                return;
        answer_words_add(a, " from ");
        answer_words_add_name(a, call->caller.n_bytes != 0 ? call->caller : report_names_file(call->module));
}

void answer_words_add_waited(struct answer_words *a, const struct waited_calls *calls)
{
        double with_stack = report_share(calls->n_with_stack, calls->n_waits);

        answer_words_add(a, "%s of it in ",
                         text_number_share(report_share(calls->top.weight, calls->total_ns)).text);
        add_call(a, &calls->top);
        if (calls->n_waits != 0 && with_stack < ENOUGH_STACKS)
                answer_words_add(a, ", judged by the %s of the waits that have a call stack",
                                 text_number_share(with_stack).text);
}

/*
 * Whether one system call has as many samples as any function, and most samples, or the hottest function,
 * are in the kernel.  A kernel function says how the kernel works, not what the program asks of it.  A
 * Python function counts with its samples in the kernel.
 */
static bool is_kernel_hot(const struct report *report)
{
        const struct kernel_calls *k = &report->kernel_calls;
        const struct report_function *function = hottest(report);
        uint64_t least = !function                             ? 0
                         : report_function_has_parts(function) ? function->parts.kernel
                                                               : function->self.weight;

        return report->event && report->event->sum.n_samples >= SAMPLES_MIN && function &&
               (report_share(k->kernel_weight, report->event->sum.weight) > 0.5 ||
                text_view_is(function->module, KERNEL_MODULE)) &&
               k->sampled.weight != 0 && k->sampled.weight >= least;
}

static void add_kernel(struct answer_words *a, const struct report *report)
{
        const struct kernel_calls *k = &report->kernel_calls;

        add_hot_share(a, report, k->kernel_weight);
        answer_words_add(a, " are in the kernel, %s in ",
                         text_number_share(report_share(k->sampled.weight, report->event->sum.weight)).text);
        add_call(a, &k->sampled);
}

/* "52,683 raw_syscalls:sys_enter: 49.1% in write from dump" */
static bool add_at_tracepoint(struct answer_words *a, const struct report *report)
{
        const struct kernel_calls *k = &report->kernel_calls;

        if (!report->event || !report->event->is_tracepoint || k->sampled.weight == 0)
                return false;
        answer_words_add(a, "%s ", text_number_count(report->event->sum.weight).text);
        answer_words_add_name(a, report->event->name);
        answer_words_add(a, ": %s in ",
                         text_number_share(report_share(k->sampled.weight, report->event->sum.weight)).text);
        add_call(a, &k->sampled);
        answer_words_add_missing(a, report);
        return true;
}

void answer_words_add_first(struct answer_words *a, const struct report *report)
{
        const struct kernel_calls *k = &report->kernel_calls;

        if (add_at_tracepoint(a, report))
                return;
        if (k->idle_ns != 0) {
                answer_words_add(a, "waited %s of %s", text_number_duration(k->idle_ns).text,
                                 text_number_duration(k->whole_ns).text);
                if (k->causes.top.weight != 0) {
                        answer_words_add(a, ": ");
                        answer_words_add_waited(a, &k->causes);
                } else if (!report->waits.has_wakeups &&
                           meta_value_number(report->trace.dictionary, "off_cpu") == 0) {
                        answer_words_add(a, " (record --off-cpu shows for what)");
                }
                if (k->causes.delay_ns > k->causes.total_ns / 2 && k->causes.delay_ns > k->idle_ns / 2)
                        answer_words_add(a, "; mostly for a CPU, after the wait was over");
                if (k->causes.top.weight != 0 || !is_kernel_hot(report)) {
                        answer_words_add_missing(a, report);
                        return;
                }
                answer_words_add(a, "; ");
        }
        if (!is_kernel_hot(report)) {
                answer_words_add_hottest(a, report);
                return;
        }
        add_kernel(a, report);
        answer_words_add_missing(a, report);
}

bool answer_words_add_too_few(struct answer_words *a, const struct report *report)
{
        uint64_t n_samples = report->event ? report->event->sum.n_samples : 0;

        if (n_samples == 0 || n_samples >= SAMPLES_MIN)
                return false;
        answer_words_add(a, "%s: too few to say where the time went",
                         text_number_counted(n_samples, "samples").text);
        return true;
}

/* " (encoder.py:258)", if most of the function's samples are at one line. */
static void add_main_line(struct answer_words *a, const struct report *report,
                          const struct report_function *function)
{
        const struct report_line *line = report_lines_main(&report->lines, function->label, &function->self);

        if (!line)
                return;
        answer_words_add(a, " (");
        answer_words_add_name(a, report_names_file(line->file));
        answer_words_add(a, ":%u)", (unsigned)line->line);
}

void answer_words_add_hottest(struct answer_words *a, const struct report *report)
{
        const struct report_function *function = hottest(report);

        if (!function || !report->event) {
                if (report->unsampled.of != UNSAMPLED_NONE || has_hidden_programs(report)) {
                        answer_words_add(a, "no samples");
                        answer_words_add_missing(a, report);
                }
                return;
        }
        if (answer_words_add_too_few(a, report)) {
                answer_words_add_missing(a, report);
                return;
        }
        add_hot_share(a, report, function->self.weight);
        answer_words_add(a, " are in ");
        answer_words_add_name(a, report_names_function(function->name, function->kind));
        if (report_function_has_parts(function)) {
                add_main_line(a, report, function);
                answer_words_add(a, ": ");
                python_columns_say(a, report, &function->parts);
        } else {
                answer_words_add(a, " itself");
        }
        answer_words_add_missing(a, report);
}

void answer_words_add_zone(struct answer_words *a, const struct report *report,
                           const struct report_zone *zone)
{
        answer_words_add(a, "zone ");
        answer_words_add_name(a, zone->name);
        answer_words_add(a, " took %s%s in all", report->lost.n_lost != 0 ? "at least " : "",
                         text_number_duration(zone->total_ns).text);
        if (report->on_cpu_known && !zone->is_cpu_unknown && zone->total_ns != 0)
                answer_words_add(a, ", %s of it on a CPU",
                                 text_number_share(report_share(zone->on_cpu_ns, zone->total_ns)).text);
}

void answer_words_set(const struct answer_words *a, struct view_document *d)
{
        view_document_set_answer(d, (struct text_view){ a->text, a->used_bytes });
}
