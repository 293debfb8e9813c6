/* SPDX-License-Identifier: MIT */
#include "sampler/merge/writer_thread.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/helper_thread.h"
#include "base/io.h"
#include "format/chunk_ring.h"
#include "format/trace_writer.h"
#include "sampler/merge/ring_dump.h"
#include "sampler/pace/pace.h"
#include "sampler/rights/privileges.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define QUEUE_ITEMS 64 /* bounds memory: a body has about a mebibyte, at most a few */

/*
 * A chunk; or, where a ring is kept, a request for a snapshot or a dump, which is handled after everything
 * queued before.
 */
struct queued_chunk {
        enum { QUEUED_CHUNK, QUEUED_SNAPSHOT, QUEUED_DUMP } what;
        struct trace_chunk_header header;
        struct byte_buffer body;
        uint64_t end_ns;
        struct ring_dump *dump;
};

struct writer_thread {
        pthread_t thread;
        /* belongs to the thread, like the next three; NULL = chunks go into the ring */
        struct trace_writer *writer;
        struct chunk_ring *ring;
        struct chunk_snapshot snapshot; /* for the last request, until a dump takes it */
        struct ring_dump *dump;         /* that is being written */
        int fail_fd, stop_fd;
        pthread_mutex_t lock; /* guards everything below */
        pthread_cond_t changed;
        struct queued_chunk queue[QUEUE_ITEMS];
        size_t first, n_queued;
        bool ending, has_ended;
        uint64_t n_bytes;
        uint64_t dropped_ns;                  /* of the newest event that the ring has dropped */
        struct error failure;                 /* code 0 while all is well */
        struct writer_thread_snapshot answer; /* the facts about `snapshot` */
        bool has_answer;
        struct ring_dump *done; /* a finished dump that was not fetched yet */
};

/* The caller holds the lock.  The first failure is final. */
static void fail(struct writer_thread *t, const struct error *err)
{
        static const uint64_t one = 1;

        if (t->failure.code != 0)
                return;
        t->failure = *err;
        if (t->fail_fd >= 0)
                (void)io_write_all(t->fail_fd, &one, sizeof(one), NULL);
}

/* Writes or keeps one chunk without the lock. */
static void write_one(struct writer_thread *t, struct queued_chunk *chunk)
{
        const uint8_t *raw = chunk->body.data;
        struct error err = ERROR_NONE;
        uint64_t n_bytes;
        int r;

        if (t->ring) {
                r = chunk_ring_add(t->ring, chunk->header, raw, chunk->body.used_bytes, &err);
                n_bytes = t->ring->events_bytes + t->ring->kept_bytes;
        } else {
                r = trace_writer_put(t->writer, chunk->header, raw, chunk->body.used_bytes, &err);
                n_bytes = trace_writer_count_bytes(t->writer);
        }
        byte_buffer_deinit(&chunk->body);
        (void)pthread_mutex_lock(&t->lock);
        t->n_bytes = n_bytes;
        if (t->ring)
                t->dropped_ns = t->ring->dropped_ns;
        if (r < 0)
                fail(t, &err);
        (void)pthread_mutex_unlock(&t->lock);
}

static void take_snapshot(struct writer_thread *t, uint64_t end_ns)
{
        struct error err = ERROR_NONE;
        int r;

        chunk_snapshot_deinit(t->ring, &t->snapshot); /* one that no dump came for */
        r = chunk_ring_snapshot(t->ring, end_ns, &t->snapshot, &err);
        (void)pthread_mutex_lock(&t->lock);
        if (r < 0)
                fail(t, &err);
        t->has_answer = true;
        t->answer = (struct writer_thread_snapshot){ .from_ns = t->snapshot.from_ns,
                                                     .n_open = t->snapshot.n_open,
                                                     .is_cut = t->snapshot.is_cut };
        (void)pthread_cond_broadcast(&t->changed);
        (void)pthread_mutex_unlock(&t->lock);
}

static void do_one(struct writer_thread *t, struct queued_chunk *next)
{
        if (next->what == QUEUED_CHUNK) {
                write_one(t, next);
        } else if (next->what == QUEUED_SNAPSHOT) {
                take_snapshot(t, next->end_ns);
        } else {
                t->dump = next->dump;
                ring_dump_begin(t->dump, t->ring, &t->snapshot);
        }
}

