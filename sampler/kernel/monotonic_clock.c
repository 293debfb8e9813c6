/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/monotonic_clock.h"

#include "base/clock.h"
#include "instrument/tick_clock.h"
#include "sampler/pace/pace.h"

#include <time.h>

#define TRIES_MAX 8

static uint64_t monotonic_ns(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec - (uint64_t)clock_namespace_ns;
}

void monotonic_clock_pair(struct tick_clock *clock)
{
        uint64_t best_width_ns = UINT64_MAX, best_ns = 0, best_ticks = 0;

        for (int i = 0; i < TRIES_MAX && best_width_ns > PACE_CLOCKS_UNDISTURBED_NS; i++) {
                uint64_t before_ns = monotonic_ns();
                uint64_t ns = clock_raw_ns();
                uint64_t width_ns = monotonic_ns() - before_ns;

                if (width_ns < best_width_ns) {
                        best_width_ns = width_ns;
                        best_ticks = before_ns + width_ns / 2;
                        best_ns = ns;
                }
        }
        tick_clock_add(clock, best_ticks, best_ns, best_width_ns / 2 + 1);
}
