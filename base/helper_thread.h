/* SPDX-License-Identifier: MIT */
/*
 * base/helper_thread.h - a thread beside the main one, which leaves all signals to it
 *
 * Way of the data:  the code that needs a helper -> [helper_thread] -> pthread_create(3)
 */
#ifndef BASE_HELPER_THREAD_H
#define BASE_HELPER_THREAD_H

#include <pthread.h>

/*
 * helper_thread_start() - run @run(@context) in a thread with all signals blocked
 * @ret_thread:  to be joined by the caller; written only on success
 * @name:        as ps(1) shows it, at most 15 bytes
 * Returns 0 or -errno: -EAGAIN where no more threads are permitted.
 */
int helper_thread_start(pthread_t *ret_thread, const char *name, void *(*run)(void *context), void *context);

#endif /* BASE_HELPER_THREAD_H */
