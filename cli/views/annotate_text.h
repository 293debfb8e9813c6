/* SPDX-License-Identifier: MIT */
/*
 * cli/views/annotate_text.h - a function's instructions and source lines for people, with
 * arrows: the listing below the
 * facts of the document
 *
 * Way of the data:  annotation, source_texts, annotation_view (which rows) -> [annotate_text] -> terminal
 */
#ifndef CLI_VIEWS_ANNOTATE_TEXT_H
#define CLI_VIEWS_ANNOTATE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct annotation_view_options;
struct source_texts;

struct annotate_text_options {
        const struct annotation_view_options *view; /* which rows; lines between the instructions, or alone */
        bool is_colored;
        uint32_t n_columns; /* longer lines are cut; 0 = none is */
};

/* Returns 0 or -ENOMEM. */
int annotate_text_print(const struct annotation *a, struct source_texts *sources,
                        const struct annotate_text_options *options, FILE *out);

#endif /* CLI_VIEWS_ANNOTATE_TEXT_H */
