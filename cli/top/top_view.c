/* SPDX-License-Identifier: MIT */
#include "cli/top/top_view.h"

#include "analyze/live/live_ends.h"
#include "analyze/live/live_rows.h"
#include "analyze/walk/trace_walk.h"
#include "cli/top/top_head.h"
#include "format/trace_spec.h"
#include "view/document/answer_schema.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BAR_COLUMNS 40

/* ---- columns ------------------------------------------------------------------------------------------- */

static const char *words_of_wait(uint32_t state)
{
        static const char *const words[] = {
#define X(id, name, text) [id] = (text),
                TRACE_WAIT_STATES(X)
#undef X
        };

        return state < sizeof(words) / sizeof(words[0]) && words[state] ? words[state] : "unknown";
}

static struct view_value state_of_thread(struct view_document *d, const struct live_thread_row *row)
{
        switch (row->state) {
        case LIVE_THREAD_RUNNING:
                return row->cpu != TRACE_WALK_NO_CPU ? view_format(d, "on CPU %" PRIu32, row->cpu)
                                                     : view_words("running");
        case LIVE_THREAD_READY:
                return view_words("ready");
        case LIVE_THREAD_WAITING:
                return view_words(row->wait_state == TRACE_WAIT_SLEEPING ? "waiting"
                                                                         : words_of_wait(row->wait_state));
        case LIVE_THREAD_ENDED:
                return view_words("ended");
        case LIVE_THREAD_UNKNOWN:
        default:
                return view_unknown();
        }
}

/* "worker 2 in finish_task": who ended a wait, and in which function it was. */
static struct view_value words_of_end(struct view_document *d, const struct live_end_row *end)
{
        struct text_view name = end->name;
        struct text_view function = live_label_text(&end->function);

        if (end->kind == LIVE_END_NONE)
                return view_unknown();
        if (end->kind == LIVE_END_INTERRUPT)
                return view_words("[interrupt]");
        if (name.n_bytes == 0)
                name = (struct text_view){ "[no name]", strlen("[no name]") };
        if (function.n_bytes == 0)
                return view_text(name);
        return view_format(d, "%.*s in %.*s", (int)name.n_bytes, name.bytes, (int)function.n_bytes,
                           function.bytes);
}

/* As ps(1) does. */
static const char *letter_of_wait(uint32_t state)
{
        static const char *const letters[TRACE_WAIT_STATE_COUNT] = {
                [TRACE_WAIT_UNKNOWN] = "?",  [TRACE_WAIT_PREEMPTED] = "R",
                [TRACE_WAIT_SLEEPING] = "S", [TRACE_WAIT_UNINTERRUPTIBLE] = "D",
                [TRACE_WAIT_STOPPED] = "T",  [TRACE_WAIT_ENDED] = "X",
                [TRACE_WAIT_IDLE] = "I",
        };

        return state < TRACE_WAIT_STATE_COUNT ? letters[state] : "?";
}

static bool is_off_cpu(const struct live_thread_row *row)
{
        return row->state == LIVE_THREAD_WAITING || row->state == LIVE_THREAD_READY;
}

/* Titles are in capitals, as on other such screens.  Columns for programs alone are the last. */
/* clang-format off */
#define FUNCTION_COLUMNS(COLUMN)                                                                              \
        COLUMN(SHARE, "self_share", "SELF", view_real(row->self), "of all samples")                           \
        COLUMN(SHARE, "total_share", "TOTAL", view_real(row->total),                                          \
               "the same with callees; recursion counts once", .must_stay = true)                             \
        COLUMN(COUNT, "self_samples", "SAMPLES", view_number(row->n_samples), NULL)                           \
        COLUMN(STRING, "function", "FUNCTION", view_text(live_label_text(&row->label)),                       \
               "its module and offset until its name is known")                                               \
        COLUMN(PLACE, "module", "MODULE", view_place(row->label.module, 0), "without its folders",            \
               .n_columns_max = 24)
