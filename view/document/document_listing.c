/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "view/document/cell_text.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"
#include "view/text/text_color.h"
#include "view/text/text_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_WARM  0.005 /* from here on a row has a colour, */
#define SHARE_HOT   0.05  /* and from here on another */
#define TAB_COLUMNS 8
#define NOT_FOUND   UINT32_MAX

struct listing_printing {
        const struct view_document *document;
        const struct view_table *table;
        FILE *out;
        uint32_t line_columns; /* longer lines are cut; 0 = none is */
        bool color;
        uint32_t *columns; /* heap; of the table, by column of the listing; NOT_FOUND = it is left out */
        uint32_t share;    /* the column by which rows are coloured; NOT_FOUND = none */
        double hottest;    /* the largest share, marked by an asterisk after the second column */
        struct byte_buffer line;
};

static const struct view_cell *listing_cell(const struct listing_printing *p, size_t row, uint32_t column)
{
        return &p->table->cells[row * p->table->n_columns + column];
}

/* ------------------------------------------------------------------ lines */

/* How many bytes the first @n_max characters of escaped text take. */
static size_t listing_cut(const char *text, size_t n_bytes, uint32_t n_max)
{
        uint32_t n_columns = 0;

        for (size_t i = 0; i < n_bytes; i++)
                if (((unsigned char)text[i] & 0xc0) != 0x80 && n_columns++ == n_max)
                        return i;
        return n_bytes;
}

static void listing_add_blanks(struct listing_printing *p, uint64_t n)
{
        for (; n > 0; n--)
                byte_buffer_add_u8(&p->line, ' ');
}

static void listing_add_words(struct listing_printing *p, const char *words)
{
        if (words)
                byte_buffer_add(&p->line, words, strlen(words));
}

/* Adds hostile text; a tab is replaced by the blanks up to the next tab stop. */
static void listing_add_text(struct listing_printing *p, struct text_view text)
{
        uint32_t n_columns = 0;

        for (size_t i = 0, next; i < text.n_bytes; i = next + 1) {
                for (next = i; next < text.n_bytes && text.bytes[next] != '\t'; next++)
                        ;
                n_columns += text_escape(&p->line, text.bytes + i, next - i);
                if (next == text.n_bytes)
                        break;
                listing_add_blanks(p, TAB_COLUMNS - n_columns % TAB_COLUMNS);
                n_columns += TAB_COLUMNS - n_columns % TAB_COLUMNS;
        }
}

static int listing_end_line(struct listing_printing *p, const char *color)
{
        const char *text = (const char *)p->line.data;
        size_t n = p->line.used_bytes;

        if (p->line.failed)
                return -ENOMEM;
        while (n > 0 && text[n - 1] == ' ')
                n--;
        if (p->line_columns != 0)
                n = listing_cut(text, n, p->line_columns);
        color = p->color && n > 0 ? color : NULL;
        (void)fprintf(p->out, "%s%.*s%s\n", color ? color : "", (int)n, n > 0 ? text : "",
                      color ? TEXT_COLOR_NONE : "");
        byte_buffer_clear(&p->line);
        return 0;
}

/* ------------------------------------------------------------------ columns */

static uint32_t listing_find_column(const struct view_table *t, const char *key)
{
        for (uint32_t c = 0; c < t->n_columns; c++)
                if (t->columns[c].key && strcmp(t->columns[c].key, key) == 0)
                        return c;
        assert(false);
        return NOT_FOUND;
}

static bool listing_is_column_empty(const struct listing_printing *p, uint32_t column)
{
        for (size_t i = column; i < p->table->n_cells; i += p->table->n_columns)
                if (p->table->cells[i].is_known)
                        return false;
        return true;
}

/* Finds the columns of the listing; ratios without any known value are left out. */
static void listing_find_columns(struct listing_printing *p)
{
        const struct view_table *t = p->table;

        p->share = NOT_FOUND;
        for (uint32_t i = 0; i < t->listing->n_columns; i++) {
                uint32_t c = listing_find_column(t, t->listing->columns[i].key);

                if (t->columns[c].type == VIEW_REAL && listing_is_column_empty(p, c))
                        c = NOT_FOUND;
                else if (t->columns[c].type == VIEW_SHARE && p->share == NOT_FOUND)
                        p->share = c;
                p->columns[i] = c;
        }
        for (size_t row = 0; p->share != NOT_FOUND && row < view_table_count(t); row++)
                if (listing_cell(p, row, p->share)->real > p->hottest)
                        p->hottest = listing_cell(p, row, p->share)->real;
}

/* The mark of the hottest rows has a place of its own, after the second column. */
static uint32_t listing_mark_columns(uint32_t index)
{
        return index == 1;
}

static uint32_t listing_note_columns(const struct listing_printing *p)
{
        const struct view_listing *l = p->table->listing;
        uint32_t n = 0;

        for (uint32_t i = 0; i < l->n_before_notes; i++)
                if (p->columns[i] != NOT_FOUND)
                        n += l->columns[i].n_columns + (n != 0) + listing_mark_columns(i) +
                             (uint32_t)(l->columns[i].after ? strlen(l->columns[i].after) : 0);
        return n + 1;
}

