/* SPDX-License-Identifier: MIT */
/*
 * Kinds in which work is spread over threads: phases, barriers, pools, threads that are created for a job.
 */
#include "tests/workloads/delays/plant.h"

#include <ucontext.h>

BURN_FUNCTION(serial);
BURN_FUNCTION(side_by_side);
BURN_FUNCTION(slow_part);
BURN_FUNCTION(fast_part);
BURN_FUNCTION(big_part);
BURN_FUNCTION(small_part);
BURN_FUNCTION(job_a);
BURN_FUNCTION(job_b);
BURN_FUNCTION(job_c);
BURN_FUNCTION(side_job);
BURN_FUNCTION(decode);
BURN_FUNCTION(answer);
BURN_FUNCTION(load);
BURN_FUNCTION(other_work);
BURN_FUNCTION(finish);
BURN_FUNCTION(created_job);
BURN_FUNCTION(first_half);
BURN_FUNCTION(second_half);
BURN_FUNCTION(request_part);
BURN_FUNCTION(hog_part);

static struct box jobs = BOX(8), results = BOX(8);

/* serial: main runs 6 ms alone, then main and 'w' 2 ms each, side by side. */
static void serial_worker(void *unused)
{
        (void)unused;
        while (box_take(&jobs)) {
                burn_us(side_by_side, 2000);
                box_put(&results, 1);
        }
}

static void run_serial(int n)
{
        pthread_t w = plant_thread("w", serial_worker, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("frame");
                burn_us(serial, 6000);
                box_put(&jobs, 1);
                burn_us(side_by_side, 2000);
                box_take(&results);
        }
        box_put(&jobs, 0);
        plant_join(w);
}

/* barrier: 'slow' arrives 4 ms after main, which runs 1 ms a step. */
static pthread_barrier_t barrier;

static void barrier_slow(void *n_steps)
{
        for (int i = 0; i < *(int *)n_steps; i++) {
                burn_us(slow_part, 5000);
                pthread_barrier_wait(&barrier);
        }
}

static void run_barrier(int n)
{
        pthread_t slow;

        pthread_barrier_init(&barrier, NULL, 2);
        slow = plant_thread("slow", barrier_slow, &n);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("step");
                burn_us(fast_part, 1000);
                pthread_barrier_wait(&barrier);
        }
        plant_join(slow);
}

/* imbalance: 'big' has 6 ms of the work, 'small' 2 ms; main waits for both. */
static struct box big_jobs = BOX(2), small_jobs = BOX(2);

static void imbalance_big(void *unused)
{
        (void)unused;
        while (box_take(&big_jobs)) {
                burn_us(big_part, 6000);
                box_put(&results, 1);
        }
}

static void imbalance_small(void *unused)
{
        (void)unused;
        while (box_take(&small_jobs)) {
                burn_us(small_part, 2000);
                box_put(&results, 1);
        }
}

static void run_imbalance(int n)
{
        pthread_t big = plant_thread("big", imbalance_big, NULL);
        pthread_t small = plant_thread("small", imbalance_small, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("loop");
                box_put(&big_jobs, 1);
                box_put(&small_jobs, 1);
                box_take(&results);
                box_take(&results);
        }
        box_put(&big_jobs, 0);
        box_put(&small_jobs, 0);
        plant_join(big);
        plant_join(small);
}

/*
 * dag: a pool of two threads.  Job b needs the result of a, and c that of b: 2 ms each; a side job of 1 ms
 * needs nothing. main joins all four, and is woken by each, but what it waits for is the chain.
 */
enum job { JOB_END, JOB_A, JOB_B, JOB_C, JOB_SIDE };

static void run_job(int job)
{
        switch (job) {
        case JOB_A:
                burn_us(job_a, 2000);
                box_put(&jobs, JOB_B);
                break;
        case JOB_B:
                burn_us(job_b, 2000);
                box_put(&jobs, JOB_C);
                break;
        case JOB_C:
                burn_us(job_c, 2000);
                break;
        default:
                burn_us(side_job, 1000);
                break;
        }
}

static void dag_worker(void *unused)
{
        int job;

        (void)unused;
        while ((job = box_take(&jobs)) != JOB_END) {
                run_job(job);
                box_put(&results, job);
        }
}

static void run_dag(int n)
{
        pthread_t p0 = plant_thread("p0", dag_worker, NULL), p1 = plant_thread("p1", dag_worker, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("build");
                box_put(&jobs, JOB_A);
                box_put(&jobs, JOB_SIDE);
                for (int left = 4; left > 0; left--)
                        box_take(&results);
        }
        box_put(&jobs, JOB_END);
        box_put(&jobs, JOB_END);
        plant_join(p0);
        plant_join(p1);
}

