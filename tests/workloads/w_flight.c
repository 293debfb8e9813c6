/* SPDX-License-Identifier: MIT */
/*
 * w_flight
 *
 * Truth: the zone "run" is open from the beginning to the end.  In it, for each line on standard input, which
 * is answered by "ok" when it was obeyed:
 *
 *      pause, resume   of its own events
 *      turns N MS      N zones "turn" that burn MS milliseconds each, with a message "turn I", from 1 on
 *      flood N         N zones "flood" with nothing in them, as fast as can be
 *      rest MS         nothing, so long
 *
 * There is a second thread, called "idle", which waits in the zone "waiting" until the end.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

BURN_FUNCTION(flight_turn);

static void *wait_for_end(void *context)
{
        int *ends = context;
        char byte;

        hyprof_thread_name("idle");
        {
                HYPROF_ZONE("waiting");
                (void)!read(ends[0], &byte, 1);
        }
        return NULL;
}

static void turn(unsigned number, int64_t ms, uint64_t n_rounds)
{
        int64_t end_ns = burn_clock_ns(CLOCK_MONOTONIC) + ms * 1000000;
        char words[32];

        HYPROF_ZONE("turn");
        (void)snprintf(words, sizeof(words), "turn %u", number);
        hyprof_message(words, strlen(words), HYPROF_SEVERITY_INFO, 0);
        do
                flight_turn(n_rounds);
        while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns);
}

static void flood(unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                HYPROF_ZONE("flood");
        }
}

int main(void)
{
        unsigned n_turns = 0, n, ms;
        uint64_t n_rounds = burn_rounds_of(100000);
        pthread_t thread;
        char line[80];
        int ends[2];

        HYPROF_ZONE("run");
        if (pipe(ends) < 0 || pthread_create(&thread, NULL, wait_for_end, ends) != 0)
                return EXIT_FAILURE;
        while (fgets(line, sizeof(line), stdin)) {
                if (sscanf(line, "turns %u %u", &n, &ms) == 2)
                        for (unsigned i = 0; i < n; i++)
                                turn(++n_turns, ms, n_rounds);
                else if (sscanf(line, "flood %u", &n) == 1)
                        flood(n);
                else if (sscanf(line, "rest %u", &ms) == 1)
                        (void)usleep(ms * 1000);
                else if (strcmp(line, "pause\n") == 0)
                        hyprof_pause();
                else if (strcmp(line, "resume\n") == 0)
                        hyprof_resume();
                (void)puts("ok");
                (void)fflush(stdout);
        }
        (void)!write(ends[1], "", 1);
        (void)pthread_join(thread, NULL);
        return EXIT_SUCCESS;
}
