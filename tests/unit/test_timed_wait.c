/* SPDX-License-Identifier: MIT */
/*
 * base/timed_wait.h: where the time of day is set back by an hour, the waits of the reader of code and of the
 * writer end when they should
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_writer.h"
#include "sampler/code/image_reader.h"
#include "sampler/merge/writer_thread.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __real_clock_gettime(clockid_t clock, struct timespec *ret_now);

/* The linker takes it for clock_gettime(): the time of day is set back as soon as it was read. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
        int r = __real_clock_gettime(clock, ret_now);

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
