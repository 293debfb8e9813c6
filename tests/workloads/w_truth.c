/* SPDX-License-Identifier: MIT */
/*
 * w_truth LOG [CPU_SECONDS=4 [ZONES=20000]]
 *
 * Truth of the first part, CPU_SECONDS of processor time:
 *
 *   zone        of the time   functions inside, of the zone's time
 *   alpha       40%           shared() 70%, only_alpha() 30%
 *   beta        30%           shared() 20%, only_beta() 80%
 *   recursion   30%           descend() 75% in itself, 100% with leaf(), which it calls: 25%
 *
 * descend() calls itself 4 deep, each time in a zone "level".  The parts take turns of about 80 ms that are
 * measured by the thread's clock, no two equally long: what one turn is too long is taken from the next one.
 *
 * Truth of the second part: ZONES zones "logged" of 1 us to 1 ms, in the order of a simple generator.  A
 * line of LOG for each: two durations in ns by CLOCK_MONOTONIC_RAW, the zone's own is not below the first
 * and not above the second.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define NS_PER_S    1e9
#define TURN_NS     80000000
#define CALL_NS     500000 /* one call: reading the clock costs nothing beside it */
#define DEPTH       4
#define LOGGED_NS   1000 /* the shortest */
#define LOGGED_SPAN 1000 /* the longest is that many times as long */

struct clock_of_turns {
        int64_t end_ns; /* of processor time: of the turn before */
        uint64_t n_rounds;
        uint32_t state;
};

BURN_FUNCTION(shared);
BURN_FUNCTION(only_alpha);
BURN_FUNCTION(only_beta);
BURN_FUNCTION(leaf);
BURN_FUNCTION(logged_work);

/* From 0 to 1. */
static double next_random(uint32_t *state)
{
        *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
        return (double)(*state >> 8) / (double)(1 << 24);
}

static void burn_share(struct clock_of_turns *c, void (*burn)(uint64_t n_rounds), double turn_ns,
                       double share)
{
        c->end_ns += (int64_t)(turn_ns * share);
        while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < c->end_ns)
                burn(c->n_rounds);
}

/*
 * Burns in itself, which is what BURN_FUNCTION() does, until the time of its level is over; then goes deeper.
 */
static __attribute__((noinline)) void descend(struct clock_of_turns *c, double turn_ns, int depth)
{
        HYPROF_ZONE("level");
        c->end_ns += (int64_t)(turn_ns * 0.75 / DEPTH);
        while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < c->end_ns)
                for (uint64_t n_rounds = c->n_rounds; n_rounds > 0; n_rounds--)
                        __asm__ volatile("# descend" : "+r"(n_rounds));
        if (depth < DEPTH)
                descend(c, turn_ns, depth + 1);
        else
                burn_share(c, leaf, turn_ns, 0.25);
        __asm__ volatile(""); /* no tail call: each level has its frame */
}

static void take_turn(struct clock_of_turns *c)
{
        double turn_ns = TURN_NS * (0.5 + next_random(&c->state));

        {
                HYPROF_ZONE("alpha");
                burn_share(c, shared, turn_ns, 0.4 * 0.7);
                burn_share(c, only_alpha, turn_ns, 0.4 * 0.3);
        }
        {
                HYPROF_ZONE("beta");
                burn_share(c, shared, turn_ns, 0.3 * 0.2);
                burn_share(c, only_beta, turn_ns, 0.3 * 0.8);
        }
        {
                HYPROF_ZONE("recursion");
                descend(c, 0.3 * turn_ns, 1);
        }
}

static int log_zones(FILE *log, uint64_t n_zones)
{
        double rounds_per_ns = (double)burn_rounds_of(10000000) / 10000000;
        uint32_t state = 7;

        for (uint64_t i = 0; i < n_zones; i++) {
                uint64_t n_rounds = (uint64_t)(rounds_per_ns * LOGGED_NS *
                                               pow(LOGGED_SPAN, next_random(&state)));
                int64_t before_ns, begun_ns, ending_ns, after_ns;

                before_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                {
                        HYPROF_ZONE("logged");
                        begun_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                        logged_work(n_rounds);
                        ending_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                }
                after_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                if (fprintf(log, "%lld %lld\n", (long long)(ending_ns - begun_ns),
                            (long long)(after_ns - before_ns)) < 0)
                        return -1;
        }
        return fclose(log);
}

int main(int argc, char **argv)
{
        int64_t budget_ns = (int64_t)(burn_argument(argc, argv, 2, 4) * NS_PER_S);
        uint64_t n_zones = (uint64_t)burn_argument(argc, argv, 3, 20000);
        struct clock_of_turns c = { .n_rounds = burn_rounds_of(CALL_NS), .state = 1 };
        FILE *log = argc > 1 ? fopen(argv[1], "w") : NULL;
        int64_t end_ns;

        if (!log)
                return EXIT_FAILURE;
        c.end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        end_ns = c.end_ns + budget_ns;
        while (c.end_ns < end_ns)
                take_turn(&c);
        return log_zones(log, n_zones) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
