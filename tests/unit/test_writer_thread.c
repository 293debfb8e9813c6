/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/writer_thread.c: chunks are written in order, however slow the file is; a failed
 * write is told to everybody
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "sampler/merge/writer_thread.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNKNOWN_KIND     4000 /* readers hand such chunks out as they are */
#define N_CHUNKS         300
#define QUEUE_ITEMS      64
#define CHUNK_BYTES      8192
#define CHUNK_FILE_BYTES (TRACE_CHUNK_HEADER_BYTES + CHUNK_BYTES)

static int fd; /* a trace in memory */
static struct trace_writer *writer;
static struct writer_thread *thread;

static void setup(void)
{
        fd = memfd_create("trace", MFD_CLOEXEC);
        ck_assert_int_eq(trace_writer_new(fd, &writer, NULL), 0);
}

static void teardown(void)
{
        trace_writer_free(writer);
        io_close(&fd);
}

/* Bytes that do not shrink, so that it is known how many come out. */
static void fill(struct byte_buffer *body, uint32_t number)
{
        uint64_t seed = number;

        byte_buffer_add_u32(body, number);
        while (body->used_bytes < CHUNK_BYTES) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                byte_buffer_add_u32(body, (uint32_t)(seed >> 32));
        }
}

static int put(uint32_t number)
{
        struct trace_chunk_header header = { .kind = UNKNOWN_KIND, .n_items = number };
        struct byte_buffer body = { .data = NULL };
        int r;

        fill(&body, number);
        r = writer_thread_put(thread, &header, &body);
        ck_assert_ptr_null(body.data); /* taken, in any case */
        ck_assert_uint_eq(body.used_bytes, 0);
        return r;
}

/* The next chunks are those with these numbers, whole. */
static void expect_chunks(struct trace_reader *reader, uint32_t first, uint32_t end)
{
        struct byte_buffer body = { .data = NULL };
        struct error err = ERROR_NONE;
        struct trace_item item;

        for (uint32_t number = first; number < end; number++) {
                ck_assert_msg(trace_reader_next(reader, &item, &err) == 1, "chunk %u: %s", number, err.text);
                ck_assert_uint_eq(item.header.kind, UNKNOWN_KIND);
                ck_assert_uint_eq(item.header.n_items, number);
                byte_buffer_clear(&body);
                fill(&body, number);
                ck_assert_uint_eq(item.body_bytes, body.used_bytes);
                ck_assert_mem_eq(item.body, body.data, body.used_bytes);
        }
        byte_buffer_deinit(&body);
}

START_TEST(test_order)
{
        struct error err = ERROR_NONE;
        struct trace_reader *reader;
        struct trace_item item;
        char path[40];

        ck_assert_int_eq(writer_thread_start(writer, -1, -1, &thread, &err), 0);
        ck_assert_uint_eq(writer_thread_count_bytes(thread), trace_writer_count_bytes(writer));
        for (uint32_t i = 0; i < N_CHUNKS; i++)
                ck_assert_int_eq(put(i), 0);
        ck_assert_msg(writer_thread_join(thread, &err) == 0, "%s", err.text);
        ck_assert_uint_ge(trace_writer_count_bytes(writer), N_CHUNKS * CHUNK_FILE_BYTES);
        ck_assert_int_eq(trace_writer_finish(writer, NULL), 0); /* it is ours again */

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        ck_assert_int_eq(trace_reader_open(path, &reader, NULL), 0);
        expect_chunks(reader, 0, N_CHUNKS);
        while (trace_reader_next(reader, &item, NULL) == 1)
                ;
        ck_assert_int_eq(trace_reader_ending(reader, NULL, NULL), TRACE_ENDING_WHOLE);
        trace_reader_close(reader);
}
END_TEST

START_TEST(test_nothing_to_write)
{
        ck_assert_int_eq(writer_thread_start(writer, -1, -1, &thread, NULL), 0);
        ck_assert_int_eq(writer_thread_join(thread, NULL), 0);
}
END_TEST

/* A collector that puts chunks one after the other, and says how many it got rid of. */
struct collector {
        atomic_uint n_put;
        int progress_fd; /* eventfd: one up for each */
};

static void *collect(void *context)
{
        static const uint64_t one = 1;
        struct collector *c = context;

        for (uint32_t i = 0; i < N_CHUNKS; i++) {
                ck_assert_int_eq(put(i), 0);
                atomic_fetch_add(&c->n_put, 1);
                ck_assert_int_eq(io_write_all(c->progress_fd, &one, sizeof(one), NULL), 0);
        }
        return NULL;
}

