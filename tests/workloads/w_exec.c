/* SPDX-License-Identifier: MIT */
/*
 * w_exec [COMMAND ARGS...]
 *
 * Truth: 100 zones "before", then the same process becomes COMMAND.  Without
 * COMMAND it becomes itself once more and emits 100 zones "after".  A zone
 * "never ended" is open when the program is replaced, and never ends.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define N_ZONES 100

int main(int argc, char **argv)
{
        static char self[] = "/proc/self/exe";
        static char again[] = "--after";
        char *after[] = { self, again, NULL };
        char **command = argc > 1 ? argv + 1 : after;

        if (argc > 1 && strcmp(argv[1], again) == 0) {
                for (int i = 0; i < N_ZONES; i++) {
                        HYPROF_ZONE("after");
                }
                return EXIT_SUCCESS;
        }
        for (int i = 0; i < N_ZONES; i++) {
                HYPROF_ZONE("before");
        }
        HYPROF_ZONE("never ended");
        (void)execvp(command[0], command);
        perror(command[0]);
        return 127;
}
