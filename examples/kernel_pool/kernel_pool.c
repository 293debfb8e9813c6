/* SPDX-License-Identifier: MIT */
/*
 * kernel_pool [--seconds N | --cpu-seconds N] [--workers N] [--kernels N] [--cflags WORDS]
 * [--mlir] [--memory] [--reload]
 *
 * A small runtime of the kind that hyprof is made for: it generates kernels in
 * C, compiles each to a shared library, loads it, deletes the file at once, and
 * dispatches batches of work to a pool of threads.  Every result is compared
 * with one computed independently.  Exit status 0 means that all agreed.
 *
 *   --cpu-seconds   as much work on any machine, however busy it is: until all threads
 *                   have computed for so long
 *   --cflags WORDS  further words for the compiler, like "-g0 -Wl,--build-id=none"
 *   --mlir          source lines are those of the MLIR that a kernel stands for
 *   --memory        map kernels into anonymous memory, without the dynamic loader
 *   --reload        one kernel at a time, loaded before its batch, unloaded after it
 *
 * Try it:  hyprof record -- build/release/examples/kernel_pool
 */
#include "examples/kernel_pool/kernel_compiler.h"
#include "examples/kernel_pool/kernel_image.h"
#include "examples/kernel_pool/pool_options.h"
#include "examples/kernel_pool/worker_pool.h"

#include <hyprof/hyprof.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TASKS_PER_BATCH 64
#define TOLERATED_ERROR 1e-3 /* relative; the kernels compute in single precision */

struct totals {
        uint64_t n_batches;
        uint64_t n_tasks;
        uint64_t n_wrong;
};

struct runtime {
        struct pool_options options;
        struct kernel_compiler compiler;
        struct kernel_image kernels[KERNELS_MAX];
        struct worker_pool *pool;
        struct totals totals;
        float in[KERNEL_FLOATS];
};

/* The same numbers from -0.5 to 0.5 on every run. */
static void fill_input(float *in)
{
        uint32_t state = 1;

        for (int i = 0; i < KERNEL_FLOATS; i++) {
                state = state * 1664525u + 1013904223u;
                in[i] = (float)(state >> 8) / 16777216.0f - 0.5f;
        }
}

/* A new folder under $TMPDIR; freed by the caller. */
static char *make_folder(void)
{
        const char *parent = getenv("TMPDIR");
        char *folder = NULL;

        if (asprintf(&folder, "%s/kernel_pool.XXXXXX", parent ? parent : "/tmp") < 0)
                return NULL;
        if (mkdtemp(folder))
                return folder;
        perror("kernel_pool: temporary folder");
        free(folder);
        return NULL;
}

static int compile_kernels(struct runtime *rt)
{
        double *scratch = calloc(KERNEL_FLOATS, sizeof(*scratch));
        int result = scratch ? 0 : -1;

        for (int i = 0; i < rt->options.n_kernels && result == 0; i++) {
                struct kernel_image *kernel = &rt->kernels[i];

                kernel->plan = kernel_plan_of(i);
                kernel->expected = kernel_plan_expect(&kernel->plan, rt->in, scratch);
                result = kernel_compiler_run(&rt->compiler, &kernel->plan, &kernel->binary);
        }
        free(scratch);
        return result;
}

static int load_kernel(struct runtime *rt, struct kernel_image *kernel)
{
        return rt->options.in_memory ? kernel_image_load_memory(kernel)
                                     : kernel_image_load_file(kernel, &rt->compiler);
}

static int load_kernels(struct runtime *rt)
{
        int result = compile_kernels(rt);

        for (int i = 0; i < rt->options.n_kernels && result == 0 && !rt->options.reloads; i++)
                result = load_kernel(rt, &rt->kernels[i]);
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

/* All kernels in turn, or one alone. */
static void run_batch(struct runtime *rt, const struct kernel_image *kernels, int n_kernels)
{
        struct pool_task tasks[TASKS_PER_BATCH];

        HYPROF_ZONE("batch");
        for (int i = 0; i < TASKS_PER_BATCH; i++)
                tasks[i] = (struct pool_task){ .kernel = &kernels[i % n_kernels], .checksum = (double)NAN };
        worker_pool_dispatch(rt->pool, tasks, TASKS_PER_BATCH);
        worker_pool_wait(rt->pool);
        rt->totals.n_wrong += reduce(tasks);
        rt->totals.n_tasks += TASKS_PER_BATCH;
        rt->totals.n_batches++;
}

/* Loaded, run and unloaded within milliseconds; the next one often gets the same address. */
static int run_reloaded(struct runtime *rt)
{
        struct kernel_image *kernel = &rt->kernels[rt->totals.n_batches % (uint64_t)rt->options.n_kernels];

        if (load_kernel(rt, kernel) != 0)
                return -1;
        run_batch(rt, kernel, 1);
        kernel_image_unload(kernel);
        return 0;
}

static double seconds_now(const struct runtime *rt)
{
        struct timespec t;

        (void)clock_gettime(rt->options.counts_cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int run(struct runtime *rt)
{
        double end_seconds = seconds_now(rt) + rt->options.seconds;
        int result = 0;

        do {
                if (rt->options.reloads)
                        result = run_reloaded(rt);
                else
                        run_batch(rt, rt->kernels, rt->options.n_kernels);
                HYPROF_FRAME();
        } while (result == 0 && seconds_now(rt) < end_seconds);
        return result;
}

static void clean_up(struct runtime *rt, char *folder)
{
        worker_pool_free(rt->pool);
        for (int i = 0; i < rt->options.n_kernels; i++) {
                kernel_image_unload(&rt->kernels[i]);
                free(rt->kernels[i].binary.bytes);
        }
        if (folder)
                (void)rmdir(folder);
        free(folder);
}

int main(int argc, char **argv)
{
        static struct runtime rt;
        char *folder;
        int result = EXIT_FAILURE;

        if (pool_options_parse(argc, argv, &rt.options) != 0)
                return 2;
        hyprof_thread_name("dispatcher");
        fill_input(rt.in);
        folder = make_folder();
        rt.compiler = (struct kernel_compiler){ folder, rt.options.cflags, rt.options.from_mlir };
        if (!folder || load_kernels(&rt) != 0)
                goto done;
        HYPROF_MESSAGE("kernels loaded");
        rt.pool = worker_pool_new(rt.options.n_workers, rt.in);
        if (!rt.pool) {
                perror("kernel_pool: workers");
                goto done;
        }
        if (run(&rt) != 0)
                goto done;
        HYPROF_MESSAGE("all batches done");
        (void)printf("kernel_pool: %d workers, %d kernels, %llu batches, %llu tasks, %llu wrong\n",
                     rt.options.n_workers, rt.options.n_kernels, (unsigned long long)rt.totals.n_batches,
                     (unsigned long long)rt.totals.n_tasks, (unsigned long long)rt.totals.n_wrong);
        result = rt.totals.n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
done:
        clean_up(&rt, folder);
        return result;
}
