/* SPDX-License-Identifier: MIT */
/*
 * base/saturating.h - sums of numbers that a trace states
 *
 * Way of the data:  sample_stats, live_window, callstack_sums, trace_loss -> [saturating]
 *
 * Weights and times of a trace may be any number, so a sum of them stops at UINT64_MAX: a part is
 * never more than the whole.  Pure; neither blocks nor allocates.
 */
#ifndef BASE_SATURATING_H
#define BASE_SATURATING_H

#include <stdint.h>

static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
        uint64_t sum;

        return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif /* BASE_SATURATING_H */
