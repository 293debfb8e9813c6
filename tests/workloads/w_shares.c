/* SPDX-License-Identifier: MIT */
/*
 * w_shares [CPU_SECONDS=2]
 *
 * Truth: of CPU_SECONDS of processor time, in whole tenths, forty() burns 40%,
 * twenty_five() 25%, fifteen() 15%, twelve() 12% and eight() 8%.  They take turns
 * of 100 ms: at 1 kHz each turn is sampled as its time says, give or take one, so
 * two recordings differ by far less than chance alone would make them.
 */
#include "tests/workloads/burn.h"

#define PERCENT_NS INT64_C(1000000) /* of a turn */
#define CALL_NS    100000

BURN_FUNCTION(forty);
BURN_FUNCTION(twenty_five);
BURN_FUNCTION(fifteen);
BURN_FUNCTION(twelve);
BURN_FUNCTION(eight);

static const struct part {
        void (*burn)(uint64_t n_rounds);
        int percent;
} parts[] = {
        { forty, 40 }, { twenty_five, 25 }, { fifteen, 15 }, { twelve, 12 }, { eight, 8 },
};

int main(int argc, char **argv)
{
        int n_turns = (int)(burn_argument(argc, argv, 1, 2) * 10 + 0.5);
        uint64_t n_rounds = burn_rounds_of(CALL_NS);
        int64_t end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);

        for (int turn = 0; turn < n_turns; turn++) {
                for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
                        end_ns += parts[i].percent * PERCENT_NS;
                        while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
                                parts[i].burn(n_rounds);
                }
        }
        return EXIT_SUCCESS;
}
