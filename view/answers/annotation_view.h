/* SPDX-License-Identifier: MIT */
/*
 * view/answers/annotation_view.h - a function's instructions and source lines as tables, for CSV and Markdown
 *
 * Way of the data:  annotation, source_texts -> [annotation_view] -> view_document
 *
 * Text with arrows is cli/views/annotate_text's, JSON with its own schema cli/views/annotate_json's.
 */
#ifndef VIEW_ANSWERS_ANNOTATION_VIEW_H
#define VIEW_ANSWERS_ANNOTATION_VIEW_H

#include "analyze/report/report_counters.h"
#include "analyze/trace/report_string.h"
#include "view/document/view_document.h"

#define ANNOTATION_VIEW_SCHEMA "hyprof.annotation/1"

/* The columns of both tables, followed by one for each counter. */
#define ANNOTATION_VIEW_COLUMNS_MAX (12 + REPORT_COUNTERS_MAX)
#define ANNOTATION_VIEW_KEY_BYTES   64

struct annotation;
struct source_texts;

/* The memory that the document's columns point into: it has to stay as long as that. */
struct annotation_view {
        struct view_column instructions[ANNOTATION_VIEW_COLUMNS_MAX];
        struct view_column lines[ANNOTATION_VIEW_COLUMNS_MAX];
        char keys[REPORT_COUNTERS_MAX][ANNOTATION_VIEW_KEY_BYTES];
};

struct annotation_view_options {
        bool with_code, with_source; /* the table of instructions, that of lines */
        bool only_hot;               /* rows without samples are left out, and counted */
        struct report_string filter; /* whose samples count, in words; empty = all */
};

void annotation_view_fill(struct annotation_view *view, struct view_document *d, const struct annotation *a,
                          struct source_texts *sources, const struct annotation_view_options *options);

#endif /* VIEW_ANSWERS_ANNOTATION_VIEW_H */
