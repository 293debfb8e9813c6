/* SPDX-License-Identifier: MIT */
#include "cli/top/top_head.h"

#include "analyze/live/live_rows.h"
#include "analyze/live/live_stats.h"
#include "base/clock.h"
#include "cli/top/top_input.h"
#include "format/trace_dictionary.h"
#include "format/trace_loss.h"
#include "format/trace_rows.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PAUSE_NS    (2 * NS_PER_S)
#define TITLE_BYTES 24

struct top_processes {
        uint32_t n, pid; /* how many were recorded so far; of the first; 0 = none */
};

static const char *state_of(const struct top_input *in, bool is_paused)
{
        if (in->is_over)
                return "ended";
        if (is_paused)
                return "paused";
        if (in->latest_ns == 0)
                return "waiting for events";
        return clock_raw_ns() - in->arrived_ns > PAUSE_NS ? "no events" : "live";
}

/* Adds to the line; words that do not fit are left out. */
__attribute__((format(printf, 3, 4))) static void add_words(char *line, size_t n_bytes, const char *format,
                                                            ...)
{
        size_t used = strlen(line);
        va_list args;

        va_start(args, format);
        (void)vsnprintf(line + used, n_bytes - used, format, args);
        va_end(args);
}

/* The first bytes of a title, so that a long one leaves room for the numbers. */
static int shown_bytes(const char *title)
{
        size_t n = strnlen(title, TITLE_BYTES);

        while (n > 0 && ((unsigned char)title[n] & 0xc0) == 0x80)
                n--; /* not within a character */
        return (int)n;
}

/* The first process is that of the command. */
static struct top_processes processes_of(const struct top_input *in)
{
        const struct trace_dictionary *d = in->stats.dictionary;
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_PROCESSES);
        const struct trace_process *first = n != 0 ? trace_dictionary_row(d, TRACE_TABLE_PROCESSES, 1) : NULL;

        return (struct top_processes){ .n = n, .pid = first ? first->pid : 0 };
}

static double load_of(const struct top_input *in, const struct top_head *head)
{
        return live_rows_load(&(struct live_rows){ .stats = &in->stats, .all = head->all });
}

static void add_subject(const struct top_input *in, const struct top_head *head, char *line, size_t n_bytes)
{
        struct top_processes processes = processes_of(in);
        double load = load_of(in, head);

        add_words(line, n_bytes, "%.*s", shown_bytes(head->title), head->title);
        if (processes.pid != 0)
                add_words(line, n_bytes, " (PID %" PRIu32, processes.pid);
        if (processes.pid != 0 && processes.n > 1)
                add_words(line, n_bytes, " and %" PRIu32 " more", processes.n - 1);
        add_words(line, n_bytes, processes.pid != 0 ? "), " : ", ");
        if (load >= 0)
                add_words(line, n_bytes, "%.2f CPUs, ", load);
}

/* In the order of importance: the terminal's width cuts the end. */
void top_head_print(const struct top_input *in, const struct top_head *head, char *line, size_t n_bytes)
{
        const struct live_stats *s = &in->stats;
        struct live_tally tally = live_stats_tally(s, head->all);
        uint64_t n_lost = trace_loss_total(s->dictionary);
        struct unsampled_time unsampled = live_stats_unsampled(s);

        line[0] = '\0';
        add_words(line, n_bytes, "hyprof top: %s, ", state_of(in, head->is_paused));
        if (n_lost > 0)
                add_words(line, n_bytes, "%s lost in all, ", text_number_short(n_lost).text);
        if (unsampled.share > 0)
                add_words(line, n_bytes, "%s unsampled, ", text_number_share(unsampled.share).text);
        if (s->n_clock_jumps > 0)
                add_words(line, n_bytes, "%" PRIu32 " clock jump%s, ", s->n_clock_jumps,
                          s->n_clock_jumps == 1 ? "" : "s");
        add_subject(in, head, line, n_bytes);
        add_words(line, n_bytes, "%s %s: %s sample%s, %s zone%s", head->all ? "all" : "last",
                  text_number_duration(live_stats_window_ns(s, head->all)).text,
                  text_number_short(tally.n_samples).text, tally.n_samples == 1 ? "" : "s",
                  text_number_short(tally.n_zones).text, tally.n_zones == 1 ? "" : "s");
        if (tally.n_zones_beside > 0)
                add_words(line, n_bytes, " (%s not listed)", text_number_short(tally.n_zones_beside).text);
        if (head->is_python)
                add_words(line, n_bytes, ", Python functions with native code (--native: apart)");
}

/* clang-format off */
#define HEAD_FACTS(FACT)                                                                                      \
        FACT(STRING, "state", NULL, view_words(state_of(in, false)), NULL,                                    \
             .one_of = "ended|waiting for events|no events|live")                                             \
        FACT(STRING, "subject", NULL, view_words(head->title), "the trace or the command, without its folders") \
        FACT(ID, "pid", NULL, view_known(processes.pid, processes.pid != 0), "of the first process",          \
             .may_be_null = true)                                                                             \
        FACT(COUNT, "n_processes", NULL, view_number(processes.n), "that were recorded so far")              \
        FACT(REAL, "n_cpus_used", NULL, view_real_known(load, load >= 0),                                     \
             "how many CPUs the threads had, as a mean of the window; null without context switches")         \
        FACT(DURATION, "window_ns", NULL, view_number(live_stats_window_ns(s, head->all)),                    \
             "the time that the table is of")                                                                 \
        FACT(COUNT, "n_samples", NULL, view_number(tally.n_samples), "in the window")                         \
        FACT(COUNT, "n_zones", NULL, view_number(tally.n_zones), "that ended in the window")                  \
        FACT(COUNT, "n_zones_beside", NULL, view_number(tally.n_zones_beside), "of these, without a row")     \
        FACT(COUNT, "n_lost", NULL, view_number(trace_loss_total(s->dictionary)),                             \
             "events, since the recording began")                                                             \
        FACT(SHARE, "unsampled_share", NULL, view_real(unsampled.share),                                      \
             "of the time on CPUs since then")                                                                \
        FACT(COUNT, "n_clock_jumps", NULL, view_number(s->n_clock_jumps), NULL)                               \
        FACT(BOOL, "is_folded", NULL, view_number(head->is_python),                                           \
             "functions are those of Python, with native code")
/* clang-format on */

static const struct view_column fact_columns[] = { HEAD_FACTS(VIEW_COLUMN) };
const struct answer_part top_head_part = ANSWER_FACTS(fact_columns);

void top_head_fill(const struct top_input *in, const struct top_head *head, struct view_document *d)
{
        const struct live_stats *s = &in->stats;
        struct live_tally tally = live_stats_tally(s, head->all);
        uint64_t n_lost = trace_loss_total(s->dictionary);
        struct unsampled_time unsampled = live_stats_unsampled(s);
        struct top_processes processes = processes_of(in);
        double load = load_of(in, head);
        char line[512];

        top_head_print(in, head, line, sizeof(line));
        view_document_set_answer(d, (struct text_view){ line, strlen(line) });
        HEAD_FACTS(VIEW_FACT)
        if (n_lost > 0)
                view_document_warn(d, "%s events lost since the recording began",
                                   text_number_count(n_lost).text);
        if (unsampled.share > 0)
                view_document_warn(d, "%s of the time on CPUs has no samples",
                                   text_number_share(unsampled.share).text);
        if (tally.n_zones_beside > 0)
                view_document_warn(d, "%s zones are of places without a row",
                                   text_number_count(tally.n_zones_beside).text);
}
