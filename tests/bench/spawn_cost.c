/* SPDX-License-Identifier: MIT */
/*
 * tests/bench/spawn_cost.c - what it costs to run a command: wall time and memory
 *
 *      spawn_cost N COMMAND [ARGS]                      prints medians: wall_us user_us sys_us max_rss_kb
 *      spawn_cost N COMMAND [ARGS] -- COMMAND [ARGS]    alternates two commands and prints a line for each
 */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_RUNS_MAX 1000
#define N_FIGURES  4

extern char **environ;

struct runs {
        char **argv;
        double figures[N_FIGURES][N_RUNS_MAX];
};

static double now_us(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double time_us(struct timeval t)
{
        return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

static int run_once(struct runs *runs, int i)
{
        struct rusage usage;
        double begin_us = now_us();
        int status;
        pid_t pid;

        if (posix_spawnp(&pid, runs->argv[0], NULL, NULL, runs->argv, environ) != 0 ||
            wait4(pid, &status, 0, &usage) != pid || status != 0) {
                (void)fprintf(stderr, "spawn_cost: %s failed\n", runs->argv[0]);
                return -1;
        }
        runs->figures[0][i] = now_us() - begin_us;
        runs->figures[1][i] = time_us(usage.ru_utime);
        runs->figures[2][i] = time_us(usage.ru_stime);
        runs->figures[3][i] = (double)usage.ru_maxrss;
        return 0;
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static void print_medians(struct runs *runs, int n)
{
        for (int f = 0; f < N_FIGURES; f++) {
                qsort(runs->figures[f], (size_t)n, sizeof(double), compare);
                printf("%.0f%c", runs->figures[f][n / 2], f == N_FIGURES - 1 ? '\n' : ' ');
        }
}

int main(int argc, char **argv)
{
        static struct runs first, second;
        int n = argc > 2 ? atoi(argv[1]) : 0;

        if (n < 1 || n > N_RUNS_MAX) {
                (void)fprintf(stderr, "Usage: spawn_cost N COMMAND [ARGS] [-- COMMAND [ARGS]]; N up to %d\n",
                              N_RUNS_MAX);
                return 2;
        }
        first.argv = argv + 2;
        for (int i = 3; i < argc - 1 && !second.argv; i++) {
                if (strcmp(argv[i], "--") == 0) {
                        argv[i] = NULL;
                        second.argv = argv + i + 1;
                }
        }
        for (int i = 0; i < n; i++)
                if (run_once(&first, i) < 0 || (second.argv && run_once(&second, i) < 0))
                        return EXIT_FAILURE;
        print_medians(&first, n);
        if (second.argv)
                print_medians(&second, n);
        return EXIT_SUCCESS;
}
