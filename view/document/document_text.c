/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "view/document/cell_text.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"
#include "view/text/text_color.h"
#include "view/text/text_number.h"
#include "view/text/text_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDENT             2
#define LINE_COLUMNS_LEAST 40   /* a narrower terminal breaks the lines itself */
#define STRING_BYTES_MAX   4096 /* no line shows more of a longer string */
#define LABEL_COLUMNS_MAX  24
#define INDENT_SHARE       6  /* a tree is indented by at most one such part of a line */
#define DEPTH_SHOWN_MAX    16 /* the same of a line without end */

struct printing {
        const struct view_document *document;
        FILE *out;
        uint32_t line_columns;
        const struct document_options *options;
        bool has_limit, color, full_names;
        struct byte_buffer line;
};

static struct text_view shorten(const struct printing *p, struct text_view s)
{
        if (p->has_limit && !p->full_names && s.n_bytes > STRING_BYTES_MAX)
                s.n_bytes = STRING_BYTES_MAX;
        return s;
}

/* Wraps and empties the line, whose first @n_before columns are there already. */
static int end_line(struct printing *p, uint32_t n_before)
{
        if (p->line.failed)
                return -ENOMEM;
        text_wrap_within((const char *)p->line.data, p->line.used_bytes, n_before, p->line_columns, p->out);
        byte_buffer_clear(&p->line);
        return 0;
}

static void switch_color(const struct printing *p, const char *code)
{
        if (p->color)
                (void)fputs(code, p->out);
}

/* Words that may be hostile, on lines of their own. */
static int print_words(struct printing *p, const char *words, size_t n_bytes, uint32_t n_indent)
{
        struct text_view s = shorten(p, (struct text_view){ .bytes = words, .n_bytes = n_bytes });

        (void)text_escape(&p->line, s.bytes, s.n_bytes);
        (void)fprintf(p->out, "%*s", (int)n_indent, "");
        return end_line(p, n_indent);
}

static int print_title(struct printing *p, const char *words, size_t n_bytes)
{
        int r;

        switch_color(p, TEXT_COLOR_BOLD);
        r = print_words(p, words, n_bytes, 0);
        switch_color(p, TEXT_COLOR_NONE);
        return r;
}

/* ------------------------------------------------------------------ facts */

static bool is_fact_shown(const struct view_fact *fact)
{
        return fact->title && fact->cell.is_known;
}

static uint32_t find_label_columns(const struct view_document *d)
{
        size_t widest = 0;

        for (size_t i = 0; i < d->n_facts; i++) {
                size_t n = d->facts[i].title ? strlen(d->facts[i].title) : 0;

                if (is_fact_shown(&d->facts[i]) && n > widest)
                        widest = n;
        }
        return widest < LABEL_COLUMNS_MAX ? (uint32_t)widest : LABEL_COLUMNS_MAX;
}