/* A dump is written in pieces, so that new chunks do not wait for it. */
static void go_on_dumping(struct writer_thread *t)
{
        struct ring_dump *dump = t->dump;

        if (!ring_dump_step(dump, t->ring))
                return;
        t->dump = NULL;
        (void)pthread_mutex_lock(&t->lock);
        t->done = dump;
        (void)pthread_cond_broadcast(&t->changed);
        (void)pthread_mutex_unlock(&t->lock);
}

/*
 * Waits until there is something to do.
 * @ret_some:  true if *@ret_next is to be done; otherwise a dump is to go on
 * Returns false when all is written and nothing more comes.
 */
static bool take(struct writer_thread *t, struct queued_chunk *ret_next, bool *ret_some)
{
        bool some;

        (void)pthread_mutex_lock(&t->lock);
        while (t->n_queued == 0 && !t->ending && !t->dump)
                (void)pthread_cond_wait(&t->changed, &t->lock);
        /* One dump after the other. */
        some = t->n_queued > 0 && (!t->dump || t->queue[t->first].what == QUEUED_CHUNK);
        if (some) {
                *ret_next = t->queue[t->first];
                t->first = (t->first + 1) % QUEUE_ITEMS;
                t->n_queued--;
                (void)pthread_cond_broadcast(&t->changed);
        }
        (void)pthread_mutex_unlock(&t->lock);
        *ret_some = some;
        return some || t->dump;
}

static void *run(void *context)
{
        struct writer_thread *t = context;
        struct queued_chunk next;
        bool some;

        /* the thread only compresses and writes; dropping rights cannot fail here */
        (void)privileges_drop(NULL);
        while (take(t, &next, &some)) {
                if (some)
                        do_one(t, &next);
                if (t->dump)
                        go_on_dumping(t);
        }
        if (t->ring)
                chunk_snapshot_deinit(t->ring, &t->snapshot);
        (void)pthread_mutex_lock(&t->lock);
        t->has_ended = true;
        (void)pthread_cond_broadcast(&t->changed);
        (void)pthread_mutex_unlock(&t->lock);
        return NULL;
}

int writer_thread_start(struct trace_writer *writer, int fail_fd, int stop_fd,
                        struct writer_thread **ret_thread, struct error *err)
{
        const struct writer_thread_target target = { .writer = writer };

        return writer_thread_start_for(&target, fail_fd, stop_fd, ret_thread, err);
}

int writer_thread_start_for(const struct writer_thread_target *target, int fail_fd, int stop_fd,
                            struct writer_thread **ret_thread, struct error *err)
{
        struct writer_thread *t = calloc(1, sizeof(*t));
        int code;

        if (!t)
                return error_set(err, -ENOMEM, "no memory for the writer thread");
        t->writer = target->writer;
        t->ring = target->ring;
        t->fail_fd = fail_fd;
        t->stop_fd = stop_fd;
        t->n_bytes = t->writer ? trace_writer_count_bytes(t->writer) : 0;
        (void)pthread_mutex_init(&t->lock, NULL);
        timed_wait_init(&t->changed);
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

static bool is_stopped(const struct writer_thread *t)
{
        struct pollfd stop = { .fd = t->stop_fd, .events = POLLIN };

        return t->stop_fd >= 0 && poll(&stop, 1, 0) > 0;
}

/*
 * Waits for room; after a request to stop, no longer than one chunk takes, because the reader of the trace
 * may not read on.
 * Returns 0 or -errno; then nothing of @item was taken.
 */
static int put_chunk(struct writer_thread *t, const struct queued_chunk *item)
{
        uint64_t until_ns = UINT64_MAX;
        int r;

        (void)pthread_mutex_lock(&t->lock);
        while (t->n_queued == QUEUE_ITEMS && t->failure.code == 0 && clock_raw_ns() < until_ns) {
                const struct timespec when = timed_wait_end(PACE_WRITER_LOOK_NS);

                if (until_ns == UINT64_MAX && is_stopped(t))
                        until_ns = clock_raw_ns() + PACE_WRITER_STOPPED_CHUNK_NS;
                (void)pthread_cond_timedwait(&t->changed, &t->lock, &when);
        }
        r = t->failure.code;
        if (r == 0 && t->n_queued == QUEUE_ITEMS)
                r = -EINTR;
        if (r == 0) {
                t->queue[(t->first + t->n_queued) % QUEUE_ITEMS] = *item;
                t->n_queued++;
                (void)pthread_cond_broadcast(&t->changed);
        }
        (void)pthread_mutex_unlock(&t->lock);
        return r;
}

int writer_thread_put(struct writer_thread *t, const struct trace_chunk_header *header,
                      struct byte_buffer *body)
{
        const struct queued_chunk item = { .what = QUEUED_CHUNK, .header = *header, .body = *body };
        int r = put_chunk(t, &item);

