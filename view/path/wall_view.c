/* SPDX-License-Identifier: MIT */
#include "view/path/wall_view.h"

#include "analyze/cores/wall_shares.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/path/path_words.h"
#include "view/shared/answer_words.h"
#include "view/shared/asked_zone.h"
#include "view/shared/event_names.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <math.h>

/* Rows of the sentence, and the smallest share of one after the first. */
#define SENTENCE_ROWS  3
#define SENTENCE_SHARE 0.05
/* Smaller shares are no row, unless all rows were asked for. */
#define SHARE_SHOWN_MIN 0.0005
/* With fewer threads at a time than this, a function runs alone. */
#define ALONE_MAX 1.1

/* ------------------------------------------------------------------ words */

static const char *const kind_words[] = {
        [WALL_ROW_FUNCTION] = "function",   [WALL_ROW_ELSEWHERE] = "elsewhere",
        [WALL_ROW_UNSAMPLED] = "unsampled", [WALL_ROW_TIMER] = "timer",
        [WALL_ROW_DISK] = "disk",           [WALL_ROW_NETWORK] = "network",
        [WALL_ROW_PROGRAM] = "others",      [WALL_ROW_UNKNOWN] = "unknown",
        [WALL_ROW_INTERRUPT] = "interrupt",
};
#define KIND_WORDS "function|elsewhere|unsampled|timer|disk|network|interrupt|others|unknown"

static struct text_view name_of(const struct wall_shares *w, const struct wall_row_key *key)
{
        static const char *const names[] = {
                [WALL_ROW_FUNCTION] = NULL,
                [WALL_ROW_ELSEWHERE] = "[elsewhere]",
                [WALL_ROW_UNSAMPLED] = "[no samples]",
                [WALL_ROW_TIMER] = "[timer]",
                [WALL_ROW_DISK] = "[disk]",
                [WALL_ROW_NETWORK] = "[network]",
                [WALL_ROW_INTERRUPT] = "[interrupt]",
                [WALL_ROW_PROGRAM] = "[others]",
                [WALL_ROW_UNKNOWN] = "[unknown]",
        };

        return key->kind == WALL_ROW_FUNCTION ? path_words_function_name(&w->sweep.names, key->label)
                                              : report_names_words(names[key->kind]);
}

static void add_row_words(struct answer_words *out, const struct wall_shares *w, uint32_t id)
{
        static const char *const words[] = {
                [WALL_ROW_ELSEWHERE] = "what the filter leaves out",
                [WALL_ROW_UNSAMPLED] = "threads without samples",
                [WALL_ROW_TIMER] = "waiting for a timer",
                [WALL_ROW_DISK] = "waiting for the disk",
                [WALL_ROW_NETWORK] = "waiting for the network",
                [WALL_ROW_INTERRUPT] = "waiting for an interrupt",
                [WALL_ROW_PROGRAM] = "waiting for programs that were not recorded",
                [WALL_ROW_UNKNOWN] = "waiting for something that is not known",
        };
        const struct wall_row_key *key = wall_shares_key(w, id);
        double n = wall_row_parallelism(&w->rows[id - 1]);

        if (key->kind == WALL_ROW_FUNCTION)
                answer_words_add_function(out, name_of(w, key));
        else
                answer_words_add(out, "%s", words[key->kind]);
        if (n <= 0)
                return;
        if (n < ALONE_MAX)
                answer_words_add(out, key->kind == WALL_ROW_FUNCTION ? ", alone" : "");
        else
                answer_words_add(out, ", %.1f threads at a time", n);
}

static struct answer_words make_answer(const struct wall_shares *w)
{
        struct answer_words a = { .used_bytes = 0 };
        const char *zone = w->request.filter->has_zone ? w->request.filter->request.zone : NULL;

