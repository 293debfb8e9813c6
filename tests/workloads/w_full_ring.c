/* SPDX-License-Identifier: MIT */
/*
 * w_full_ring flat SECONDS | w_full_ring paced SECONDS ZONES_PER_SECOND
 *
 * Truth, flat: two threads emit, as fast as they can, rounds of three nested
 * zones, a message, two values of plots, a frame, an allocation with its free,
 * and a wait for a lock that is obtained and released.  Paced: one thread emits
 * zones, not more than ZONES_PER_SECOND in any millisecond; what it could not
 * emit in time it leaves out.
 *
 * Prints how many there were: "zones N", "messages N", "plots N", "frames N",
 * "memory N", "locks N", and for how long: "ns N".
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define N_THREADS       2
#define ROUNDS_PER_LOOK 256
#define BATCH_NS        100000

struct worker {
        pthread_t thread;
        int64_t until_ns;
        uint64_t n_rounds;
};

static void emit_round(uint64_t round)
{
        static struct hyprof_lock lock = HYPROF_LOCK("lock");
        static char block;

        HYPROF_ZONE("outer");
        {
                HYPROF_ZONE("middle");
                HYPROF_MESSAGE("a message");
                {
                        HYPROF_ZONE("inner");
                        HYPROF_PLOT_INT("round", (int64_t)round);
                        HYPROF_PLOT_DOUBLE("half", (double)round / 2);
                }
                HYPROF_ALLOC(&block, 1);
                HYPROF_FREE(&block);
        }
        hyprof_lock_wait(&lock);
        hyprof_lock_obtain(&lock);
        hyprof_lock_release(&lock);
        HYPROF_FRAME();
}

static void *run_flat(void *argument)
{
        struct worker *w = argument;

        while (burn_clock_ns(CLOCK_MONOTONIC) < w->until_ns) {
                for (int i = 0; i < ROUNDS_PER_LOOK; i++)
                        emit_round(w->n_rounds++);
        }
        return NULL;
}

static uint64_t flat(int64_t until_ns)
{
        struct worker workers[N_THREADS] = { 0 };
        uint64_t n_rounds = 0;

        for (int i = 0; i < N_THREADS; i++) {
                workers[i].until_ns = until_ns;
                if (pthread_create(&workers[i].thread, NULL, run_flat, &workers[i]) != 0)
                        abort();
        }
        for (int i = 0; i < N_THREADS; i++) {
                (void)pthread_join(workers[i].thread, NULL);
                n_rounds += workers[i].n_rounds;
        }
        return n_rounds;
}

static uint64_t paced(int64_t until_ns, double per_second)
{
        uint64_t n_batch = (uint64_t)(per_second * BATCH_NS / 1e9);
        uint64_t n_zones = 0;
        int64_t now_ns = burn_clock_ns(CLOCK_MONOTONIC);
        int64_t next_ns = now_ns;

        while (now_ns < until_ns) {
                for (uint64_t i = 0; i < n_batch; i++) {
                        HYPROF_ZONE("paced");
                }
                n_zones += n_batch;
                next_ns += BATCH_NS;
                do {
                        now_ns = burn_clock_ns(CLOCK_MONOTONIC);
                } while (now_ns < next_ns);
                if (now_ns > next_ns + BATCH_NS) /* another thread had the CPU meanwhile */
                        next_ns = now_ns;
        }
        return n_zones;
}

int main(int argc, char **argv)
{
        int64_t begin_ns = burn_clock_ns(CLOCK_MONOTONIC);
        int64_t until_ns = begin_ns + (int64_t)(burn_argument(argc, argv, 2, 1) * 1e9);
        uint64_t n;

        if (argc == 3 && strcmp(argv[1], "flat") == 0) {
                n = flat(until_ns);
                (void)printf("zones %" PRIu64 "\nmessages %" PRIu64 "\nplots %" PRIu64 "\nframes %" PRIu64
                             "\nmemory %" PRIu64 "\nlocks %" PRIu64 "\n",
                             3 * n, n, 2 * n, n, 2 * n, 3 * n);
        } else if (argc == 4 && strcmp(argv[1], "paced") == 0) {
                n = paced(until_ns, burn_argument(argc, argv, 3, 1e6));
                (void)printf("zones %" PRIu64 "\n", n);
        } else {
                (void)fprintf(stderr, "usage: w_full_ring flat SECONDS | paced SECONDS ZONES_PER_SECOND\n");
                return EXIT_FAILURE;
        }
        (void)printf("ns %" PRId64 "\n", burn_clock_ns(CLOCK_MONOTONIC) - begin_ns);
        return EXIT_SUCCESS;
}
