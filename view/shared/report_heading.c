/* SPDX-License-Identifier: MIT */
#include "view/shared/report_heading.h"

#include "analyze/report/report.h"
#include "analyze/trace/zone_pattern.h"
#include "view/document/view_document.h"
#include "view/shared/gap_advice.h"
#include "view/shared/report_names.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COMMAND_BYTES_MAX 96 /* on one line of 120 columns, after its title */

/* Advice that an earlier gap has as well is not repeated, because it is equally good for both gaps. */
static const char *advice_to_say(const struct report_gaps *gaps, uint32_t i)
{
        const char *advice = gaps->rows[i].advice;

        for (uint32_t k = 0; k < i && advice; k++)
                if (gaps->rows[k].advice && strcmp(gaps->rows[k].advice, advice) == 0)
                        return NULL;
        return advice;
}

/* The words of one line of "missing, and why".  @report: NULL where no gap has advice. */
static void warn_of_gap(struct view_document *d, const struct report *report, const struct report_gaps *gaps,
                        uint32_t i)
{
        struct report_gap said = gaps->rows[i];
        const struct report_gap *gap = &said;
        int n = (int)gap->detail.n_bytes;
        const char *detail = n != 0 ? gap->detail.bytes : "";

        said.advice = advice_to_say(gaps, i);
        if (gap->is_share_said) {
                view_document_warn(d, "%s", gap->words);
                return;
        }
        if (gap->share > 0 && n != 0)
                view_document_warn(d, "%.*s (%s of the samples) %s%s%s", n, detail,
                                   text_number_share(gap->share).text, gap->words, gap->advice ? "; " : "",
                                   gap_advice_of(report, gap).text);
        else if (gap->share > 0)
                view_document_warn(d, "%s: %s", gap->words, text_number_share(gap->share).text);
        else if (gap->count != 0 && n != 0)
                view_document_warn(d, "%s (%.*s)", text_number_counted(gap->count, gap->words).text, n,
                                   detail);
        else if (gap->count != 0)
                view_document_warn(d, "%s", text_number_counted(gap->count, gap->words).text);
        else if (n != 0)
                view_document_warn(d, "%s (%.*s)", gap->words, n, detail);
        else
                view_document_warn(d, "%s", gap->words);
}

static const char *name_of_source(enum report_gap_source source)
{
        switch (source) {
        case REPORT_GAP_NOTICE:
                return "notice";
        case REPORT_GAP_LOSS:
                return "loss";
        case REPORT_GAP_ANALYSIS:
                break;
        }
        return "analysis";
}

static void put_gap(struct view_document *d, struct view_table *t, const struct report *report,
                    const struct report_gap *gap)
{
        view_table_put_words(d, t, name_of_source(gap->source));
        view_table_put_words(d, t, gap->code);
        view_table_put_words(d, t, gap->words);
        report_heading_put_name(d, t, gap->detail);
        if (gap->advice)
                view_table_put_words(d, t, gap_advice_of(report, gap).text);
        else
                view_table_put_unknown(d, t);
        report_heading_put_known(d, t, gap->count, gap->count != 0);
        if (gap->share > 0)
                view_table_put_real(d, t, gap->share);
        else
                view_table_put_unknown(d, t);
}

void report_heading_add_missing(struct view_document *d, const struct report *report)
{
        static const struct view_column columns[] = {
                { .key = "source", .type = VIEW_STRING }, { .key = "code", .type = VIEW_STRING },
                { .key = "words", .type = VIEW_STRING },  { .key = "detail", .type = VIEW_STRING },
                { .key = "advice", .type = VIEW_STRING }, { .key = "count", .type = VIEW_COUNT },
                { .key = "share", .type = VIEW_SHARE },
        };
        struct view_table *t = view_document_add_table(d, "missing", NULL, columns,
                                                       sizeof(columns) / sizeof(columns[0]));

        if (report->recording.range.is_part)
                d->warnings_title = "missing or doubtful in the whole recording";
        for (uint32_t i = 0; i < report->gaps.n_rows; i++) {
                warn_of_gap(d, report, &report->gaps, i);
                put_gap(d, t, report, &report->gaps.rows[i]);
        }
}

void report_heading_warn_recorded(struct view_document *d, const struct trace_dictionary *dictionary,
                                  const struct unsampled_time *unsampled)
{
        struct report_gaps gaps = { .rows = NULL };

        if (report_gaps_add_recorded(&gaps, dictionary, unsampled) < 0)
                d->failed = true;
        for (uint32_t i = 0; i < gaps.n_rows; i++)
                warn_of_gap(d, NULL, &gaps, i);
        report_gaps_deinit(&gaps);
}

void report_heading_add_unsampled(struct view_document *d, const char *key, const char *title,
                                  const struct unsampled_time *unsampled)
{
        if (unsampled->of != UNSAMPLED_NONE)
                view_document_add_real(d, key, title, VIEW_SHARE, unsampled->share);
        else
                view_document_add_unknown(d, key, title, VIEW_SHARE);
}