#define ZONE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(REAL, "per_second", "RATE/s", view_real(row->per_second), "instances that ended", \
               .is_short = true)                                                                              \
        COLUMN(COUNT, "count", "COUNT", view_number(row->n), "instances that ended")                          \
        COLUMN(DURATION, "total_ns", "TOTAL", view_number(row->sum_ns), NULL, .must_stay = true)              \
        COLUMN(DURATION, "mean_ns", "MEAN", view_number(row->mean_ns), NULL, .must_stay = true)               \
        COLUMN(DURATION, "p99_ns", "P99", view_number(row->p99_ns), NULL, .must_stay = true)                  \
        COLUMN(DURATION, "max_ns", "MAX", view_number(row->largest_ns), NULL)                                 \
        COLUMN(STRING, "name", "ZONE", view_name(row->name), "as the program calls it")                       \
        COLUMN(PLACE, "place", "PLACE", view_place(row->file, row->line), NULL, .n_columns_max = 24)          \
        COLUMN(HANDLE, "handle", NULL, view_handle('z', row->location), NULL)                                 \
        COLUMN(DURATION, "self_ns", NULL, view_number(row->self_ns), "without zones inside")                  \
        COLUMN(DURATION, "p50_ns", NULL, view_number(row->p50_ns), NULL)
#define THREAD_COLUMNS(COLUMN)                                                                                \
        COLUMN(ID, "tid", "TID", view_number(row->tid), NULL)                                                 \
        COLUMN(SHARE, "on_cpu_share", "ON-CPU", view_real_known(row->on_cpu, row->on_cpu >= 0),               \
               "of the time that the tables are of", .must_stay = true)                                       \
        COLUMN(STRING, "state", "STATE", state_of_thread(d, row), "null without context switches")            \
        COLUMN(DURATION, "since_ns", "SINCE", view_known(row->since_ns, is_off_cpu(row)),                     \
               "for how long it has waited or been ready to run", .must_stay = true)                          \
        COLUMN(STRING, "name", "THREAD", view_name(row->name), NULL, .n_columns_max = 20)                     \
        COLUMN(STRING, "zone", "ZONE", view_name(row->zone), "the innermost that is open",                    \
               .n_columns_max = 24, .may_go = true)                                                           \
        COLUMN(STRING, "place", "WHERE", view_name(live_label_text(&row->where)),                             \
               "the function that it waits in")                                                               \
        COLUMN(STRING, "ended_by", "LAST WOKEN BY", words_of_end(d, &row->ended_by),                          \
               "who ended its last wait, and in which function; [interrupt]: or not known")                                              \
        COLUMN(HANDLE, "handle", NULL, view_handle('t', row->thread), NULL)                                   \
        COLUMN(ID, "pid", NULL, view_number(row->pid), NULL)
#define WAIT_COLUMNS(COLUMN)                                                                                  \
        COLUMN(DURATION, "total_ns", "TOTAL", view_number(row->sum_ns), NULL)                                 \
        COLUMN(COUNT, "count", "COUNT", view_number(row->n), NULL, .must_stay = true)                         \
        COLUMN(DURATION, "mean_ns", "MEAN", view_number(row->mean_ns), NULL)               \
        COLUMN(STRING, "state_letter", "S", view_words(letter_of_wait(row->state)),                           \
               "of the state, as of ps: S sleeping, D uninterruptible, T stopped", .n_columns_max = 1)        \
        COLUMN(STRING, "place", "WHERE", view_name(live_label_text(&row->where)),                             \
               "the innermost function outside of the C library, else of the kernel; [not recorded] without " \
               "a call stack", .n_columns_max = 20)                                                                                \
        COLUMN(STRING, "ended_by", "ENDED BY", words_of_end(d, &row->ended_by),                               \
               "who ended the most of their time, and in which function; [interrupt]: or not known")                                     \
        COLUMN(STRING, "kernel", "KERNEL", view_name(row->kernel.name), "function of the kernel",             \
               .n_columns_max = 14)                                                                           \
        COLUMN(DURATION, "max_ns", "MAX", view_number(row->largest_ns), NULL)                                 \
        COLUMN(STRING, "state", NULL, view_words(words_of_wait(row->state)), NULL)
#define DURATION_COLUMNS(COLUMN)                                                                              \
        COLUMN(DURATION, "from_ns", "FROM", view_number(UINT64_C(1) << i), "the shortest")                    \
        COLUMN(COUNT, "count", "COUNT", view_number(counts[i]), NULL, .must_stay = true)                      \
        COLUMN(BAR, "bar", "DURATIONS", view_real((double)counts[i] / (double)largest), NULL,                 \
               .must_stay = true, .n_columns_max = BAR_COLUMNS)
/* clang-format on */

