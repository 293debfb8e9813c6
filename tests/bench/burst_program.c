/* SPDX-License-Identifier: MIT */
/*
 * burst_program bursts ZONES GAP_MS ROUNDS [fiber] | paced RATE SECONDS THREADS [texts]
 *
 * Truth, bursts: ROUNDS times ZONES zones at full speed, each burst followed by a sleep of GAP_MS; with
 * "fiber", twenty at a time within a fiber.  Paced: each thread emits RATE zones a second, a batch every 200
 * us; what it could not emit within a tenth of a second it leaves out.  With "texts", three in a hundred have
 * a text of their own and the zones are of 64 places.
 *
 * Prints "zones N", how many there were, and for bursts "first_ns X" and "ns X": CPU time of a zone, in the
 * first burst and in all others.
 */
#include <hyprof/hyprof.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ZONES_OF_FIBER 20
#define N_PLACES       64
#define BATCH_NS       200000
#define LATE_NS        1e8

struct paced {
        pthread_t thread;
        double rate, seconds;
        bool has_texts;
        uint64_t n_zones;
};

static struct hyprof_location places[N_PLACES];

static int64_t clock_ns(clockid_t clock)
{
        struct timespec t;

        if (clock_gettime(clock, &t) != 0)
                abort();
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
        struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

        (void)nanosleep(&t, NULL);
}

static void emit_burst(int n_zones, bool in_fiber)
{
        for (int n = 0; n < n_zones;) {
                if (in_fiber)
                        hyprof_fiber_enter("a fiber");
                for (int i = 0; i < ZONES_OF_FIBER && n < n_zones; i++, n++) {
                        HYPROF_ZONE("zone of a burst");
                }
                if (in_fiber)
                        hyprof_fiber_leave();
        }
}

static void run_bursts(int n_zones, int gap_ms, int n_rounds, bool in_fiber)
{
        double first_ns = 0, others_ns = 0;

        for (int round = 0; round < n_rounds; round++) {
                int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
                double took_ns;

                emit_burst(n_zones, in_fiber);
                took_ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
                if (round == 0)
                        first_ns = took_ns;
                else
                        others_ns += took_ns;
                sleep_ns((int64_t)gap_ms * 1000000);
        }
        printf("zones %" PRIu64 "\nfirst_ns %.2f\nns %.2f\n", (uint64_t)n_zones * (uint64_t)n_rounds,
               first_ns / n_zones, n_rounds > 1 ? others_ns / n_zones / (n_rounds - 1) : 0);
}

static void emit_one(uint64_t n, bool has_text)
{
        hyprof_zone zone = hyprof_zone_begin(&places[n * 31 % N_PLACES]);

        if (has_text && n % 33 == 0) {
                char text[32];
                int n_bytes = snprintf(text, sizeof(text), "text %" PRIu64, n * 7919 % 100003);

                hyprof_zone_text(zone, text, (size_t)n_bytes);
        }
        hyprof_zone_end(zone);
}

static void *run_paced(void *argument)
{
        struct paced *p = argument;
        int64_t begin_ns = clock_ns(CLOCK_MONOTONIC), last_ns = begin_ns;
        double owed = 0;

        while ((double)(last_ns - begin_ns) < p->seconds * 1e9) {
                int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
                double passed_ns = (double)(now_ns - last_ns);

                last_ns = now_ns;
                for (owed += (passed_ns < LATE_NS ? passed_ns : LATE_NS) * p->rate / 1e9; owed >= 1; owed--)
                        emit_one(p->n_zones++, p->has_texts);
                sleep_ns(BATCH_NS);
        }
        return NULL;
}

static void run_threads(const struct paced *one, int n_threads)
{
        struct paced *all = calloc((size_t)n_threads, sizeof(*all));
        uint64_t n_zones = 0;

        if (!all)
                abort();
        for (int i = 0; i < n_threads; i++) {
                all[i] = *one;
                if (pthread_create(&all[i].thread, NULL, run_paced, &all[i]) != 0)
                        abort();
        }
        for (int i = 0; i < n_threads; i++) {
                (void)pthread_join(all[i].thread, NULL);
                n_zones += all[i].n_zones;
        }
        printf("zones %" PRIu64 "\n", n_zones);
        free(all);
}

int main(int argc, char **argv)
{
        static char names[N_PLACES][16];

        for (int i = 0; i < N_PLACES; i++) {
                (void)snprintf(names[i], sizeof(names[i]), "place %d", i);
                places[i] = (struct hyprof_location){ .name = names[i], .line = (uint32_t)i + 1 };
        }
        if (argc < 5)
                return 2;
        if (strcmp(argv[1], "bursts") == 0) {
                run_bursts(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), argc > 5);
        } else {
                struct paced one = { .rate = atof(argv[2]), .seconds = atof(argv[3]), .has_texts = argc > 5 };

                run_threads(&one, atoi(argv[4]));
        }
        return 0;
}
