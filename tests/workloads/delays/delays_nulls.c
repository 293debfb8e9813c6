/* SPDX-License-Identifier: MIT */
/*
 * Nulls: programs with several threads in which no thread, lock or device delays a zone: each delays itself.
 */
#include "tests/workloads/delays/plant.h"

BURN_FUNCTION(work);
BURN_FUNCTION(help);

static struct box jobs = BOX(4), results = BOX(4);

/* balanced: two threads meet at a barrier after 3 ms each. */
static pthread_barrier_t barrier;

static void run_steps(void *n_steps)
{
        for (int i = 0; i < *(int *)n_steps; i++) {
                HYPROF_ZONE("step");
                burn_us(work, 3000);
                pthread_barrier_wait(&barrier);
        }
}

static void run_balanced(int n)
{
        pthread_t w;

        pthread_barrier_init(&barrier, NULL, 2);
        w = plant_thread("w", run_steps, &n);
        run_steps(&n);
        plant_join(w);
}

/* constant: one thread that never waits.  indep: two, each for itself. */
static void run_alone(void *n_steps)
{
        for (int i = 0; i < *(int *)n_steps; i++) {
                HYPROF_ZONE("step");
                burn_us(work, 3000);
        }
}

static void run_constant(int n)
{
        run_alone(&n);
}

static void run_indep(int n)
{
        pthread_t w = plant_thread("w", run_alone, &n);

        run_alone(&n);
        plant_join(w);
}

/* shutdown: workers wait for jobs all the time, get none, and are told to end. */
static void wait_for_end(void *unused)
{
        (void)unused;
        while (box_take(&jobs))
                continue;
}

static void run_shutdown(int n)
{
        pthread_t first = plant_thread("w1", wait_for_end, NULL),
                  second = plant_thread("w2", wait_for_end, NULL);

        run_alone(&n);
        box_put(&jobs, 0);
        box_put(&jobs, 0);
        plant_join(first);
        plant_join(second);
}

/* early: a helper has its part of 1 ms ready long before main, which runs 3 ms, asks for it. */
static void run_helper(void *unused)
{
        (void)unused;
        while (box_take(&jobs)) {
                burn_us(help, 1000);
                box_put(&results, 1);
        }
}

static void run_early(int n)
{
        pthread_t helper = plant_thread("helper", run_helper, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("step");
                box_put(&jobs, 1);
                burn_us(work, 3000);
                box_take(&results);
        }
        box_put(&jobs, 0);
        plant_join(helper);
}

const struct delay_kind no_delays[] = {
        { "balanced", 350, run_balanced }, { "constant", 350, run_constant }, { "indep", 350, run_indep },
        { "shutdown", 350, run_shutdown }, { "early", 350, run_early },       { NULL, 0, NULL },
};
