/* SPDX-License-Identifier: MIT */
#include "view/shared/report_heading.h"

#include "analyze/report/report.h"
#include "analyze/trace/zone_pattern.h"
#include "view/document/answer_schema.h"
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
                view_document_warn(
                        d, "%.*s (%s of the samples) %s%s%s", n, detail, text_number_share(gap->share).text,
                        gap->words, gap->advice ? "; " : "",
                        gap_advice_make(report ? report->path : NULL, gap->detail, gap->advice).text);
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

/* clang-format off */
#define MISSING_COLUMNS(COLUMN)                                                                               \
        COLUMN(STRING, "source", NULL, view_words(name_of_source(gap->source)),                               \
               "the recorder could not have it from the start; it was lost on the way; the report found out", \
               .one_of = "notice|loss|analysis")                                                              \
        COLUMN(STRING, "code", NULL, view_words(gap->code), "a stable name")                                  \
        COLUMN(STRING, "words", NULL, view_words(gap->words), "for people")                                   \
        COLUMN(STRING, "detail", NULL, view_name(gap->detail), "the reason, or the path of the module")       \
        COLUMN(STRING, "advice", NULL,                                                                        \
               gap->advice ? view_words(gap_advice_make(report->path, gap->detail, gap->advice).text) : view_unknown(), "the remedy")      \
        COLUMN(COUNT, "count", NULL, view_known(gap->count, gap->count != 0),                                 \
               "null if it is not a thing to count", .may_be_null = true)                                     \
        COLUMN(SHARE, "share", NULL, view_real_known(gap->share, gap->share > 0),                             \
               "of the samples shown, or of what `words` say")
/* clang-format on */

static const struct view_column missing_columns[] = { MISSING_COLUMNS(VIEW_COLUMN) };
const struct answer_part report_heading_missing_part = ANSWER_TABLE(
        "missing", missing_columns,
        "something of the whole recording that is missing or doubtful, whatever "
        "the filters are",
        .is_common = true);

