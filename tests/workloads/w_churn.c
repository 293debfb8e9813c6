/* SPDX-License-Identifier: MIT */
/*
 * w_churn [THREADS=100000]
 *
 * Truth: THREADS threads, sixteen at a time, each emits ten zones "short" and
 * ends.  Prints at the end how many there were, what the process holds then and
 * the most memory that it ever had: "threads N", "descriptors N", "peak_kib N".
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LANES            16
#define ZONES_PER_THREAD 10
#define STACK_BYTES      65536

static void *emit(void *argument)
{
        for (int i = 0; i < ZONES_PER_THREAD; i++) {
                HYPROF_ZONE("short");
        }
        return argument;
}

/* Each lane starts its next thread when its last one has ended. */
static void *run_lane(void *argument)
{
        const int *n_threads = argument;
        pthread_attr_t attributes;

        if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, STACK_BYTES) != 0)
                abort();
        for (int i = 0; i < *n_threads; i++) {
                pthread_t thread;

                if (pthread_create(&thread, &attributes, emit, NULL) != 0 || pthread_join(thread, NULL) != 0)
                        abort();
        }
        (void)pthread_attr_destroy(&attributes);
        return NULL;
}

static int count_descriptors(void)
{
        DIR *dir = opendir("/proc/self/fd");
        int n = 0;

        if (!dir)
                return -1;
        while (readdir(dir)) /* ".", ".." and the directory's own are there always */
                n++;
        (void)closedir(dir);
        return n - 3;
}

static long peak_kib(void)
{
        FILE *status = fopen("/proc/self/status", "re");
        char line[256];
        long kib = -1;

        if (!status)
                return -1;
        while (fgets(line, sizeof(line), status)) {
                if (strncmp(line, "VmHWM:", 6) == 0)
                        kib = strtol(line + 6, NULL, 10);
        }
        (void)fclose(status);
        return kib;
}

int main(int argc, char **argv)
{
        int n_threads = (int)burn_argument(argc, argv, 1, 100000);
        pthread_t lanes[LANES];
        int n_of_lane[LANES];

        for (int i = 0; i < LANES; i++) {
                n_of_lane[i] = n_threads / LANES + (i < n_threads % LANES);
                if (pthread_create(&lanes[i], NULL, run_lane, &n_of_lane[i]) != 0)
                        return EXIT_FAILURE;
        }
        for (int i = 0; i < LANES; i++)
                (void)pthread_join(lanes[i], NULL);
        (void)printf("threads %d\ndescriptors %d\npeak_kib %ld\n", n_threads, count_descriptors(),
                     peak_kib());
        return EXIT_SUCCESS;
}
