/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_links.h - causes that go with being slow, but take no part of the extra time themselves
 *
 * Way of the data:  why_instances, why_causes -> [why_links] -> why_words
 *
 * A thread that was moved once waits for microseconds, and then runs the same code slower, with cold caches.
 * The same functions may take longer in one of the zones inside only.  Neither can be subtracted from the
 * rest as the causes can; that they go with being slow can be tested.
 */
#ifndef ANALYZE_WHY_WHY_LINKS_H
#define ANALYZE_WHY_WHY_LINKS_H

#include <stdbool.h>
#include <stdint.h>

struct why;

struct why_links {
        uint64_t n_moved_slow, n_moved_typical; /* instances that were seen on another CPU than before */
        double moved_p;                         /* corrected for all that was looked at */
        bool is_moved;     /* most slow ones were, more often than their length explains */
        uint32_t zone;     /* location; 0 = the extra time is in no zone inside */
        double zone_share; /* of the extra time */
};

/* After why_causes_find(). */
struct why_links why_links_of(const struct why *w);

#endif /* ANALYZE_WHY_WHY_LINKS_H */
