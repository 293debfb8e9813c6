/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_explain.h"

#include "analyze/stats/cluster_ratio.h"
#include "analyze/why/why.h"

#include <math.h>

#define P_LINKED       0.01
#define MOVED_OF_ALL   0.5  /* share of slow instances that were moved; there are at least WHY_SLOW_MIN */
#define ZONE_SLOW_MIN  4    /* slow instances with the zone */
#define ZONE_SHARE_MIN 0.5  /* of the extra time */
#define ZONE_EQUAL     0.95 /* of the one with the most */

/*
 * An instance that takes longer has more time in which it may be moved.  If moves came at a constant rate,
 * the probability that a moved instance is slow would be the slow instances' part of all the time.
 */
static void find_moves(const struct why *w, struct why_links *links)
{
        const struct why_instances *s = &w->collector.instances;
        double slow_ns = w->groups[WHY_SLOW].duration, all_ns = slow_ns + w->groups[WHY_TYPICAL].duration;

        for (size_t i = 0; i < s->n_items; i++)
                if (s->items[i].n_moves != 0)
                        *(s->items[i].is_slow ? &links->n_moved_slow : &links->n_moved_typical) += 1;
        if (!(all_ns > 0))
                return;
        links->moved_p = fmin(binomial_tail(links->n_moved_slow, links->n_moved_slow + links->n_moved_typical,
                                            slow_ns / all_ns) *
                                      (double)w->n_tests,
                              1);
        links->is_moved = links->moved_p < P_LINKED &&
                          (double)links->n_moved_slow >= MOVED_OF_ALL * (double)w->groups[WHY_SLOW].n;
}

static bool is_linked(const struct why *w, const struct why_part *part)
{
        return part->share.value >= ZONE_SHARE_MIN && part->n_slow >= ZONE_SLOW_MIN &&
               part->p * (double)w->n_tests < P_LINKED;
}

/*
 * Finds the zone with the most extra time; of zones with about as much, the innermost, which has the least
 * time.
 */
static void find_zone(const struct why *w, struct why_links *links)
{
        const struct why_part *found = NULL;
        double most = 0;

        for (size_t i = 0; i < w->n_zones; i++)
                if (is_linked(w, &w->zones[i]))
                        most = fmax(most, w->zones[i].share.value);
        for (size_t i = 0; i < w->n_zones; i++)
                if (is_linked(w, &w->zones[i]) && w->zones[i].share.value >= ZONE_EQUAL * most &&
                    (!found || w->zones[i].slow < found->slow))
                        found = &w->zones[i];
        links->zone = found ? found->id : 0;
        links->zone_share = found ? found->share.value : 0;
}

struct why_links why_links_of(const struct why *w)
{
        struct why_links links = { .moved_p = 1 };

        if (w->groups[WHY_SLOW].n < WHY_SLOW_MIN || w->groups[WHY_TYPICAL].n < WHY_SLOW_MIN)
                return links;
        find_moves(w, &links);
        find_zone(w, &links);
        return links;
}
