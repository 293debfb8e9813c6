/* SPDX-License-Identifier: MIT */
/*
 * cli/views/annotate_text.h - a function's instructions and source lines for people
 *
 * Way of the data:  annotation, source_texts -> [annotate_text] -> terminal
 */
#ifndef CLI_VIEWS_ANNOTATE_TEXT_H
#define CLI_VIEWS_ANNOTATE_TEXT_H

#include "analyze/trace/report_string.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct source_texts;

#define ANNOTATE_TEXT_ROWS_ALL UINT32_MAX

struct annotate_text_options {
        bool with_source; /* lines between the instructions, or alone */
        bool with_code;   /* instructions */
        bool is_colored;
        bool show_all;      /* nothing is left out, however long the function */
        uint32_t n_context; /* rows around each hot one that are shown, where some are left out */
        double share_hot;   /* 0 .. 1: from here on a row is hot */
        uint32_t n_columns; /* longer lines are cut; 0 = none is */
        struct report_string filter_words; /* whose samples count; empty = all */
};

/* Returns 0 or -ENOMEM. */
int annotate_text_print(const struct annotation *a, struct source_texts *sources,
                        const struct annotate_text_options *options, FILE *out);

#endif /* CLI_VIEWS_ANNOTATE_TEXT_H */
