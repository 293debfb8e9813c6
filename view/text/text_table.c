/* SPDX-License-Identifier: MIT */
#include "view/text/text_table.h"

#include "base/array.h"
#include "view/text/name_fold.h"
#include "view/text/text_charset.h"
#include "view/text/text_color.h"
#include "view/text/utf8.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP_COLUMNS   2
#define BELOW_INDENT  4  /* of words below a row */
#define COLUMNS_LEAST 8  /* a column that shares the remaining width gets this much in any case */
#define COLUMNS_NAMES 24 /* and this much, if others may go instead */
#define ELLIPSIS      0x2026
#define FIRST_BAR     0x2581 /* the lowest of eight: see plots_view.c */
#define SAME_ROWS_MAX 256    /* in larger tables, call stacks are not compared */

void text_table_init(struct text_table *t, const struct text_column *columns, uint32_t n_columns)
{
        *t = (struct text_table){ .columns = columns, .n_columns = n_columns };
}

void text_table_deinit(struct text_table *t)
{
        byte_buffer_deinit(&t->text);
        free(t->cells);
        free(t->below);
        text_table_init(t, t->columns, t->n_columns);
}

/*
 * Replaces a character that ASCII does not have: our own ellipsis, a bar of a plot, or any other character,
 * which becomes its number.
 */
static uint32_t add_ascii(struct byte_buffer *out, uint32_t character)
{
        static const char bars[] = "_.-:=+*#";
        char words[16];

        if (character >= FIRST_BAR && character < FIRST_BAR + sizeof(bars) - 1)
                (void)snprintf(words, sizeof(words), "%c", bars[character - FIRST_BAR]);
        else if (character == ELLIPSIS)
                (void)snprintf(words, sizeof(words), "%s", text_charset_ellipsis());
        else
                (void)snprintf(words, sizeof(words), "\\u{%x}", (unsigned)character);
        byte_buffer_add(out, words, strlen(words));
        return (uint32_t)strlen(words);
}

uint32_t text_escape(struct byte_buffer *out, const char *bytes, size_t n_bytes)
{
        uint32_t n_columns = 0;

        for (size_t i = 0; i < n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(bytes + i, n_bytes - i, &character);
                char escaped[16];

                if (length > 1 && utf8_is_safe(character) && text_charset_is_ascii()) {
                        n_columns += add_ascii(out, character);
                        i += length;
                        continue;
                }
                if (length != 0 && utf8_is_safe(character)) {
                        byte_buffer_add(out, bytes + i, length);
                        n_columns++;
                        i += length;
                        continue;
                }
                if (length > 1) {
                        (void)snprintf(escaped, sizeof(escaped), "\\u{%x}", (unsigned)character);
                } else {
                        (void)snprintf(escaped, sizeof(escaped), "\\x%02x", (unsigned)(uint8_t)bytes[i]);
                        length = 1;
                }
                byte_buffer_add(out, escaped, strlen(escaped));
                n_columns += (uint32_t)strlen(escaped);
                i += length;
        }
        return n_columns;
}

void text_table_add(struct text_table *t, const char *bytes, size_t n_bytes)
{
        struct text_cell cell = { .at_bytes = t->text.used_bytes };

        if (array_reserve(&t->cells, &t->cells_capacity, t->n_cells + 1, sizeof(*t->cells)) < 0) {
                t->failed = true;
                return;
        }
        cell.n_columns = text_escape(&t->text, bytes, n_bytes);
        cell.n_bytes = t->text.used_bytes - cell.at_bytes;
        t->failed = t->failed || t->text.failed;
        t->cells[t->n_cells++] = cell;
}

void text_table_add_below(struct text_table *t, const char *bytes, size_t n_bytes)
{
        struct text_below below = { .at_bytes = t->text.used_bytes };

        if (array_reserve(&t->below, &t->below_capacity, t->n_below + 1, sizeof(*t->below)) < 0) {
                t->failed = true;
                return;
        }
        below.row = t->n_cells != 0 ? (t->n_cells - 1) / t->n_columns : 0;
        (void)text_escape(&t->text, bytes, n_bytes);
        below.n_bytes = t->text.used_bytes - below.at_bytes;
        t->failed = t->failed || t->text.failed;
        t->below[t->n_below++] = below;
}

/* A column becomes as wide as its widest cell, within its own limit and that of the line. */
static void find_wanted_widths(const struct text_table *t, uint32_t *widths)
{
        for (uint32_t c = 0; c < t->n_columns; c++) {
                uint32_t most = t->columns[c].n_columns_max;

                widths[c] = (uint32_t)strlen(t->columns[c].title);
                for (size_t i = c; i < t->n_cells; i += t->n_columns)
                        if (t->cells[i].n_columns > widths[c])
                                widths[c] = t->cells[i].n_columns;
                if (most != 0 && widths[c] > most)
                        widths[c] = most;
                if (widths[c] > t->line_columns)
                        widths[c] = t->line_columns;
                if (widths[c] == 0)
                        widths[c] = 1; /* 0 is a column that is left out */
        }
}

