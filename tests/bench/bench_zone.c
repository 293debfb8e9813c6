/* SPDX-License-Identifier: MIT */
/*
 * tests/bench/bench_zone.c - what a zone costs its program, beside two bare time stamps
 *
 * Way of the data:  client -> client_region -> [bench_zone]
 *
 * The recorder is a thread of this program that drains and throws away.  Rounds
 * of all cases alternate and the best of each counts, so that a neighbour on the
 * machine disturbs all alike.
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "instrument/client_abi.h"
#include "instrument/client_region.h"
#include "instrument/region_finder.h"
#include "instrument/tick_clock.h"

#include <hyprof/hyprof.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N_PAIRS  20000 /* a round's zones fit in the ring: what is measured is writing, not dropping */
#define N_ROUNDS 300

static uint64_t bare_ticks(void)
{
#if defined(__x86_64__)
        return __builtin_ia32_rdtsc();
#else
        return tick_source_read();
#endif
}

struct drainer {
        struct client_region *region;
        atomic_uint n_wanted, n_done; /* drains */
        atomic_bool stop;
};

static void *drain(void *arg)
{
        struct drainer *d = arg;
        struct byte_buffer bytes = { .data = NULL };

        while (!atomic_load(&d->stop)) {
                if (atomic_load(&d->n_wanted) == atomic_load(&d->n_done))
                        continue;
                for (uint32_t i = 0; i < client_region_count_slots(d->region); i++) {
                        (void)client_region_drain(d->region, i, SIZE_MAX, &bytes, NULL);
                        byte_buffer_clear(&bytes);
                }
                atomic_fetch_add(&d->n_done, 1);
        }
        byte_buffer_deinit(&bytes);
        return NULL;
}

static double ns_a_pair(uint64_t begin_ns)
{
        return (double)(clock_raw_ns() - begin_ns) / N_PAIRS;
}

/* The loop is empty but for what is measured; the asm keeps it a loop. */
static double measure_nothing(void)
{
        uint64_t begin_ns = clock_raw_ns();

        for (int i = 0; i < N_PAIRS; i++)
                __asm__ volatile("");
        return ns_a_pair(begin_ns);
}

static double measure_two_stamps(void)
{
        uint64_t begin_ns = clock_raw_ns();

        for (int i = 0; i < N_PAIRS; i++) {
                uint64_t first = bare_ticks(), second = bare_ticks();

                __asm__ volatile("" : : "r"(first), "r"(second));
        }
        return ns_a_pair(begin_ns);
}

static double measure_zone(void)
{
        uint64_t begin_ns = clock_raw_ns();

        for (int i = 0; i < N_PAIRS; i++) {
                HYPROF_ZONE("measured");
                __asm__ volatile("");
        }
        return ns_a_pair(begin_ns);
}

static void keep_least(double *least, double now)
{
        if (*least == 0 || now < *least)
                *least = now;
}

static int open_own_region(struct client_region **ret_region)
{
        struct error err = ERROR_NONE;
        int fd = -1;
        int r = region_finder_open((uint32_t)getpid(), &fd, &err);

        if (r == 0)
                r = client_region_open(fd, ret_region, &err);
        if (r < 0)
                (void)fprintf(stderr, "bench_zone: %s\n", err.text);
        return r;
}

int main(void)
{
        double nothing = 0, stamps = 0, idle = 0, recording = 0;
        struct drainer d = { .region = NULL };
        uint64_t n_dropped = 0;
        pthread_t thread;

        if (open_own_region(&d.region) < 0 || pthread_create(&thread, NULL, drain, &d) != 0)
                return EXIT_FAILURE;

        for (int round = 0; round < N_ROUNDS; round++) {
                keep_least(&nothing, measure_nothing());
                keep_least(&stamps, measure_two_stamps());
                keep_least(&idle, measure_zone());
                if (client_region_enable(d.region, CLIENT_ABI_FAMILY_ZONES, NULL) < 0)
                        return EXIT_FAILURE;
                keep_least(&recording, measure_zone());
                atomic_fetch_add(&d.n_wanted, 1);
                while (atomic_load(&d.n_wanted) != atomic_load(&d.n_done))
                        ;
                client_region_disable(d.region);
        }
        atomic_store(&d.stop, true);
        (void)pthread_join(thread, NULL);
        for (uint32_t i = 0; i < client_region_count_slots(d.region); i++)
                n_dropped += client_region_drops(d.region, i).n_zones;

        printf("two bare time stamps    %6.2f ns   1.00\n", stamps - nothing);
        printf("zone without a recorder %6.2f ns   %4.2f\n", idle - nothing,
               (idle - nothing) / (stamps - nothing));
        printf("zone, recording         %6.2f ns   %4.2f, %.2f ns over the time stamps, %llu dropped\n",
               recording - nothing, (recording - nothing) / (stamps - nothing), recording - stamps,
               (unsigned long long)n_dropped);
        client_region_close(d.region);
        return EXIT_SUCCESS;
}
