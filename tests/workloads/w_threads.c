/* SPDX-License-Identifier: MIT */
/*
 * w_threads [THREADS=1000]
 *
 * Truth: THREADS threads, at most eight at a time, each emits ten zones "short"
 * and ends.  Ten times THREADS zones in all, no thread has more or fewer.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <pthread.h>

#define TOGETHER         8
#define ZONES_PER_THREAD 10

static void *emit(void *argument)
{
        for (int i = 0; i < ZONES_PER_THREAD; i++) {
                HYPROF_ZONE("short");
        }
        return argument;
}

int main(int argc, char **argv)
{
        int n_left = (int)burn_argument(argc, argv, 1, 1000);

        while (n_left > 0) {
                pthread_t threads[TOGETHER];
                int n_now = n_left < TOGETHER ? n_left : TOGETHER;

                for (int i = 0; i < n_now; i++) {
                        if (pthread_create(&threads[i], NULL, emit, NULL) != 0)
                                return EXIT_FAILURE;
                }
                for (int i = 0; i < n_now; i++)
                        (void)pthread_join(threads[i], NULL);
                n_left -= n_now;
        }
        return EXIT_SUCCESS;
}
