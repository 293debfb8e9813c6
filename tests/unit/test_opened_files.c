/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/opened_files.c: a file is found for its own mapping only, and every
 * descriptor is closed in the end
 */
#include "base/io.h"
#include "sampler/keep/opened_files.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID      7
#define N_ROUNDS 20000 /* of the threads */

static struct opened_files opened;
static int lowest_fd; /* the first descriptor that is free when nothing is open */

static int next_fd(void)
{
        int fd = dup(0), free_fd = fd;

        ck_assert_int_ge(fd, 0);
        io_close(&fd);
        return free_fd;
}

static void setup(void)
{
        lowest_fd = next_fd();
        opened_files_init(&opened);
}

static void teardown(void)
{
        opened_files_deinit(&opened);
        ck_assert_int_eq(next_fd(), lowest_fd);
}

/* The mapping that the kernel reported at this time. */
static struct perf_mmap mapping_at(uint64_t time_ns)
{
        return (struct perf_mmap){ .start_avma = 0x1000, .time_ns = time_ns, .path = "" };
}

/* A file of @n_bytes, so that it can be told from others. */
static void put(uint64_t time_ns, off_t n_bytes)
{
        struct perf_mmap mmap = mapping_at(time_ns);
        int fd = memfd_create("file", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(ftruncate(fd, n_bytes), 0);
        opened_files_put(&opened, PID, &mmap, fd);
}

/* The length of the file that is found; -1 if none is. */
static off_t find(uint32_t pid, struct perf_mmap mmap)
{
        int fd = opened_files_find(&opened, pid, &mmap);
        struct stat status;

        if (fd == -ENOENT)
                return -1;
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fstat(fd, &status), 0);
        io_close(&fd);
        return status.st_size;
}

START_TEST(test_own_mapping_only)
{
        struct perf_mmap elsewhere = mapping_at(100), unknown = mapping_at(0);

        put(100, 1);
        put(200, 2); /* the same place a moment later */
        elsewhere.start_avma = 0x2000;
        ck_assert_int_eq(find(PID, mapping_at(100)), 1);
        ck_assert_int_eq(find(PID, mapping_at(200)), 2);
        ck_assert_int_eq(find(PID, mapping_at(201)), -1);
        ck_assert_int_eq(find(PID + 1, mapping_at(100)), -1);
        ck_assert_int_eq(find(PID, elsewhere), -1);
        ck_assert_int_eq(find(PID, unknown), -1);
        ck_assert_int_eq(opened_files_find(NULL, PID, &elsewhere), -ENOENT);
}
END_TEST

/* Two may need it, each with a descriptor of his own. */
START_TEST(test_found_until_forgotten)
{
        struct perf_mmap first = mapping_at(1), second = mapping_at(2);

        put(1, 10);
        put(2, 20);
        ck_assert_int_eq(find(PID, first), 10);
        ck_assert_int_eq(find(PID, first), 10);
        opened_files_forget(&opened, PID, &second);
        opened_files_forget(&opened, PID, &second);
        ck_assert_int_eq(find(PID, second), -1);
        ck_assert_int_eq(find(PID, first), 10);
        opened_files_forget(&opened, PID, &first);
        ck_assert_int_eq(find(PID, first), -1);
        ck_assert_int_eq(next_fd(), lowest_fd);
        opened_files_forget(NULL, PID, &first);
}
END_TEST

START_TEST(test_bounded)
{
        struct perf_mmap middle = mapping_at(50);

        for (uint64_t i = 1; i <= OPENED_FILES_MAX; i++)
                put(i, (off_t)i);
        opened_files_forget(&opened, PID, &middle);
        for (uint64_t i = OPENED_FILES_MAX + 1; i <= OPENED_FILES_MAX + 60; i++)
                put(i, (off_t)i);
        for (uint64_t i = 1; i <= OPENED_FILES_MAX + 60; i++) /* the oldest have gone */
                ck_assert_int_eq(find(PID, mapping_at(i)), i <= 60 ? -1 : (off_t)i);
        ck_assert_uint_le(opened.n_files, OPENED_FILES_MAX);
        ck_assert_int_le(next_fd(), lowest_fd + OPENED_FILES_MAX);
}
END_TEST

START_TEST(test_expired)
{
        put(1000, 1);
        put(2000, 2);
        opened_files_expire(&opened, 1000 + PACE_OPENED_FILES_AGE_NS);
        ck_assert_int_eq(find(PID, mapping_at(1000)), 1);
        opened_files_expire(&opened, 1001 + PACE_OPENED_FILES_AGE_NS);
        ck_assert_int_eq(find(PID, mapping_at(1000)), -1);
        ck_assert_int_eq(find(PID, mapping_at(2000)), 2);
        opened_files_expire(&opened, UINT64_MAX);
        ck_assert_int_eq(find(PID, mapping_at(2000)), -1);
        ck_assert_int_eq(next_fd(), lowest_fd);
        opened_files_expire(&opened, UINT64_MAX);
        opened_files_expire(NULL, UINT64_MAX);
}
END_TEST

/* A file that is not here is opened. */
START_TEST(test_open_elsewhere)
{
        struct perf_mmap nowhere = mapping_at(1);
        int fd;

        ck_assert_int_lt(opened_files_open(&opened, (uint32_t)getpid(), &nowhere, NULL), 0);
        ck_assert_int_lt(opened_files_open(NULL, (uint32_t)getpid(), &nowhere, NULL), 0);
        put(1, 1);
        fd = opened_files_open(&opened, PID, &nowhere, NULL);
        ck_assert_int_ge(fd, 0);
        io_close(&fd);
}
END_TEST

static void *put_many(void *context)
{
        (void)context;
        for (uint64_t i = 1; i <= N_ROUNDS; i++)
                put(i, (off_t)i);
        return NULL;
}

/* Whatever is found is what belongs there. */
START_TEST(test_two_threads)
{
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, put_many, NULL), 0);
        for (uint64_t i = 1; i <= N_ROUNDS; i++) {
                struct perf_mmap mmap = mapping_at(i);
                off_t n_bytes = find(PID, mmap);

                ck_assert(n_bytes == -1 || n_bytes == (off_t)i);
                opened_files_forget(&opened, PID, &mmap);
        }
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
