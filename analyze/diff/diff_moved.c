/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_comparison.h"

#include <math.h>

double diff_moved_ns(const struct diff_item *item)
{
        if (!diff_kind_is_zone(item->kind) || diff_item_is_one_sided(item) || !(item->value_before > 0))
                return item->total_after - item->total_before;
        return (item->value_after / item->value_before - 1) * item->total_before;
}

/* Whether waits, system calls, or both are compared besides functions. */
static bool has_calls(const struct diff_comparison *c)
{
        return c->has_kind[DIFF_WAIT] || c->has_kind[DIFF_CALL];
}

/*
 * The moved share of the time of all threads.  The time of system calls is part of functions and waits too,
 * and waits for other threads result from the work of those threads, as often as threads wait for them.  So
 * functions and waits that changed as much come first.
 */
static double moved_share_of_threads(const struct diff_comparison *c, const struct diff_item *item)
{
        double longer = fabs(c->duration_ns_after - c->duration_ns_before);
        double threads_ns = fmax(fmax(c->threads_ns_before, c->threads_ns_after), 1);
        double moved = fabs(diff_moved_ns(item));

        if (c->options.basis.per_unit) {
                double units = fmax(
                        c->threads_ns_before > c->threads_ns_after ? c->units_before : c->units_after, 1);

                threads_ns /= units;
                longer /= units;
        }
        if (item->is_outer)
                moved = fmin(moved, longer);
        if (item->kind == DIFF_CALL)
                moved /= c->has_kind[DIFF_WAIT] ? 16 : 2;
        return (item->is_outer ? moved / 2 : moved) / threads_ns;
}

/* The share of the time of all threads that was on CPUs, taken from the side with more time of threads. */
static double part_on_cpus(const struct diff_comparison *c)
{
        bool after = c->threads_ns_after > c->threads_ns_before;
        double threads_ns = after ? c->threads_ns_after : c->threads_ns_before;

        return threads_ns > 0 ? 1 - (after ? c->waited_ns_after : c->waited_ns_before) / threads_ns : 1;
}

double diff_moved_share(const struct diff_comparison *c, const struct diff_item *item)
{
        double part = 1;
        double before = diff_kind_is_zone(item->kind) ? c->duration_ns_before : c->weight_before;
        double after = diff_kind_is_zone(item->kind) ? c->duration_ns_after : c->weight_after;

        if (item->kind == DIFF_WAIT || item->kind == DIFF_CALL)
                return moved_share_of_threads(c, item);
        if (item->kind == DIFF_FUNCTION && has_calls(c))
                part = part_on_cpus(c);
        if (c->options.basis.per_unit) {
                before = c->units_before > 0 ? before / c->units_before : 0;
                after = c->units_after > 0 ? after / c->units_after : 0;
        }
        return part * fabs(diff_moved_ns(item)) / fmax(fmax(before, after), 1e-300);
}
