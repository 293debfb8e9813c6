/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_cache.c, timeline_directory.c: an index is found again for its trace only, and a damaged
 * one is made again
 */
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "timeline/timeline_cache.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_query.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_ZONES 3000

struct cached {
        struct trace_builder builder;
        struct loaded_trace trace;
        struct timeline_cache cache;
        struct timeline_identity identity;
        char folder[64];
};

static struct cached c;

static void setup(void)
{
        uint32_t thread;

        trace_builder_init(&c.builder);
        trace_builder_meta(&c.builder, "start_raw_ns", "1000");
        thread = trace_builder_thread(&c.builder, 1, 1);
        (void)trace_builder_location(&c.builder, "zone");
        trace_builder_begin_run(&c.builder, thread);
        for (uint64_t i = 1; i <= N_ZONES; i++) {
                trace_builder_begin_zone(&c.builder, 1000 * i, 1);
                trace_builder_event(&c.builder, 1000 * i + 400, TRACE_OP_ZONE_END);
        }
        trace_builder_end_run(&c.builder);
        trace_builder_finish(&c.builder);
        ck_assert_int_eq(loaded_trace_open(&c.trace, c.builder.path, NULL), 0);
        ck_assert_int_eq(timeline_identity_read(c.builder.fd, &c.identity, NULL), 0);
        (void)snprintf(c.folder, sizeof(c.folder), "/tmp/test_timeline_cache.XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(c.folder));
        ck_assert_int_eq(timeline_cache_open(&c.cache, c.folder, geteuid(), getegid(), NULL), 0);
}

static void teardown(void)
{
        DIR *folder = opendir(c.folder);
        const struct dirent *entry;

        while ((entry = readdir(folder)))
                (void)unlinkat(c.cache.folder.fd, entry->d_name, 0);
        (void)closedir(folder);
        ck_assert_int_eq(rmdir(c.folder), 0);
        timeline_cache_close(&c.cache);
        loaded_trace_close(&c.trace);
        trace_builder_deinit(&c.builder);
}

static uint32_t count_files(void)
{
        DIR *folder = opendir(c.folder);
        const struct dirent *entry;
        uint32_t n = 0;

        while ((entry = readdir(folder)))
                n += entry->d_name[0] != '.';
        (void)closedir(folder);
        return n;
}

/* Makes or finds the index and looks at all of its zones.  Returns whether it was made. */
static bool use_index(void)
{
        struct timeline_view view = { .to_ns = UINT64_MAX };
        struct timeline_columns columns = { .n = 0 };
        struct timeline_index index;
        struct error err = ERROR_NONE;
        int r = timeline_cache_make(&c.cache, &c.identity, &c.trace, NULL, &index, &err);

        ck_assert_msg(r >= 0, "%s", err.text);
        ck_assert_int_eq(timeline_query_view(&index, &view, &columns, &err), 0);
        ck_assert_uint_eq(columns.n, N_ZONES);
        ck_assert_double_eq(columns.begin_ns[N_ZONES - 1], 1000.0 * (N_ZONES - 1));
        timeline_columns_deinit(&columns);
        timeline_index_deinit(&index);
        return r == 1;
}

START_TEST(an_index_is_made_once)
{
        ck_assert(use_index());
        ck_assert(!use_index());
        ck_assert_uint_eq(count_files(), 1);
}
END_TEST

/* Whatever of the trace's identity is another: its time, its length, its content. */
START_LOOP_TEST(an_index_of_another_trace_is_not_used, 0, 4)
{
        ck_assert(use_index());
        c.identity.mtime_ns += _i == 0;
        c.identity.size_bytes += _i == 1;
        c.identity.content ^= _i == 2;
        c.identity.ctime_ns += _i == 3;
        ck_assert(use_index());
        ck_assert(!use_index());
        ck_assert_uint_eq(count_files(), 1);
}
END_TEST

static int open_entry(void)
{
        DIR *folder = opendir(c.folder);
        const struct dirent *entry;
        int fd = -1;

        while ((entry = readdir(folder)))
                if (strstr(entry->d_name, ".timeline"))
                        fd = openat(c.cache.folder.fd, entry->d_name, O_RDWR);
        (void)closedir(folder);
        ck_assert_int_ge(fd, 0);
        return fd;
}

/* A byte of the head or the directory is found as the file is opened, one of a page as the page is read. */
START_TEST(a_damaged_index_is_made_again)
{
        struct stat status;
        int n_at_open = 0, n_at_read = 0;

        ck_assert(use_index());
        for (off_t at = 0;; at += at < 200 ? 1 : 333) {
                struct timeline_view view = { .to_ns = UINT64_MAX };
                struct timeline_columns columns = { .n = 0 };
                struct timeline_index index;
                uint8_t byte;
                int fd = open_entry(), r;

                ck_assert_int_eq(fstat(fd, &status), 0);
                if (at >= status.st_size) {
                        (void)close(fd);
                        break;
                }
                if (at >= 120 && at < TIMELINE_HEAD_BYTES)
                        at = TIMELINE_HEAD_BYTES;
                ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
                byte ^= 0x10;
                ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
                (void)close(fd);
                r = timeline_cache_load(&c.cache, &c.identity, &index);
                n_at_open += r == 0;
                if (r == 1) {
                        ck_assert_int_eq(timeline_query_view(&index, &view, &columns, NULL), -EBADMSG);
                        n_at_read++;
                        timeline_columns_deinit(&columns);
                        timeline_index_deinit(&index);
                        timeline_cache_forget(&c.cache, &c.identity);
                }
                ck_assert(use_index());
        }
        ck_assert_int_gt(n_at_open, 100);
        ck_assert_int_gt(n_at_read, 100);
}
END_TEST

START_TEST(a_file_that_is_cut_off_is_made_again)
{
        struct stat status;
        int fd;

        ck_assert(use_index());
        fd = open_entry();
        ck_assert_int_eq(fstat(fd, &status), 0);
        (void)close(fd);
        for (off_t length = 0; length < status.st_size; length += 977) {
                struct timeline_index index;

                fd = open_entry();
                ck_assert_int_eq(ftruncate(fd, length), 0);
                (void)close(fd);
                ck_assert_int_eq(timeline_cache_load(&c.cache, &c.identity, &index), 0);
                ck_assert(use_index());
        }
}
END_TEST

/* The bound holds for all indexes together; one that is larger by itself is not kept. */
START_TEST(the_oldest_go_when_the_folder_is_full)
{
        const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
        struct stat status;
        int fd;

        ck_assert(use_index());
        fd = open_entry();
        ck_assert_int_eq(fstat(fd, &status), 0);
        ck_assert_int_eq(futimens(fd, old), 0);
        (void)close(fd);
        c.cache.bytes_max = 2 * (uint64_t)status.st_size + 100;
        c.identity.inode += 1;
        ck_assert(use_index());
        ck_assert_uint_eq(count_files(), 2);
        c.identity.inode += 1;
        ck_assert(use_index());
        ck_assert_uint_eq(count_files(), 2);
        c.identity.inode -= 2;
        ck_assert(use_index());
        c.cache.bytes_max = 1000;
        c.identity.inode += 7;
        ck_assert(use_index());
        ck_assert(use_index());
}
END_TEST

static int stop(void *context, double part)
{
        (void)part;
        ++*(int *)context;
        return 1;
}

/* Nothing is left of an index that was not wanted to its end. */
START_TEST(an_index_that_is_stopped_is_not_kept)
{
        int n = 0;
        struct timeline_build_options options = { .progress = stop, .context = &n };
        struct timeline_index index;

        options.calls_per_progress = 100;
        ck_assert_int_eq(timeline_cache_make(&c.cache, &c.identity, &c.trace, &options, &index, NULL),
                         -ECANCELED);
        timeline_index_deinit(&index);
        ck_assert_int_eq(n, 1);
        ck_assert_uint_eq(count_files(), 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