/* The length of a line if columns that share the remaining width get at most @n_least. */
static uint64_t find_line_columns(const struct text_table *t, const uint32_t *widths, uint32_t n_least)
{
        uint64_t used = 0;

        for (uint32_t c = 0; c < t->n_columns; c++) {
                uint32_t width = widths[c];

                if (width == 0)
                        continue;
                if (t->columns[c].n_columns_max == 0 && width > n_least)
                        width = n_least;
                used += width + (used != 0 ? GAP_COLUMNS : 0);
        }
        return used;
}

/* Takes the excess from the columns that share the remaining width, then from the widest. */
static void squeeze(const struct text_table *t, uint32_t *widths, uint64_t room)
{
        uint64_t used = find_line_columns(t, widths, UINT32_MAX);

        for (uint32_t c = 0; c < t->n_columns && used > room; c++) {
                uint64_t excess = used - room;
                uint32_t spare = widths[c] > COLUMNS_LEAST ? widths[c] - COLUMNS_LEAST : 0;

                if (t->columns[c].n_columns_max != 0)
                        continue;
                if (excess > spare)
                        excess = spare;
                widths[c] -= (uint32_t)excess;
                used -= excess;
        }
        for (; used > room; used--) {
                uint32_t widest = 0;

                for (uint32_t c = 1; c < t->n_columns; c++)
                        if (widths[c] > widths[widest])
                                widest = c;
                if (widths[widest] <= 1)
                        return;
                widths[widest]--;
        }
}

static void find_widths(const struct text_table *t, uint32_t n_indent, uint32_t *widths)
{
        uint64_t room = t->line_columns > n_indent ? t->line_columns - n_indent : 1;

        find_wanted_widths(t, widths);
        for (uint32_t c = t->n_columns; c > 0 && find_line_columns(t, widths, COLUMNS_NAMES) > room; c--)
                if (t->columns[c - 1].may_go)
                        widths[c - 1] = 0;
        squeeze(t, widths, room);
}

/* How many bytes the first @n_columns characters of escaped text take. */
static size_t bytes_of_columns(const char *text, size_t n_bytes, uint32_t n_columns)
{
        size_t at = 0;

        while (at < n_bytes && n_columns > 0) {
                uint32_t character;
                size_t length = utf8_decode(text + at, n_bytes - at, &character);

                at += length != 0 ? length : 1;
                n_columns--;
        }
        return at;
}

static void print_spaces(uint32_t n, FILE *out)
{
        (void)fprintf(out, "%*s", (int)n, "");
}

static const char *text_of(const struct text_table *t, const struct text_cell *cell)
{
        return cell->n_bytes != 0 ? (const char *)t->text.data + cell->at_bytes : "";
}

/* The largest number of leading frames that this call stack shares with one in another row. */
static uint32_t count_same(const struct text_table *t, const struct text_cell *cell)
{
        size_t column = (size_t)(cell - t->cells) % t->n_columns;
        uint32_t most = 0;

        if (t->n_cells / t->n_columns > SAME_ROWS_MAX)
                return 0;
        for (size_t i = column; i < t->n_cells; i += t->n_columns) {
                const struct text_cell *other = &t->cells[i];
                uint32_t n = other != cell ? name_fold_count_same(text_of(t, cell), cell->n_bytes,
                                                                  text_of(t, other), other->n_bytes)
                                           : 0;

                if (n > most)
                        most = n;
        }
        return most;
}

/*
 * Prints a cell that is too long, folded; returns how many columns it takes.  Sets `failed` without memory.
 */
static uint32_t print_folded(struct text_table *t, const struct text_cell *cell, uint32_t width, FILE *out)
{
        const char *text = text_of(t, cell);
        struct byte_buffer folded = { .data = NULL };
        uint32_t n_columns = 0;

        if (memmem(text, cell->n_bytes, " < ", 3) && memchr(text, '<', cell->n_bytes) != text)
                name_fold_chain(&folded, text, cell->n_bytes, count_same(t, cell), width);
        else
                name_fold(&folded, text, cell->n_bytes, width);
        for (size_t at = 0; at < folded.used_bytes; n_columns++)
                at += bytes_of_columns((const char *)folded.data + at, folded.used_bytes - at, 1);
        if (folded.used_bytes != 0)
                (void)fwrite(folded.data, 1, folded.used_bytes, out);
        t->failed = t->failed || folded.failed;
        byte_buffer_deinit(&folded);
        return n_columns;
}

