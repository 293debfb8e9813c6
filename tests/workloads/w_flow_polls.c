/* SPDX-License-Identifier: MIT */
/*
 * Truth: five times, the thread "looker" looks each millisecond whether there is a piece of work, in a zone
 * "frame", and the thread "maker" makes one: 60 ms of processor time in make_piece().  No thread wakes the
 * other.  The piece is a flow from "make" to "frame", so each frame was delayed by make_piece().
 *
 * With an argument, no flow is said.
 */
#include "hyprof/hyprof.h"
#include "tests/workloads/burn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define N_PIECES 5

BURN_FUNCTION(make_piece);

static _Atomic uint64_t wanted, made;
static bool says_flows;
static uint64_t rounds;

static void *make(void *unused)
{
        hyprof_thread_name("maker");
        for (uint64_t i = 1; i <= N_PIECES; i++) {
                while (atomic_load(&wanted) < i)
                        (void)usleep(1000);
                HYPROF_ZONE("make");
                make_piece(rounds);
                if (says_flows)
                        HYPROF_FLOW_BEGIN(i);
                atomic_store(&made, i);
        }
        return unused;
}

int main(int argc, char **argv)
{
        pthread_t maker;

        (void)argv;
        says_flows = argc == 1;
        rounds = burn_rounds_of(60000000);
        hyprof_thread_name("looker");
        if (pthread_create(&maker, NULL, make, NULL) != 0)
                return 1;
        for (uint64_t i = 1; i <= N_PIECES; i++) {
                HYPROF_ZONE("frame");
                atomic_store(&wanted, i);
                while (atomic_load(&made) < i)
                        (void)usleep(1000);
                if (says_flows)
                        HYPROF_FLOW_END(i);
        }
        (void)pthread_join(maker, NULL);
        return 0;
}
