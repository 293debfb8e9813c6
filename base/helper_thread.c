/* SPDX-License-Identifier: MIT */
#include "base/helper_thread.h"

#include <signal.h>

int helper_thread_start(pthread_t *ret_thread, const char *name, void *(*run)(void *context), void *context)
{
        sigset_t all, before;
        pthread_t thread;
        int code;

        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        code = pthread_create(&thread, NULL, run, context);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (code != 0)
                return -code;
        (void)pthread_setname_np(thread, name);
        *ret_thread = thread;
        return 0;
}
