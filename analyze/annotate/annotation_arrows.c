/* SPDX-License-Identifier: MIT */
#include "analyze/annotate/annotation_arrows.h"

#include "analyze/annotate/annotation.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/* The instruction of a part that begins at an address, by index; UINT32_MAX if none does. */
static uint32_t annotation_arrows_find_instruction(const struct annotation *a,
                                                   const struct listing_part *part, uint64_t svma)
{
        uint32_t low = part->first_instruction, high = low + part->n_instructions;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (a->listing.instructions[middle].svma == svma)
                        return middle;
                if (a->listing.instructions[middle].svma < svma)
                        low = middle + 1;
                else
                        high = middle;
        }
        return UINT32_MAX;
}

/*
 * One arrow for each target: @reach has an arrow for each instruction of the listing, all
 * of which are `lane` 0.
 */
static void find_targets(struct annotation *a, const struct listing_part *part,
                         struct annotation_arrow *reach)
{
        for (uint32_t i = 0; i < part->n_instructions; i++) {
                uint32_t from = part->first_instruction + i;
                const struct listing_instruction *row = &a->listing.instructions[from];
                struct annotation_arrow *arrow;
                uint32_t target;

                a->instructions[from].target = UINT32_MAX;
                if (row->branch != BRANCH_JUMP && row->branch != BRANCH_CONDITIONAL)
                        continue;
                target = annotation_arrows_find_instruction(a, part, row->target_svma);
                a->instructions[from].target = target;
                if (target == UINT32_MAX)
                        continue;
                arrow = &reach[target];
                if (!a->instructions[target].is_target)
                        *arrow = (struct annotation_arrow){ target, target, target, ANNOTATION_NO_LANE };
                a->instructions[target].is_target = true;
                if (from < arrow->first)
                        arrow->first = from;
                if (from > arrow->last)
                        arrow->last = from;
        }
}

static int compare_lengths(const void *a, const void *b)
{
        const struct annotation_arrow *x = a, *y = b;
        uint32_t nx = x->last - x->first, ny = y->last - y->first;

        if (nx != ny)
                return nx < ny ? -1 : 1;
        return x->first < y->first ? -1 : x->first > y->first;
}

static int compare_starts(const void *a, const void *b)
{
        const struct annotation_arrow *x = a, *y = b;

        if (x->first != y->first)
                return x->first < y->first ? -1 : 1;
        return x->target < y->target ? -1 : x->target > y->target;
}

/* The arrows come by length: the innermost lane that no shorter one has taken there. */
static void choose_lane(struct annotation_arrow *arrows, size_t index)
{
        unsigned taken = 0;

        for (size_t i = 0; i < index; i++)
                if (arrows[i].lane != ANNOTATION_NO_LANE && arrows[i].first <= arrows[index].last &&
                    arrows[index].first <= arrows[i].last)
                        taken |= 1U << arrows[i].lane;
        for (uint32_t lane = 0; lane < ANNOTATION_LANES_MAX; lane++)
                if (!(taken & 1U << lane)) {
                        arrows[index].lane = lane;
                        return;
                }
}

static int annotation_arrows_add_part(struct annotation *a, const struct listing_part *part,
                                      struct annotation_arrow *reach)
{
        size_t first = a->n_arrows, n;

        find_targets(a, part, reach);
        for (uint32_t i = part->first_instruction; i < part->first_instruction + part->n_instructions; i++) {
                if (!a->instructions[i].is_target)
                        continue;
                if (array_reserve(&a->arrows, &a->arrows_capacity, a->n_arrows + 1, sizeof(*a->arrows)) < 0)
                        return -ENOMEM;
                a->arrows[a->n_arrows++] = reach[i];
        }
        n = a->n_arrows - first;
        if (n == 0)
                return 0;
        qsort(a->arrows + first, n, sizeof(*a->arrows), compare_lengths);
        for (size_t i = 0; i < n && i < ANNOTATION_ARROWS_MAX; i++)
                choose_lane(a->arrows + first, i);
        qsort(a->arrows + first, n, sizeof(*a->arrows), compare_starts);
        return 0;
}

int annotation_arrows_find(struct annotation *a)
{
        struct annotation_arrow *reach = calloc(a->listing.n_instructions + 1, sizeof(*reach));
        int r = reach ? 0 : -ENOMEM;

        for (size_t i = 0; i < a->listing.n_parts && r == 0; i++)
                r = annotation_arrows_add_part(a, &a->listing.parts[i], reach);
        free(reach);
        return r;
}
