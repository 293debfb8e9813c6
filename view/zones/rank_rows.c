/* SPDX-License-Identifier: MIT */
#include "view/zones/rank_rows.h"

#include "analyze/report/report.h"
#include "analyze/report/report_tables.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES 256

/* Why ranks were not compared; by enum zone_ranks_state. */
static const char *const reasons[] = {
        [ZONE_RANKS_NONE] = NULL,
        [ZONE_RANKS_THREADS] = "several threads of a process have the zone",
        [ZONE_RANKS_COUNTS] = "the processes have unequal numbers of instances",
        [ZONE_RANKS_CLOCKS] = "how the clocks of their hosts relate is not known",
        [ZONE_RANKS_NO_BARRIER] = "their instances do not end together, so there is no barrier",
        [ZONE_RANKS_COMPARED] = NULL,
};

/* The name of its first thread, if that has one, else of any. */
static void name_process(const struct report *report, uint32_t process, char words[NAME_BYTES])
{
        const struct trace_dictionary *d = report->trace.dictionary;
        const struct trace_process *row = trace_dictionary_row(d, TRACE_TABLE_PROCESSES, process);
        struct text_view name = { .n_bytes = 0 };

        for (uint32_t i = 0; i < report->n_threads; i++) {
                const struct report_thread *thread = &report->threads[i];
                const struct trace_thread *of = trace_dictionary_row(d, TRACE_TABLE_THREADS, thread->thread);

                if (of->process == process && (name.n_bytes == 0 || thread->tid == row->pid))
                        name = thread->name;
        }
        (void)snprintf(words, NAME_BYTES, "%.*s%s%" PRIu32, name.n_bytes < 200 ? (int)name.n_bytes : 200,
                       name.n_bytes != 0 ? name.bytes : "", name.n_bytes != 0 ? " " : "", row->pid);
}

struct view_value rank_rows_name(struct view_document *d, const struct report *report, uint32_t process)
{
        char words[NAME_BYTES];

        name_process(report, process, words);
        return view_format(d, "%s", words);
}

/* ------------------------------------------------------------------ facts */

static bool is_compared(const struct zone_ranks *z)
{
        return z->state == ZONE_RANKS_COMPARED;
}

/* "rank2 4711: last into an instance in 95 of 100, by 12 ms in the median" */
static struct view_value describe_late(struct view_document *d, const struct report *report)
{
        const struct zone_ranks *z = &report->totals.ranks;
        const struct zone_rank *rank;
        char words[NAME_BYTES];

        if (z->late == 0)
                return view_unknown();
        rank = &z->ranks[z->late - 1];
        name_process(report, rank->process, words);
        return view_format(d, "%s: last %s in %s of %s, by %s in the median", words, zone_gate_words(z->gate),
                           text_number_count(rank->n_last).text, text_number_count(z->n_compared).text,
                           text_number_duration(rank->late_ns).text);
}

/* clang-format off */
#define RANK_FACTS(FACT)                                                                                      \
        FACT(COUNT, "n_ranks", "processes", view_number(z->n_ranks), "that have the zone")                    \
        FACT(DURATION, "mean_rank_ns", "each, in the mean", view_number(z->mean_ns), "of total_ns")           \
        FACT(REAL, "imbalance", "imbalance",                                                                  \
             view_real_known((double)z->most_ns / (double)z->mean_ns, z->mean_ns != 0),                       \
             "the most of a process, of the mean of all")                                                     \
        FACT(COUNT, "n_compared", "compared", view_known(z->n_compared, is_compared(z)),                      \
             "instances of each process, the first with the first, or null", .may_be_null = true)             \
        FACT(STRING, "barrier", "barrier", view_words(is_compared(z) ? zone_gate_words(z->gate) : NULL),                \
             "where the processes wait for each other, or null",                                              \
             .one_of = "into an instance|into the last zone inside|out of the last zone inside", .may_be_null = true)              \
        FACT(STRING, "late", "late", describe_late(d, report),                                                \
             "the process that the others waited for, or null")                                               \
        FACT(STRING, "not_compared", "not compared", view_words(reasons[z->state]),                           \
             "why it is not known which process was late, or null")
/* clang-format on */

static const struct view_column fact_columns[] = { RANK_FACTS(VIEW_MEMBER) };
const struct answer_part rank_rows_facts_part = ANSWER_FACTS_ABSENT(fact_columns);