void report_heading_add_lost(struct view_document *d, const struct lost_zones *lost)
{
        char words[LOST_ZONES_WORDS_BYTES];

        lost_zones_words(lost, words);
        if (lost->n_lost == 0) {
                view_document_add_unknown(d, "n_zones_lost", "zones lost", VIEW_COUNT);
                view_document_add_unknown(d, "lost", "lost", VIEW_STRING);
                return;
        }
        view_document_add_number(d, "n_zones_lost", "zones lost", VIEW_COUNT, lost->n_lost);
        view_document_add_string(d, "lost", "lost", (struct text_view){ words, strlen(words) });
}

void report_heading_add_length(struct view_document *d, const struct trace_range *range, uint64_t duration_ns)
{
        if (range->is_part)
                view_document_add_number(d, "range_ns", "range", VIEW_DURATION,
                                         range->to_ns - range->from_ns);
        else
                view_document_add_unknown(d, "range_ns", "range", VIEW_DURATION);
        view_document_add_number(d, "duration_ns", range->is_part ? "of a recording of" : "lasted",
                                 VIEW_DURATION, duration_ns);
}

/* A command may have thousands of arguments: text shows the first ones, so that the tables stay visible. */
void report_heading_add_command(struct view_document *d, struct text_view command)
{
        char line[COMMAND_BYTES_MAX + sizeof("…")];
        const struct text_view dots = { "…", strlen("…") };
        size_t n = COMMAND_BYTES_MAX;

        if (command.n_bytes <= COMMAND_BYTES_MAX) {
                view_document_add_string(d, "command", "command", command);
                return;
        }
        /* Do not cut within a UTF-8 character. */
        while (n > 0 && ((unsigned char)command.bytes[n] & 0xc0) == 0x80)
                n--;
        memcpy(line, command.bytes, n);
        memcpy(line + n, dots.bytes, dots.n_bytes);
        view_document_add_string(d, NULL, "command", (struct text_view){ line, n + dots.n_bytes });
        view_document_add_string(d, "command", NULL, command);
}

void report_heading_add(struct view_document *d, const struct report *report, struct text_view filter)
{
        const struct report_event *event = report->event;

        report_heading_add_command(d, report->recording.command);
        view_document_add_string(d, "filter", "only", filter);
        report_heading_add_length(d, &report->recording.range, report->recording.duration_ns);
        if (event) {
                view_document_add_string(d, "event", "samples of", event->name);
                view_document_add_number(d, "n_samples", "samples", VIEW_COUNT, event->sum.n_samples);
        } else {
                view_document_add_unknown(d, "event", "samples of", VIEW_STRING);
                view_document_add_number(d, "n_samples", "samples", VIEW_COUNT, 0);
        }
        report_heading_add_unsampled(d, "unsampled_share", "time without samples", &report->unsampled);
        report_heading_add_missing(d, report);
}

struct handle_text report_heading_zone(const struct trace_dictionary *dictionary, uint32_t location)
{
        return handle_word_spell('z', location, zone_pattern_is_shadowed(dictionary, location));
}

struct handle_text report_heading_function(const struct report *report, uint32_t label)
{
        const struct report_samples *samples = &report->samples;

        return handle_word_spell('f', label,
                                 function_table_is_shadowed(&samples->functions, samples->dictionary, label));
}

struct handle_text report_heading_thread(const struct report *report, uint32_t thread)
{
        bool is_shadowed = false;

        for (uint32_t i = 0; i < report->n_threads && !is_shadowed; i++)
                is_shadowed = report->threads[i].thread != thread &&
                              handle_word_is_name('t', thread, report->threads[i].name);
        return handle_word_spell('t', thread, is_shadowed);
}

void report_heading_hint(struct view_document *d, const char *trace_path, const char *format, ...)
{
        char words[256];
        va_list args;

        va_start(args, format);
        (void)vsnprintf(words, sizeof(words), format, args);
        va_end(args);
        if (trace_path)
                view_document_hint(d, "hyprof %s %s", words, shell_word_of(trace_path).text);
        else
                view_document_hint(d, "hyprof %s", words);
}

void report_heading_put_known(struct view_document *d, struct view_table *t, uint64_t number, bool known)
{
        if (known)
                view_table_put_number(d, t, number);
        else
                view_table_put_unknown(d, t);
}

void report_heading_put_share(struct view_document *d, struct view_table *t, uint64_t part, uint64_t whole,
                              bool known)
{
        if (known && whole != 0)
                view_table_put_real(d, t, report_share(part, whole));
        else
                view_table_put_unknown(d, t);
}

void report_heading_put_weight(struct view_document *d, struct view_table *t, const struct report *report,
                               uint64_t weight)
{
        view_table_put_amount(d, t, weight, report->event && report_names_is_time(report->event->unit));
}

void report_heading_put_function(struct view_document *d, struct view_table *t, struct text_view name,
                                 enum function_kind kind)
{
        view_table_put_string(d, t, report_names_function(name, kind));
}

void report_heading_put_name(struct view_document *d, struct view_table *t, struct text_view name)
{
        if (name.n_bytes != 0)
                view_table_put_string(d, t, name);
        else
                view_table_put_unknown(d, t);
}

const struct report_thread *report_heading_find_thread(const struct report *report, uint32_t thread)
{
        for (uint32_t i = 0; i < report->n_threads; i++)
                if (report->threads[i].thread == thread)
                        return &report->threads[i];
        return NULL;
}
