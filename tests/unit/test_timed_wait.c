/* SPDX-License-Identifier: MIT */
/*
 * base/helper_thread.h: where the time of day is set back by an hour, the waits of the reader of code and of
 * the writer end when they should; and none of them is a loop that never sleeps
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_writer.h"
#include "sampler/keep/image_reader.h"
#include "sampler/merge/writer_thread.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __real_clock_gettime(clockid_t clock, struct timespec *ret_now);

static atomic_uint n_looks; /* at the clock */

/* The linker takes it for clock_gettime(): the time of day is set back as soon as it was read. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
        int r = __real_clock_gettime(clock, ret_now);

        atomic_fetch_add(&n_looks, 1);
        if (clock == CLOCK_REALTIME)
                ret_now->tv_sec += 3600;
        return r;
}

static int read_pipe(void *source, uint64_t bytes_max, struct byte_buffer *out, uint32_t *ret_kind,
                     struct error *err)
{
        const int *fd = source;
        char byte;

        (void)bytes_max;
        (void)out;
        (void)ret_kind;
        (void)err;
        while (read(*fd, &byte, 1) > 0)
                ;
        return -ENOENT;
}

START_TEST(test_image_reader)
{
        struct image_reader *reader;
        struct staged_image image;
        int fds[2];

        ck_assert_int_eq(image_reader_start(1 << 20, &reader, NULL), 0);
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        /* The first is being read, or waits as the others do. */
        for (int r = 0, n = 0; r == 0; n++) {
                struct image_request request = { .fd = -1, .source = { .source = fds, .read = read_pipe } };

                ck_assert_int_le(n, IMAGE_READER_QUEUE_MAX + 1);
                r = image_reader_put(reader, &request, n > IMAGE_READER_QUEUE_MAX ? NS_PER_MS : NS_PER_S);
        }
        ck_assert_int_eq(image_reader_wait(reader, NS_PER_MS), -ETIMEDOUT);
        io_close(&fds[1]);
        while (image_reader_wait(reader, 60 * NS_PER_S) == 1)
                while (image_reader_next(reader, &image) == 1)
                        ck_assert_int_eq(image.code, -ENOENT);
        image_reader_stop(reader);
        io_close(&fds[0]);
}
END_TEST

/* No answer is on its way: the request to stop alone ends these waits, while they last. */
START_TEST(test_writer_thread)
{
        const struct itimerspec soon = { .it_value.tv_nsec = 20000000 };
        struct writer_thread_snapshot snapshot;
        struct writer_thread *thread;
        struct trace_writer *writer;
        int fd = memfd_create("trace", MFD_CLOEXEC), stop_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

        ck_assert_int_eq(trace_writer_new(fd, &writer, NULL), 0);
        ck_assert_int_eq(writer_thread_start(writer, -1, stop_fd, &thread, NULL), 0);
        ck_assert_int_eq(timerfd_settime(stop_fd, 0, &soon, NULL), 0);
        ck_assert(!writer_thread_take_snapshot(thread, true, &snapshot));
        ck_assert_int_eq(timerfd_settime(stop_fd, 0, &soon, NULL), 0);
        ck_assert_ptr_null(writer_thread_take_dump(thread, true));
        ck_assert_int_eq(writer_thread_join(thread, NULL), 0);
        trace_writer_free(writer);
        io_close(&stop_fd);
        io_close(&fd);
}
END_TEST

/* Reads nothing for a while, and then all. */
static void *read_late(void *context)
{
        const struct timespec a_while = { .tv_nsec = 500 * (long)NS_PER_MS };
        const int *fd = context;
        char bytes[4096];

        (void)nanosleep(&a_while, NULL);
        while (read(*fd, bytes, sizeof(bytes)) > 0)
                ;
        return NULL;
}

/* Who waits for a slow reader of the trace looks at the clock a few times in 100 ms, and sleeps else. */
START_TEST(test_join_sleeps)
{
        struct trace_chunk_header header = { .kind = 4000 };
        struct byte_buffer body = { .data = NULL };
        struct writer_thread *thread;
        struct trace_writer *writer;
        pthread_t reader;
        uint64_t began_ns;
        unsigned looks;
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_gt(fcntl(fds[1], F_SETPIPE_SZ, 4096), 0);
        ck_assert_int_eq(trace_writer_new(fds[1], &writer, NULL), 0);
        ck_assert_int_eq(writer_thread_start(writer, -1, -1, &thread, NULL), 0);
        for (uint32_t i = 0; i < 16384; i++) /* squares do not repeat: more is left than the pipe takes */
                byte_buffer_add_u32(&body, i * i * UINT32_C(2654435761));
        ck_assert_int_eq(writer_thread_put(thread, &header, &body), 0);
        ck_assert_int_eq(pthread_create(&reader, NULL, read_late, &fds[0]), 0);

        began_ns = clock_raw_ns();
        atomic_store(&n_looks, 0);
        ck_assert_int_eq(writer_thread_join(thread, NULL), 0);
        looks = atomic_load(&n_looks);
        ck_assert_uint_le(looks, 20 + 10 * (clock_raw_ns() - began_ns) / (100 * NS_PER_MS));
        trace_writer_free(writer);
        io_close(&fds[1]);
        ck_assert_int_eq(pthread_join(reader, NULL), 0);
        io_close(&fds[0]);
}
END_TEST
