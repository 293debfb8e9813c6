/* SPDX-License-Identifier: MIT */
/* base/io.c: all bytes or an error, whatever the kernel does in one call */
#include "base/io.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BIG_BYTES       300000
#define N_INTERRUPTIONS 200

/* A file in memory with BIG_BYTES of a pattern, and the path to open it by. */
static int make_file(char path[40])
{
        int fd = memfd_create("io", MFD_CLOEXEC);
        uint8_t *bytes = malloc(BIG_BYTES);

        ck_assert_int_ge(fd, 0);
        ck_assert_ptr_nonnull(bytes);
        for (size_t i = 0; i < BIG_BYTES; i++)
                bytes[i] = (uint8_t)(i * 7 >> 3);
        ck_assert_int_eq(io_write_all(fd, bytes, BIG_BYTES, NULL), 0);
        free(bytes);
        (void)snprintf(path, 40, "/proc/self/fd/%d", fd);
        return fd;
}

static void expect_pattern(const uint8_t *bytes, size_t n, size_t offset)
{
        for (size_t i = 0; i < n; i++)
                if (bytes[i] != (uint8_t)((offset + i) * 7 >> 3))
                        ck_abort_msg("byte %zu differs", i);
}

START_TEST(test_read_file_regular)
{
        struct byte_buffer text = { .data = NULL };
        char path[40];
        int fd = make_file(path);

        byte_buffer_add(&text, "before", 6);
        ck_assert_int_eq(io_read_file(AT_FDCWD, path, BIG_BYTES, &text, NULL), 0);
        ck_assert_uint_eq(text.used_bytes, 6 + BIG_BYTES);
        ck_assert_mem_eq(text.data, "before", 6);
        expect_pattern(text.data + 6, BIG_BYTES, 0);
        ck_assert_uint_eq(text.data[text.used_bytes], 0);
        byte_buffer_deinit(&text);
        io_close(&fd);
}
END_TEST

START_TEST(test_read_file_limit)
{
        struct byte_buffer text = { .data = NULL };
        struct error err = ERROR_NONE;
        char path[40];
        int fd = make_file(path);

        ck_assert_int_eq(io_read_file(AT_FDCWD, path, BIG_BYTES - 1, &text, &err), -EFBIG);
        ck_assert_ptr_nonnull(strstr(err.text, path));
        byte_buffer_deinit(&text);
        io_close(&fd);
}
END_TEST

/* Its length is stated as 0. */
START_TEST(test_read_file_of_proc)
{
        struct byte_buffer text = { .data = NULL };
        int dir = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);

        ck_assert_int_ge(dir, 0);
        ck_assert_int_eq(io_read_file(dir, "status", 1 << 20, &text, NULL), 0);
        ck_assert_uint_gt(text.used_bytes, 100);
        ck_assert_uint_eq(strlen((const char *)text.data), text.used_bytes);
        ck_assert_int_eq(strncmp((const char *)text.data, "Name:", 5), 0);
        byte_buffer_deinit(&text);
        io_close(&dir);
}
END_TEST

START_TEST(test_read_file_that_cannot_be_read)
{
        struct byte_buffer text = { .data = NULL };
        struct error err = ERROR_NONE;

        ck_assert_int_eq(io_read_file(AT_FDCWD, "/nowhere/at/all", 10, &text, &err), -ENOENT);
        ck_assert_str_eq(err.text, "/nowhere/at/all: No such file or directory");
        ck_assert_int_eq(io_read_file(AT_FDCWD, "/proc", 10, &text, &err), -EISDIR);
        ck_assert_ptr_nonnull(strstr(err.text, "/proc: "));
        ck_assert_uint_eq(text.used_bytes, 0);
        byte_buffer_deinit(&text);
}
END_TEST

START_TEST(test_pread_leaves_the_position)
{
        uint8_t bytes[1000];
        char path[40];
        int fd = make_file(path);
        size_t got;

        ck_assert_int_eq(lseek(fd, 5, SEEK_SET), 5);
        ck_assert_int_eq(io_pread_full(fd, bytes, 1000, 777, &got, NULL), 0);
        ck_assert_uint_eq(got, 1000);
        expect_pattern(bytes, got, 777);
        ck_assert_int_eq(io_pread_full(fd, bytes, 1000, BIG_BYTES - 10, &got, NULL), 0);
        ck_assert_uint_eq(got, 10);
        expect_pattern(bytes, got, BIG_BYTES - 10);
        ck_assert_int_eq(io_pread_full(fd, bytes, 1000, BIG_BYTES + 10, &got, NULL), 0);
        ck_assert_uint_eq(got, 0);
        ck_assert_int_eq(io_pread_full(fd, bytes, 1000, UINT64_MAX - 5, &got, NULL), -EINVAL);
        ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 5);
        io_close(&fd);
}
END_TEST

START_TEST(test_read_full_of_a_pipe_in_pieces)
{
        char text[100];
        int ends[2];
        size_t got = 0;

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_DIRECT), 0); /* a read gives one piece at most */
        ck_assert_int_eq(io_write_all(ends[1], "abc", 3, NULL), 0);
        ck_assert_int_eq(io_write_all(ends[1], "defgh", 5, NULL), 0);
        io_close(&ends[1]);
        ck_assert_int_eq(ends[1], -1);
        ck_assert_int_eq(io_read_full(ends[0], text, sizeof(text), &got, NULL), 0);
        ck_assert_uint_eq(got, 8);
        ck_assert_mem_eq(text, "abcdefgh", 8);
        io_close(&ends[0]);
        io_close(&ends[0]);
}
END_TEST

START_TEST(test_failures_have_their_code_and_words)
{
        struct error err = ERROR_NONE;
        char byte = 0;
        size_t got = 77;
        int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

        ck_assert_int_ge(full, 0);
        ck_assert_int_eq(io_write_all(full, "abc", 3, &err), -ENOSPC);
        ck_assert_ptr_nonnull(strstr(err.text, "3 bytes"));
        ck_assert_int_eq(io_read_full(full, &byte, 1, &got, &err), -EBADF);
        ck_assert_uint_eq(got, 77);
        io_close(&full);
}
END_TEST

static atomic_int n_interruptions;

static void count_interruption(int signal_number)
{
        (void)signal_number;
        atomic_fetch_add(&n_interruptions, 1);
}

struct interruption {
        pthread_t reader;
        int fd;
};

/*
 * Interrupts the reader over and over, each time it has noticed the last one; then
 * gives it what it waits for.
 */
static void *interrupt(void *argument)
{
        const struct interruption *to = argument;

        for (int i = 0; i < N_INTERRUPTIONS; i++) {
                (void)pthread_kill(to->reader, SIGUSR1);
                while (atomic_load(&n_interruptions) <= i)
                        (void)sched_yield();
        }
        (void)io_write_all(to->fd, "done", 4, NULL);
        return NULL;
}

START_TEST(test_signals_do_not_end_a_read)
{
        struct sigaction action = { .sa_handler = count_interruption }; /* without SA_RESTART */
        struct interruption to = { .reader = pthread_self() };
        char text[4];
        int ends[2];
        size_t got = 0;
        pthread_t thread;

        ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        to.fd = ends[1];
        ck_assert_int_eq(pthread_create(&thread, NULL, interrupt, &to), 0);
        ck_assert_int_eq(io_read_full(ends[0], text, sizeof(text), &got, NULL), 0);
        ck_assert_uint_eq(got, 4);
        ck_assert_mem_eq(text, "done", 4);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        io_close(&ends[0]);
        io_close(&ends[1]);
}
END_TEST
