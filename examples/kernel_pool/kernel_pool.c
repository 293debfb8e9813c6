/* SPDX-License-Identifier: MIT */
/*
 * kernel_pool [--seconds N] [--workers N] [--kernels N]
 *
 * A small runtime of the kind that hyprof is made for: it generates kernels in
 * C, compiles each to a shared library, loads it, deletes the file at once, and
 * dispatches batches of work to a pool of threads.  Every result is compared
 * with one computed independently.  Exit status 0 means that all agreed.
 *
 * Try it:  hyprof record -- build/release/examples/kernel_pool
 */
#include "examples/kernel_pool/kernel_image.h"
#include "examples/kernel_pool/worker_pool.h"

#include <hyprof/hyprof.h>

#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TASKS_PER_BATCH 64
#define TOLERATED_ERROR 1e-3 /* relative; the kernels compute in single precision */
#define WORKERS_MAX     256

struct options {
        double seconds;
        int n_workers;
        int n_kernels;
};

struct totals {
        uint64_t n_batches;
        uint64_t n_tasks;
        uint64_t n_wrong;
};

static int usage(void)
{
        (void)fprintf(stderr, "usage: kernel_pool [--seconds N] [--workers 1..%d] [--kernels 1..%d]\n",
                      WORKERS_MAX, KERNELS_MAX);
        return -1;
}

/* A number from @min to @max, else NAN. */
static double number_of(const char *text, double min, double max)
{
        char *end = NULL;
        double value = strtod(text, &end);

        return end == text || *end != '\0' || !(value >= min && value <= max) ? (double)NAN : value;
}

static int parse_options(int argc, char **argv, struct options *ret_options)
{
        static const struct option known[] = { { "seconds", required_argument, NULL, 's' },
                                               { "workers", required_argument, NULL, 'w' },
                                               { "kernels", required_argument, NULL, 'k' },
                                               { NULL, 0, NULL, 0 } };
        double seconds = 3;
        double n_workers = 4;
        double n_kernels = 8;
        int c;

        while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
                switch (c) {
                case 's':
                        seconds = number_of(optarg, 0, 1e6);
                        break;
                case 'w':
                        n_workers = number_of(optarg, 1, WORKERS_MAX);
                        break;
                case 'k':
                        n_kernels = number_of(optarg, 1, KERNELS_MAX);
                        break;
                default:
                        return usage();
                }
        }
        if (optind < argc || isnan(seconds) || isnan(n_workers) || isnan(n_kernels))
                return usage();
        *ret_options = (struct options){ seconds, (int)n_workers, (int)n_kernels };
        return 0;
}

/* The same numbers from -0.5 to 0.5 on every run. */
static void fill_input(float *in)
{
        uint32_t state = 1;

        for (int i = 0; i < KERNEL_FLOATS; i++) {
                state = state * 1664525u + 1013904223u;
                in[i] = (float)(state >> 8) / 16777216.0f - 0.5f;
        }
}

/* All kernels of the pool; the folder for their files is gone again when this returns. */
static int load_kernels(struct kernel_image *kernels, int n_kernels, const float *in)
{
        const char *parent = getenv("TMPDIR");
        double *scratch = calloc(KERNEL_FLOATS, sizeof(*scratch));
        char *folder = NULL;
        int result = -1;

        if (asprintf(&folder, "%s/kernel_pool.XXXXXX", parent ? parent : "/tmp") < 0)
                folder = NULL;
        if (!scratch || !folder || !mkdtemp(folder)) {
                perror("kernel_pool: temporary folder");
                goto done;
        }
        for (int i = 0; i < n_kernels; i++) {
                kernels[i].plan = kernel_plan_of(i);
                kernels[i].expected = kernel_plan_expect(&kernels[i].plan, in, scratch);
                result = kernel_image_load(&kernels[i], folder);
                if (result != 0)
                        break;
        }
        (void)rmdir(folder);
done:
        free(folder);
        free(scratch);
        return result;
}

/* How many tasks of the batch returned a wrong checksum. */
static uint64_t reduce(const struct pool_task *tasks)
{
        uint64_t n_wrong = 0;

        HYPROF_ZONE("reduce");
        for (int i = 0; i < TASKS_PER_BATCH; i++) {
                double expected = tasks[i].kernel->expected;

                n_wrong += !(fabs(tasks[i].checksum - expected) <= TOLERATED_ERROR * (1 + fabs(expected)));
        }
        return n_wrong;
}

static void run_batch(struct worker_pool *pool, const struct kernel_image *kernels, int n_kernels,
                      struct totals *totals)
{
        struct pool_task tasks[TASKS_PER_BATCH];

        HYPROF_ZONE("batch");
        for (int i = 0; i < TASKS_PER_BATCH; i++)
                tasks[i] = (struct pool_task){ .kernel = &kernels[i % n_kernels], .checksum = (double)NAN };
        worker_pool_dispatch(pool, tasks, TASKS_PER_BATCH);
        worker_pool_wait(pool);
        totals->n_wrong += reduce(tasks);
        totals->n_tasks += TASKS_PER_BATCH;
        totals->n_batches++;
}

static double seconds_now(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
        static float in[KERNEL_FLOATS];
        static struct kernel_image kernels[KERNELS_MAX];
        struct worker_pool *pool = NULL;
        struct totals totals = { 0 };
        struct options options;
        double end_seconds;
        int result = EXIT_FAILURE;

        if (parse_options(argc, argv, &options) != 0)
                return 2;
        hyprof_thread_name("dispatcher");
        fill_input(in);
        if (load_kernels(kernels, options.n_kernels, in) != 0)
                goto done;
        HYPROF_MESSAGE("kernels loaded");
        pool = worker_pool_new(options.n_workers, in);
        if (!pool) {
                perror("kernel_pool: workers");
                goto done;
        }
        end_seconds = seconds_now() + options.seconds;
        do {
                run_batch(pool, kernels, options.n_kernels, &totals);
                HYPROF_FRAME();
        } while (seconds_now() < end_seconds);
        HYPROF_MESSAGE("all batches done");
        (void)printf("kernel_pool: %d workers, %d kernels, %llu batches, %llu tasks, %llu wrong\n",
                     options.n_workers, options.n_kernels, (unsigned long long)totals.n_batches,
                     (unsigned long long)totals.n_tasks, (unsigned long long)totals.n_wrong);
        result = totals.n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
done:
        worker_pool_free(pool);
        for (int i = 0; i < options.n_kernels; i++)
                kernel_image_unload(&kernels[i]);
        return result;
}
