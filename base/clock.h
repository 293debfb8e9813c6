/* SPDX-License-Identifier: MIT */
/*
 * base/clock.h - the one clock of a trace
 *
 * Way of the data:  kernel -> [clock] -> sampler, cli
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

/* See namespace_clock.h; 0 before clock_begin(). */
extern int64_t clock_namespace_ns;

/* Call this first, in one thread: clock_raw_ns() is the machine's time then, in a time namespace as well. */
void clock_begin(void);

/* Nanoseconds of the machine's CLOCK_MONOTONIC_RAW: never set, never slewed.  Takes about 20 ns. */
static inline uint64_t clock_raw_ns(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t); /* cannot fail for this clock */
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec - (uint64_t)clock_namespace_ns;
}

/* Processor time used so far, also by the kernel for it.  @whose: RUSAGE_SELF, _THREAD or _CHILDREN */
static inline uint64_t clock_cpu_ns(int whose)
{
        struct rusage usage;

        if (getrusage(whose, &usage) < 0)
                return 0;
        return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
               (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}

/* The same of the calling thread. */
static inline uint64_t clock_thread_ns(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail for this clock */
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

#endif /* BASE_CLOCK_H */
