/* SPDX-License-Identifier: MIT */
/*
 * examples/kernel_pool/worker_pool.h - threads that take tasks from one queue and run their kernels
 */
#ifndef EXAMPLES_KERNEL_POOL_WORKER_POOL_H
#define EXAMPLES_KERNEL_POOL_WORKER_POOL_H

#include <stddef.h>

struct kernel_image;
struct worker_pool;

struct pool_task {
        const struct kernel_image *kernel;
        double checksum; /* set by the worker */
};

/* Starts @n_workers threads that read @in; NULL when that is not possible. */
struct worker_pool *worker_pool_new(int n_workers, const float *in);

/* Waits for the workers to end. */
void worker_pool_free(struct worker_pool *pool);

/* Hands over @n_tasks tasks, which stay the caller's, and returns; one batch at a time. */
void worker_pool_dispatch(struct worker_pool *pool, struct pool_task *tasks, size_t n_tasks);

/* Returns when every task of the batch is done. */
void worker_pool_wait(struct worker_pool *pool);

#endif /* EXAMPLES_KERNEL_POOL_WORKER_POOL_H */
