/* SPDX-License-Identifier: MIT */
#include "sampler/writer_thread.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_writer.h"
#include "sampler/privileges.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define QUEUE_ITEMS   64 /* bodies are about a mebibyte, a few at most: this bounds the memory */
#define LOOK_AGAIN_NS (100 * NS_PER_MS)

struct queued_chunk {
        struct trace_chunk_header header;
        struct byte_buffer body;
};

struct writer_thread {
        pthread_t thread;
        struct trace_writer *writer; /* the thread's */
        int fail_fd, stop_fd;
        pthread_mutex_t lock; /* guards everything below */
        pthread_cond_t changed;
        struct queued_chunk queue[QUEUE_ITEMS];
        size_t first, n_queued;
        bool ending;
        uint64_t n_bytes;
        struct error failure; /* code 0 while all is well */
};

/* Writes one chunk without the lock; what fails once fails for good. */
static void write_one(struct writer_thread *t, struct queued_chunk *chunk)
{
        static const uint64_t one = 1;
        struct error err = ERROR_NONE;
        int r = trace_writer_put(t->writer, chunk->header, chunk->body.data, chunk->body.used_bytes, &err);

        byte_buffer_deinit(&chunk->body);
        (void)pthread_mutex_lock(&t->lock);
        t->n_bytes = trace_writer_count_bytes(t->writer);
        if (r < 0 && t->failure.code == 0) {
                t->failure = err;
                if (t->fail_fd >= 0)
                        (void)io_write_all(t->fail_fd, &one, sizeof(one), NULL);
        }
        (void)pthread_mutex_unlock(&t->lock);
}

/* The next chunk; false when all is written and nothing more comes. */
static bool take(struct writer_thread *t, struct queued_chunk *ret_chunk)
{
        bool some;

        (void)pthread_mutex_lock(&t->lock);
        while (t->n_queued == 0 && !t->ending)
                (void)pthread_cond_wait(&t->changed, &t->lock);
        some = t->n_queued > 0;
        if (some) {
                *ret_chunk = t->queue[t->first];
                t->first = (t->first + 1) % QUEUE_ITEMS;
                t->n_queued--;
                (void)pthread_cond_signal(&t->changed);
        }
        (void)pthread_mutex_unlock(&t->lock);
        return some;
}

static void *run(void *context)
{
        struct writer_thread *t = context;
        struct queued_chunk chunk;

        (void)privileges_drop(NULL); /* it compresses and writes; fails for nobody who is let in here */
        while (take(t, &chunk))
                write_one(t, &chunk);
        return NULL;
}

int writer_thread_start(struct trace_writer *writer, int fail_fd, int stop_fd,
                        struct writer_thread **ret_thread, struct error *err)
{
        struct writer_thread *t = calloc(1, sizeof(*t));
        int code;

        if (!t)
                return error_set(err, -ENOMEM, "no memory for the writer thread");
        t->writer = writer;
        t->fail_fd = fail_fd;
        t->stop_fd = stop_fd;
        t->n_bytes = trace_writer_count_bytes(writer);
        (void)pthread_mutex_init(&t->lock, NULL);
        (void)pthread_cond_init(&t->changed, NULL);
        code = pthread_create(&t->thread, NULL, run, t);
        if (code != 0) {
                (void)pthread_cond_destroy(&t->changed);
                (void)pthread_mutex_destroy(&t->lock);
                free(t);
                return error_set(err, -code, "cannot start the writer thread");
        }
        (void)pthread_setname_np(t->thread, "hyprof-writer");
        *ret_thread = t;
        return 0;
}

/* When to look again whether somebody wants us to stop. */
static struct timespec look_again(void)
{
        struct timespec when;

        (void)clock_gettime(CLOCK_REALTIME, &when); /* the clock of the waits below */
        when.tv_nsec += (long)LOOK_AGAIN_NS;
        if (when.tv_nsec >= (long)NS_PER_S) {
                when.tv_nsec -= (long)NS_PER_S;
                when.tv_sec++;
        }
        return when;
}

static bool is_stopped(const struct writer_thread *t)
{
        struct pollfd stop = { .fd = t->stop_fd, .events = POLLIN };

        return t->stop_fd >= 0 && poll(&stop, 1, 0) > 0;
}

int writer_thread_put(struct writer_thread *t, const struct trace_chunk_header *header,
                      struct byte_buffer *body)
{
        int r;

        (void)pthread_mutex_lock(&t->lock);
        while (t->n_queued == QUEUE_ITEMS && t->failure.code == 0 && !is_stopped(t)) {
                const struct timespec when = look_again();

                (void)pthread_cond_timedwait(&t->changed, &t->lock, &when);
        }
        r = t->failure.code;
        if (r == 0 && t->n_queued == QUEUE_ITEMS)
                r = -EINTR;
        if (r == 0) {
                t->queue[(t->first + t->n_queued) % QUEUE_ITEMS] = (struct queued_chunk){ .header = *header,
                                                                                          .body = *body };
                t->n_queued++;
                *body = (struct byte_buffer){ .data = NULL };
                (void)pthread_cond_signal(&t->changed);
        }
        (void)pthread_mutex_unlock(&t->lock);
        if (r < 0)
                byte_buffer_deinit(body);
        return r;
}

bool writer_thread_has_room(struct writer_thread *t)
{
        bool has_room;

        (void)pthread_mutex_lock(&t->lock);
        has_room = t->n_queued < QUEUE_ITEMS / 4;
        (void)pthread_mutex_unlock(&t->lock);
        return has_room;
}

uint64_t writer_thread_count_bytes(struct writer_thread *t)
{
        uint64_t n_bytes;

        (void)pthread_mutex_lock(&t->lock);
        n_bytes = t->n_bytes;
        (void)pthread_mutex_unlock(&t->lock);
        return n_bytes;
}

int writer_thread_join(struct writer_thread *t, struct error *err)
{
        struct timespec when;
        int r;

        (void)pthread_mutex_lock(&t->lock);
        t->ending = true;
        (void)pthread_cond_signal(&t->changed);
        (void)pthread_mutex_unlock(&t->lock);
        do {
                when = look_again();
                r = pthread_timedjoin_np(t->thread, NULL, &when);
        } while (r != 0 && !is_stopped(t));
        if (r != 0)
                return error_set(err, -EINTR, "gave up waiting for whoever reads the trace");

        r = t->failure.code;
        if (r < 0)
                r = error_set(err, r, "%s", t->failure.text);
        (void)pthread_cond_destroy(&t->changed);
        (void)pthread_mutex_destroy(&t->lock);
        free(t);
        return r;
}
