/* SPDX-License-Identifier: MIT */
#include "cli/manual/manual_writer.h"

#include "view/text/text_width.h"

#include <string.h>

#define ROFF_COLUMNS 78  /* longer lines are bad style there */
#define COLUMNS_MAX  100 /* wider text is hard to read */
#define ITEM_INDENT  7
#define MARGIN       4 /* of preformatted lines in prose */
#define WORD_END     " \n"

void manual_writer_init(struct manual_writer *w, FILE *out, bool is_roff, uint32_t n_indent)
{
        uint32_t n_columns = is_roff ? ROFF_COLUMNS : text_width_of(out);

        *w = (struct manual_writer){ .out = out, .is_roff = is_roff, .n_indent = is_roff ? 0 : n_indent };
        w->n_columns = n_columns < COLUMNS_MAX ? n_columns : COLUMNS_MAX;
}

/*
 * Roff treats some characters as commands, and replaces others by typographic ones that people cannot type.
 * NULL = the character stays as it is.
 */
static const char *escape_of(const struct manual_writer *w, char c, bool is_first)
{
        if (!w->is_roff)
                return NULL;
        switch (c) {
        case '\\':
                return "\\e";
        case '-':
                return "\\-";
        case '\'':
                return "\\(aq";
        case '.':
                return is_first ? "\\&." : NULL;
        default:
                return NULL;
        }
}

/* Returns how many characters were written, with what escapes add. */
static uint32_t put_text(struct manual_writer *w, const char *text, size_t n_bytes)
{
        size_t n = n_bytes;

        for (size_t i = 0; i < n_bytes; i++) {
                const char *escape = escape_of(w, text[i], i == 0);

                if (escape) {
                        (void)fputs(escape, w->out);
                        n += strlen(escape) - 1;
                } else {
                        (void)fputc(text[i], w->out);
                }
        }
        return (uint32_t)n;
}

static void put_indent(const struct manual_writer *w, uint32_t n_indent)
{
        if (!w->is_roff)
                (void)fprintf(w->out, "%*s", (int)n_indent, "");
}

/* Words in lines of equal length; the first begins at column @at. */
static void put_words(struct manual_writer *w, const char *text, size_t n_bytes, uint32_t n_indent,
                      uint32_t at)
{
        const char *end = text + n_bytes;
        uint32_t column = at;

        while (text < end) {
                size_t n = strcspn(text, WORD_END);

                if (n > (size_t)(end - text))
                        n = (size_t)(end - text);
                if (n > 0 && column > n_indent && column + 1 + n > w->n_columns) {
                        (void)fputc('\n', w->out);
                        put_indent(w, n_indent);
                        column = n_indent;
                }
                if (n > 0 && column > n_indent) {
                        (void)fputc(' ', w->out);
                        column++;
                }
                column += put_text(w, text, n);
                text += n + 1;
        }
        (void)fputc('\n', w->out);
}

/* The space above a paragraph. */
static void begin(struct manual_writer *w)
{
        if (w->has_begun && !w->after_heading)
                (void)fputs(w->is_roff ? ".PP\n" : "\n", w->out);
        w->has_begun = true;
        w->after_heading = false;
}

void manual_writer_heading(struct manual_writer *w, const char *text, size_t n_bytes)
{
        if (w->has_begun && !w->is_roff)
                (void)fputc('\n', w->out);
        if (w->is_roff)
                (void)fputs(".SH ", w->out);
        (void)put_text(w, text, n_bytes);
        (void)fputc('\n', w->out);
        w->has_begun = w->after_heading = true;
}

void manual_writer_paragraph(struct manual_writer *w, const char *text, size_t n_bytes)
{
        begin(w);
        put_indent(w, w->n_indent);
        put_words(w, text, n_bytes, w->n_indent, w->n_indent);
}

void manual_writer_lines(struct manual_writer *w, const char *text, size_t n_bytes)
{
        const char *end = text + n_bytes;

        begin(w);
        if (w->is_roff)
                (void)fputs(".RS 4\n.nf\n", w->out);
        while (text < end) {
                const char *line_end = memchr(text, '\n', (size_t)(end - text));
                size_t n = (size_t)((line_end ? line_end : end) - text);

                if (n > 0)
                        put_indent(w, w->n_indent + MARGIN);
                (void)put_text(w, text, n);
                (void)fputc('\n', w->out);
                text += n + 1;
        }
        if (w->is_roff)
                (void)fputs(".fi\n.RE\n", w->out);
}

void manual_writer_item(struct manual_writer *w, const char *name, const char *text)
{
        uint32_t n_indent = w->n_indent + ITEM_INDENT;

        if (w->is_roff) {
                n_indent = 0;
                (void)fputs(".TP\n\\fB", w->out);
                (void)put_text(w, name, strlen(name));
                (void)fputs("\\fR\n", w->out);
        } else {
                put_indent(w, w->n_indent);
                (void)fprintf(w->out, "%s\n", name);
                put_indent(w, n_indent);
        }
        put_words(w, text, strlen(text), n_indent, n_indent);
        w->has_begun = true;
        w->after_heading = false;
}

/*
 * Counts the bytes of the first lines that are all indented by MARGIN, or all not; a heading stands alone.
 */
static size_t count_block(const char *text, size_t n_bytes)
{
        bool is_indented = text[0] == ' ';
        size_t n = 0;

        while (n < n_bytes) {
                const char *line_end = memchr(text + n, '\n', n_bytes - n);

                if (n > 0 && (text[n] == '\n' || text[n] == '#' || (text[n] == ' ') != is_indented))
                        break;
                n = line_end ? (size_t)(line_end - text) + 1 : n_bytes;
                if (text[0] == '#')
                        break;
        }
        return n;
}

/* Writes lines without the margin that they have in prose. */
static void put_lines(struct manual_writer *w, const char *text, size_t n_bytes)
{
        char block[4096];
        size_t used = 0;

        for (size_t i = 0; i < n_bytes && used < sizeof(block);) {
                const char *line_end = memchr(text + i, '\n', n_bytes - i);
                size_t n = (line_end ? (size_t)(line_end - text) + 1 : n_bytes) - i;
                size_t skip = n > MARGIN ? MARGIN : 0;

                if (n - skip > sizeof(block) - used)
                        break;
                memcpy(block + used, text + i + skip, n - skip);
                used += n - skip;
                i += n;
        }
        manual_writer_lines(w, block, used);
}

void manual_writer_prose(struct manual_writer *w, const char *text, size_t n_bytes)
{
        size_t n;

        for (size_t i = 0; i < n_bytes; i += n) {
                const char *block = text + i;

                n = block[0] == '\n' ? 1 : count_block(block, n_bytes - i);
                if (block[0] == '#')
                        manual_writer_heading(w, block + 2, n > 3 ? n - 3 : 0);
                else if (block[0] == ' ')
                        put_lines(w, block, n);
                else if (block[0] != '\n')
                        manual_writer_paragraph(w, block, n);
        }
}
