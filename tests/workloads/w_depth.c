/* SPDX-License-Identifier: MIT */
/*
 * w_depth [CPU_SECONDS=1 [DEPTH=40]]
 *
 * Truth: all time is burnt in bottom(), called through DEPTH frames of descend(),
 * called by main(), inside the zone "deep".  A sample of bottom() has exactly
 * DEPTH callers descend().
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#define CALL_NS         20000
#define CALLS_PER_CHECK 100

BURN_FUNCTION(bottom);

/* The asm after the call keeps it from becoming a jump. */
static __attribute__((noinline)) void descend(int n_more, uint64_t n_rounds)
{
        if (n_more > 1)
                descend(n_more - 1, n_rounds);
        else
                bottom(n_rounds);
        __asm__ volatile("");
}

int main(int argc, char **argv)
{
        int64_t budget_ns = (int64_t)(burn_argument(argc, argv, 1, 1) * 1e9);
        int depth = (int)burn_argument(argc, argv, 2, 40);
        uint64_t n_rounds = burn_rounds_of(CALL_NS);
        int64_t end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + budget_ns;
        HYPROF_ZONE("deep");

        do {
                for (int i = 0; i < CALLS_PER_CHECK; i++)
                        descend(depth, n_rounds);
        } while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns);
        return EXIT_SUCCESS;
}
