/* SPDX-License-Identifier: MIT */
/*
 * A file that is written over in its place has a new version for those who map it later, and what was
 * changed too early has none.
 */
#include "base/clock.h"
#include "base/io.h"
#include "sampler/keep/file_versions.h"
#include "sampler/keep/opened_files.h"
#include "sampler/kernel/perf_record.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char path[] = "/tmp/test_file_versions.XXXXXX";
static struct file_versions *versions;
static struct opened_files opened;
static uint64_t origin_ns; /* of the clock of the records; files are dated from a second before it on */
static int fd;

/* The file has so many bytes since then. */
static void write_file(off_t n_bytes, int64_t after_ns)
{
        int64_t age_ns = (int64_t)(clock_raw_ns() - origin_ns) - after_ns;
        struct timespec times[2];
        int64_t at_ns;

        ck_assert_int_eq(ftruncate(fd, n_bytes), 0);
        (void)clock_gettime(CLOCK_REALTIME, &times[0]);
        at_ns = times[0].tv_sec * (int64_t)NS_PER_S + times[0].tv_nsec - age_ns;
        times[0] = (struct timespec){ .tv_sec = at_ns / (int64_t)NS_PER_S,
                                      .tv_nsec = at_ns % (int64_t)NS_PER_S };
        times[1] = times[0];
        ck_assert_int_eq(futimens(fd, times), 0);
}

static void find(int64_t after_ns, struct file_version *ret_version)
{
        const struct perf_mmap mmap = { .inode = 7,
                                        .executable = true,
                                        .time_ns = origin_ns + (uint64_t)after_ns,
                                        .path = path,
                                        .path_bytes = strlen(path) };
        struct stat status;
        struct perf_mmap own = mmap;

        ck_assert_int_eq(fstat(fd, &status), 0);
        own.inode = status.st_ino;
        opened_files_put(&opened, (uint32_t)getpid(), &own, fcntl(fd, F_DUPFD_CLOEXEC, 0));
        ck_assert_int_eq(
                file_versions_find(versions, &opened, (uint32_t)getpid(), &own, own.time_ns, ret_version), 0);
}

static void setup(void)
{
        (void)strcpy(path + strlen(path) - 6, "XXXXXX");
        fd = mkostemp(path, O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        origin_ns = clock_raw_ns() - 10 * NS_PER_S;
        versions = file_versions_new();
        ck_assert_ptr_nonnull(versions);
        opened_files_init(&opened);
}

static void teardown(void)
{
        file_versions_free(versions);
        opened_files_deinit(&opened);
        (void)unlink(path);
        io_close(&fd);
}

#define S (int64_t) NS_PER_S

START_TEST(one_content_is_one_version)
{
        struct file_version version;

        write_file(10, -S);
        find(0, &version);
        ck_assert_uint_eq(version.number, 0);
        find(S, &version);
        ck_assert_uint_eq(version.number, 0);
        ck_assert(!version.is_lost);
}
END_TEST

START_TEST(another_content_is_another_version)
{
        struct file_version version;

        write_file(10, -S);
        find(0, &version);
        write_file(10, 1 * S);
        find(2 * S, &version);
        ck_assert_uint_eq(version.number, 1);
        ck_assert(!version.is_lost);
        write_file(11, 1 * S);
        find(3 * S, &version);
        ck_assert_uint_eq(version.number, 2);
        /* The first answer is given again, whatever the file is by now. */
        find(0, &version);
        ck_assert_uint_eq(version.number, 0);
        find(2 * S, &version);
        ck_assert_uint_eq(version.number, 1);
}
END_TEST

/* As tar and rsync do: its time of writing is set back.  A link alone is no other content. */
START_TEST(another_content_may_have_the_same_time)
{
        struct file_version version;
        struct timespec times[2], written_ctim;
        struct stat status;
        char link_path[sizeof(path) + 1];

        write_file(10, -S);
        find(0, &version);
        (void)snprintf(link_path, sizeof(link_path), "%s2", path);
        ck_assert_int_eq(link(path, link_path), 0);
        find(11 * S, &version);
        ck_assert_uint_eq(version.number, 0);
        ck_assert_int_eq(unlink(link_path), 0);
        find(12 * S, &version);
        ck_assert_uint_eq(version.number, 0);
        ck_assert_int_eq(fstat(fd, &status), 0);
        times[0] = status.st_atim;
        times[1] = status.st_mtim;
        written_ctim = status.st_ctim;
        /* Before Linux 6.13 the times of files stand still for a tick, which may be longer than all this. */
        do {
                ck_assert_int_eq(pwrite(fd, "other", 5, 0), 5);
                ck_assert_int_eq(futimens(fd, times), 0);
                ck_assert_int_eq(fstat(fd, &status), 0);
        } while (memcmp(&status.st_ctim, &written_ctim, sizeof(written_ctim)) == 0);
        find(13 * S, &version);
        ck_assert_uint_eq(version.number, 1);
}
END_TEST

START_TEST(what_was_changed_since_is_lost)
{
        struct file_version version;

        write_file(10, 1 * S);
        find(0, &version);
        ck_assert(version.is_lost);
        ck_assert_uint_ne(version.number, 0);
        find(2 * S, &version);
        ck_assert_uint_eq(version.number, 0);
        ck_assert(!version.is_lost);
        /* A mapping that is reported later than the next one. */
        find(S / 2, &version);
        ck_assert(version.is_lost);
        ck_assert_uint_eq(version.number, 2);
}
END_TEST

START_TEST(a_time_to_come_tells_nothing)
{
        struct file_version version;

        write_file(10, 1000 * S);
        find(0, &version);
        ck_assert(!version.is_lost);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
