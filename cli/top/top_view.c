/* SPDX-License-Identifier: MIT */
#include "cli/top/top_view.h"

#include "analyze/live/live_rows.h"
#include "analyze/live/live_stats.h"
#include "analyze/walk/trace_walk.h"
#include "base/text_view.h"
#include "format/trace_spec.h"
#include "view/text/text_number.h"
#include "view/text/text_table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COLUMNS_MAX 9
#define TEXTS_MAX   3
#define BAR_COLUMNS 40

/* A row before it is text: a number for each column, and the texts in the order of their columns. */
struct top_row {
        double keys[COLUMNS_MAX]; /* of a column of text: the number of the text */
        struct text_number numbers[COLUMNS_MAX];
        struct text_view texts[TEXTS_MAX];
        char made[LIVE_NAME_BYTES];
        uint32_t zone;
};

struct top_rows {
        struct top_row *rows; /* heap */
        int n;
};

static const char *const table_names[TOP_TABLES] = { "functions", "zones", "threads", "waits" };

static const struct text_column function_columns[] = {
        { .title = "SELF", .right = true },
        { .title = "TOTAL", .right = true },
        { .title = "SAMPLES", .right = true, .may_go = true },
        { .title = "FUNCTION" },
        { .title = "MODULE", .n_columns_max = 24, .may_go = true },
};

static const struct text_column zone_columns[] = {
        { .title = "RATE/s", .right = true },
        { .title = "COUNT", .right = true, .may_go = true },
        { .title = "TOTAL", .right = true },
        { .title = "MEAN", .right = true },
        { .title = "P99", .right = true },
        { .title = "MAX", .right = true, .may_go = true },
        { .title = "ZONE" },
        { .title = "PLACE", .n_columns_max = 24, .may_go = true },
};

static const struct text_column thread_columns[] = {
        { .title = "TID", .right = true },
        { .title = "ON-CPU", .right = true },
        { .title = "STATE" },
        { .title = "SINCE", .right = true },
        { .title = "THREAD", .n_columns_max = 20 },
        { .title = "ZONE", .n_columns_max = 24, .may_go = true },
        { .title = "WHERE" },
};

static const struct text_column wait_columns[] = {
        { .title = "TOTAL", .right = true },
        { .title = "COUNT", .right = true },
        { .title = "MEAN", .right = true },
        { .title = "MAX", .right = true, .may_go = true },
        { .title = "STATE", .may_go = true },
        { .title = "WHERE" },
        { .title = "KERNEL", .n_columns_max = 24, .may_go = true },
};

#define N_OF(array) ((unsigned)(sizeof(array) / sizeof((array)[0])))

static const struct {
        const struct text_column *columns;
        unsigned n;
} tables[TOP_TABLES] = {
        [TOP_FUNCTIONS] = { function_columns, N_OF(function_columns) },
        [TOP_ZONES] = { zone_columns, N_OF(zone_columns) },
        [TOP_THREADS] = { thread_columns, N_OF(thread_columns) },
        [TOP_WAITS] = { wait_columns, N_OF(wait_columns) },
};

const char *top_view_name(enum top_table table)
{
        return table_names[table];
}

int top_view_find(const char *name)
{
        for (int i = 0; i < TOP_TABLES; i++)
                if (strcmp(name, table_names[i]) == 0)
                        return i;
        return -1;
}

const char *top_view_sorted_by(const struct top_view *v)
{
        return tables[v->table].columns[v->sort[v->table]].title;
}

int top_view_find_column(enum top_table table, const char *title)
{
        for (unsigned i = 0; i < tables[table].n; i++)
                if (strcasecmp(title, tables[table].columns[i].title) == 0)
                        return (int)i;
        return -1;
}

void top_view_sort_next(struct top_view *v, int step)
{
        int n = (int)tables[v->table].n;

        v->sort[v->table] = (unsigned)(((int)v->sort[v->table] + step + n) % n);
}

/* ---- cells --------------------------------------------------------------------------------------------- */

