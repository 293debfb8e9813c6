/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_causes.h - the extra time of slow instances, split into causes that are judged
 *
 * Way of the data:  why_instances, why_profile -> [why_causes] -> why
 */
#ifndef ANALYZE_WHY_WHY_CAUSES_H
#define ANALYZE_WHY_WHY_CAUSES_H

struct why;

/* Fills `causes`; profile and place_ids are there by then.  Returns 0 or -ENOMEM. */
int why_causes_find(struct why *w);

/* Fills `zones` and `counters`.  Returns 0 or -ENOMEM. */
int why_causes_find_parts(struct why *w);

#endif /* ANALYZE_WHY_WHY_CAUSES_H */