        if (!w->has_switches) {
                answer_words_add(&a, "how many threads ran is unknown: no context switches were recorded");
                return a;
        }
        if (w->n_rows == 0) {
                answer_words_add(&a, "no thread that passes the filters was recorded");
                return a;
        }
        for (uint32_t i = 0; i < w->n_rows && i < SENTENCE_ROWS; i++) {
                double share = w->rows[w->order[i] - 1].share;

                if (i != 0 && share < SENTENCE_SHARE)
                        break;
                answer_words_add(&a, "%s%.0f%% ", i != 0 ? "; " : "", share * 100);
                if (i == 0) {
                        answer_words_add(&a, "of the wall time ");
                        if (zone) {
                                answer_words_add(&a, "while '");
                                answer_words_add_name(
                                        &a, asked_zone_name(w->sweep.names.trace->dictionary, zone));
                                answer_words_add(&a, "' was open ");
                        }
                        answer_words_add(&a, "(%s): ", text_number_duration(w->wall_ns).text);
                }
                add_row_words(&a, w, w->order[i]);
        }
        return a;
}

/* Lost by this row alone, as a share of the wall time. */
static double lost_by(const struct wall_shares *w, uint32_t id)
{
        const struct wall_row *row = &w->rows[id - 1];

        switch (wall_shares_key(w, id)->kind) {
        case WALL_ROW_ELSEWHERE:
        case WALL_ROW_UNSAMPLED:
                return 0;
        case WALL_ROW_FUNCTION:
                return row->share - row->weight / fmax(w->weight, 1);
        default:
                return row->share;
        }
}

bool wall_view_say(const struct wall_shares *w, double share_min, struct answer_words *ret_words)
{
        for (uint32_t i = 0; i < w->n_rows && w->has_switches; i++)
                if (lost_by(w, w->order[i]) >= share_min) {
                        *ret_words = make_answer(w);
                        return true;
                }
        return false;
}

/* ------------------------------------------------------------------ facts and rows */

/* clang-format off */
#define WALL_FACTS(FACT)                                                                                      \
        FACT(DURATION, "wall_ns", "wall time", view_known(w->wall_ns, w->has_switches),                       \
             "while a chosen thread lived; with a zone, while one was in an instance of it")                  \
        FACT(DURATION, "no_thread_ns", "no thread could run", view_known(w->none_ns, w->has_switches),        \
             "of that: the rows [timer], [disk], [network], [interrupt], [others] and [unknown]")             \
        FACT(DURATION, "ready_ns", "ready, none ran", view_known(w->ready_ns, w->has_switches),     \
             "of that: other programs had the CPUs, or a quota was used up; the rows have it in proportion")  \
        FACT(COUNT, "samples", "samples", view_number(w->n_samples), "in that time, of all threads")
#define WALL_COLUMNS(COLUMN)                                                                                  \
        COLUMN(SHARE, "share", "wall", view_real(row->share),                                                 \
               "of the wall time: each sample counts for its part of the threads that ran or could run")      \
        COLUMN(SHARE, "cpu_share", "cpu", view_real_known(row->weight / fmax(w->weight, 1),                   \
               row->n_samples != 0), "of the weight of all samples in that time")                             \
        COLUMN(REAL, "parallelism", "threads", view_real_known(wall_row_parallelism(row),                     \
               row->n_samples != 0), "that ran or could run when its samples were taken, on average")         \
        COLUMN(HANDLE, "handle", "", view_handle('f', key->label), NULL)                                      \
        COLUMN(STRING, "function", "function", view_text(name_of(w, key)),                                    \
               "or in brackets what no thread ran for")                                                       \
        COLUMN(COUNT, "samples", "samples", view_known(row->n_samples, row->n_samples != 0), NULL,            \
               .may_be_null = true)                                                                           \
        COLUMN(PLACE, "module", "module", view_place(module_of(w, key), 0), NULL, .n_columns_max = 26)        \
        COLUMN(STRING, "kind", NULL, view_words(kind_words[key->kind]),                                       \
               "elsewhere: what the filter leaves out; unsampled: threads ran, and there is no sample; "      \
               "interrupt: of no device that is known; others: waits for programs that were not recorded",     \
               .one_of = KIND_WORDS)