static const struct text_number no_number = { .text = "-" };

/* A number in the column @i, which is sorted by @key. */
static void set_number(struct top_row *row, unsigned i, double key, struct text_number shown)
{
        row->keys[i] = key;
        row->numbers[i] = shown;
}

/* A rate by the second; small ones have decimals. */
static void set_zone_rate(struct top_row *row, unsigned i, double per_second)
{
        set_number(row, i, per_second, text_number_short((uint64_t)per_second));
        if (per_second < 10)
                (void)snprintf(row->numbers[i].text, sizeof(row->numbers[i].text), "%.2f", per_second);
}

static void set_duration(struct top_row *row, unsigned i, uint64_t ns)
{
        set_number(row, i, (double)ns, text_number_duration(ns));
}

/* A column of text. */
static void set_text(struct top_row *row, unsigned i, unsigned number, struct text_view text)
{
        row->keys[i] = number;
        row->texts[number] = text;
}

/*
 * A name that was made for @label is copied into the row, since @label is freed before the table is
 * printed.
 */
static void set_label(struct top_row *row, unsigned i, unsigned number, const struct live_label *label)
{
        if (label->name.n_bytes > 0) {
                set_text(row, i, number, label->name);
                return;
        }
        memcpy(row->made, label->made, sizeof(row->made));
        set_text(row, i, number, (struct text_view){ row->made, strlen(row->made) });
}

