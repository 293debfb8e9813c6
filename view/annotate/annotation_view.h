/* SPDX-License-Identifier: MIT */
/*
 * view/annotate/annotation_view.h - a function's instructions and source lines as facts and tables
 *
 * Way of the data:  annotation, source_texts -> [annotation_view] -> view_document
 *
 * A long function has only the rows near samples in it, the same ones in every format.  In text the tables of
 * instructions and of lines are listings (annotation_listing).
 */
#ifndef VIEW_ANNOTATE_ANNOTATION_VIEW_H
#define VIEW_ANNOTATE_ANNOTATION_VIEW_H

#include "analyze/report/report_tables.h"
#include "base/text_view.h"
#include "view/document/view_document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANNOTATION_VIEW_FUNCTIONS 10 /* functions listed if the user named none, unless the limit is 0 */

struct answer_schema;
struct annotation;
struct function_choice;
struct sample_sum;
struct source_texts;

extern const struct answer_schema annotation_view_schema;

struct annotation_view_options {
        bool with_code, with_lines; /* with the tables of instructions and of parts; with that of lines */
        bool with_source;           /* in text, source lines between the instructions */
        bool show_all;              /* not only what is near samples */
        uint32_t n_context;         /* rows around each hot one that are shown */
        double share_hot;           /* 0 .. 1: from here on a row is hot */
        uint32_t limit;             /* rows of each table, those with the most samples; 0 = all */
        const char *path;           /* of the trace, for hints */
        struct text_view filter;    /* whose samples count, in words; empty = all */
        const struct function_choice
                *choice; /* functions with samples, where none was named; NULL = one was */
};

/*
 * annotation_view_choose() - which rows of a long function are shown
 * @first, @stride:  the sum of row i is at i * @stride
 * Returns a byte for each row, 1 = it is shown; heap; NULL without memory.
 */
uint8_t *annotation_view_choose(const struct annotation *a, const struct annotation_view_options *options,
                                const struct sample_sum *first, size_t stride, size_t n_rows);

void annotation_view_fill(struct view_document *d, const struct annotation *a, struct source_texts *sources,
                          const struct annotation_view_options *options);

#endif /* VIEW_ANNOTATE_ANNOTATION_VIEW_H */
