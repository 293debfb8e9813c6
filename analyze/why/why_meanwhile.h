/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_meanwhile.h - what threads did in the time that slow instances waited for them
 *
 * Way of the data:  meanwhile, why_waits -> [why_meanwhile] -> why_words, why_view
 *
 * A thread that waits itself is followed by the one that ended most of that.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_MEANWHILE_H
#define ANALYZE_WHY_WHY_MEANWHILE_H

#include "analyze/stats/meanwhile.h"

#include <stdint.h>

struct why;

enum why_doing { WHY_DOING_UNKNOWN, WHY_DOING_RUN, WHY_DOING_WAIT, WHY_DOING_PREEMPTED };

/* A thread in time that another one waited for it. */
struct why_step {
        uint32_t thread;
        enum why_doing doing; /* of most of the time that is known; PREEMPTED only if it did nothing else */
        double preempted;     /* the part of the time that is known in which it could have run and did not */
        uint32_t label;       /* the innermost function that over half of that was in; 0 = unknown */
        uint32_t caller;      /* of the others that over half was in the innermost; 0 = unknown */
        uint64_t ns;          /* in it */
};

struct why_steps {
        struct why_step steps[MEANWHILE_LEVELS]; /* each waited for the next one */
        uint32_t n;
};

/* What @thread did while slow instances waited for a lock or in a place.  Returns 0 or -ENOMEM. */
int why_meanwhile_follow(struct why *w, uint32_t lock, uint32_t place, uint32_t thread,
                         struct why_steps *ret);

#endif /* ANALYZE_WHY_WHY_MEANWHILE_H */
