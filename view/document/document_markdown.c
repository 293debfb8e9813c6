/* SPDX-License-Identifier: MIT */
/*
 * Names are written as code spans, in which GitHub looks for no HTML, links, mentions or issue numbers.
 * Only the fence is special there and, in tables, "|": the fence is made longer than any run of backticks
 * inside, and "|" takes a backslash, which must itself not be escaped.
 */
#include "view/document/cell_text.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"
#include "view/text/text_number.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <string.h>

#define DEPTH_SHOWN_MAX 64

static size_t find_longest_run(const char *bytes, size_t n_bytes, char wanted)
{
        size_t longest = 0, run = 0;

        for (size_t i = 0; i < n_bytes; i++) {
                run = bytes[i] == wanted ? run + 1 : 0;
                if (run > longest)
                        longest = run;
        }
        return longest;
}

static void put_repeated(char character, size_t n, FILE *out)
{
        while (n-- > 0)
                (void)fputc(character, out);
}

/* Adds a backslash before each "|" that none escapes yet, since it would end the cell. */
static void put_in_table(const char *bytes, size_t n_bytes, FILE *out)
{
        size_t n_backslashes = 0;

        for (size_t i = 0; i < n_bytes; i++) {
                if (bytes[i] == '|')
                        put_repeated('\\', 1 + n_backslashes % 2, out);
                n_backslashes = bytes[i] == '\\' ? n_backslashes + 1 : 0;
                (void)fputc(bytes[i], out);
        }
}

/* Returns 0 or -ENOMEM. */
static int put_name(struct text_view string, FILE *out)
{
        struct byte_buffer escaped = { .data = NULL };
        size_t n_fence;
        const char *padding = "";

        if (string.n_bytes == 0)
                return 0;
        (void)text_escape(&escaped, string.bytes, string.n_bytes);
        if (escaped.failed) {
                byte_buffer_deinit(&escaped);
                return -ENOMEM;
        }
        n_fence = 1 + find_longest_run((const char *)escaped.data, escaped.used_bytes, '`');
        if (n_fence > 1 || escaped.data[0] == ' ')
                padding = " ";
        put_repeated('`', n_fence, out);
        (void)fputs(padding, out);
        put_in_table((const char *)escaped.data, escaped.used_bytes, out);
        (void)fputs(padding, out);
        put_repeated('`', n_fence, out);
        byte_buffer_deinit(&escaped);
        return 0;
}

/*
 * Writes our own words, with names of a trace in between; anything that Markdown would interpret is
 * escaped.
 */
static int put_words(const char *words, size_t n_bytes, FILE *out)
{
        struct byte_buffer escaped = { .data = NULL };

        (void)text_escape(&escaped, words, n_bytes);
        for (size_t i = 0; i < escaped.used_bytes; i++) {
                char byte = (char)escaped.data[i];

                if (byte == '<' || byte == '@')
                        (void)fputs(byte == '<' ? "&lt;" : "&#64;", out);
                else if (byte == '&')
                        (void)fputs("&amp;", out);
                else if (strchr("\\`*_[]|#~", byte))
                        (void)fprintf(out, "\\%c", byte);
                else
                        (void)fputc(byte, out);
        }
        n_bytes = escaped.failed;
        byte_buffer_deinit(&escaped);
        return n_bytes != 0 ? -ENOMEM : 0;
}

static int put_cell(const struct view_document *d, const struct view_column *column,
                    const struct view_cell *cell, FILE *out)
{
        struct byte_buffer text = { .data = NULL };
        int r = 0;

        if (!cell->is_known) {
                (void)fputc('-', out);
                return 0;
        }
        if (view_type_is_text(column->type))
                cell_text_add_string(&text, d, column->type, cell, column->type == VIEW_PLACE);
        else
                cell_text_add_number(&text, column, cell);
        if (text.failed)
                r = -ENOMEM;
        else if (view_type_is_text(column->type))
                r = put_name((struct text_view){ (const char *)text.data, text.used_bytes }, out);
        else if (text.used_bytes != 0)
                (void)fwrite(text.data, 1, text.used_bytes, out);
        byte_buffer_deinit(&text);
        return r;
}