static void listing_flush_right(struct listing_printing *p, size_t at, uint32_t n_columns)
{
        size_t n = p->line.used_bytes - at, n_blanks = n < n_columns ? n_columns - n : 0;

        listing_add_blanks(p, n_blanks);
        if (!p->line.failed && n_blanks != 0) {
                memmove(p->line.data + at + n_blanks, p->line.data + at, n);
                memset(p->line.data + at, ' ', n_blanks);
        }
}

static bool listing_is_blank(const struct view_column *column, const struct view_cell *cell)
{
        if (!cell->is_known)
                return true;
        return column->type == VIEW_SHARE   ? cell->real <= 0
               : column->type == VIEW_COUNT ? cell->number == 0
                                            : false;
}

static void listing_add_cell(struct listing_printing *p, size_t row, uint32_t index)
{
        const struct view_listing_column *l = &p->table->listing->columns[index];
        const struct view_column *column = &p->table->columns[p->columns[index]];
        const struct view_cell *cell = listing_cell(p, row, p->columns[index]);
        size_t at = p->line.used_bytes;

        if (listing_is_blank(column, cell)) {
                listing_add_blanks(p, l->n_columns);
                return;
        }
        listing_add_words(p, l->before);
        if (view_type_is_text(column->type))
                listing_add_text(p, cell_text_string(p->document, cell));
        else
                cell_text_add_number(&p->line, column, cell);
        listing_flush_right(p, at, l->n_columns);
        listing_add_words(p, l->after);
}

/* ------------------------------------------------------------------ rows and notes */

static int listing_print_titles(struct listing_printing *p)
{
        const struct view_listing *l = p->table->listing;
        bool has_text = false;

        for (uint32_t i = 0; i < l->n_columns; i++) {
                size_t at = p->line.used_bytes;

                if (p->columns[i] == NOT_FOUND || (has_text && l->columns[i].n_columns == 0))
                        continue;
                has_text = l->columns[i].n_columns == 0;
                listing_add_blanks(p, has_text ? 2 : at != 0);
                at = p->line.used_bytes;
                listing_add_words(p, p->table->columns[p->columns[i]].title);
                listing_flush_right(p, at, l->columns[i].n_columns);
                listing_add_blanks(p, listing_mark_columns(i));
        }
        return listing_end_line(p, TEXT_COLOR_BOLD);
}

static int listing_print_note(struct listing_printing *p, const struct view_note *note)
{
        const char *strings = (const char *)p->document->strings.data;
        struct text_view words = { note->n_bytes != 0 ? strings + note->at_bytes : "", note->n_bytes };

        if (note->kind == VIEW_NOTE_TITLE)
                (void)fputc('\n', p->out);
        else
                listing_add_blanks(p, listing_note_columns(p));
        listing_add_text(p, words);
        return listing_end_line(p, note->kind == VIEW_NOTE_TITLE   ? TEXT_COLOR_BOLD
                                   : note->kind == VIEW_NOTE_WORDS ? TEXT_COLOR_FAINT
                                                                   : NULL);
}

/* @lead: where notes begin; NULL = nothing */
static int listing_print_row(struct listing_printing *p, size_t row, const struct view_note *lead)
{
        const struct view_listing *l = p->table->listing;
        double share = p->share != NOT_FOUND ? listing_cell(p, row, p->share)->real : 0;

        for (uint32_t i = 0; i < l->n_columns; i++) {
                if (i == l->n_before_notes && lead) {
                        listing_add_blanks(p, 1);
                        byte_buffer_add(&p->line, p->document->strings.data + lead->at_bytes, lead->n_bytes);
                }
                if (p->columns[i] == NOT_FOUND)
                        continue;
                listing_add_blanks(p, i != 0);
                listing_add_cell(p, row, i);
                if (listing_mark_columns(i))
                        listing_add_words(p, share > 0 && share >= p->hottest ? "*" : " ");
        }
        return listing_end_line(p, share >= SHARE_HOT    ? TEXT_COLOR_HOT
                                   : share >= SHARE_WARM ? TEXT_COLOR_WARM
                                                         : NULL);
}

static int listing_print_rows(struct listing_printing *p)
{
        const struct view_table *t = p->table;
        size_t n_rows = view_table_count(t), next = 0;
        int r = listing_print_titles(p);

        for (size_t row = 0; row <= n_rows && r == 0; row++) {
                const struct view_note *lead = NULL;

                for (; r == 0 && next < t->n_notes && t->notes[next].row == row; next++) {
                        if (t->notes[next].kind == VIEW_NOTE_LEAD)
                                lead = &t->notes[next];
                        else
                                r = listing_print_note(p, &t->notes[next]);
                }
                if (r == 0 && row < n_rows)
                        r = listing_print_row(p, row, lead);
        }
        return r;
}

int document_listing_print(const struct view_document *d, const struct view_table *t,
                           const struct document_options *options, FILE *out)
{
        struct listing_printing p = {
                .document = d,
                .table = t,
                .out = out,
                .line_columns = options->is_terminal ? options->n_columns : 0,
                .color = options->color,
                .columns = calloc(t->listing->n_columns, sizeof(*p.columns)),
        };
        int r;

        if (!p.columns)
                return -ENOMEM;
        listing_find_columns(&p);
        r = listing_print_rows(&p);
        byte_buffer_deinit(&p.line);
        free(p.columns);
        return r;
}
