/* SPDX-License-Identifier: MIT */
/*
 * w_delays_omp omp|ompspin [COUNT]
 *
 * A loop of OpenMP over two unequal parts: 'main' has 1 ms of it, 'team' 6 ms.  At its end main waits, or
 * spins, until the other one is ready.  Truth: truth.tsv.
 */
#include "tests/workloads/delays/plant.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

BURN_FUNCTION(big_part);
BURN_FUNCTION(small_part);

/* The library reads how its teams wait when it is loaded: the program begins again with that set. */
static void choose_policy(char **argv)
{
        const char *policy = strcmp(argv[1], "ompspin") == 0 ? "active" : "passive";
        const char *now = getenv("OMP_WAIT_POLICY");

        if (now != NULL && strcmp(now, policy) == 0)
                return;
        setenv("OMP_WAIT_POLICY", policy, 1);
        setenv("OMP_DYNAMIC", "false", 1);
        execv("/proc/self/exe", argv);
        plant_fail("execv");
}

static void run_loop(void)
{
        HYPROF_ZONE("loop");
#pragma omp parallel for schedule(static, 1) num_threads(2)
        for (int i = 0; i < 2; i++)
                burn_us(i == 0 ? small_part : big_part, i == 0 ? 1000 : 6000);
}

static void name_team(void)
{
#pragma omp parallel num_threads(2)
        prctl(PR_SET_NAME, omp_get_thread_num() == 0 ? "main" : "team");
}

int main(int argc, char **argv)
{
        int n = (int)burn_argument(argc, argv, 2, 180);

        if (argc < 2) {
                fprintf(stderr, "usage: w_delays_omp omp|ompspin [COUNT]\n");
                return 2;
        }
        choose_policy(argv);
        plant_calibrate(0);
        name_team();
        for (int i = 0; i < n; i++)
                run_loop();
        return 0;
}