void report_heading_add_missing(struct view_document *d, const struct report *report)
{
        struct view_table *t = view_document_add_part(d, &report_heading_missing_part, NULL);

        if (report->recording.range.is_part)
                d->warnings_title = "missing or doubtful in the whole recording";
        for (uint32_t i = 0; i < report->gaps.n_rows; i++) {
                const struct report_gap *gap = &report->gaps.rows[i];

                warn_of_gap(d, report, &report->gaps, i);
                MISSING_COLUMNS(VIEW_CELL)
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

/* clang-format off */
#define LOST_FACTS(FACT)                                                                                      \
        FACT(COUNT, "n_zones_lost", "zones lost", view_known(lost->n_lost, lost->n_lost != 0),                \
             "null if none were", .may_be_null = true)                                                        \
        FACT(STRING, "lost", "lost", lost->n_lost != 0 ? view_words(words) : view_unknown(),                  \
             "the number of lost zones in words")
#define COMMAND_FACTS(FACT)                                                                                   \
        FACT(STRING, "command", is_whole ? "command" : NULL, view_name(command), "what was recorded")
#define FILTER_FACTS(FACT)                                                                                    \
        FACT(STRING, "filter", "only", view_name(filter), "what was looked at, in words; null = everything")
#define LENGTH_FACTS(FACT)                                                                                    \
        FACT(DURATION, "range_ns", "range", view_known(range->to_ns - range->from_ns, range->is_part),        \
             "of the part that --from and --to leave; null = all of it")                                      \
        FACT(DURATION, "duration_ns", range->is_part ? "of a recording of" : "lasted",                        \
             view_number(duration_ns), "of the recording")
#define SAMPLES_FACTS(FACT)                                                                                   \
        FACT(STRING, "event", "samples of", event ? view_name(event->name) : view_unknown(),                  \
             "whose samples are shown")                                                                       \
        FACT(COUNT, "n_samples", "samples", view_number(event ? event->sum.n_samples : 0),                    \
             "how many passed the filter")                                                                    \
        FACT(SHARE, "unsampled_share", "time without samples", report_heading_unsampled(&report->unsampled),  \
             "how much has no samples, so that shares of samples are of the rest; null = less than 1 %, or "  \
             "nothing is known to be missing")
/* clang-format on */

static const struct view_column lost_columns[] = { LOST_FACTS(VIEW_MEMBER) };
static const struct view_column command_columns[] = { COMMAND_FACTS(VIEW_MEMBER) FILTER_FACTS(VIEW_MEMBER) };
static const struct view_column event_columns[] = { COMMAND_FACTS(VIEW_MEMBER) FILTER_FACTS(VIEW_MEMBER)
                                                            LENGTH_FACTS(VIEW_MEMBER) };
static const struct view_column columns[] = { COMMAND_FACTS(VIEW_MEMBER) FILTER_FACTS(VIEW_MEMBER)
                                                      LENGTH_FACTS(VIEW_MEMBER) SAMPLES_FACTS(VIEW_MEMBER) };
const struct answer_part report_heading_lost_part = ANSWER_FACTS_COMMON(lost_columns);
const struct answer_part report_heading_command_part = ANSWER_FACTS_COMMON(command_columns);
const struct answer_part report_heading_events_part = ANSWER_FACTS_COMMON(event_columns);
const struct answer_part report_heading_part = ANSWER_FACTS_COMMON(columns);

struct view_value report_heading_unsampled(const struct unsampled_time *unsampled)
{
        return view_real_known(unsampled->share, unsampled->of != UNSAMPLED_NONE);
}

void report_heading_add_lost(struct view_document *d, const struct lost_zones *lost)
{
        char words[LOST_ZONES_WORDS_BYTES];

        lost_zones_words(lost, words);
        LOST_FACTS(VIEW_FACT)
}

void report_heading_add_length(struct view_document *d, const struct trace_range *range, uint64_t duration_ns)
{
        LENGTH_FACTS(VIEW_FACT)
}

/* A command may have thousands of arguments: text shows the first ones, so that the tables stay visible. */
void report_heading_add_command(struct view_document *d, struct text_view command)
{
        const bool is_whole = command.n_bytes <= COMMAND_BYTES_MAX;
        size_t n = COMMAND_BYTES_MAX;

        if (!is_whole) {
                /* Do not cut within a UTF-8 character. */
                while (n > 0 && ((unsigned char)command.bytes[n] & 0xc0) == 0x80)
                        n--;
                view_document_put(d, NULL, "command", VIEW_STRING,
                                  view_format(d, "%.*s…", (int)n, command.bytes));
        }
        COMMAND_FACTS(VIEW_FACT)
}

void report_heading_add_filter(struct view_document *d, struct text_view filter)
{
        FILTER_FACTS(VIEW_FACT)
}

void report_heading_add(struct view_document *d, const struct report *report, struct text_view filter)
{
        const struct report_event *event = report->event;

        report_heading_add_command(d, report->recording.command);
        report_heading_add_filter(d, filter);
        report_heading_add_length(d, &report->recording.range, report->recording.duration_ns);
        SAMPLES_FACTS(VIEW_FACT)
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

struct view_value report_heading_share(uint64_t part, uint64_t whole)
{
        return view_real_known(report_share(part, whole), whole != 0);
}

struct view_value report_heading_weight(const struct report *report, uint64_t weight)
{
        return view_amount(weight, report->event && report_names_is_time(report->event->unit));
}

struct view_value report_heading_ratio(double ratio)
{
        return view_real_known(ratio, ratio >= 0);
}

const struct report_thread *report_heading_find_thread(const struct report *report, uint32_t thread)
{
        for (uint32_t i = 0; i < report->n_threads; i++)
                if (report->threads[i].thread == thread)
                        return &report->threads[i];
        return NULL;
}
