/* SPDX-License-Identifier: MIT */
/*
 * w_split [CPU_SECONDS=2]
 *
 * Truth: 70% of the processor time is burnt by seventy() in the zone "seventy",
 * 30% by thirty() in the zone "thirty"; as many zones of one as of the other.
 * The program ends after CPU_SECONDS of processor time, however long that takes.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#define PART_NS         10000 /* seven parts against three */
#define TURNS_PER_CHECK 50

BURN_FUNCTION(seventy);
BURN_FUNCTION(thirty);

int main(int argc, char **argv)
{
        int64_t budget_ns = (int64_t)(burn_argument(argc, argv, 1, 2) * 1e9);
        uint64_t n_rounds = burn_rounds_of(PART_NS);
        int64_t end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + budget_ns;

        do {
                for (int i = 0; i < TURNS_PER_CHECK; i++) {
                        {
                                HYPROF_ZONE("seventy");
                                seventy(7 * n_rounds);
                        }
                        {
                                HYPROF_ZONE("thirty");
                                thirty(3 * n_rounds);
                        }
                }
        } while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns);
        return EXIT_SUCCESS;
}
