/* SPDX-License-Identifier: MIT */
/*
 * cli/files/output_file.c: what was there before is kept or comes back, and no file that a link
 * points to is written to
 */
#include "base/error.h"
#include "base/io.h"
#include "cli/files/output_file.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "out.trace"
#define OLD  "out.trace.old"

/* Every test works in an empty folder of its own. */
struct folder {
        char path[PATH_MAX / 2];
};

static struct folder folder;
static struct output_file file;

static void setup(void)
{
        const char *parent = getenv("TMPDIR");

        (void)snprintf(folder.path, sizeof(folder.path), "%s/output.XXXXXX", parent ? parent : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(folder.path));
        ck_assert_int_eq(chdir(folder.path), 0);
}

static void teardown(void)
{
        static const char *const names[] = { NAME, OLD, "target", "pipe" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (unlink(names[i]) < 0)
                        (void)rmdir(names[i]);
        ck_assert_int_eq(chdir("/"), 0);
        ck_assert_int_eq(rmdir(folder.path), 0); /* nothing else was left behind */
}

static void write_file(const char *name, const char *text)
{
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, text, strlen(text), NULL), 0);
        io_close(&fd);
}

static void expect_file(const char *name, const char *text)
{
        char bytes[64] = "";
        size_t n_bytes;
        int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

        ck_assert_msg(fd >= 0, "%s", name);
        ck_assert_int_eq(io_read_full(fd, bytes, sizeof(bytes) - 1, &n_bytes, NULL), 0);
        ck_assert_str_eq(bytes, text);
        io_close(&fd);
}

static void expect_absent(const char *name)
{
        struct stat st;

        ck_assert_int_eq(lstat(name, &st), -1);
        ck_assert_int_eq(errno, ENOENT);
}