static int print_facts(struct printing *p)
{
        const struct view_document *d = p->document;
        uint32_t n_label = find_label_columns(d);

        for (size_t i = 0; i < d->n_facts; i++) {
                const struct view_fact *fact = &d->facts[i];
                int r;

                if (!is_fact_shown(fact))
                        continue;
                (void)fprintf(p->out, "%*s%-*.*s  ", INDENT, "", (int)n_label, (int)n_label, fact->title);
                if (view_type_is_text(fact->type)) {
                        struct text_view s = shorten(p, cell_text_string(d, &fact->cell));

                        (void)text_escape(&p->line, s.bytes, s.n_bytes);
                } else {
                        const struct view_column column = { .type = fact->type };

                        cell_text_add_number(&p->line, &column, &fact->cell);
                }
                r = end_line(p, INDENT + n_label + 2);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------------------------------------------------------------------ lines */

/* Prints @lines, each after @bullet: " - " or " ". */
static int print_lines(struct printing *p, const char *title, const struct byte_buffer *lines,
                       const char *bullet)
{
        const char *at = (const char *)lines->data;
        size_t n_left = lines->used_bytes;

        if (n_left == 0)
                return 0;
        (void)fprintf(p->out, "\n%s\n", title);
        while (n_left > 0) {
                const char *end = memchr(at, '\n', n_left);
                size_t n = end ? (size_t)(end - at) : n_left;
                struct text_view s = shorten(p, (struct text_view){ .bytes = at, .n_bytes = n });
                int r;

                (void)fprintf(p->out, "%*s%s", INDENT, "", bullet);
                (void)text_escape(&p->line, s.bytes, s.n_bytes);
                r = end_line(p, INDENT + (uint32_t)strlen(bullet));
                if (r < 0)
                        return r;
                n += end ? 1 : 0;
                at += n;
                n_left -= n;
        }
        return 0;
}

/* ----------------------------------------------------------------- tables */

static struct text_column make_column(const struct printing *p, const struct view_column *column,
                                      bool is_first)
{
        enum view_type type = column->type;
        bool is_named = type == VIEW_STRING || type == VIEW_HANDLE || type == VIEW_STACK;
        struct text_column made = {
                .title = column->title,
                .right = !view_type_is_text(type) && type != VIEW_BAR && type != VIEW_BOOL,
                .n_columns_max = p->has_limit ? column->n_columns_max : 0,
                .may_go = column->may_go || (!is_named && !is_first && !column->must_stay),
        };

        /* A line that is too long takes room from names before it takes room from numbers. */
        if (p->has_limit && made.n_columns_max == 0 && type != VIEW_STRING && type != VIEW_STACK)
                made.n_columns_max = p->line_columns;
        return made;
}

/* Makes the columns that are not printed below the rows.  Returns NULL without memory. */
static struct text_column *make_columns(const struct printing *p, const struct view_table *t, uint32_t *ret_n)
{
        struct text_column *columns = calloc(t->n_columns, sizeof(*columns));
        bool is_first = true;

        *ret_n = 0;
        if (!columns)
                return NULL;
        for (uint32_t c = 0; c < t->n_columns; c++) {
                enum view_type type = t->columns[c].type;

                if (t->columns[c].is_below)
                        continue;
                columns[(*ret_n)++] = make_column(p, &t->columns[c], is_first);
                is_first = is_first && (type == VIEW_STRING || type == VIEW_HANDLE || type == VIEW_STACK);
        }
        return columns;
}

/* The indentation of the rows of a tree, which leaves room for the names of the deepest rows. */
struct indentation {
        uint32_t step;      /* columns a level */
        uint32_t depth_max; /* a deeper row shows its excess depth in digits */
};

static struct indentation choose_indentation(const struct printing *p, const struct view_table *t)
{
        struct indentation in = { .step = 2, .depth_max = DEPTH_SHOWN_MAX };
        uint32_t n_columns = p->line_columns / INDENT_SHARE;
        uint32_t deepest = 0;

        if (!t->is_tree || !p->has_limit)
                return in;
        for (size_t i = 0; i < t->n_cells / t->n_columns; i++)
                if (t->depths[i] > deepest)
                        deepest = t->depths[i];
        if (deepest > n_columns / in.step)
                in.step = 1;
        in.depth_max = n_columns / in.step;
        return in;
}

static void add_depth(struct byte_buffer *line, const struct indentation *in, uint32_t depth)
{
        uint32_t n_columns = in->step * (depth < in->depth_max ? depth : in->depth_max);
        char words[24];

        for (uint32_t i = 0; i < n_columns; i++)
                byte_buffer_add(line, " ", 1);
        if (depth <= in->depth_max)
                return;
        (void)snprintf(words, sizeof(words), "[+%u] ", depth - in->depth_max);
        byte_buffer_add(line, words, strlen(words));
}

/* Whether the row has the same cells as the one above it, up to and including this column. */
static bool is_repeated(const struct printing *p, const struct view_table *t, size_t row, uint32_t column)
{
        const struct view_cell *cells = &t->cells[row * t->n_columns];

        if (column >= t->n_grouping || row == 0)
                return false;
        for (uint32_t c = 0; c < t->n_grouping; c++) {
                struct text_view a = cell_text_string(p->document, &cells[c]);
                struct text_view b = cell_text_string(p->document, &cells[c] - t->n_columns);

                assert(view_type_is_text(t->columns[c].type));
                if (!text_view_equal(a, b))
                        return false;
        }
        return true;
}

/* The cell as text, in p->line. */
static void format_cell(struct printing *p, const struct view_column *column, const struct view_cell *cell)
{
        if (!view_type_is_text(column->type)) {
                cell_text_add_number(&p->line, column, cell);
        } else if (column->type == VIEW_PLACE || column->type == VIEW_STACK) {
                cell_text_add_string(&p->line, p->document, column->type, cell,
                                     column->type == VIEW_PLACE || (column->is_below && !p->full_names));
        } else {
                struct text_view s = shorten(p, cell_text_string(p->document, cell));

                byte_buffer_add(&p->line, s.bytes, s.n_bytes);
        }
}

static void add_below(struct printing *p, const struct view_column *column, const struct view_cell *cell,
                      struct text_table *table)
{
        if (!cell->is_known)
                return;
        byte_buffer_add(&p->line, column->title, strlen(column->title));
        byte_buffer_add(&p->line, ": ", 2);
        format_cell(p, column, cell);
        text_table_add_below(table, (const char *)p->line.data, p->line.used_bytes);
}

static void add_cells(struct printing *p, const struct view_table *t, struct text_table *table)
{
        const struct indentation indentation = choose_indentation(p, t);
        bool is_indented = false;

        for (size_t i = 0; i < t->n_cells; i++) {
                const uint32_t c = (uint32_t)(i % t->n_columns);
                const struct view_column *column = &t->columns[c];
                struct byte_buffer *line = &p->line;

                byte_buffer_clear(line);
                if (c == 0)
                        is_indented = !t->is_tree;
                if (column->is_below) {
                        add_below(p, column, &t->cells[i], table);
                        continue;
                }
                if (!is_indented && column->type == VIEW_STRING) {
                        add_depth(line, &indentation, t->depths[i / t->n_columns]);
                        is_indented = true;
                }
                if (!is_repeated(p, t, i / t->n_columns, c))
                        format_cell(p, column, &t->cells[i]);
                table->failed = table->failed || line->failed;
                text_table_add(table, line->used_bytes != 0 ? (const char *)line->data : "",
                               line->used_bytes);
        }
        table->failed = table->failed || p->line.failed;
        byte_buffer_clear(&p->line);
}

/* The omitted parts: rows, then columns for which the line had no room. */
static int print_left_out(struct printing *p, const struct view_table *t, const uint32_t *widths)
{
        uint32_t n_before = 0;
        const char *separator = "";
        char words[96];
        int r;

        if (t->n_left_out != 0) {
                (void)snprintf(words, sizeof(words), "… %s more row%s, --limit 0 shows all",
                               text_number_count(t->n_left_out).text, t->n_left_out == 1 ? "" : "s");
                r = print_words(p, words, strlen(words), INDENT);
                if (r < 0)
                        return r;
        }
        for (uint32_t c = 0; c < t->n_columns; c++) {
                if (t->columns[c].is_below || widths[n_before++] != 0 || t->columns[c].type == VIEW_BAR)
                        continue;
                if (separator[0] == '\0')
                        (void)fprintf(p->out, "%*s", INDENT, "");
                byte_buffer_add(&p->line, separator, strlen(separator));
                if (separator[0] == '\0')
                        byte_buffer_add(&p->line, "hidden, the terminal is too narrow: ",
                                        strlen("hidden, the terminal is too narrow: "));
                byte_buffer_add(&p->line, t->columns[c].title, strlen(t->columns[c].title));
                separator = ", ";
        }
        return separator[0] != '\0' ? end_line(p, INDENT) : 0;
}

/* @alone: flush left, without words about what is left out */
static int print_packed(struct printing *p, const struct view_table *t, bool alone)
{
        uint32_t n_columns;
        struct text_column *columns = make_columns(p, t, &n_columns);
        uint32_t *widths = calloc(t->n_columns, sizeof(*widths));
        struct text_table table;
        int r = -ENOMEM;

        text_table_init(&table, columns, n_columns);
        if (!columns || !widths)
                goto fail;
        table.line_columns = p->line_columns;
        table.bold_titles = p->color;
        table.full_names = p->full_names;
        add_cells(p, t, &table);
        r = text_table_print_fitting(&table, alone ? 0 : INDENT, p->out, widths);
        if (r == 0 && !alone)
                r = print_left_out(p, t, widths);
fail:
        text_table_deinit(&table);
        free(widths);
        free(columns);
        return r;
}

static int print_rows(struct printing *p, const struct view_table *t, bool alone)
{
        struct view_table packed;
        int r = view_table_pack(t, &packed);

        if (r < 0)
                return r;
        r = print_packed(p, &packed, alone);
        view_table_unpack(&packed);
        return r;
}

static int print_table(struct printing *p, const struct view_table *t)
{
        int r;

        assert(t->n_cells % t->n_columns == 0);
        (void)fputc('\n', p->out);
        r = print_title(p, t->title, strlen(t->title));
        if (r == 0 && t->about.used_bytes != 0)
                r = print_words(p, (const char *)t->about.data, t->about.used_bytes, INDENT);
        if (r < 0)
                return r;
        if (t->n_cells == 0 && t->n_left_out == 0)
                return print_words(p, "none", strlen("none"), INDENT);
        if (t->listing)
                return document_listing_print(p->document, t, p->options, p->out);
        return print_rows(p, t, false);
}

static int print_all(struct printing *p)
{
        const struct view_document *d = p->document;
        int r = 0;

        if (d->title.used_bytes != 0)
                r = print_title(p, (const char *)d->title.data, d->title.used_bytes);
        if (r != 0)
                return r;
        r = print_facts(p);
        if (r != 0)
                return r;
        r = print_lines(p, d->warnings_title ? d->warnings_title : "missing or doubtful", &d->warnings, "- ");
        if (r != 0)
                return r;
        for (size_t i = 0; i < d->n_tables && r == 0; i++)
                if (view_table_is_shown(d->tables[i]) && !d->tables[i]->is_in_listing)
                        r = print_table(p, d->tables[i]);
        if (r != 0)
                return r;
        return print_lines(p, "next", &d->hints, "");
}

static struct printing begin_printing(const struct view_document *d, const struct document_options *options,
                                      FILE *out)
{
        return (struct printing){
                .document = d,
                .out = out,
                .options = options,
                .line_columns = options->n_columns != 0 ? options->n_columns : UINT32_MAX,
                .has_limit = options->n_columns != 0,
                .color = options->color,
                .full_names = options->full_names,
        };
}

int document_print_text(const struct view_document *d, const struct document_options *options, FILE *out)
{
        struct printing p = begin_printing(d, options, out);
        int r;

        if (d->failed)
                return -ENOMEM;
        if (p.line_columns < LINE_COLUMNS_LEAST)
                p.line_columns = LINE_COLUMNS_LEAST;
        r = print_all(&p);
        byte_buffer_deinit(&p.line);
        return r;
}

int document_print_rows(const struct view_document *d, const struct view_table *t,
                        const struct document_options *options, FILE *out)
{
        struct printing p = begin_printing(d, options, out);
        int r = d->failed ? -ENOMEM : print_rows(&p, t, true);

        byte_buffer_deinit(&p.line);
        return r;
}
