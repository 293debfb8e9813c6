/* SPDX-License-Identifier: MIT */
/*
 * scale_program [ZONES=20000000]
 *
 * Truth: two threads, "left" and "right", spin through ZONES zones together, of 64 functions with a zone
 * each, named "random zone 0" to "random zone 77" in octal digits.  Up to 6 are inside each other; a function
 * calls four of the others.  Each lasts as long as chance says, half of them hardly any time and one in a
 * hundred a few microseconds.  Three in a hundred have a text.  A thousand at a time lie in a zone "batch".
 */
#include <hyprof/hyprof.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N_FUNCTIONS 64
#define DEPTH_MAX   6
#define PER_BATCH   1000
#define N_THREADS   2
#define N_CALLED    4

struct worker {
        uint64_t random;
        int64_t n_left; /* zones */
        const char *name;
};

static uint32_t draw(struct worker *w)
{
        w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return (uint32_t)(w->random >> 32);
}

static void spin(struct worker *w)
{
        uint32_t chance = draw(w);
        uint32_t turns = chance % 100 == 0 ? 2000 : (chance & 1) != 0 ? chance >> 8 & 63 : 1;

        for (volatile uint32_t k = 0; k < turns; k = k + 1)
                ;
}

static void run_next(struct worker *w, int function, int depth);

__attribute__((always_inline)) static inline void run_zone(struct worker *w, struct hyprof_location *location,
                                                           int function, int depth)
{
        hyprof_zone zone = hyprof_zone_begin(location);
        uint32_t chance = draw(w);

        w->n_left--;
        if (chance % 100 < 3) {
                char text[32];
                int n = snprintf(text, sizeof(text), "request %u", chance >> 16);

                hyprof_zone_text(zone, text, (size_t)n);
        }
        spin(w);
        for (uint32_t n = chance >> 8 & 3; n > 0 && depth < DEPTH_MAX && w->n_left > 0; n--)
                run_next(w, function, depth + 1);
        hyprof_zone_end(zone);
}

#define FUNCTION(n)                                                                             \
        __attribute__((noinline)) static void function_##n(struct worker *w, int depth)         \
        {                                                                                       \
                static struct hyprof_location location = HYPROF_LOCATION("random zone " #n, 0); \
                                                                                                \
                run_zone(w, &location, 0##n, depth);                                            \
        }
#define EIGHT(use, t) use(t##0) use(t##1) use(t##2) use(t##3) use(t##4) use(t##5) use(t##6) use(t##7)
#define ALL(use)     \
        EIGHT(use, ) \
        EIGHT(use, 1) EIGHT(use, 2) EIGHT(use, 3) EIGHT(use, 4) EIGHT(use, 5) EIGHT(use, 6) EIGHT(use, 7)
#define ENTRY(n) function_##n,

ALL(FUNCTION)
static void (*const functions[N_FUNCTIONS])(struct worker *, int) = { ALL(ENTRY) };

/* One of four that the function calls. */
static void run_next(struct worker *w, int function, int depth)
{
        functions[(unsigned)(function * N_CALLED + (int)(draw(w) % N_CALLED) + depth) % N_FUNCTIONS](w,
                                                                                                     depth);
}

static void *work(void *argument)
{
        static struct hyprof_location batch = HYPROF_LOCATION("batch", 0);
        struct worker *w = argument;

        hyprof_thread_name(w->name);
        while (w->n_left > 0) {
                int64_t end = w->n_left - PER_BATCH;
                hyprof_zone zone = hyprof_zone_begin(&batch);

                w->n_left--;
                while (w->n_left > 0 && w->n_left > end)
                        functions[draw(w) % N_FUNCTIONS](w, 1);
                hyprof_zone_end(zone);
        }
        return NULL;
}

int main(int argc, char **argv)
{
        int64_t n_zones = argc > 1 ? strtoll(argv[1], NULL, 10) : 20000000;
        struct worker workers[N_THREADS] = { { 1, n_zones / N_THREADS, "left" },
                                             { 2, n_zones / N_THREADS, "right" } };
        pthread_t threads[N_THREADS];

        for (int k = 0; k < N_THREADS; k++)
                if (pthread_create(&threads[k], NULL, work, &workers[k]) != 0)
                        return 1;
        for (int k = 0; k < N_THREADS; k++)
                (void)pthread_join(threads[k], NULL);
        return 0;
}
