/* SPDX-License-Identifier: MIT */
/*
 * w_exit [STATUS=0]
 *
 * Truth: one zone "only" on one thread, then the program ends with STATUS.
 * Nothing waits for a recorder: whatever it gets, it gets afterwards.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

int main(int argc, char **argv)
{
        {
                HYPROF_ZONE("only");
        }
        return (int)burn_argument(argc, argv, 1, 0);
}
