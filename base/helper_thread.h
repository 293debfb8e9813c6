/* SPDX-License-Identifier: MIT */
/*
 * base/helper_thread.h - a helper thread, which leaves all signals to the main thread, and timed waits for it
 *
 * Way of the data:  the code that needs a helper -> [helper_thread] -> pthread_create(3)
 */
#ifndef BASE_HELPER_THREAD_H
#define BASE_HELPER_THREAD_H

#include "base/clock.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/*
 * helper_thread_start() - run @run(@context) in a thread with all signals blocked
 * @ret_thread:  to be joined by the caller; written only on success
 * @name:        as ps(1) shows it, at most 15 bytes
 * Returns 0 or -errno: -EAGAIN where no more threads are permitted.
 */
int helper_thread_start(pthread_t *ret_thread, const char *name, void *(*run)(void *context), void *context);

/*
 * Timed waits for another thread, which end in time even if the time of day is set meanwhile.  A condition
 * waits by CLOCK_REALTIME unless its attributes name another clock: if a board's clock is set back by an
 * hour, such a wait lasts an hour longer.
 */

/* Makes a condition for pthread_cond_timedwait() with the results of timed_wait_end(). */
static inline void timed_wait_init(pthread_cond_t *ret_condition)
{
        pthread_condattr_t by;

        (void)pthread_condattr_init(&by);
        (void)pthread_condattr_setclock(&by, CLOCK_MONOTONIC); /* cannot fail for this clock */
        (void)pthread_cond_init(ret_condition, &by);
        (void)pthread_condattr_destroy(&by);
}

/* The moment at which a wait that begins now ends after @ns. */
static inline struct timespec timed_wait_end(uint64_t ns)
{
        struct timespec when;

        (void)clock_gettime(CLOCK_MONOTONIC, &when); /* cannot fail for this clock */
        ns += (uint64_t)when.tv_nsec;
        when.tv_sec += (time_t)(ns / NS_PER_S);
        when.tv_nsec = (long)(ns % NS_PER_S);
        return when;
}

#endif /* BASE_HELPER_THREAD_H */
