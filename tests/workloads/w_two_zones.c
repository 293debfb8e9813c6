/* SPDX-License-Identifier: MIT */
/*
 * w_two_zones [SECONDS=2 [THREADS=4]]
 *
 * Truth: every thread alternates the zone "a" around busy_a() and the zone "b"
 * around busy_b().  One call burns 22 us: recorded, and with half a processor
 * for each of four threads, each changes zones 20,000 times a second.  All
 * samples of busy_a() belong to "a", all of busy_b() to "b".  As many zones "a"
 * as "b"; their number is printed as "zones N" (of each name).
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <pthread.h>
#include <stdio.h>

#define CALL_NS         22000
#define CALLS_PER_CHECK 500
#define THREADS_MAX     64

struct worker {
        pthread_t thread;
        uint64_t n_rounds;
        int64_t end_ns;
        uint64_t n_zones; /* of each name */
};

BURN_FUNCTION(busy_a);
BURN_FUNCTION(busy_b);

static void *alternate(void *argument)
{
        struct worker *w = argument;

        do {
                for (int i = 0; i < CALLS_PER_CHECK; i++) {
                        {
                                HYPROF_ZONE("a");
                                busy_a(w->n_rounds);
                        }
                        {
                                HYPROF_ZONE("b");
                                busy_b(w->n_rounds);
                        }
                        w->n_zones++;
                }
        } while (burn_clock_ns(CLOCK_MONOTONIC) < w->end_ns);
        return NULL;
}

int main(int argc, char **argv)
{
        static struct worker workers[THREADS_MAX];
        double seconds = burn_argument(argc, argv, 1, 2);
        int n_threads = (int)burn_argument(argc, argv, 2, 4);
        uint64_t n_rounds = burn_rounds_of(CALL_NS);
        int64_t end_ns = burn_clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
        uint64_t n_zones = 0;

        if (n_threads > THREADS_MAX)
                n_threads = THREADS_MAX;
        for (int i = 0; i < n_threads; i++) {
                workers[i].n_rounds = n_rounds;
                workers[i].end_ns = end_ns;
                if (pthread_create(&workers[i].thread, NULL, alternate, &workers[i]) != 0)
                        return EXIT_FAILURE;
        }
        for (int i = 0; i < n_threads; i++) {
                (void)pthread_join(workers[i].thread, NULL);
                n_zones += workers[i].n_zones;
        }
        (void)printf("zones %llu\n", (unsigned long long)n_zones);
        return EXIT_SUCCESS;
}