/* clang-format on */

static const struct view_column fact_columns[] = { WALL_FACTS(VIEW_MEMBER) };
static const struct view_column wall_columns[] = { WALL_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part wall_part = ANSWER_TABLE(
        "wall", wall_columns,
        "a function, or what was waited for while no thread ran; the largest share first");
const struct answer_schema wall_view_schema = {
        .name = "hyprof.wall/1",
        .command = "hyprof report --wall --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &facts_part, &wall_part,
                                                      NULL },
};

static struct text_view module_of(const struct wall_shares *w, const struct wall_row_key *key)
{
        const struct path_names *names = &w->sweep.names;

        if (key->kind != WALL_ROW_FUNCTION)
                return (struct text_view){ .n_bytes = 0 };
        return trace_dictionary_text(names->trace->dictionary,
                                     function_table_get(&names->places.functions, key->label)->module);
}

static void put_row(struct view_document *d, struct view_table *t, const struct wall_shares *w, uint32_t id)
{
        const struct wall_row_key *key = wall_shares_key(w, id);
        const struct wall_row *row = &w->rows[id - 1];

        WALL_COLUMNS(VIEW_CELL)
}

static void add_rows(struct event_names *n, const struct wall_shares *w)
{
        struct view_document *d = n->document;
        struct view_table *t = view_document_add_part(d, &wall_part, "Functions by wall time");
        size_t n_shown = w->has_switches ? event_names_limit(n, t, w->n_rows) : 0, i = 0;

        view_table_set_about(
                d, t,
                "a moment is divided by the threads that run or could run; cpu: %% of the samples; "
                "threads: that ran or could run meanwhile, on average");
        for (; i < n_shown; i++) {
                if (n->options->limit != 0 && w->rows[w->order[i] - 1].share < SHARE_SHOWN_MIN)
                        break;
                put_row(d, t, w, w->order[i]);
        }
        if (t)
                t->n_left_out += n_shown - i;
}

static void add_warnings(struct event_names *n, const struct wall_shares *w)
{
        struct view_document *d = n->document;

        if (!w->has_switches)
                return;
        if (!w->sweep.has_wakeups)
                view_document_warn(d,
                                   "recorded without --off-cpu: threads that were woken and did not run yet "
                                   "are not counted, and what ended waits is known of few");
        if (w->ready_ns > w->wall_ns / 10)
                view_document_warn(d,
                                   "for %s no thread ran, though some could: other programs had the CPUs, "
                                   "or a quota was used up; the shares are less certain",
                                   text_number_duration(w->ready_ns).text);
        if (w->sweep.past.event == 0)
                view_document_warn(d, "no samples: the functions that ran are unknown");
        event_names_warn(n, w->n_left_out, "samples of functions beyond the limit, left out");
        event_names_warn(n, w->sweep.past.n_forgotten, "waits that were dropped for lack of room");
}

void wall_view_fill(struct view_document *d, const struct wall_shares *w, struct loaded_trace *trace,
                    const struct event_view_options *options)
{
        struct answer_words answer = make_answer(w);
        struct event_names n;

        event_names_init(&n, d, trace, NULL, options);
        event_names_heading(&n, &answer, 0, 0);
        report_heading_warn_recorded(d, trace->dictionary, NULL);
        WALL_FACTS(VIEW_FACT)
        add_warnings(&n, w);
        add_rows(&n, w);
        report_heading_hint(d, options->path, "report --idle");
        if (w->request.filter->has_zone)
                report_heading_hint(
                        d, options->path, "path --zone %s",
                        asked_zone_option(trace->dictionary, w->request.filter->request.zone).text);
        report_heading_hint(d, options->path, "report --functions");
        event_names_deinit(&n);
}
