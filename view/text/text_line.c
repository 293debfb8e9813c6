/* SPDX-License-Identifier: MIT */
#include "view/text/text_line.h"

#include "base/byte_buffer.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

void text_line_add(struct byte_buffer *line, const char *format, ...)
{
        char text[256];
        va_list args;

        va_start(args, format);
        (void)vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        byte_buffer_add(line, text, strlen(text));
}

void text_line_add_string(struct byte_buffer *line, struct text_view string)
{
        (void)text_escape(line, string.bytes, string.n_bytes);
}

int text_line_print(const char *label, struct byte_buffer *line, FILE *out)
{
        if (line->failed)
                return -ENOMEM;
        if (line->used_bytes == 0)
                return 0;
        (void)fprintf(out, "  %-*s", TEXT_LINE_LABEL_COLUMNS - TEXT_LINE_INDENT, label);
        text_wrap((const char *)line->data, line->used_bytes, TEXT_LINE_LABEL_COLUMNS, out);
        byte_buffer_clear(line);
        return 0;
}

int text_line_print_indented(uint32_t n_indent, uint32_t n_hanging, struct byte_buffer *line, FILE *out)
{
        if (line->failed)
                return -ENOMEM;
        if (line->used_bytes == 0)
                return 0;
        (void)fprintf(out, "%*s", (int)n_indent, "");
        text_wrap((const char *)line->data, line->used_bytes, n_hanging, out);
        byte_buffer_clear(line);
        return 0;
}

const char *text_line_plural(uint64_t n)
{
        return n == 1 ? "" : "s";
}
