/* SPDX-License-Identifier: MIT */
/*
 * w_named_children [CHILDREN=2000 [BURN_US=1500]]
 *
 * Truth: CHILDREN processes, one after the other, each of which gives itself the name child-N and then burns
 * BURN_US of its own processor time in burn_named(), by its clock: a processor that was slow while rounds
 * were counted must not shorten all children.  "PID child-N" is printed for each.
 */
#include "tests/workloads/burn.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

BURN_FUNCTION(burn_named);

int main(int argc, char **argv)
{
        int n_children = (int)burn_argument(argc, argv, 1, 2000);
        int64_t burn_ns = (int64_t)(burn_argument(argc, argv, 2, 1500) * 1000);
        uint64_t n_rounds = burn_rounds_of(burn_ns / 50);

        for (int i = 0; i < n_children; i++) {
                char name[32];
                pid_t pid = fork();

                if (pid < 0)
                        return EXIT_FAILURE;
                (void)snprintf(name, sizeof(name), "child-%d", i);
                if (pid == 0) {
                        int64_t until_ns = burn_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + burn_ns;

                        (void)prctl(PR_SET_NAME, name);
                        while (burn_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns)
                                burn_named(n_rounds);
                        _exit(0);
                }
                (void)printf("%d %s\n", (int)pid, name);
                (void)fflush(stdout);
                if (waitpid(pid, NULL, 0) < 0)
                        return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
