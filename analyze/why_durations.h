/* SPDX-License-Identifier: MIT */
/*
 * analyze/why_durations.h - where the slow and the typical ones of many durations begin
 *
 * Way of the data:  trace_walk -> [why_durations] -> why
 *
 * Exact for WHY_DURATIONS_EXACT_MAX of them; of more a histogram tells, within 0.8 %, in
 * memory that does not grow.  Zero-initialised is empty.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_DURATIONS_H
#define ANALYZE_WHY_DURATIONS_H

#include "analyze/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHY_DURATIONS_EXACT_MAX (UINT32_C(1) << 18)

struct why_durations {
        struct histogram all;
        uint64_t *exact; /* heap; all of them, while they are few */
        size_t n_exact, capacity;
        bool is_sorted;
};

void why_durations_deinit(struct why_durations *d);

/* Returns 0 or -ENOMEM. */
int why_durations_add(struct why_durations *d, uint64_t duration_ns);

/* The ceil(share * n)-th smallest; 0 if there are none. */
uint64_t why_durations_quantile(struct why_durations *d, double share);

/* What the slowest ones, so large a share of all but at least one, last at least; 0 if there are none. */
uint64_t why_durations_slowest(struct why_durations *d, double share);

#endif /* ANALYZE_WHY_DURATIONS_H */