/* Opens NAME and writes @text. */
static void record(const char *text)
{
        struct error err = ERROR_NONE;

        ck_assert_msg(output_file_open(&file, NAME, 0, &err) == 0, "%s", err.text);
        ck_assert_int_eq(fcntl(file.fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(io_write_all(file.fd, text, strlen(text), NULL), 0);
}

START_TEST(test_new)
{
        record("first");
        ck_assert(file.created);
        ck_assert(!file.rotated);
        output_file_close(&file);
        ck_assert_int_eq(file.fd, -1);
        expect_file(NAME, "first");
        expect_absent(OLD);
}
END_TEST

START_TEST(test_rotation)
{
        record("first");
        output_file_close(&file);
        record("second");
        ck_assert(file.rotated);
        output_file_close(&file);
        expect_file(NAME, "second");
        expect_file(OLD, "first");
        record("third");
        output_file_close(&file);
        expect_file(NAME, "third");
        expect_file(OLD, "second");
}
END_TEST

START_TEST(test_discard)
{
        record("nothing");
        output_file_discard(&file);
        ck_assert_int_eq(file.fd, -1);
        expect_absent(NAME);

        write_file(NAME, "earlier");
        record("nothing");
        output_file_discard(&file);
        expect_file(NAME, "earlier");
        expect_absent(OLD);
}
END_TEST

START_TEST(test_folder_is_refused)
{
        struct error err = ERROR_NONE;
        struct stat st;

        ck_assert_int_eq(mkdir(NAME, 0700), 0);
        ck_assert_int_eq(output_file_open(&file, NAME, 0, &err), -EISDIR);
        ck_assert_ptr_nonnull(strstr(err.text, NAME));
        ck_assert_int_eq(file.fd, -1);
        output_file_discard(&file);
        ck_assert_int_eq(stat(NAME, &st), 0);
        expect_absent(OLD);
}
END_TEST

START_TEST(test_missing_folder)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(output_file_open(&file, "/no/such/folder/out", 0, &err), -ENOENT);
        ck_assert_ptr_nonnull(strstr(err.text, "/no/such/folder/out"));
        ck_assert_int_eq(file.fd, -1);
}
END_TEST

/* loop test: a link to a file, and one to nothing, as another user may have put there */
START_LOOP_TEST(test_link_is_not_followed, 0, 2)
{
        char target[16] = "";

        if (_i == 0)
                write_file("target", "precious");
        ck_assert_int_eq(symlink("target", NAME), 0);
        record("trace");
        expect_file(NAME, "trace");
        if (_i == 0)
                expect_file("target", "precious");
        else
                expect_absent("target");

        output_file_discard(&file);
        ck_assert_int_eq(readlink(NAME, target, sizeof(target) - 1), (ssize_t)strlen("target"));
        ck_assert_str_eq(target, "target");
        if (_i == 0)
                expect_file("target", "precious");
}
END_TEST

/*
 * loop test: a link to a device, to a pipe, and to a link to it, as /dev/stdout is: the
 * link stays, with no ".old"
 */
static const char *const followed[] = { "/dev/null", "pipe", "target" };

START_LOOP_TEST(test_link_to_device_or_pipe_is_followed, 0, sizeof(followed) / sizeof(followed[0]))
{
        struct stat st, opened;
        int reader;

        ck_assert_int_eq(mkfifo("pipe", 0600), 0);
        ck_assert_int_eq(symlink("/dev/null", "target"), 0);
        ck_assert_int_eq(symlink(followed[_i], NAME), 0);
        reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        ck_assert_int_ge(reader, 0);
        record("trace");
        ck_assert(!file.created && !file.rotated);
        ck_assert_int_eq(stat(followed[_i], &st), 0);
        ck_assert_int_eq(fstat(file.fd, &opened), 0);
        ck_assert(st.st_dev == opened.st_dev && st.st_ino == opened.st_ino);
        output_file_discard(&file);
        ck_assert_int_eq(lstat(NAME, &st), 0);
        ck_assert(S_ISLNK(st.st_mode));
        expect_absent(OLD);
        io_close(&reader);
}
END_TEST

/* Standard input is a file, as standard output is after `>file`; the link is like /dev/stdin's. */
START_TEST(test_link_to_standard_stream_is_refused)
{
        struct error err = ERROR_NONE;
        struct stat st;
        int before = dup(STDIN_FILENO);
        int fd;

        write_file("target", "precious");
        fd = open("target", O_RDONLY | O_CLOEXEC);
        ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
        ck_assert_int_eq(symlink("/proc/self/fd/0", NAME), 0);
        ck_assert_int_eq(output_file_open(&file, NAME, 0, &err), -EEXIST);
        ck_assert_ptr_nonnull(strstr(err.text, "standard stream"));
        ck_assert_int_eq(file.fd, -1);
        output_file_discard(&file);
        ck_assert_int_eq(lstat(NAME, &st), 0);
        ck_assert(S_ISLNK(st.st_mode));
        expect_absent(OLD);
        expect_file("target", "precious");
        if (before >= 0)
                ck_assert_int_eq(dup2(before, STDIN_FILENO), STDIN_FILENO);
        io_close(&before);
        io_close(&fd);
}
END_TEST

/* Something is in the way of the old file's new name: it is not written over, and not lost. */
START_TEST(test_cannot_rotate)
{
        struct error err = ERROR_NONE;

        write_file(NAME, "earlier");
        ck_assert_int_eq(mkdir(OLD, 0700), 0);
        ck_assert_int_eq(output_file_open(&file, NAME, 0, &err), -EEXIST);
        ck_assert_int_eq(file.fd, -1);
        output_file_discard(&file);
        expect_file(NAME, "earlier");
}
END_TEST

static void expect_place(enum output_file_place place, const char *name)
{
        char *found;

        ck_assert_int_eq(output_file_find(&file, &found), place);
        if (name) {
                ck_assert_ptr_nonnull(found);
                ck_assert_ptr_nonnull(strstr(found, name));
        } else {
                ck_assert_ptr_null(found);
        }
        free(found);
}

/* A file that was moved is known by its new name, or to have one; only one without any name is gone. */
START_TEST(test_moved)
{
        record("trace");
        expect_place(OUTPUT_FILE_IN_PLACE, NULL);
        ck_assert_int_eq(rename(NAME, OLD), 0);
        expect_place(OUTPUT_FILE_IS_MOVED, OLD);
        ck_assert_int_eq(rename(OLD, "target"), 0);
        write_file(NAME, "another");
        expect_place(OUTPUT_FILE_IS_MOVED, "/target");
        ck_assert_int_eq(link("target", "pipe"), 0);
        ck_assert_int_eq(unlink("target"), 0);
        expect_place(OUTPUT_FILE_IS_MOVED, NULL);
        write_file("target", "another");
        expect_place(OUTPUT_FILE_IS_MOVED, NULL);
        ck_assert_int_eq(unlink("pipe"), 0);
        expect_place(OUTPUT_FILE_IS_GONE, NULL);
        output_file_discard(&file);
        expect_file(NAME, "another");
}
END_TEST

static int take_stdout(int out, int errors)
{
        int saved[] = { dup(STDOUT_FILENO), dup(STDERR_FILENO) }, r;

        ck_assert_int_eq(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
        ck_assert_int_eq(dup2(errors, STDERR_FILENO), STDERR_FILENO);
        r = output_file_take_stdout(&file, NULL);
        ck_assert_int_eq(dup2(saved[0], STDOUT_FILENO), STDOUT_FILENO);
        ck_assert_int_eq(dup2(saved[1], STDERR_FILENO), STDERR_FILENO);
        io_close(&saved[0]);
        io_close(&saved[1]);
        if (r == 0)
                output_file_close(&file);
        return r;
}

/* Standard error must not lead to where the trace goes; to /dev/null it may. */
START_TEST(test_stdout_is_stderr)
{
        int files[] = { memfd_create("out", MFD_CLOEXEC), memfd_create("errors", MFD_CLOEXEC) };
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC), ends[2];

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert_int_eq(take_stdout(files[0], files[1]), 0);
        ck_assert_int_eq(take_stdout(files[0], files[0]), -EINVAL);
        ck_assert_int_eq(take_stdout(ends[1], files[0]), 0);
        ck_assert_int_eq(take_stdout(ends[1], ends[1]), -EINVAL);
        ck_assert_int_eq(take_stdout(nothing, nothing), 0);
        for (int i = 0; i < 2; i++) {
                io_close(&files[i]);
                io_close(&ends[i]);
        }
        io_close(&nothing);
}
END_TEST

/* Devices and pipes stay what they are. */
START_TEST(test_device_and_pipe)
{
        struct stat st;
        char text[8] = "";
        int reader;

        ck_assert_int_eq(output_file_open(&file, "/dev/null", 0, NULL), 0);
        ck_assert(!file.created && !file.rotated);
        ck_assert_int_eq(io_write_all(file.fd, "x", 1, NULL), 0);
        output_file_discard(&file);
        ck_assert_int_eq(stat("/dev/null", &st), 0);
        ck_assert(S_ISCHR(st.st_mode));

        ck_assert_int_eq(mkfifo("pipe", 0600), 0);
        reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        ck_assert_int_ge(reader, 0);
        ck_assert_int_eq(output_file_open(&file, "pipe", 0, NULL), 0);
        ck_assert(!file.created && !file.rotated);
        ck_assert_int_eq(io_write_all(file.fd, "trace", 5, NULL), 0);
        ck_assert_int_eq(read(reader, text, sizeof(text)), 5);
        output_file_discard(&file);
        ck_assert_int_eq(lstat("pipe", &st), 0);
        ck_assert(S_ISFIFO(st.st_mode));
        io_close(&reader);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
