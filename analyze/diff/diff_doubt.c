/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_steps.h"

#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"

#include <math.h>

/* Whether a run had so many zones that this one's instances were not examined. */
static bool is_beyond_limit(const struct diff_comparison *c, const struct diff_item *item,
                            const struct diff_run *const *runs)
{
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                uint32_t key = i < c->n_before ? item->key_before : item->key_after;
                struct diff_sum sum = diff_run_sum(runs[i], key);

                if (sum.wall_ns > 0 && sum.typical_wall.mean <= 0)
                        return true;
        }
        return false;
}

bool diff_doubt_lost_zones(const struct diff_run *run)
{
        return run->lost.n_lost != 0 && (!(run->lost.share > 0) || run->lost.share > DIFF_LOST_ZONES_MAX);
}

/*
 * Whether an item that only one side has may exist on the other side too, in the data that was lost there.
 */
static bool may_be_lost(const struct diff_comparison *c, const struct diff_item *item,
                        const struct diff_run *const *runs)
{
        bool lacks_before = item->key_before == 0;
        double value = lacks_before ? item->value_after : item->value_before, lost = 0;

        for (uint32_t i = lacks_before ? 0 : c->n_before;
             i < (lacks_before ? c->n_before : c->n_before + c->n_after); i++) {
                if (item->kind == DIFF_FUNCTION && item->is_kernel && runs[i]->unsampled.is_kernel_left_out)
                        return true;
                if (item->kind == DIFF_ZONE)
                        lost = fmax(lost, (double)runs[i]->lost.n_lost * value);
                if (item->kind == DIFF_FUNCTION)
                        lost = fmax(lost, 2 * runs[i]->unsampled.lost_weight);
        }
        return lost >= value && lost > 0;
}

bool diff_doubt_is_cut(const struct diff_comparison *c, const struct diff_run *run)
{
        return run->is_cut && !c->options.basis.per_unit;
}

/* Whether the data needed to judge the item was lost, beyond the losses that diff_item_bounds() covers. */
static bool lacks_data(const struct diff_comparison *c, const struct diff_item *item,
                       const struct diff_run *const *runs)
{
        bool needs_zones = item->kind == DIFF_ZONE || c->options.basis.per_unit;
        bool needs_switches = item->kind == DIFF_ZONE && !c->options.basis.wall;

        for (uint32_t i = 0; i < c->n_before + c->n_after; i++)
                if ((needs_zones && diff_doubt_lost_zones(runs[i])) ||
                    (!diff_kind_is_zone(item->kind) && diff_doubt_is_cut(c, runs[i])) ||
                    (needs_switches && runs[i]->lost_switches) ||
                    (item->kind == DIFF_WAIT && runs[i]->lost_waits) ||
                    (item->kind == DIFF_CALL && runs[i]->lost_calls))
                        return true;
        return false;
}

/* All functions and calls without a name share one label, so it cannot be known which of them is missing. */
static bool is_nameless(const struct diff_comparison *c, const struct diff_item *item)
{
        uint32_t key = diff_item_key(item);
        struct text_view name = diff_names_string(c->names, diff_names_key(c->names, key)->name);

        if (item->kind == DIFF_WAIT)
                return text_view_is(name, DIFF_NAMES_UNKNOWN_CALL);
        return item->kind == DIFF_FUNCTION && (name.n_bytes == 0 || name.bytes[0] == '[');
}

enum diff_doubt diff_doubt_find(const struct diff_comparison *c, const struct diff_item *item,
                                const struct diff_run *const *runs, bool is_named)
{
        bool is_one = diff_item_is_one_sided(item);

        if (is_one && may_be_lost(c, item, runs))
                return DIFF_LOST;
        if (is_one && item->kind == DIFF_FUNCTION && item->n_before + item->n_after < DIFF_NEW_MIN)
                return DIFF_TOO_FEW;
        if (!is_named && fmax(item->share_before, item->share_after) < c->options.share_min)
                return is_one ? DIFF_ONE_SIDED : DIFF_TOO_SMALL;
        if (diff_kind_is_zone(item->kind) && is_beyond_limit(c, item, runs))
                return DIFF_TOO_MANY;
        if (lacks_data(c, item, runs))
                return DIFF_LOST;
        if (is_one && (is_nameless(c, item) || (item->is_kernel && diff_comparison_is_pair(c))))
                return DIFF_ONE_SIDED;
        return item->is_kernel && diff_comparison_is_pair(c) ? DIFF_OF_KERNEL : DIFF_JUDGED;
}
