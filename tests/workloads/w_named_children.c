/* SPDX-License-Identifier: MIT */
/*
 * w_named_children [CHILDREN=2000 [BURN_US=1500]]
 *
 * Truth: CHILDREN processes, one after the other, each of which gives itself the name child-N and then burns
 * BURN_US of processor time in burn_named().  "PID child-N" is printed for each.
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
        uint64_t n_rounds = burn_rounds_of((int64_t)(burn_argument(argc, argv, 2, 1500) * 1000));

        for (int i = 0; i < n_children; i++) {
                char name[32];
                pid_t pid = fork();

                if (pid < 0)
                        return EXIT_FAILURE;
                (void)snprintf(name, sizeof(name), "child-%d", i);
                if (pid == 0) {
                        (void)prctl(PR_SET_NAME, name);
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
