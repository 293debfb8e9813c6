/* SPDX-License-Identifier: MIT */
/*
 * view/diff/diff_view.h - a comparison as a document: the answer in words, the whole, functions, zones
 *
 * Way of the data:  diff_comparison -> [diff_view] -> view_document
 */
#ifndef VIEW_DIFF_DIFF_VIEW_H
#define VIEW_DIFF_DIFF_VIEW_H

#include "base/text_view.h"

#include <stdint.h>

struct answer_schema;
struct diff_comparison;
struct view_document;

extern const struct answer_schema diff_view_schema;

struct diff_view_options {
        uint32_t limit;          /* rows of a table; 0 = all */
        struct text_view event;  /* whose samples are compared; empty = none's */
        struct text_view filter; /* the chosen part, in words; empty = everything */
        double threshold;        /* smaller changes are left out unless they are significant; 0.05 = 5 % */
};

/* Fills @d, which is initialised with the schema. */
void diff_view_fill(struct view_document *d, const struct diff_comparison *c,
                    const struct diff_view_options *options);

#endif /* VIEW_DIFF_DIFF_VIEW_H */
