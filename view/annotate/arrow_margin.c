/* SPDX-License-Identifier: MIT */
#include "view/annotate/arrow_margin.h"

#include <string.h>

void arrow_margin_init(struct arrow_margin *m, const struct annotation *a)
{
        *m = (struct arrow_margin){ .annotation = a };
        for (size_t i = 0; i < a->n_arrows; i++)
                if (a->arrows[i].lane != ANNOTATION_NO_LANE && a->arrows[i].lane >= m->n_lanes)
                        m->n_lanes = a->arrows[i].lane + 1;
}

static char *column_of(struct arrow_margin *m, uint32_t lane)
{
        return m->text + 2 * (size_t)(m->n_lanes - 1 - lane);
}

static void clear(struct arrow_margin *m)
{
        size_t width = m->n_lanes ? 2 * (size_t)m->n_lanes + 2 : 0;

        memset(m->text, ' ', width);
        m->text[width] = '\0';
}

void arrow_margin_draw_above(struct arrow_margin *m, uint32_t index)
{
        clear(m);
        for (uint32_t lane = 0; lane < m->n_lanes; lane++) {
                const struct annotation_arrow *arrow = m->lanes[lane];

                if (arrow && arrow->first < index && arrow->last >= index)
                        *column_of(m, lane) = '|';
        }
}

/* Draws the line from the lane to the instruction, across the lanes between. */
static void draw_end(struct arrow_margin *m, const struct annotation_arrow *arrow, uint32_t index)
{
        char *at = column_of(m, arrow->lane);
        char *head = m->text + 2 * (size_t)m->n_lanes;

        *at = '+';
        if (arrow->first != arrow->last && index == arrow->first)
                *at = ',';
        else if (arrow->first != arrow->last && index == arrow->last)
                *at = '\'';
        for (at++; at < head; at++)
                if (*at == ' ')
                        *at = '-';
        head[0] = '-';
        if (head[1] == ' ')
                head[1] = '-';
        if (arrow->target == index)
                head[1] = '>';
}

void arrow_margin_draw(struct arrow_margin *m, uint32_t index)
{
        const struct annotation *a = m->annotation;

        for (; m->next < a->n_arrows && a->arrows[m->next].first <= index; m->next++)
                if (a->arrows[m->next].lane != ANNOTATION_NO_LANE)
                        m->lanes[a->arrows[m->next].lane] = &a->arrows[m->next];
        arrow_margin_draw_above(m, index);
        for (uint32_t lane = 0; lane < m->n_lanes; lane++) {
                const struct annotation_arrow *arrow = m->lanes[lane];

                if (arrow && arrow->first <= index && arrow->last >= index &&
                    (arrow->target == index || a->instructions[index].target == arrow->target))
                        draw_end(m, arrow, index);
        }
}
