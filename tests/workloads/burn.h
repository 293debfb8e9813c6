/* SPDX-License-Identifier: MIT */
/*
 * tests/workloads/burn.h - processor time spent in a function of a known name, by counting
 *
 * A burning function touches no memory and makes no calls, so its samples are
 * its own and its time is proportional to its rounds.
 */
#ifndef TESTS_WORKLOADS_BURN_H
#define TESTS_WORKLOADS_BURN_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/*
 * The text of the asm differs from function to function, else the compiler would merge equal bodies.
 * The address of the frame is asked for because a leaf function has none otherwise, and callstacks
 * would miss its caller.  All begin alike in the cache's lines: a round of one must not take three times as
 * long as of another, whose loop a line ends in.
 */
#define BURN_FUNCTION(name)                                                        \
        static __attribute__((noinline, aligned(64))) void name(uint64_t n_rounds) \
        {                                                                          \
                __asm__ volatile("" : : "r"(__builtin_frame_address(0)));          \
                while (n_rounds > 0) {                                             \
                        n_rounds--;                                                \
                        __asm__ volatile("# " #name : "+r"(n_rounds));             \
                }                                                                  \
        }                                                                          \
        struct burn_semicolon_##name

static inline int64_t burn_clock_ns(clockid_t clock)
{
        struct timespec t;

        if (clock_gettime(clock, &t) != 0)
                abort();
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * A function of its own: the time of the calibration must not count for the functions whose shares are known.
 */
BURN_FUNCTION(burn_calibration);

/*
 * How many rounds of a burning function last @want_ns of processor time on this machine.
 * The best of a few tries: a try that was interrupted counts too few rounds.
 */
static inline uint64_t burn_rounds_of(int64_t want_ns)
{
        const uint64_t n_try = 4000000;
        int64_t best_ns = INT64_MAX;

        for (int i = 0; i < 5; i++) {
                int64_t begin_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
                int64_t took_ns;

                burn_calibration(n_try);
                took_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
                if (took_ns > 0 && took_ns < best_ns)
                        best_ns = took_ns;
        }
        return (uint64_t)((double)n_try * (double)want_ns / (double)best_ns) + 1;
}

/* A positive number from the command line, or @otherwise when it is missing or no such number. */
static inline double burn_argument(int argc, char **argv, int index, double otherwise)
{
        char *end = NULL;
        double value = index < argc ? strtod(argv[index], &end) : otherwise;

        return index < argc && (end == argv[index] || *end != '\0' || value < 0) ? otherwise : value;
}

#endif /* TESTS_WORKLOADS_BURN_H */