static const struct view_column function_columns[] = { FUNCTION_COLUMNS(VIEW_COLUMN) };
static const struct view_column zone_columns[] = { ZONE_COLUMNS(VIEW_COLUMN) };
static const struct view_column thread_columns[] = { THREAD_COLUMNS(VIEW_COLUMN) };
static const struct view_column wait_columns[] = { WAIT_COLUMNS(VIEW_COLUMN) };
static const struct view_column duration_columns[] = { DURATION_COLUMNS(VIEW_COLUMN) };

static const struct answer_part parts[TOP_TABLES] = {
        [TOP_FUNCTIONS] = ANSWER_TABLE("functions", function_columns, "a function", .may_be_absent = true),
        [TOP_ZONES] = ANSWER_TABLE("zones", zone_columns, "a zone", .may_be_absent = true),
        [TOP_THREADS] = ANSWER_TABLE("threads", thread_columns, "a thread", .may_be_absent = true),
        [TOP_WAITS] = ANSWER_TABLE("waits", wait_columns, "what was waited for", .may_be_absent = true),
};
const struct answer_schema top_view_schema = {
        .name = "hyprof.top/1",
        .command = "hyprof top --json",
        .parts = (const struct answer_part *const[]){ &top_head_part, &parts[TOP_FUNCTIONS],
                                                      &parts[TOP_ZONES], &parts[TOP_THREADS],
                                                      &parts[TOP_WAITS], NULL },
};

const char *top_view_name(enum top_table table)
{
        return parts[table].key;
}

int top_view_find(const char *name)
{
        for (int i = 0; i < TOP_TABLES; i++)
                if (strcmp(name, parts[i].key) == 0)
                        return i;
        return -1;
}

const char *top_view_sorted_by(const struct top_view *v)
{
        return parts[v->table].columns[v->sort[v->table]].title;
}

int top_view_find_column(enum top_table table, const char *title)
{
        const struct view_column *columns = parts[table].columns;

        for (uint32_t i = 0; i < parts[table].n_columns && columns[i].title; i++)
                if (strcasecmp(title, columns[i].title) == 0)
                        return (int)i;
        return -1;
}

