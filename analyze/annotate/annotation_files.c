/* SPDX-License-Identifier: MIT */
#include "analyze/annotate/annotation.h"

#include "analyze/trace/source_texts.h"
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are being made, with their counters. */
struct row_list {
        const struct annotation *annotation;
        struct annotated_line *lines;
        uint64_t *counters;
        size_t n_lines, lines_capacity, counters_capacity;
};

/* @from: a row of the annotation; NULL = a line without code */
static int add(struct row_list *list, uint32_t file, uint32_t line, const struct annotated_line *from)
{
        const struct annotation *a = list->annotation;
        size_t n_counters = a->counters.n_counters;
        int r = array_reserve(&list->lines, &list->lines_capacity, list->n_lines + 1, sizeof(*list->lines));

        if (r == 0)
                r = array_reserve(&list->counters, &list->counters_capacity,
                                  (list->n_lines + 1) * n_counters + 1, sizeof(*list->counters));
        if (r < 0)
                return r;
        list->lines[list->n_lines] = from ? *from : (struct annotated_line){ .file = file, .line = line };
        for (size_t i = 0; i < n_counters; i++)
                list->counters[list->n_lines * n_counters + i] =
                        from ? a->line_counters[(size_t)(from - a->lines) * n_counters + i] : 0;
        list->n_lines++;
        return 0;
}

/* Returns the index after the rows that share the file of the row at @first. */
static size_t find_end_of_file(const struct annotation *a, size_t first)
{
        size_t end = first;

        while (end < a->n_lines && a->lines[end].file == a->lines[first].file)
                end++;
        return end;
}

/* Adds the rows of one file, and between them the source lines that have no row. */
static int merge(struct row_list *list, size_t first, size_t end, uint32_t n_text_lines)
{
        const struct annotated_line *rows = list->annotation->lines;
        uint32_t next = 1, file = rows[first].file;
        int r = 0;

        for (size_t i = first; i < end && r == 0; i++) {
                for (; next < rows[i].line && next <= n_text_lines && r == 0; next++)
                        r = add(list, file, next, NULL);
                if (r == 0)
                        r = add(list, file, rows[i].line, &rows[i]);
                if (rows[i].line >= next)
                        next = rows[i].line + 1;
        }
        for (; next <= n_text_lines && r == 0; next++)
                r = add(list, file, next, NULL);
        return r;
}

int annotation_files_fill(struct annotation *a, struct source_texts *sources)
{
        struct row_list list = { .annotation = a };
        size_t end, n_left = a->n_lines;
        int r = 0;

        for (size_t first = 0; first < a->n_lines && r == 0; first = end) {
                struct text_view name = annotation_string(a, a->lines[first].file);
                const struct source_text *text = name.n_bytes > 0 ? source_texts_find(sources, name) : NULL;
                size_t n_text_lines = text ? text->n_lines : 0;

                end = find_end_of_file(a, first);
                n_left -= end - first;
                if (name.n_bytes > 0 && !text)
                        r = -ENOMEM;
                if (list.n_lines + n_left + n_text_lines > ANNOTATION_FILE_LINES_MAX) {
                        a->n_short_files++;
                        n_text_lines = 0;
                }
                if (r == 0)
                        r = merge(&list, first, end, (uint32_t)n_text_lines);
        }
        if (r < 0) {
                free(list.lines);
                free(list.counters);
                return r;
        }
        free(a->lines);
        free(a->line_counters);
        a->lines = list.lines;
        a->line_counters = list.counters;
        a->n_lines = list.n_lines;
        a->lines_capacity = list.lines_capacity;
        return 0;
}
