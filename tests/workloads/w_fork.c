/* SPDX-License-Identifier: MIT */
/*
 * w_fork [CHILDREN=4 [ZONES=1000]]
 *
 * Truth: the parent emits ZONES zones "parent", then forks CHILDREN children that
 * live at the same time and emit ZONES zones "child" each around child_busy(),
 * 20 us; then the parent emits ZONES zones "parent" again.  The fork happens
 * inside a zone "forking", which only the parent ends.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <sys/wait.h>
#include <unistd.h>

#define CALL_NS 20000

BURN_FUNCTION(child_busy);

static void emit_parent(int n_zones)
{
        for (int i = 0; i < n_zones; i++) {
                HYPROF_ZONE("parent");
        }
}

static void emit_child(int n_zones, uint64_t n_rounds)
{
        for (int i = 0; i < n_zones; i++) {
                HYPROF_ZONE("child");
                child_busy(n_rounds);
        }
}

int main(int argc, char **argv)
{
        int n_children = (int)burn_argument(argc, argv, 1, 4);
        int n_zones = (int)burn_argument(argc, argv, 2, 1000);
        uint64_t n_rounds = burn_rounds_of(CALL_NS);
        int n_failed = 0;

        emit_parent(n_zones);
        {
                HYPROF_ZONE("forking");
                for (int i = 0; i < n_children; i++) {
                        pid_t pid = fork();

                        if (pid == 0) {
                                emit_child(n_zones, n_rounds);
                                _exit(0);
                        }
                        n_failed += pid < 0;
                }
                for (int i = 0; i < n_children - n_failed; i++) {
                        int status = 0;

                        n_failed += wait(&status) < 0 || status != 0;
                }
        }
        emit_parent(n_zones);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
