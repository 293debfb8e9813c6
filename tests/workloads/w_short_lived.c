/* SPDX-License-Identifier: MIT */
/*
 * w_short_lived [CHILDREN [ROUNDS]]
 *
 * CHILDREN processes (3000), one after the other, each of which burns ROUNDS rounds (600000: about 0.3 ms).
 * Prints the processor time of all of them, parent included, in seconds: what the samples must add up to.
 */
#include "tests/workloads/burn.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

BURN_FUNCTION(burn_child);

static double seconds_of(int who)
{
        struct rusage used;

        if (getrusage(who, &used) < 0)
                abort();
        return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
        uint64_t n_children = (uint64_t)burn_argument(argc, argv, 1, 3000);
        uint64_t n_rounds = (uint64_t)burn_argument(argc, argv, 2, 600000);

        for (uint64_t i = 0; i < n_children; i++) {
                pid_t pid = fork();

                if (pid == 0) {
                        burn_child(n_rounds);
                        _exit(0);
                }
                if (pid < 0 || waitpid(pid, NULL, 0) < 0)
                        return 1;
        }
        printf("%.6f\n", seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN));
        return 0;
}
