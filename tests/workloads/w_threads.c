/* SPDX-License-Identifier: MIT */
/*
 * w_threads [THREADS=1000 [TOGETHER=8 [MS=0]]]
 *
 * Truth: THREADS threads, at most TOGETHER (512) at a time, each emits ten zones "short",
 * sleeps for MS and ends.  Ten times THREADS zones in all, no thread has more or fewer.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <pthread.h>

#define TOGETHER_MAX     512
#define ZONES_PER_THREAD 10

static struct timespec pause_each;

static void *emit(void *argument)
{
        for (int i = 0; i < ZONES_PER_THREAD; i++) {
                HYPROF_ZONE("short");
        }
        (void)nanosleep(&pause_each, NULL);
        return argument;
}

int main(int argc, char **argv)
{
        int n_left = (int)burn_argument(argc, argv, 1, 1000), together = (int)burn_argument(argc, argv, 2, 8);
        long ms = (long)burn_argument(argc, argv, 3, 0);

        if (together < 1 || together > TOGETHER_MAX)
                return EXIT_FAILURE;
        pause_each = (struct timespec){ .tv_sec = (time_t)(ms / 1000), .tv_nsec = ms % 1000 * 1000000 };
        while (n_left > 0) {
                pthread_t threads[TOGETHER_MAX];
                int n_now = n_left < together ? n_left : together;

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