static struct text_view view_text_of(const char *words)
{
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

/* The file's name and the line, in the row's own room. */
static void set_place(struct top_row *row, unsigned i, unsigned number, struct text_view file, uint32_t line)
{
        const char *slash = file.n_bytes ? memrchr(file.bytes, '/', file.n_bytes) : NULL;
        size_t n_before = slash ? (size_t)(slash + 1 - file.bytes) : 0;
        size_t n = file.n_bytes - n_before < sizeof(row->made) / 2 ? file.n_bytes - n_before
                                                                   : sizeof(row->made) / 2;

        (void)snprintf(row->made, sizeof(row->made), "%.*s:%" PRIu32, (int)n, n ? file.bytes + n_before : "",
                       line);
        set_text(row, i, number, n ? view_text_of(row->made) : (struct text_view){ .n_bytes = 0 });
}

static const char *words_of_wait(uint32_t state)
{
        static const char *const words[] = {
#define X(id, name, text) [id] = (text),
                TRACE_WAIT_STATES(X)
#undef X
        };

        return state < sizeof(words) / sizeof(words[0]) && words[state] ? words[state] : "unknown";
}

static const char *words_of_thread(const struct live_thread_row *t)
{
        switch (t->state) {
        case LIVE_THREAD_RUNNING:
                return "running";
        case LIVE_THREAD_READY:
                return "ready";
        case LIVE_THREAD_WAITING:
                return t->wait_state == TRACE_WAIT_SLEEPING ? "waiting" : words_of_wait(t->wait_state);
        case LIVE_THREAD_ENDED:
                return "ended";
        case LIVE_THREAD_UNKNOWN:
        default:
                return "-";
        }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* Makes room for @n rows, or for none if @n is a failure.  Returns 0, -ENOMEM, or the failure. */
static int make_rows(struct top_rows *rows, int n)
{
        if (n < 0)
                return n;
        rows->rows = calloc((size_t)n + 1, sizeof(*rows->rows));
        rows->n = rows->rows ? n : 0;
        return rows->rows ? 0 : -ENOMEM;
}

static int take_functions(const struct live_rows *of, struct top_rows *rows)
{
        struct live_function_row *list = NULL;
        int r = make_rows(rows, live_rows_functions(of, &list));

        for (int i = 0; i < rows->n; i++) {
                struct top_row *row = &rows->rows[i];

                set_number(row, 0, list[i].self, text_number_share(list[i].self));
                set_number(row, 1, list[i].total, text_number_share(list[i].total));
                set_number(row, 2, (double)list[i].n_samples, text_number_count(list[i].n_samples));
                set_label(row, 3, 0, &list[i].label);
                set_text(row, 4, 1, list[i].label.module);
        }
        free(list);
        return r;
}

static int take_zones(const struct live_rows *of, struct top_rows *rows)
{
        struct live_zone_row *list = NULL;
        int r = make_rows(rows, live_rows_zones(of, &list));

        for (int i = 0; i < rows->n; i++) {
                struct top_row *row = &rows->rows[i];

                row->zone = list[i].location;
                set_zone_rate(row, 0, list[i].per_second);
                set_number(row, 1, (double)list[i].n, text_number_count(list[i].n));
                set_duration(row, 2, list[i].sum_ns);
                set_duration(row, 3, list[i].mean_ns);
                set_duration(row, 4, list[i].p99_ns);
                set_duration(row, 5, list[i].largest_ns);
                set_text(row, 6, 0, list[i].name);
                set_place(row, 7, 1, list[i].file, list[i].line);
        }
        free(list);
        return r;
}

static int take_threads(const struct live_rows *of, struct top_rows *rows)
{
        struct live_thread_row *list = NULL;
        int r = make_rows(rows, live_rows_threads(of, &list));

        for (int i = 0; i < rows->n; i++) {
                struct top_row *row = &rows->rows[i];
                const struct live_thread_row *t = &list[i];
                bool is_off = t->state == LIVE_THREAD_WAITING || t->state == LIVE_THREAD_READY;

                set_number(row, 0, (double)t->tid, (struct text_number){ .text = "" });
                (void)snprintf(row->numbers[0].text, sizeof(row->numbers[0].text), "%" PRIu32, t->tid);
                set_number(row, 1, t->on_cpu, t->on_cpu < 0 ? no_number : text_number_share(t->on_cpu));
                set_number(row, 2, (double)t->state, no_number);
                (void)snprintf(row->numbers[2].text, sizeof(row->numbers[2].text), "%s", words_of_thread(t));
                if (t->state == LIVE_THREAD_RUNNING && t->cpu != TRACE_WALK_NO_CPU)
                        (void)snprintf(row->numbers[2].text, sizeof(row->numbers[2].text), "on CPU %" PRIu32,
                                       t->cpu);
                set_number(row, 3, (double)t->since_ns,
                           is_off ? text_number_duration(t->since_ns) : no_number);
                set_text(row, 4, 0, t->name);
                set_text(row, 5, 1, t->zone);
                set_label(row, 6, 2, &t->where);
        }
        free(list);
        return r;
}

static int take_waits(const struct live_rows *of, struct top_rows *rows)
{
        struct live_wait_row *list = NULL;
        int r = make_rows(rows, live_rows_waits(of, &list));

        for (int i = 0; i < rows->n; i++) {
                struct top_row *row = &rows->rows[i];

                set_duration(row, 0, list[i].sum_ns);
                set_number(row, 1, (double)list[i].n, text_number_count(list[i].n));
                set_duration(row, 2, list[i].mean_ns);
                set_duration(row, 3, list[i].largest_ns);
                set_number(row, 4, (double)list[i].state, no_number);
                (void)snprintf(row->numbers[4].text, sizeof(row->numbers[4].text), "%s",
                               words_of_wait(list[i].state));
                set_label(row, 5, 0, &list[i].where);
                set_text(row, 6, 1, list[i].kernel.name);
        }
        free(list);
        return r;
}

static int take_rows(enum top_table table, const struct live_rows *of, struct top_rows *rows)
{
        static int (*const takers[TOP_TABLES])(const struct live_rows *, struct top_rows *) = {
                [TOP_FUNCTIONS] = take_functions,
                [TOP_ZONES] = take_zones,
                [TOP_THREADS] = take_threads,
                [TOP_WAITS] = take_waits,
        };

        return takers[table](of, rows);
}

/* ---- sorted and filtered ------------------------------------------------------------------------------- */

static bool is_text_column(enum top_table table, unsigned i)
{
        return !tables[table].columns[i].right && strcmp(tables[table].columns[i].title, "STATE") != 0;
}

static bool holds_text(struct text_view text, const char *wanted)
{
        size_t n = strlen(wanted);

        for (size_t i = 0; i + n <= text.n_bytes; i++)
                if (strncasecmp(text.bytes + i, wanted, n) == 0)
                        return true;
        return false;
}

static bool is_row_wanted(const struct top_view *v, const struct top_row *row)
{
        if (v->table == TOP_ZONES && v->zone != 0)
                return row->zone == v->zone;
        if (v->filter[0] == '\0')
                return true;
        for (unsigned k = 0; k < TEXTS_MAX; k++)
                if (holds_text(row->texts[k], v->filter))
                        return true;
        return false;
}

static int compare_texts(struct text_view a, struct text_view b)
{
        size_t n = a.n_bytes < b.n_bytes ? a.n_bytes : b.n_bytes;
        int r = n ? memcmp(a.bytes, b.bytes, n) : 0;

        return r != 0 ? r : (a.n_bytes > b.n_bytes) - (a.n_bytes < b.n_bytes);
}

/* Sorting moves these items only: a row may point into itself, and must stay where it is. */
struct sorted_row {
        const struct top_row *row;
};

static int compare_rows(const void *a, const void *b, void *context)
{
        const struct top_row *x = ((const struct sorted_row *)a)->row,
                             *y = ((const struct sorted_row *)b)->row;
        const struct top_view *v = context;
        unsigned column = v->sort[v->table];
        int r;

        if (is_text_column(v->table, column))
                r = compare_texts(x->texts[(unsigned)x->keys[column]], y->texts[(unsigned)y->keys[column]]);
        else
                r = (x->keys[column] < y->keys[column]) - (x->keys[column] > y->keys[column]);
        if (r != 0)
                return v->is_reversed[v->table] ? -r : r;
        return x < y ? -1 : x > y;
}

/* Those that are wanted; a heap array. */
static struct sorted_row *sort_rows(const struct top_view *v, struct top_rows *rows, size_t *ret_n)
{
        struct sorted_row *sorted = calloc((size_t)rows->n + 1, sizeof(*sorted));
        struct top_view order = *v;
        size_t n = 0;

        for (int i = 0; sorted && i < rows->n; i++)
                if (is_row_wanted(v, &rows->rows[i]))
                        sorted[n++].row = &rows->rows[i];
        if (sorted)
                qsort_r(sorted, n, sizeof(*sorted), compare_rows, &order);
        *ret_n = n;
        return sorted;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void add_row(const struct top_view *v, struct text_table *t, const struct top_row *row)
{
        for (unsigned i = 0; i < tables[v->table].n; i++) {
                if (is_text_column(v->table, i)) {
                        struct text_view text = row->texts[(unsigned)row->keys[i]];

                        text_table_add(t, text.n_bytes ? text.bytes : "", text.n_bytes);
                } else {
                        text_table_add_text(t, row->numbers[i].text);
                }
        }
}

static int print_table(const struct text_table *t, struct top_text *ret)
{
        FILE *out = open_memstream(&ret->bytes, &ret->n_bytes);
        int r;

        if (!out)
                return -ENOMEM;
        r = text_table_print(t, 0, out);
        return fclose(out) != 0 && r == 0 ? -ENOMEM : r;
}

static int print_rows(const struct top_view *v, struct top_rows *rows, size_t n_rows_max,
                      struct top_text *ret)
{
        struct text_table t;
        size_t n;
        struct sorted_row *sorted = sort_rows(v, rows, &n);
        int r;

        if (!sorted)
                return -ENOMEM;
        if (n_rows_max != 0 && n > n_rows_max)
                n = n_rows_max;
        text_table_init(&t, tables[v->table].columns, tables[v->table].n);
        t.line_columns = v->n_columns != 0 ? v->n_columns : UINT16_MAX;
        ret->zones = calloc(n + 1, sizeof(*ret->zones));
        for (size_t i = 0; i < n; i++) {
                add_row(v, &t, sorted[i].row);
                if (ret->zones)
                        ret->zones[i] = sorted[i].row->zone;
        }
        ret->n_rows = n;
        r = t.failed || !ret->zones ? -ENOMEM : print_table(&t, ret);
        text_table_deinit(&t);
        free(sorted);
        return r;
}

/* ---- one zone ------------------------------------------------------------------------------------------ */

static const struct text_column duration_columns[] = {
        { .title = "FROM", .right = true },
        { .title = "COUNT", .right = true },
        { .title = "DURATIONS" },
};

static void view_add_bar(struct text_table *t, uint64_t n, uint64_t largest)
{
        char bar[BAR_COLUMNS + 1];
        size_t n_columns = n == 0 ? 0 : 1 + (size_t)((double)n * (BAR_COLUMNS - 1) / (double)largest);

        memset(bar, '#', n_columns);
        bar[n_columns] = '\0';
        text_table_add_text(t, bar);
}

static int print_durations(const struct top_view *v, const struct live_rows *rows, struct top_text *ret)
{
        uint64_t counts[64], largest = 0;
        struct text_table t;
        int first = 64, last = -1, r;

        live_rows_histogram(rows, v->zone, counts);
        for (int i = 0; i < 64; i++) {
                if (counts[i] == 0)
                        continue;
                first = i < first ? i : first;
                last = i;
                largest = counts[i] > largest ? counts[i] : largest;
        }
        text_table_init(&t, duration_columns, N_OF(duration_columns));
        t.line_columns = v->n_columns != 0 ? v->n_columns : UINT16_MAX;
        for (int i = first; i <= last; i++) {
                text_table_add_text(&t, text_number_duration(UINT64_C(1) << i).text);
                text_table_add_text(&t, text_number_count(counts[i]).text);
                view_add_bar(&t, counts[i], largest);
                ret->n_rows++;
        }
        r = t.failed ? -ENOMEM : print_table(&t, ret);
        text_table_deinit(&t);
        return r;
}

/* Prints the zone's row, an empty line, and the zone's durations. */
static int print_zone(const struct top_view *v, const struct live_rows *of, struct top_rows *rows,
                      struct top_text *ret)
{
        struct top_text row = { .bytes = NULL }, durations = { .bytes = NULL };
        int r;

        r = print_rows(v, rows, 1, &row);
        if (r == 0)
                r = print_durations(v, of, &durations);
        if (r == 0 && asprintf(&ret->bytes, "%s\n%s", row.bytes, durations.bytes) < 0)
                r = -ENOMEM;
        if (r == 0) {
                ret->n_bytes = strlen(ret->bytes);
                ret->n_rows = row.n_rows + durations.n_rows + 2;
        }
        top_text_free(&row);
        top_text_free(&durations);
        return r;
}

static int view_find_python(enum top_table table, const struct live_rows *of, bool *ret)
{
        struct live_folds folds = { .folds = NULL };
        int r = table == TOP_ZONES ? 0 : live_folds_init(&folds, of, table != TOP_FUNCTIONS);

        *ret = folds.folds != NULL;
        live_folds_deinit(&folds);
        return r;
}

int top_view_print(const struct top_view *v, const struct live_rows *of, size_t n_rows_max,
                   struct top_text *ret)
{
        struct top_rows rows = { .rows = NULL };
        int r = take_rows(v->table, of, &rows);

        *ret = (struct top_text){ .bytes = NULL };
        if (r == 0 && v->table == TOP_ZONES && v->zone != 0) {
                r = print_zone(v, of, &rows, ret);
        } else if (r == 0) {
                r = print_rows(v, &rows, n_rows_max, ret);
        }
        if (r == 0)
                r = view_find_python(v->table, of, &ret->is_python);
        free(rows.rows);
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