/* Without a reader at first, the queue fills and the collector waits.  Then it continues chunk by chunk. */
START_TEST(test_slow_file)
{
        struct collector c = { .progress_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE) };
        struct trace_reader *reader;
        pthread_t collector;
        char path[40];
        uint64_t one;
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_gt(fcntl(fds[1], F_SETPIPE_SZ, 4096), 0);
        trace_writer_free(writer); /* another one, into a pipe */
        ck_assert_int_eq(trace_writer_new(fds[1], &writer, NULL), 0);
        ck_assert_int_eq(writer_thread_start(writer, -1, -1, &thread, NULL), 0);
        ck_assert_int_eq(pthread_create(&collector, NULL, collect, &c), 0);

        /* One is stuck in the pipe, the queue holds the others: no fewer, no more. */
        for (uint32_t i = 0; i < QUEUE_ITEMS + 1; i++)
                ck_assert_int_eq(read(c.progress_fd, &one, sizeof(one)), sizeof(one));
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
        ck_assert_int_eq(trace_reader_open(path, &reader, NULL), 0);
        for (uint32_t i = 0; i < N_CHUNKS; i++) {
                ck_assert_uint_le(atomic_load(&c.n_put), i + QUEUE_ITEMS + 1);
                expect_chunks(reader, i, i + 1);
        }
        ck_assert_int_eq(pthread_join(collector, NULL), 0);
        ck_assert_int_eq(writer_thread_join(thread, NULL), 0);
        ck_assert_uint_eq(atomic_load(&c.n_put), N_CHUNKS);
        trace_reader_close(reader);
        io_close(&fds[0]);
        io_close(&fds[1]);
        io_close(&c.progress_fd);
}
END_TEST

/* After the failure that @fail_fd reported, every call fails. */
static void expect_failure(int fail_fd, int code)
{
        struct error err = ERROR_NONE;
        uint64_t n_failures;

        ck_assert_int_eq(read(fail_fd, &n_failures, sizeof(n_failures)), sizeof(n_failures));
        ck_assert_uint_eq(n_failures, 1);
        /* More than the queue holds: no thread waits for a file that takes nothing. */
        for (uint32_t i = 0; i < 2 * QUEUE_ITEMS; i++)
                ck_assert_int_eq(put(i), code);
        ck_assert_int_eq(writer_thread_join(thread, &err), code);
        ck_assert_int_eq(err.code, code);
        ck_assert_uint_ne(strlen(err.text), 0);
}

START_TEST(test_full_disk)
{
        int full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
        int fail_fd = eventfd(0, EFD_CLOEXEC);
        uint64_t n_bytes;

        ck_assert_int_ge(full_fd, 0);
        ck_assert_int_eq(dup3(full_fd, fd, O_CLOEXEC), fd);
        n_bytes = trace_writer_count_bytes(writer);
        ck_assert_int_eq(writer_thread_start(writer, fail_fd, -1, &thread, NULL), 0);
        ck_assert_int_eq(put(0), 0);
        expect_failure(fail_fd, -ENOSPC);
        ck_assert_uint_eq(trace_writer_count_bytes(writer), n_bytes);
        io_close(&full_fd);
        io_close(&fail_fd);
}
END_TEST

/* The reader of the pipe goes away while the writer waits for it and the queue fills. */
START_TEST(test_closed_pipe)
{
        int fail_fd = eventfd(0, EFD_CLOEXEC);
        int fds[2];

        (void)signal(SIGPIPE, SIG_IGN); /* as the recorder does in its way */
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_gt(fcntl(fds[1], F_SETPIPE_SZ, 4096), 0);
        trace_writer_free(writer); /* another one, into a pipe */
        ck_assert_int_eq(trace_writer_new(fds[1], &writer, NULL), 0);
        ck_assert_int_eq(writer_thread_start(writer, fail_fd, -1, &thread, NULL), 0);
        for (uint32_t i = 0; i < QUEUE_ITEMS; i++)
                ck_assert_int_eq(put(i), 0);
        io_close(&fds[0]);
        expect_failure(fail_fd, -EPIPE);
        io_close(&fds[1]);
        io_close(&fail_fd);
}
END_TEST

/* A failure is reported also if no thread watches the descriptor. */
START_TEST(test_failure_without_watcher)
{
        struct error err = ERROR_NONE;
        int full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

        ck_assert_int_eq(dup3(full_fd, fd, O_CLOEXEC), fd);
        ck_assert_int_eq(writer_thread_start(writer, -1, -1, &thread, NULL), 0);
        ck_assert_int_eq(put(0), 0);
        ck_assert_int_eq(writer_thread_join(thread, &err), -ENOSPC);
        ck_assert_uint_ne(strlen(err.text), 0);
        io_close(&full_fd);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
