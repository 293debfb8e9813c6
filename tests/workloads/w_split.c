/* SPDX-License-Identifier: MIT */
/*
 * w_split [CPU_SECONDS=2]
 *
 * Truth: 70% of the processor time is burnt by seventy() in the zone "seventy",
 * 30% by thirty() in the zone "thirty"; as many zones of one as of the other.
 * A turn of both is about 100 us, but no two are equally long: equal ones would
 * fall into step with the samples.
 * The program ends after CPU_SECONDS of processor time, however long that takes.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#define PART_NS         10000 /* seven parts against three */
#define TURNS_PER_CHECK 50

BURN_FUNCTION(seventy);
BURN_FUNCTION(thirty);

/*
 * From half of the mean to one and a half of it, in the order of a simple generator: the same in every run.
 */
static uint64_t rounds_of_turn(uint32_t *state, uint64_t n_mean)
{
        *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
        return n_mean / 2 + n_mean * (*state >> 22) / 1024;
}

int main(int argc, char **argv)
{
        int64_t budget_ns = (int64_t)(burn_argument(argc, argv, 1, 2) * 1e9);
        uint64_t n_mean = burn_rounds_of(PART_NS);
        uint32_t state = 1;
        int64_t end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + budget_ns;

        do {
                for (int i = 0; i < TURNS_PER_CHECK; i++) {
                        uint64_t n_rounds = rounds_of_turn(&state, n_mean);

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
