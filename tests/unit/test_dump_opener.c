/* SPDX-License-Identifier: MIT */
/*
 * cli/record/dump_opener.c, ring_trigger.c: files beside the trace, each a new one with the time in its
 * name; what a trigger says
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/options/record_options.h"
#include "cli/record/dump_opener.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAMP "[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]-[0-9][0-9][0-9][0-9][0-9][0-9]*"

START_LOOP_TEST(test_names, 0, 4)
{
        static const char *const paths[] = { "trace.hyp", "./a.b.hyp", "noending", ".hidden" };
        static const char *const patterns[] = { "trace." STAMP ".hyp", "a.b." STAMP ".hyp", "noending." STAMP,
                                                ".hidden." STAMP };
        const char *parent = getenv("TMPDIR");
        char folder[PATH_MAX], names[2][DUMP_OPENER_NAME_BYTES];
        struct error err = ERROR_NONE;
        struct dump_opener o;
        bool is_spare = true;
        struct stat status;
        int fds[2];

        (void)snprintf(folder, sizeof(folder), "%s/opener.XXXXXX", parent ? parent : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        ck_assert_int_eq(chdir(folder), 0);
        ck_assert_int_eq(dump_opener_start(&o, paths[_i], _i == 0 ? 0640 : 0, &err), 0);
        ck_assert_int_eq(chdir("/"), 0); /* the folder is open */
        for (size_t i = 0; i < 2; i++) {
                ck_assert_msg(dump_opener_open(&o, &fds[i], names[i], &is_spare, &err) == 0 && !is_spare,
                              "%s", err.text);
                ck_assert_msg(fnmatch(patterns[_i], names[i], 0) == 0, "%s", names[i]);
                ck_assert_int_eq(io_write_all(fds[i], names[i], strlen(names[i]), &err), 0);
                ck_assert_int_ne(fcntl(fds[i], F_GETFD) & FD_CLOEXEC, 0);
                ck_assert_int_eq(fstat(fds[i], &status), 0);
                ck_assert_uint_eq(status.st_mode & 0777, _i == 0 ? 0640 : 0600);
                io_close(&fds[i]);
        }
        ck_assert_str_ne(names[0], names[1]); /* in the same second */
        dump_opener_remove(&o, names[0], false);
        dump_opener_remove(&o, names[1], false);
        dump_opener_stop(&o);
        ck_assert_int_eq(rmdir(folder), 0); /* nothing else was made */
}
END_TEST

START_TEST(test_no_folder)
{
        struct error err = ERROR_NONE;
        struct dump_opener o;
        char name[DUMP_OPENER_NAME_BYTES];
        bool is_spare;
        int fd;

        ck_assert_int_eq(dump_opener_start(&o, "/nowhere/x.hyp", 0, &err), -ENOENT);
        ck_assert_int_eq(dump_opener_open(&o, &fd, name, &is_spare, &err), -EPIPE);
        dump_opener_stop(&o);

        /* A name that leaves no room for the time. */
        {
                char path[300] = "/tmp/";

                memset(path + 5, 'x', 250);
                ck_assert_int_eq(dump_opener_start(&o, path, 0, &err), -ENAMETOOLONG);
        }
}
END_TEST

/* If a folder is gone, the file goes elsewhere, with the reason; a folder that takes none is refused. */
START_TEST(test_spare_folder)
{
        const char *parent = getenv("TMPDIR");
        char folder[PATH_MAX], path[PATH_MAX + 8], name[DUMP_OPENER_NAME_BYTES];
        struct error err = ERROR_NONE;
        struct dump_opener o;
        struct stat status;
        bool is_spare = false;
        int fd;

        (void)snprintf(folder, sizeof(folder), "%s/opener.XXXXXX", parent ? parent : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)snprintf(path, sizeof(path), "%s/a.hyp", folder);
        ck_assert_int_eq(dump_opener_start(&o, path, 0, &err), 0);
        ck_assert_int_eq(rmdir(folder), 0); /* the proof left nothing */
        ck_assert_int_eq(dump_opener_open(&o, &fd, name, &is_spare, &err), 0);
        ck_assert(is_spare);
        ck_assert_int_eq(err.code, -ENOENT);
        ck_assert_int_eq(fstat(fd, &status), 0);
        ck_assert_uint_eq(status.st_mode & 0777, 0600);
        dump_opener_remove(&o, name, true);
        ck_assert_int_eq(fstat(fd, &status), 0);
        ck_assert_uint_eq(status.st_nlink, 0);
        io_close(&fd);
        dump_opener_stop(&o);
        ck_assert_int_lt(dump_opener_start(&o, "/proc/a.hyp", 0, &err), 0);
}
END_TEST

START_TEST(test_triggers)
{
        static const char *const wrong[] = { "zone:>16ms", "zone:a",   "a>16ms",     "zone:a>",
                                             "zone:a>0",   "zone:a>b", "zone:a>-1s", "",
                                             "zone:",      ">",        "zone:/>1s" };
        struct ring_trigger t;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                ck_assert_msg(ring_trigger_init(&t, wrong[i]) == -EINVAL, "%s", wrong[i]);
        ck_assert_int_eq(ring_trigger_init(&t, "zone:a>b/c*>16ms"), 0);
        ck_assert_uint_eq(t.longer_than_ns, 16 * NS_PER_MS);
        ck_assert_uint_ge(t.pattern.n_choices, 1);
        ring_trigger_deinit(&t);
}
END_TEST