void top_view_sort_next(struct top_view *v, int step)
{
        unsigned n = parts[v->table].n_columns, *sort = &v->sort[v->table];

        do
                *sort = (*sort + n + (unsigned)step) % n;
        while (!top_view_sorted_by(v));
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* Return how many rows there are, or -ENOMEM. */
typedef int put_rows(const struct top_view *v, const struct live_rows *of, struct view_document *d,
                     struct view_table *t);

static int put_functions(const struct top_view *v, const struct live_rows *of, struct view_document *d,
                         struct view_table *t)
{
        struct live_function_row *rows = NULL;
        int n = live_rows_functions(of, &rows);

        (void)v;
        for (int i = 0; i < n; i++) {
                const struct live_function_row *row = &rows[i];

                FUNCTION_COLUMNS(VIEW_CELL)
        }
        free(rows);
        return n;
}

static int put_zones(const struct top_view *v, const struct live_rows *of, struct view_document *d,
                     struct view_table *t)
{
        struct live_zone_row *rows = NULL;
        int n = live_rows_zones(of, &rows);

        for (int i = 0; i < n; i++) {
                const struct live_zone_row *row = &rows[i];

                if (v->zone != 0 && row->location != v->zone)
                        continue;
                ZONE_COLUMNS(VIEW_CELL)
        }
        free(rows);
        return n;
}

static int put_threads(const struct top_view *v, const struct live_rows *of, struct view_document *d,
                       struct view_table *t)
{
        struct live_thread_row *rows = NULL;
        int n = live_rows_threads(of, &rows);

        (void)v;
        for (int i = 0; i < n; i++) {
                const struct live_thread_row *row = &rows[i];

                THREAD_COLUMNS(VIEW_CELL)
        }
        free(rows);
        return n;
}

static int put_waits(const struct top_view *v, const struct live_rows *of, struct view_document *d,
                     struct view_table *t)
{
        struct live_wait_row *rows = NULL;
        int n = live_rows_waits(of, &rows);

        (void)v;
        for (int i = 0; i < n; i++) {
                const struct live_wait_row *row = &rows[i];

                WAIT_COLUMNS(VIEW_CELL)
        }
        free(rows);
        return n;
}

/* The durations of one zone, by powers of two. */
static void add_durations(uint32_t zone, const struct live_rows *of, struct view_document *d)
{
        struct view_table *t = view_document_add_table(d, "durations", "durations", duration_columns,
                                                       VIEW_N_COLUMNS(duration_columns));
        uint64_t counts[64], largest = 0;
        int first = 64, last = -1;

        live_rows_histogram(of, zone, counts);
        for (int i = 0; i < 64; i++) {
                if (counts[i] == 0)
                        continue;
                first = i < first ? i : first;
                last = i;
                largest = counts[i] > largest ? counts[i] : largest;
        }
        for (int i = first; i <= last; i++) {
                DURATION_COLUMNS(VIEW_CELL)
        }
}

static int find_python(enum top_table table, const struct live_rows *of, bool *ret)
{
        struct live_folds folds = { .folds = NULL };
        int r = table == TOP_ZONES ? 0 : live_folds_init(&folds, of, table != TOP_FUNCTIONS);

        *ret = folds.folds != NULL;
        live_folds_deinit(&folds);
        return r;
}

int top_view_fill(const struct top_view *v, const struct live_rows *of, size_t n_rows_max,
                  struct view_document *d, bool *ret_is_python)
{
        static put_rows *const put[TOP_TABLES] = {
                [TOP_FUNCTIONS] = put_functions,
                [TOP_ZONES] = put_zones,
                [TOP_THREADS] = put_threads,
                [TOP_WAITS] = put_waits,
        };
        bool is_one_zone = v->table == TOP_ZONES && v->zone != 0;
        struct view_table *t = view_document_add_part(d, &parts[v->table], parts[v->table].key);
        int r = put[v->table](v, of, d, t);

        if (r < 0)
                return r;
        if (v->filter[0] != '\0' && !is_one_zone)
                view_table_filter(d, t, v->filter);
        view_table_sort(d, t, v->sort[v->table], v->is_reversed[v->table]);
        if (n_rows_max != 0)
                view_table_cut(t, n_rows_max);
        if (is_one_zone)
                add_durations(v->zone, of, d);
        r = find_python(v->table, of, ret_is_python);
        return d->failed ? -ENOMEM : r;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

/* The tables, with an empty line between them. */
static int print_tables(const struct view_document *d, uint32_t n_columns, struct top_text *ret)
{
        const struct document_options options = { .n_columns = n_columns };
        FILE *out = open_memstream(&ret->bytes, &ret->n_bytes);
        int r = out ? 0 : -ENOMEM;

        for (size_t i = 0; i < d->n_tables && r == 0; i++) {
                if (i != 0)
                        (void)fputc('\n', out);
                ret->n_rows += view_table_count(d->tables[i]) + (i != 0 ? 2 : 0);
                r = document_print_rows(d, d->tables[i], &options, out);
        }
        if (out && fclose(out) != 0)
                r = -ENOMEM;
        return r;
}

/* The places of the rows, from their handles. */
static uint32_t *list_zones(const struct view_document *d)
{
        const struct view_table *t = d->tables[0];
        uint32_t *zones = calloc(view_table_count(t) + 1, sizeof(*zones)), handle = 0;

        while (t->columns[handle].type != VIEW_HANDLE)
                handle++;
        for (size_t row = 0; zones && row < view_table_count(t); row++) {
                const struct view_cell *cell = &t->cells[row * t->n_columns + handle];

                for (size_t i = 1; i < cell->string.n_bytes; i++)
                        zones[row] = zones[row] * 10 + d->strings.data[cell->string.at_bytes + i] - '0';
        }
        return zones;
}

int top_view_print(const struct top_view *v, const struct live_rows *of, size_t n_rows_max,
                   struct top_text *ret)
{
        struct view_document d;
        int r;

        *ret = (struct top_text){ .bytes = NULL };
        view_document_init(&d, top_view_schema.name);
        r = top_view_fill(v, of, n_rows_max, &d, &ret->is_python);
        if (r == 0)
                r = print_tables(&d, v->n_columns, ret);
        if (r == 0 && v->table == TOP_ZONES) {
                ret->zones = list_zones(&d);
                r = ret->zones ? 0 : -ENOMEM;
        }
        view_document_deinit(&d);
        if (r < 0)
                top_text_free(ret);
        return r;
}

void top_text_free(struct top_text *text)
{
        free(text->bytes);
        free(text->zones);
        *text = (struct top_text){ .bytes = NULL };
}
