/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/worker_pool.h"

#include "examples/kernel_pool/kernel_image.h"

#include <hyprof/hyprof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct pool_worker {
        pthread_t thread;
        struct worker_pool *pool;
        float *out; /* KERNEL_FLOATS, of this worker alone */
        int index;
};

struct worker_pool {
        pthread_mutex_t lock;
        pthread_cond_t work_came;
        pthread_cond_t batch_done;
        struct pool_task *tasks; /* of the batch */
        size_t n_tasks;
        size_t n_taken;
        size_t n_done;
        int closing;
        const float *in;
        int n_workers; /* that run */
        struct pool_worker workers[];
};

/* A zone of its own for each kind: static names cost nothing at run time. */
static double run_kernel(const struct kernel_image *kernel, const float *in, float *out)
{
        switch (kernel->plan.kind) {
        case KERNEL_MATMUL: {
                HYPROF_ZONE("matmul");
                return kernel->run(in, out);
        }
        case KERNEL_STENCIL: {
                HYPROF_ZONE("stencil");
                return kernel->run(in, out);
        }
        case KERNEL_SOFTMAX: {
                HYPROF_ZONE("softmax");
                return kernel->run(in, out);
        }
        case KERNEL_SCAN: {
                HYPROF_ZONE("scan");
                return kernel->run(in, out);
        }
        }
        return 0;
}

/* The next task, or NULL once the pool closes. */
static struct pool_task *take_task(struct worker_pool *pool)
{
        struct pool_task *task = NULL;
        size_t n_waiting = 0;

        (void)pthread_mutex_lock(&pool->lock);
        while (pool->n_taken == pool->n_tasks && !pool->closing)
                (void)pthread_cond_wait(&pool->work_came, &pool->lock);
        if (pool->n_taken < pool->n_tasks) {
                task = &pool->tasks[pool->n_taken++];
                n_waiting = pool->n_tasks - pool->n_taken;
        }
        (void)pthread_mutex_unlock(&pool->lock);
        if (task)
                HYPROF_PLOT_INT("queue depth", (int64_t)n_waiting);
        return task;
}

static void finish_task(struct worker_pool *pool)
{
        (void)pthread_mutex_lock(&pool->lock);
        if (++pool->n_done == pool->n_tasks)
                (void)pthread_cond_signal(&pool->batch_done);
        (void)pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument)
{
        struct pool_worker *w = argument;
        struct pool_task *task;
        char name[16];

        (void)snprintf(name, sizeof(name), "worker %d", w->index);
        hyprof_thread_name(name);
        while ((task = take_task(w->pool)) != NULL) {
                HYPROF_ZONE("task");
                task->checksum = run_kernel(task->kernel, w->pool->in, w->out);
                finish_task(w->pool);
        }
        return NULL;
}

struct worker_pool *worker_pool_new(int n_workers, const float *in)
{
        struct worker_pool *pool = calloc(1, sizeof(*pool) + (size_t)n_workers * sizeof(pool->workers[0]));

        if (!pool)
                return NULL;
        (void)pthread_mutex_init(&pool->lock, NULL);
        (void)pthread_cond_init(&pool->work_came, NULL);
        (void)pthread_cond_init(&pool->batch_done, NULL);
        pool->in = in;
        for (int i = 0; i < n_workers; i++) {
                struct pool_worker *w = &pool->workers[i];

                w->pool = pool;
                w->index = i;
                w->out = calloc(KERNEL_FLOATS, sizeof(*w->out));
                if (!w->out || pthread_create(&w->thread, NULL, work, w) != 0) {
                        free(w->out);
                        worker_pool_free(pool);
                        return NULL;
                }
                pool->n_workers++;
        }
        return pool;
}

void worker_pool_free(struct worker_pool *pool)
{
        if (!pool)
                return;
        (void)pthread_mutex_lock(&pool->lock);
        pool->closing = 1;
        (void)pthread_cond_broadcast(&pool->work_came);
        (void)pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < pool->n_workers; i++) {
                (void)pthread_join(pool->workers[i].thread, NULL);
                free(pool->workers[i].out);
        }
        (void)pthread_cond_destroy(&pool->batch_done);
        (void)pthread_cond_destroy(&pool->work_came);
        (void)pthread_mutex_destroy(&pool->lock);
        free(pool);
}

void worker_pool_dispatch(struct worker_pool *pool, struct pool_task *tasks, size_t n_tasks)
{
        HYPROF_ZONE("dispatch");
        (void)pthread_mutex_lock(&pool->lock);
        pool->tasks = tasks;
        pool->n_tasks = n_tasks;
        pool->n_taken = 0;
        pool->n_done = 0;
        (void)pthread_cond_broadcast(&pool->work_came);
        (void)pthread_mutex_unlock(&pool->lock);
        HYPROF_PLOT_INT("queue depth", (int64_t)n_tasks);
}

void worker_pool_wait(struct worker_pool *pool)
{
        HYPROF_ZONE("wait");
        (void)pthread_mutex_lock(&pool->lock);
        while (pool->n_done < pool->n_tasks)
                (void)pthread_cond_wait(&pool->batch_done, &pool->lock);
        (void)pthread_mutex_unlock(&pool->lock);
}
