/* SPDX-License-Identifier: MIT */
/*
 * Truth: five times, the thread "taker" waits in a zone "frame" for a piece of work, which the thread "maker"
 * makes: 60 ms of processor time in make_piece().  The piece is a flow from "make" to "frame", so each frame
 * was delayed by make_piece(), also where no wake-ups are recorded.
 *
 * With an argument, no flow is said.
 */
#include "hyprof/hyprof.h"
#include "tests/workloads/burn.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#define N_PIECES 5

BURN_FUNCTION(make_piece);

static int wanted[2], made[2]; /* pipes */
static bool says_flows;
static uint64_t rounds;

static void give(int fd)
{
        if (write(fd, "", 1) != 1)
                abort();
}

static void take(int fd)
{
        char byte;

        if (read(fd, &byte, 1) != 1)
                abort();
}

static void *make(void *unused)
{
        hyprof_thread_name("maker");
        for (uint64_t i = 1; i <= N_PIECES; i++) {
                take(wanted[0]);
                HYPROF_ZONE("make");
                make_piece(rounds);
                if (says_flows)
                        HYPROF_FLOW_BEGIN(i);
                give(made[1]);
        }
        return unused;
}

int main(int argc, char **argv)
{
        pthread_t maker;

        (void)argv;
        says_flows = argc == 1;
        rounds = burn_rounds_of(60000000);
        hyprof_thread_name("taker");
        if (pipe(wanted) != 0 || pipe(made) != 0 || pthread_create(&maker, NULL, make, NULL) != 0)
                return 1;
        for (uint64_t i = 1; i <= N_PIECES; i++) {
                HYPROF_ZONE("frame");
                give(wanted[1]);
                take(made[0]);
                if (says_flows)
                        HYPROF_FLOW_END(i);
        }
        (void)pthread_join(maker, NULL);
        return 0;
}
