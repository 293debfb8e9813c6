/* SPDX-License-Identifier: MIT */
#include "view/text/text_page.h"

#include "base/byte_buffer.h"
#include "view/text/text_color.h"
#include "view/text/text_line.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <string.h>

static void print_bold(const struct text_page *page, const char *words, size_t n_bytes)
{
        if (page->color)
                (void)fputs(TEXT_COLOR_BOLD, page->out);
        text_wrap(words, n_bytes, TEXT_LINE_INDENT, page->out);
        if (page->color)
                (void)fputs(TEXT_COLOR_NONE, page->out);
}

void text_page_print_head(const struct text_page *page, const char *words)
{
        print_bold(page, words, strlen(words));
}

void text_page_print_title(const struct text_page *page, const char *words)
{
        (void)fputc('\n', page->out);
        print_bold(page, words, strlen(words));
}

int text_page_print_title_line(const struct text_page *page, struct byte_buffer *line)
{
        if (line->failed)
                return -ENOMEM;
        (void)fputc('\n', page->out);
        print_bold(page, (const char *)line->data, line->used_bytes);
        byte_buffer_clear(line);
        return 0;
}

int text_page_print_table(const struct text_page *page, struct text_table *table, uint32_t n_indent)
{
        table->bold_titles = page->color;
        table->full_names = page->full_names;
        return text_table_print(table, n_indent, page->out);
}
