/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_links.h"

#include "analyze/why/why.h"
#include "analyze/why/why_ratio.h"

#include <math.h>

#define P_LINKED       0.01
#define MOVED_OF_ALL   0.5 /* slow instances that were moved, of WHY_SLOW_MIN at least */
#define ZONE_SLOW_MIN  4   /* slow instances with the zone */
#define ZONE_SHARE_MIN 0.5 /* of the extra time */

/*
 * An instance that takes longer has more time in which it may be moved.  If moves came at one pace, each that
 * had one would be a slow one with the probability of the slow ones' part of all the time that was looked at.
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
        links->moved_p = fmin(why_binomial_tail(links->n_moved_slow,
                                                links->n_moved_slow + links->n_moved_typical,
                                                slow_ns / all_ns) *
                                      (double)w->n_tests,
                              1);
        links->is_moved = links->moved_p < P_LINKED &&
                          (double)links->n_moved_slow >= MOVED_OF_ALL * (double)w->groups[WHY_SLOW].n;
}

/* If there are several, the one with the most extra time, which is the outermost of those in each other. */
static void why_links_find_zone(const struct why *w, struct why_links *links)
{
        for (size_t i = 0; i < w->n_zones; i++) {
                const struct why_part *part = &w->zones[i];

                if (part->share.value < ZONE_SHARE_MIN || part->n_slow < ZONE_SLOW_MIN ||
                    part->p * (double)w->n_tests >= P_LINKED || part->share.value <= links->zone_share)
                        continue;
                links->zone = part->id;
                links->zone_share = part->share.value;
        }
}

struct why_links why_links_of(const struct why *w)
{
        struct why_links links = { .moved_p = 1 };

        if (w->groups[WHY_SLOW].n < WHY_SLOW_MIN || w->groups[WHY_TYPICAL].n < WHY_SLOW_MIN)
                return links;
        find_moves(w, &links);
        why_links_find_zone(w, &links);
        return links;
}
