/* SPDX-License-Identifier: MIT */
/*
 * w_clock [SECONDS=60]
 *
 * Truth: 1000 times a second a value of the plot "before", which is
 * CLOCK_MONOTONIC_RAW in nanoseconds right before the event, and then one of
 * the plot "after", the same clock right after the first event.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <errno.h>

#define PERIOD_NS 1000000

int main(int argc, char **argv)
{
        static struct hyprof_location before_name = HYPROF_NAME("before");
        int64_t n_periods = (int64_t)(burn_argument(argc, argv, 1, 60) * 1e9 / PERIOD_NS);

        for (int64_t i = 0; i < n_periods; i++) {
                struct timespec pause = { 0, PERIOD_NS };
                int64_t before_ns, after_ns;

                before_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                hyprof_plot_int(&before_name, before_ns);
                after_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                HYPROF_PLOT_INT("after", after_ns);
                while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
                        ;
        }
        return EXIT_SUCCESS;
}
