/* SPDX-License-Identifier: MIT */
/*
 * view/annotate/arrow_margin.h - the jumps of a function as lines beside its instructions
 *
 * Way of the data:  annotation (arrows) -> [arrow_margin] -> annotation_listing
 *
 *      ,->  where a jump goes to, from below
 *      |
 *      '--  the jump
 *
 * Goes through the instructions once, from the first to the last.
 */
#ifndef VIEW_ANNOTATE_ARROW_MARGIN_H
#define VIEW_ANNOTATE_ARROW_MARGIN_H

#include "analyze/annotate/annotation.h"

#include <stddef.h>
#include <stdint.h>

#define ARROW_MARGIN_COLUMNS_MAX (2 * ANNOTATION_LANES_MAX + 2)

struct arrow_margin {
        const struct annotation *annotation; /* borrowed */
        size_t next;                         /* the first arrow that has not begun */
        const struct annotation_arrow *lanes[ANNOTATION_LANES_MAX];
        uint32_t n_lanes; /* that are used */
        char text[ARROW_MARGIN_COLUMNS_MAX +
                  1]; /* of the row, all of the same width; "" if there are no arrows */
};

void arrow_margin_init(struct arrow_margin *m, const struct annotation *a);

/* Fills `text` for a row above instruction @index, below the one before it. */
void arrow_margin_draw_above(struct arrow_margin *m, uint32_t index);

/* Fills `text` for instruction @index; to be called for each index, in ascending order. */
void arrow_margin_draw(struct arrow_margin *m, uint32_t index);

#endif /* VIEW_ANNOTATE_ARROW_MARGIN_H */
