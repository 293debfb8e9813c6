/* SPDX-License-Identifier: MIT */
#include "export/tables/sqlite_queue.h"

#include "base/error.h"
#include "base/helper_thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct sqlite_queue {
        void (*write)(struct sqlite_rows *rows, struct error *why);
        pthread_t thread;
        pthread_mutex_t lock; /* guards everything below */
        pthread_cond_t changed;
        struct sqlite_rows *queued[SQLITE_QUEUE_MAX];
        size_t first, n_queued;
        struct sqlite_rows *spare[SQLITE_QUEUE_MAX + 1]; /* empty ones */
        size_t n_spare;
        bool is_writing, ending;
        struct error why; /* the first failure; code 0 = none */
};

struct sqlite_rows *sqlite_rows_new(void)
{
        return calloc(1, sizeof(struct sqlite_rows));
}

void sqlite_rows_free(struct sqlite_rows *rows)
{
        if (rows)
                byte_buffer_deinit(&rows->texts);
        free(rows);
}

/* Called with the lock held; releases it while it writes. */
static void write_first(struct sqlite_queue *q)
{
        struct sqlite_rows *rows = q->queued[q->first];
        struct error why = q->why;

        q->first = (q->first + 1) % SQLITE_QUEUE_MAX;
        q->n_queued--;
        q->is_writing = true;
        (void)pthread_cond_broadcast(&q->changed);
        (void)pthread_mutex_unlock(&q->lock);
        if (why.code == 0)
                q->write(rows, &why);
        rows->n_rows = 0;
        byte_buffer_clear(&rows->texts);
        (void)pthread_mutex_lock(&q->lock);
        q->why = why;
        q->is_writing = false;
        q->spare[q->n_spare++] = rows; /* all that there are: those queued, and the one that is written */
        (void)pthread_cond_broadcast(&q->changed);
}

static void *run(void *context)
{
        struct sqlite_queue *q = context;

        (void)pthread_mutex_lock(&q->lock);
        while (q->n_queued > 0 || !q->ending) {
                if (q->n_queued > 0)
                        write_first(q);
                else
                        (void)pthread_cond_wait(&q->changed, &q->lock);
        }
        (void)pthread_mutex_unlock(&q->lock);
        return NULL;
}

struct sqlite_queue *sqlite_queue_start(void (*write)(struct sqlite_rows *rows, struct error *why))
{
        struct sqlite_queue *q = calloc(1, sizeof(*q));

        if (!q)
                return NULL;
        q->write = write;
        (void)pthread_mutex_init(&q->lock, NULL);
        (void)pthread_cond_init(&q->changed, NULL);
        if (helper_thread_start(&q->thread, "hyprof-sqlite", run, q) == 0)
                return q;
        (void)pthread_cond_destroy(&q->changed);
        (void)pthread_mutex_destroy(&q->lock);
        free(q);
        return NULL;
}

/* With the lock. */
static void take_failure(const struct sqlite_queue *q, struct error *why)
{
        if (why->code == 0)
                *why = q->why;
}

struct sqlite_rows *sqlite_queue_put(struct sqlite_queue *q, struct sqlite_rows *rows, struct error *why)
{
        struct sqlite_rows *empty = NULL;

        (void)pthread_mutex_lock(&q->lock);
        while (q->n_queued == SQLITE_QUEUE_MAX)
                (void)pthread_cond_wait(&q->changed, &q->lock);
        q->queued[(q->first + q->n_queued) % SQLITE_QUEUE_MAX] = rows;
        q->n_queued++;
        if (q->n_spare > 0)
                empty = q->spare[--q->n_spare];
        take_failure(q, why);
        (void)pthread_cond_broadcast(&q->changed);
        (void)pthread_mutex_unlock(&q->lock);
        return empty ? empty : sqlite_rows_new();
}

void sqlite_queue_drain(struct sqlite_queue *q, struct error *why)
{
        (void)pthread_mutex_lock(&q->lock);
        while (q->n_queued > 0 || q->is_writing)
                (void)pthread_cond_wait(&q->changed, &q->lock);
        take_failure(q, why);
        (void)pthread_mutex_unlock(&q->lock);
}

void sqlite_queue_stop(struct sqlite_queue *q, struct error *why)
{
        if (!q)
                return;
        sqlite_queue_drain(q, why);
        (void)pthread_mutex_lock(&q->lock);
        q->ending = true;
        (void)pthread_cond_broadcast(&q->changed);
        (void)pthread_mutex_unlock(&q->lock);
        (void)pthread_join(q->thread, NULL);
        for (size_t i = 0; i < q->n_spare; i++)
                sqlite_rows_free(q->spare[i]);
        (void)pthread_cond_destroy(&q->changed);
        (void)pthread_mutex_destroy(&q->lock);
        free(q);
}