        if (r < 0)
                byte_buffer_deinit(body);
        *body = (struct byte_buffer){ .data = NULL };
        return r;
}

int writer_thread_ask_snapshot(struct writer_thread *t, uint64_t end_ns)
{
        const struct queued_chunk item = { .what = QUEUED_SNAPSHOT, .end_ns = end_ns };

        return put_chunk(t, &item);
}

int writer_thread_put_dump(struct writer_thread *t, struct ring_dump *dump)
{
        const struct queued_chunk item = { .what = QUEUED_DUMP, .dump = dump };

        return put_chunk(t, &item);
}

bool writer_thread_take_snapshot(struct writer_thread *t, bool wait, struct writer_thread_snapshot *ret)
{
        bool has_answer;

        (void)pthread_mutex_lock(&t->lock);
        while (wait && !t->has_answer && t->failure.code == 0 && !is_stopped(t)) {
                const struct timespec when = timed_wait_end(PACE_WRITER_LOOK_NS);

                (void)pthread_cond_timedwait(&t->changed, &t->lock, &when);
        }
        has_answer = t->has_answer;
        *ret = t->answer;
        t->has_answer = false;
        (void)pthread_mutex_unlock(&t->lock);
        return has_answer;
}

struct ring_dump *writer_thread_take_dump(struct writer_thread *t, bool wait)
{
        struct ring_dump *done;

        (void)pthread_mutex_lock(&t->lock);
        while (wait && !t->done && !is_stopped(t)) {
                const struct timespec when = timed_wait_end(PACE_WRITER_LOOK_NS);

                (void)pthread_cond_timedwait(&t->changed, &t->lock, &when);
        }
        done = t->done;
        t->done = NULL;
        (void)pthread_mutex_unlock(&t->lock);
        return done;
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

uint64_t writer_thread_dropped_ns(struct writer_thread *t)
{
        uint64_t dropped_ns;

        (void)pthread_mutex_lock(&t->lock);
        dropped_ns = t->dropped_ns;
        (void)pthread_mutex_unlock(&t->lock);
        return dropped_ns;
}

int writer_thread_join(struct writer_thread *t, struct error *err)
{
        uint64_t until_ns = UINT64_MAX;
        bool has_ended;
        int r;

        (void)pthread_mutex_lock(&t->lock);
        t->ending = true;
        (void)pthread_cond_broadcast(&t->changed);
        while (!t->has_ended && clock_raw_ns() < until_ns) {
                const struct timespec when = timed_wait_end(PACE_WRITER_LOOK_NS);

                (void)pthread_cond_timedwait(&t->changed, &t->lock, &when);
                if (until_ns == UINT64_MAX && is_stopped(t))
                        until_ns = clock_raw_ns() + PACE_WRITER_STOPPED_END_NS;
        }
        has_ended = t->has_ended;
        (void)pthread_mutex_unlock(&t->lock);
        if (!has_ended)
                return error_set(err, -EINTR, "gave up waiting for the reader of the trace");

        (void)pthread_join(t->thread, NULL);
        r = t->failure.code;
        if (r < 0)
                r = error_set(err, r, "%s", t->failure.text);
        (void)pthread_cond_destroy(&t->changed);
        (void)pthread_mutex_destroy(&t->lock);
        ring_dump_free(t->done); /* that was not requested */
        free(t);
        return r;
}
