/* SPDX-License-Identifier: MIT */
#include "cli/text_table.h"

#include "base/array.h"
#include "cli/text_width.h"
#include "cli/utf8.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP_COLUMNS   2
#define COLUMNS_LEAST 8  /* a column that gets what is left gets this much in any case */
#define ROOM_MIN      20 /* for text behind an indent, however narrow the line is */
#define ELLIPSIS      "…"

void text_table_init(struct text_table *t, const struct text_column *columns, uint32_t n_columns)
{
        *t = (struct text_table){ .columns = columns, .n_columns = n_columns };
}

void text_table_deinit(struct text_table *t)
{
        byte_buffer_deinit(&t->text);
        free(t->cells);
        text_table_init(t, t->columns, t->n_columns);
}

uint32_t text_escape(struct byte_buffer *out, const char *bytes, size_t n_bytes)
{
        uint32_t n_columns = 0;

        for (size_t i = 0; i < n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(bytes + i, n_bytes - i, &character);
                char escaped[16];

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

void text_table_add_text(struct text_table *t, const char *text)
{
        text_table_add(t, text, strlen(text));
}

/* How wide each column is: as its widest cell, within its limit, and the line within @n_line. */
static void find_widths(const struct text_table *t, uint32_t n_indent, uint32_t n_line, uint32_t *widths)
{
        uint32_t used = n_indent;

        for (uint32_t c = 0; c < t->n_columns; c++) {
                widths[c] = (uint32_t)strlen(t->columns[c].title);
                for (size_t i = c; i < t->n_cells; i += t->n_columns)
                        if (t->cells[i].n_columns > widths[c])
                                widths[c] = t->cells[i].n_columns;
                if (t->columns[c].n_columns_max != 0 && widths[c] > t->columns[c].n_columns_max)
                        widths[c] = t->columns[c].n_columns_max;
                used += widths[c] + (c != 0 ? GAP_COLUMNS : 0);
        }
        for (uint32_t c = 0; c < t->n_columns && used > n_line; c++) {
                uint32_t excess = used - n_line;
                uint32_t spare = widths[c] > COLUMNS_LEAST ? widths[c] - COLUMNS_LEAST : 0;

                if (t->columns[c].n_columns_max != 0)
                        continue;
                if (excess > spare)
                        excess = spare;
                widths[c] -= excess;
                used -= excess;
        }
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

static void print_cell(const struct text_column *column, uint32_t width, bool last,
                       const struct text_cell *cell, const char *text, FILE *out)
{
        uint32_t padding = width > cell->n_columns ? width - cell->n_columns : 0;

        if (column->right)
                print_spaces(padding, out);
        if (cell->n_columns > width) {
                (void)fwrite(text, 1, bytes_of_columns(text, cell->n_bytes, width - 1), out);
                (void)fputs(ELLIPSIS, out);
        } else if (cell->n_bytes != 0) {
                (void)fwrite(text, 1, cell->n_bytes, out);
        }
        if (!column->right && !last)
                print_spaces(padding, out);
}

int text_table_print(const struct text_table *t, uint32_t n_indent, FILE *out)
{
        uint32_t *widths;

        if (t->failed)
                return -ENOMEM;
        assert(t->n_cells % t->n_columns == 0);
        widths = calloc(t->n_columns, sizeof(*widths));
        if (!widths)
                return -ENOMEM;
        find_widths(t, n_indent, text_width_of(out), widths);
        print_spaces(n_indent, out);
        for (uint32_t c = 0; c < t->n_columns; c++) {
                uint32_t n = (uint32_t)strlen(t->columns[c].title);
                struct text_cell title = { .n_bytes = n, .n_columns = n };

                print_spaces(c != 0 ? GAP_COLUMNS : 0, out);
                print_cell(&t->columns[c], widths[c], c + 1 == t->n_columns, &title, t->columns[c].title,
                           out);
        }
        (void)fputc('\n', out);
        for (size_t i = 0; i < t->n_cells; i++) {
                uint32_t c = (uint32_t)(i % t->n_columns);
                const char *text = (const char *)t->text.data + t->cells[i].at_bytes;

                print_spaces(c != 0 ? GAP_COLUMNS : n_indent, out);
                print_cell(&t->columns[c], widths[c], c + 1 == t->n_columns, &t->cells[i], text, out);
                if (c + 1 == t->n_columns)
                        (void)fputc('\n', out);
        }
        free(widths);
        return 0;
}

void text_wrap(const char *text, size_t n_bytes, uint32_t n_indent, FILE *out)
{
        text_wrap_to(text, n_bytes, n_indent, text_width_of(out), out);
}

void text_wrap_to(const char *text, size_t n_bytes, uint32_t n_indent, uint32_t n_columns, FILE *out)
{
        const uint32_t room = n_columns > n_indent + ROOM_MIN ? n_columns - n_indent : ROOM_MIN;

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