/* @cell: NULL = the title */
static void print_cell(struct text_table *t, const struct text_column *column, uint32_t width, bool last,
                       const struct text_cell *cell, FILE *out)
{
        const char *text = cell ? text_of(t, cell) : column->title;
        size_t n_bytes = cell ? cell->n_bytes : strlen(text);
        uint32_t n_columns = cell ? cell->n_columns : (uint32_t)n_bytes;

        if (column->right && width > n_columns)
                print_spaces(width - n_columns, out);
        if (n_columns > width && cell && t->full_names && !column->right)
                (void)fwrite(text, 1, n_bytes, out); /* what follows moves to the right */
        else if (n_columns > width && cell)
                n_columns = print_folded(t, cell, width, out);
        else if (n_bytes != 0)
                (void)fwrite(text, 1, bytes_of_columns(text, n_bytes, width), out);
        if (!column->right && !last && width > n_columns)
                print_spaces(width - n_columns, out);
}

/* Prints a row, or the titles if @cells is NULL. */
static void print_row(struct text_table *t, const uint32_t *widths, uint32_t n_indent,
                      const struct text_cell *cells, FILE *out)
{
        uint32_t last = t->n_columns;
        bool first = true;

        while (last > 1 && (widths[last - 1] == 0 || (cells && cells[last - 1].n_bytes == 0)))
                last--;
        print_spaces(n_indent, out);
        for (uint32_t c = 0; c < last; c++) {
                if (widths[c] == 0)
                        continue;
                print_spaces(first ? 0 : GAP_COLUMNS, out);
                print_cell(t, &t->columns[c], widths[c], c + 1 == last, cells ? &cells[c] : NULL, out);
                first = false;
        }
}

static void print_below(const struct text_table *t, const struct text_below *below, uint32_t n_indent,
                        FILE *out)
{
        const char *text = below->n_bytes != 0 ? (const char *)t->text.data + below->at_bytes : "";
        uint32_t line_columns = t->full_names ? UINT32_MAX : t->line_columns;

        print_spaces(n_indent + BELOW_INDENT, out);
        text_wrap_within(text, below->n_bytes, n_indent + BELOW_INDENT + 2, line_columns, out);
}

static void print_rows(struct text_table *t, const uint32_t *widths, uint32_t n_indent, FILE *out)
{
        size_t next = 0;

        if (t->bold_titles)
                (void)fputs(TEXT_COLOR_BOLD, out);
        print_row(t, widths, n_indent, NULL, out);
        (void)fputs(t->bold_titles ? TEXT_COLOR_NONE "\n" : "\n", out);
        for (size_t i = 0; i < t->n_cells; i += t->n_columns) {
                print_row(t, widths, n_indent, &t->cells[i], out);
                (void)fputc('\n', out);
                for (; next < t->n_below && t->below[next].row == i / t->n_columns; next++)
                        print_below(t, &t->below[next], n_indent, out);
        }
}

int text_table_print_fitting(const struct text_table *t, uint32_t n_indent, FILE *out, uint32_t *ret_widths)
{
        struct text_table fitted;

        if (t->failed)
                return -ENOMEM;
        assert(t->n_cells % t->n_columns == 0);
        fitted = *t;
        if (fitted.line_columns == 0)
                fitted.line_columns = text_width_of(out);
        find_widths(&fitted, n_indent, ret_widths);
        print_rows(&fitted, ret_widths, n_indent, out);
        return fitted.failed ? -ENOMEM : 0;
}

int text_table_print(const struct text_table *t, uint32_t n_indent, FILE *out)
{
        uint32_t *widths = calloc(t->n_columns, sizeof(*widths));
        int r;

        if (!widths)
                return -ENOMEM;
        r = text_table_print_fitting(t, n_indent, out, widths);
        free(widths);
        return r;
}

void text_wrap_within(const char *text, size_t n_bytes, uint32_t n_indent, uint32_t line_columns, FILE *out)
{
        const uint32_t room = line_columns > n_indent ? line_columns - n_indent : 1;

        for (;;) {
                size_t line = bytes_of_columns(text, n_bytes, room);
                size_t skip = 0;

                if (line < n_bytes) {
                        size_t space = line;

                        while (space > 0 && text[space] != ' ')
                                space--;
                        if (space > 0) {
                                line = space;
                                skip = 1;
                        }
                }
                if (line != 0)
                        (void)fwrite(text, 1, line, out);
                (void)fputc('\n', out);
                text += line + skip;
                n_bytes -= line + skip;
                if (n_bytes == 0)
                        return;
                print_spaces(n_indent, out);
        }
}

void text_wrap(const char *text, size_t n_bytes, uint32_t n_indent, FILE *out)
{
        text_wrap_within(text, n_bytes, n_indent, text_width_of(out), out);
}