/* nested: main waits for 'loader', which is in a zone of its own meanwhile. */
static void nested_loader(void *unused)
{
        (void)unused;
        while (box_take(&jobs)) {
                {
                        HYPROF_ZONE("decode");
                        burn_us(decode, 4000);
                }
                box_put(&results, 1);
        }
}

static void run_nested(int n)
{
        pthread_t loader = plant_thread("loader", nested_loader, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                box_put(&jobs, 1);
                box_take(&results);
                burn_us(answer, 2000);
        }
        box_put(&jobs, 0);
        plant_join(loader);
}

/*
 * episode: main asks 'loader', which runs 10 ms, and 'index', which runs 4 ms for others, waits for the
 * loader, runs 1 ms and answers.  The 4 ms overlap with the loader's 10: they delay main by nothing, though
 * they lie in its wait.
 */
static struct box load_jobs = BOX(2), loaded = BOX(2);

static void episode_loader(void *unused)
{
        (void)unused;
        while (box_take(&load_jobs)) {
                burn_us(load, 10000);
                box_put(&loaded, 1);
        }
}

static void episode_index(void *unused)
{
        (void)unused;
        while (box_take(&jobs)) {
                burn_us(other_work, 4000);
                box_take(&loaded);
                burn_us(finish, 1000);
                box_put(&results, 1);
        }
}

static void run_episode(int n)
{
        pthread_t loader = plant_thread("loader", episode_loader, NULL);
        pthread_t index = plant_thread("index", episode_index, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                box_put(&load_jobs, 1);
                box_put(&jobs, 1);
                box_take(&results);
                burn_us(answer, 1000);
        }
        box_put(&load_jobs, 0);
        box_put(&jobs, 0);
        plant_join(loader);
        plant_join(index);
}

/* create: a thread for each request runs 3 ms and ends, main joins it and runs 1 ms. */
static void run_created_job(void *unused)
{
        (void)unused;
        burn_us(created_job, 3000);
}

static void run_create(int n)
{
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                plant_join(plant_thread("job", run_created_job, NULL));
                burn_us(answer, 1000);
        }
}

/*
 * relay: main creates 'first', which runs 2 ms, then creates 'second' and joins it; that one runs 3 ms.  What
 * was before it was born is its creator's.
 */
static void run_second(void *unused)
{
        (void)unused;
        burn_us(second_half, 3000);
}

static void run_first(void *unused)
{
        (void)unused;
        burn_us(first_half, 2000);
        plant_join(plant_thread("second", run_second, NULL));
}

static void run_relay(int n)
{
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                plant_join(plant_thread("first", run_first, NULL));
                burn_us(answer, 1000);
        }
}

/*
 * fibers: one thread runs two of them.  The zone of the first one is open for 5 ms, but for 3 of them the
 * thread runs the second one.
 */
#define FIBER_STACK_BYTES (64 << 10)
static struct {
        ucontext_t scheduler, request, hog;
        int n_requests;
} fibers;

static void leave_fiber(ucontext_t *fiber)
{
        swapcontext(fiber, &fibers.scheduler);
}

static void run_request_fiber(void)
{
        for (int i = 0; i < fibers.n_requests; i++) {
                HYPROF_ZONE("request");
                burn_us(request_part, 1000);
                leave_fiber(&fibers.request);
                burn_us(request_part, 1000);
        }
}

static void run_hog_fiber(void)
{
        for (;;) {
                burn_us(hog_part, 3000);
                leave_fiber(&fibers.hog);
        }
}

static void make_fiber(ucontext_t *fiber, void (*run)(void), char *stack)
{
        getcontext(fiber);
        fiber->uc_stack.ss_sp = stack;
        fiber->uc_stack.ss_size = FIBER_STACK_BYTES;
        fiber->uc_link = &fibers.scheduler;
        makecontext(fiber, run, 0);
}

static void enter_fiber(const char *name, ucontext_t *fiber)
{
        hyprof_fiber_enter(name);
        swapcontext(&fibers.scheduler, fiber);
        hyprof_fiber_leave();
}

/* The request's fiber is left once in each zone, and ends with the last one. */
static void run_fibers(int n)
{
        static char stacks[2][FIBER_STACK_BYTES];

        fibers.n_requests = n;
        make_fiber(&fibers.request, run_request_fiber, stacks[0]);
        make_fiber(&fibers.hog, run_hog_fiber, stacks[1]);
        for (int i = 0; i < n; i++) {
                enter_fiber("request", &fibers.request);
                enter_fiber("hog", &fibers.hog);
        }
        enter_fiber("request", &fibers.request);
}

const struct delay_kind pool_delays[] = {
        { "serial", 150, run_serial },       { "barrier", 220, run_barrier },
        { "imbalance", 180, run_imbalance }, { "dag", 190, run_dag },
        { "nested", 190, run_nested },       { "episode", 100, run_episode },
        { "create", 260, run_create },       { "relay", 180, run_relay },
        { "fibers", 220, run_fibers },       { NULL, 0, NULL },
};