static int print_facts(const struct view_document *d, FILE *out)
{
        for (size_t i = 0; i < d->n_facts; i++) {
                const struct view_fact *fact = &d->facts[i];
                struct view_column column = { .type = fact->type };
                int r;

                if (!fact->title || !fact->cell.is_known)
                        continue;
                (void)fprintf(out, "- %s: ", fact->title);
                r = put_cell(d, &column, &fact->cell, out);
                (void)fputc('\n', out);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int print_lines(const char *title, const struct byte_buffer *lines, bool is_code, FILE *out)
{
        const char *at = (const char *)lines->data;
        size_t n_left = lines->used_bytes;

        if (n_left != 0)
                (void)fprintf(out, "\n%s:\n\n", title);
        while (n_left > 0) {
                const char *end = memchr(at, '\n', n_left);
                size_t n = end ? (size_t)(end - at) : n_left;
                int r;

                (void)fputs("- ", out);
                r = is_code ? put_name((struct text_view){ at, n }, out) : put_words(at, n, out);
                (void)fputc('\n', out);
                if (r < 0)
                        return r;
                n += end ? 1 : 0;
                at += n;
                n_left -= n;
        }
        return 0;
}

static void print_titles(const struct view_table *t, FILE *out)
{
        for (uint32_t c = 0; c < t->n_columns; c++)
                (void)fprintf(out, "| %s ", t->columns[c].title);
        (void)fputs("|\n", out);
        for (uint32_t c = 0; c < t->n_columns; c++) {
                enum view_type type = t->columns[c].type;

                (void)fputs(view_type_is_text(type) || type == VIEW_BAR || type == VIEW_BOOL ? "| --- "
                                                                                             : "| ---: ",
                            out);
        }
        (void)fputs("|\n", out);
}

/* Markdown drops spaces at the beginning of a cell, so a tree is indented with non-breaking spaces. */
static void put_depth(uint32_t depth, FILE *out)
{
        for (uint32_t i = 0; i < depth && i < DEPTH_SHOWN_MAX; i++)
                (void)fputs("&nbsp;&nbsp;", out);
}

static int print_rows(const struct view_document *d, const struct view_table *t, FILE *out)
{
        bool is_indented = false;

        print_titles(t, out);
        for (size_t i = 0; i < t->n_cells; i++) {
                size_t c = i % t->n_columns;
                int r;

                if (c == 0)
                        is_indented = !t->is_tree;
                (void)fputs("| ", out);
                if (!is_indented && t->columns[c].type == VIEW_STRING) {
                        put_depth(t->depths[i / t->n_columns], out);
                        is_indented = true;
                }
                r = put_cell(d, &t->columns[c], &t->cells[i], out);
                (void)fputs(c + 1 == t->n_columns ? " |\n" : " ", out);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int print_shown(const struct view_document *d, const struct view_table *t, FILE *out)
{
        struct view_table packed;
        int r = view_table_pack(t, &packed);

        if (r < 0)
                return r;
        r = print_rows(d, &packed, out);
        view_table_unpack(&packed);
        return r;
}

static int print_table(const struct view_document *d, const struct view_table *t, FILE *out)
{
        int r = 0;

        (void)fprintf(out, "\n### %s\n\n", t->title);
        if (t->about.used_bytes != 0) {
                r = put_words((const char *)t->about.data, t->about.used_bytes, out);
                (void)fputs("\n\n", out);
        }
        if (r == 0 && t->n_cells == 0 && t->n_left_out == 0)
                (void)fputs("none\n", out);
        else if (r == 0)
                r = print_shown(d, t, out);
        if (t->n_left_out != 0)
                (void)fprintf(out, "\n%s more row%s\n", text_number_count(t->n_left_out).text,
                              t->n_left_out == 1 ? "" : "s");
        return r;
}

int document_print_markdown(const struct view_document *d, FILE *out)
{
        int r = 0;

        if (d->failed)
                return -ENOMEM;
        if (d->title.used_bytes != 0) {
                (void)fputs("## ", out);
                r = put_words((const char *)d->title.data, d->title.used_bytes, out);
                (void)fputs("\n\n", out);
        }
        if (r != 0)
                return r;
        r = print_facts(d, out);
        if (r != 0)
                return r;
        r = print_lines(d->warnings_title ? d->warnings_title : "missing or doubtful", &d->warnings, false,
                        out);
        if (r != 0)
                return r;
        for (size_t i = 0; i < d->n_tables && r == 0; i++)
                if (view_table_is_shown(d->tables[i]))
                        r = print_table(d, d->tables[i], out);
        if (r != 0)
                return r;
        return print_lines("Next", &d->hints, true, out);
}
