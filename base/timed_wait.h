/* SPDX-License-Identifier: MIT */
/*
 * base/timed_wait.h - waits for another thread that end in time, whatever becomes of the time of day
 *
 * Way of the data:  clock -> [timed_wait] -> sampler
 *
 * A condition waits by CLOCK_REALTIME unless it is told otherwise: if a board's clock is set back by an hour,
 * such a wait lasts an hour longer.
 */
#ifndef BASE_TIMED_WAIT_H
#define BASE_TIMED_WAIT_H

#include "base/clock.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* A condition for pthread_cond_timedwait() with moments of timed_wait_end(). */
static inline void timed_wait_init(pthread_cond_t *ret_condition)
{
        pthread_condattr_t by;

        (void)pthread_condattr_init(&by);
        (void)pthread_condattr_setclock(&by, CLOCK_MONOTONIC); /* cannot fail for this clock */
        (void)pthread_cond_init(ret_condition, &by);
        (void)pthread_condattr_destroy(&by);
}

/* The moment in which a wait of @ns ends that begins now. */
static inline struct timespec timed_wait_end(uint64_t ns)
{
        struct timespec when;

        (void)clock_gettime(CLOCK_MONOTONIC, &when); /* cannot fail for this clock */
        ns += (uint64_t)when.tv_nsec;
        when.tv_sec += (time_t)(ns / NS_PER_S);
        when.tv_nsec = (long)(ns % NS_PER_S);
        return when;
}

#endif /* BASE_TIMED_WAIT_H */
