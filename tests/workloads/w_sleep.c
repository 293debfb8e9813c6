/* SPDX-License-Identifier: MIT */
/*
 * w_sleep [ZONES=100]
 *
 * Truth: ZONES zones "half", each burns 5 ms in half_busy() and then sleeps for
 * as long.  The share of the zones' time that the thread was on a processor is
 * measured here too and printed as "on_cpu_percent P".
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <stdio.h>

#define BURN_NS 5000000

BURN_FUNCTION(half_busy);

int main(int argc, char **argv)
{
        int n_zones = (int)burn_argument(argc, argv, 1, 100);
        uint64_t n_rounds = burn_rounds_of(BURN_NS);
        int64_t cpu_ns = 0;
        int64_t wall_ns = 0;

        for (int i = 0; i < n_zones; i++) {
                int64_t cpu_begin_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
                int64_t wall_begin_ns = burn_clock_ns(CLOCK_MONOTONIC);

                {
                        HYPROF_ZONE("half");
                        struct timespec pause = { 0, 0 };

                        half_busy(n_rounds);
                        pause.tv_nsec = (long)(burn_clock_ns(CLOCK_MONOTONIC) - wall_begin_ns) % 1000000000;
                        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &pause) != 0)
                                continue;
                }
                cpu_ns += burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin_ns;
                wall_ns += burn_clock_ns(CLOCK_MONOTONIC) - wall_begin_ns;
        }
        (void)printf("on_cpu_percent %.1f\n", wall_ns > 0 ? 100.0 * (double)cpu_ns / (double)wall_ns : 0.0);
        return EXIT_SUCCESS;
}