static void add_facts(struct view_document *d, const struct report *report)
{
        const struct zone_ranks *z = &report->totals.ranks;

        RANK_FACTS(VIEW_FACT)
        if (z->n_beyond != 0)
                view_document_warn(d, "%s instances are not compared: there are too many",
                                   text_number_count(z->n_beyond).text);
}

/* ------------------------------------------------------------------ rows */

static struct text_view label_of(const struct report *report, uint32_t process)
{
        const struct trace_dictionary *d = report->trace.dictionary;
        const struct trace_process *row = trace_dictionary_row(d, TRACE_TABLE_PROCESSES, process);
        const struct trace_recording *recording;

        if (row->recording == 0)
                return (struct text_view){ .n_bytes = 0 };
        recording = trace_dictionary_row(d, TRACE_TABLE_RECORDINGS, row->recording);
        return trace_dictionary_text(d, recording->label);
}

/* clang-format off */
#define RANK_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "process", "process", rank_rows_name(d, report, rank->process), "its name and PID")    \
        COLUMN(STRING, "recording", "recording", view_name(label_of(report, rank->process)),                  \
               "of a merged trace", .may_go = true)                                                           \
        COLUMN(COUNT, "count", "count", view_number(rank->n_closed), NULL)                                    \
        COLUMN(DURATION, "total_ns", "total", view_number(rank->total_ns), NULL)                              \
        COLUMN(SHARE, "share", "%", report_heading_share(rank->total_ns, whole_ns), "of all")                 \
        COLUMN(DURATION, "mean_ns", "mean", view_mean(rank->total_ns, rank->n_closed + rank->n_unclosed),     \
               NULL)                                                                                          \
        COLUMN(COUNT, "n_last", "last", view_known(rank->n_last, is_compared(z)),                             \
               "how often it came last to the barrier", .may_be_null = true)                                  \
        COLUMN(DURATION, "late_ns", "late by", view_known(rank->late_ns, rank->n_last != 0),                  \
               "then: after the second last, in the median")                                                  \
        COLUMN(COUNT, "n_unclosed", "n_unclosed", view_number(rank->n_unclosed), NULL)
/* clang-format on */

static const struct view_column columns[] = { RANK_COLUMNS(VIEW_COLUMN) };
const struct answer_part rank_rows_part = ANSWER_TABLE(
        "ranks", columns, "the zone in one of several processes; absent if one has it",
        .may_be_absent = true);

static void put_rank(struct view_document *d, struct view_table *t, const struct report *report,
                     const struct zone_rank *rank)
{
        const struct zone_ranks *z = &report->totals.ranks;
        uint64_t whole_ns = report->totals.instances.stat.total_ns;

        RANK_COLUMNS(VIEW_CELL)
}

struct row {
        const struct zone_rank *rank;
};

static int compare_rows(const void *a, const void *b)
{
        const struct row *x = a, *y = b;
        int order = report_compare(y->rank->total_ns, x->rank->total_ns);

        return order != 0 ? order : report_compare(x->rank->process, y->rank->process);
}

void rank_rows_add(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct zone_ranks *z = &report->totals.ranks;
        uint32_t n_rows = report_limited(z->n_ranks, limit);
        struct view_table *t;
        struct row *rows;

        if (z->n_ranks < 2)
                return;
        rows = calloc(z->n_ranks, sizeof(*rows));
        if (!rows) {
                d->failed = true;
                return;
        }
        for (uint32_t i = 0; i < z->n_ranks; i++)
                rows[i].rank = &z->ranks[i];
        qsort(rows, z->n_ranks, sizeof(*rows), compare_rows);
        add_facts(d, report);
        t = view_document_add_part(d, &rank_rows_part, "Processes beside each other");
        for (uint32_t i = 0; i < n_rows; i++)
                put_rank(d, t, report, rows[i].rank);
        if (t)
                t->n_left_out = z->n_ranks - n_rows;
        free(rows);
}

void rank_rows_say(struct answer_words *a, const struct report *report)
{
        const struct zone_ranks *z = &report->totals.ranks;
        char words[NAME_BYTES];

        if (z->n_ranks < 2)
                return;
        answer_words_add(a, "; %s in each of %s processes in the mean", text_number_duration(z->mean_ns).text,
                         text_number_count(z->n_ranks).text);
        if (z->late == 0)
                return;
        name_process(report, z->ranks[z->late - 1].process, words);
        answer_words_add(a, ", which wait for ");
        answer_words_add_name(a, report_names_words(words));
}
