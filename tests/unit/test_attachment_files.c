/* SPDX-License-Identifier: MIT */
/*
 * cli/files/attachment_files.c, cmd_check.c: attachments come out as files, never beside the folder,
 * and what lacks is said
 */
#include "cli/files/attachment_files.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/exit_status.h"
#include "cli/manual/commands.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An empty folder, and one in it that is not there yet. */
static struct {
        char outer[240], inner[260];
} f;

static struct trace_builder b;
static struct attachment_files_result result;
static struct error err;

static void set_up(void)
{
        const char *tmp = getenv("TMPDIR");

        trace_builder_init(&b);
        (void)snprintf(f.outer, sizeof(f.outer), "%.200s/hyprof-test-XXXXXX", tmp ? tmp : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(f.outer));
        (void)snprintf(f.inner, sizeof(f.inner), "%s/inner", f.outer);
}

/* How many files are in a folder; they are removed if @remove says so. */
static uint32_t walk_folder(const char *path, bool remove)
{
        DIR *folder = opendir(path);
        const struct dirent *entry;
        uint32_t n = 0;

        while (folder && (entry = readdir(folder))) {
                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                n++;
                if (remove)
                        ck_assert_int_eq(unlinkat(dirfd(folder), entry->d_name, 0), 0);
        }
        if (folder)
                (void)closedir(folder);
        return n;
}

static void tear_down(void)
{
        trace_builder_deinit(&b);
        (void)walk_folder(f.inner, true);
        (void)rmdir(f.inner);
        (void)walk_folder(f.outer, true);
        ck_assert_int_eq(rmdir(f.outer), 0);
}

/* Leaves `result` and `err`. */
static int extract(const char *folder)
{
        FILE *out = fopen("/dev/null", "we");
        struct trace_reader *reader;
        int r;

        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(trace_reader_open(b.path, &reader, NULL), 0);
        UNIT_TEST_SPOIL(result);
        r = attachment_files_extract(reader, folder, out, &result, &err);
        trace_reader_close(reader);
        (void)fclose(out);
        return r;
}

static void expect_file(const char *folder, const char *name, const char *contents)
{
        struct byte_buffer text = { .data = NULL };
        char path[400];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        ck_assert_msg(io_read_file(AT_FDCWD, path, 1 << 20, &text, NULL) == 0, "no %s", path);
        ck_assert_str_eq((const char *)text.data, contents);
        byte_buffer_deinit(&text);
}

/*
 * Three of them, whose parts lie between each other's; one has no bytes, one of them comes twice by its name.
 */
START_TEST(test_files_have_the_bytes)
{
        uint32_t first, second;

        first = trace_builder_attachment(&b, "a.mlir", 6);
        second = trace_builder_attachment(&b, "a.mlir", 4);
        (void)trace_builder_attachment(&b, NULL, 0);
        trace_builder_attachment_part(&b, first, 0, "abc", 3);
        trace_builder_attachment_part(&b, second, 0, "", 0);
        trace_builder_attachment_part(&b, second, 0, "1234", 4);
        trace_builder_attachment_part(&b, first, 3, "def", 3);
        trace_builder_finish(&b);
        ck_assert_msg(extract(f.inner) == 0, "%s", err.text);
        ck_assert_uint_eq(result.n_written, 3);
        ck_assert_uint_eq(result.n_incomplete + result.n_absent, 0);
        expect_file(f.inner, "attachment-1-a.mlir", "abcdef");
        expect_file(f.inner, "attachment-2-a.mlir", "1234");
        expect_file(f.inner, "attachment-3-unnamed", "");
        ck_assert_uint_eq(walk_folder(f.inner, false), 3);
}
END_TEST

/* loop test: whatever the program called it, the file is in the folder and its name harmless */
START_LOOP_TEST(test_hostile_names, 0, 8)
{
        static const char *const names[][2] = {
                { "../../etc/passwd", "attachment-1-passwd" },
                { "..", "attachment-1-.." },
                { "/", "attachment-1-unnamed" },
                { "dir/", "attachment-1-unnamed" },
                { "a b\n\x1b[2J;rm -rf *\\", "attachment-1-a_b___2J_rm_-rf___" },
                { "-rf", "attachment-1--rf" },
                { ".hidden", "attachment-1-.hidden" },
                { "caf\xc3\xa9", "attachment-1-caf__" },
        };

        trace_builder_attachment_part(&b, trace_builder_attachment(&b, names[_i][0], 1), 0, "x", 1);
        trace_builder_finish(&b);
        ck_assert_msg(extract(f.inner) == 0, "%s", err.text);
        expect_file(f.inner, names[_i][1], "x");
        ck_assert_uint_eq(walk_folder(f.inner, false), 1);
        ck_assert_uint_eq(walk_folder(f.outer, false), 1);
}
END_TEST

START_TEST(test_long_names_are_cut)
{
        char name[1001];
        char wanted[300] = "attachment-1-";

        memset(name, 'n', 1000);
        name[1000] = '\0';
        memset(wanted + strlen(wanted), 'n', 100);
        trace_builder_attachment_part(&b, trace_builder_attachment(&b, name, 1), 0, "x", 1);
        trace_builder_finish(&b);
        ck_assert_msg(extract(f.inner) == 0, "%s", err.text);
        expect_file(f.inner, wanted, "x");
}
END_TEST

/* loop test: in the place of the file is another one, a link to one, or a link to nothing */
START_LOOP_TEST(test_nothing_is_overwritten, 0, 3)
{
        char victim[280], file[300];
        int fd;

        (void)snprintf(victim, sizeof(victim), "%s/victim", f.outer);
        (void)snprintf(file, sizeof(file), "%s/attachment-1-a", f.inner);
        ck_assert_int_eq(mkdir(f.inner, 0700), 0);
        fd = open(_i == 0 ? file : victim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ck_assert_int_eq(io_write_all(fd, "mine", 4, NULL), 0);
        io_close(&fd);
        if (_i > 0)
                ck_assert_int_eq(symlink(_i == 1 ? victim : "/nonexistent/file", file), 0);
        trace_builder_attachment_part(&b, trace_builder_attachment(&b, "a", 1), 0, "x", 1);
        trace_builder_finish(&b);
        ck_assert_int_eq(extract(f.inner), -EEXIST);
        ck_assert_ptr_nonnull(strstr(err.text, "attachment-1-a"));
        expect_file(_i == 0 ? f.inner : f.outer, _i == 0 ? "attachment-1-a" : "victim", "mine");
}
END_TEST

START_TEST(test_folders_that_cannot_be)
{
        trace_builder_finish(&b);
        ck_assert_int_eq(extract("/nonexistent/a/b"), -ENOENT);
        ck_assert_int_eq(extract("/dev/null"), -ENOTDIR);
        ck_assert_ptr_nonnull(strstr(err.text, "/dev/null"));
}
END_TEST

/* The exit status of `hyprof check`, whose words are not looked at. */
static int check_status(const char *trace, bool mend)
{
        char command[] = "check";
        char repair[] = "--repair";
        char path[280];
        char *argv[] = { command, mend ? repair : path, mend ? path : NULL, NULL };
        int saved_out = dup(STDOUT_FILENO);
        int saved_err = dup(STDERR_FILENO);
        int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        int status;

        (void)snprintf(path, sizeof(path), "%s", trace);
        (void)fflush(stdout);
        ck_assert(dup2(null_fd, STDOUT_FILENO) >= 0 && dup2(null_fd, STDERR_FILENO) >= 0);
        status = cmd_check(mend ? 3 : 2, argv);
        (void)fflush(stdout);
        ck_assert(dup2(saved_out, STDOUT_FILENO) >= 0 && dup2(saved_err, STDERR_FILENO) >= 0);
        io_close(&null_fd);
        io_close(&saved_out);
        io_close(&saved_err);
        return status;
}

struct parts {
        uint32_t n_bytes
                [3]; /* of the first part, of the second, and of the one between them that is left out */
        int status_interrupted, status_finished;
};

/*
 * loop test: an attachment of ten bytes in two parts, in a recording that was interrupted
 * and in one that was not
 */
START_LOOP_TEST(test_check, 0, 10)
{
        static const struct parts cases[] = {
                { { 4, 6, 0 }, EXIT_STATUS_OK, EXIT_STATUS_OK },
                { { 10, 0, 0 }, EXIT_STATUS_OK, EXIT_STATUS_OK },
                { { 4, 5, 0 }, EXIT_STATUS_OK, EXIT_STATUS_FAILED },     /* the last byte lacks */
                { { 4, 5, 1 }, EXIT_STATUS_FAILED, EXIT_STATUS_FAILED }, /* one in the middle */
                { { 4, 7, 0 }, EXIT_STATUS_FAILED, EXIT_STATUS_FAILED }, /* one too many */
        };
        const struct parts *c = &cases[_i / 2];
        bool finished = _i % 2 == 1;

        trace_builder_attachment_part(&b, trace_builder_attachment(&b, "a", 10), 0, "0123456789",
                                      c->n_bytes[0]);
        trace_builder_attachment_part(&b, 1, c->n_bytes[0] + c->n_bytes[2], "0123456789", c->n_bytes[1]);
        if (finished)
                trace_builder_meta(&b, "end_raw_ns", "5");
        trace_builder_finish(&b);
        ck_assert_int_eq(check_status(b.path, false), finished ? c->status_finished : c->status_interrupted);
}
END_TEST

/* Cut in the second part: what is repaired has the first, in a new file, and the old one stays. */
START_TEST(test_repair_keeps_attachments)
{
        struct stat cut, kept;
        char path[280], old_path[300];
        int fd;

        trace_builder_attachment_part(&b, trace_builder_attachment(&b, "a", 10), 0, "0123", 4);
        trace_builder_attachment_part(&b, 1, 4, "456789", 6);
        ck_assert_int_eq(ftruncate(b.fd, lseek(b.fd, 0, SEEK_END) - 1), 0);
        (void)snprintf(path, sizeof(path), "%s/cut.hyp", f.outer);
        (void)snprintf(old_path, sizeof(old_path), "%s.unrepaired", path);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ck_assert_int_eq(lseek(b.fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(io_copy(b.fd, fd, NULL), 0);
        ck_assert_int_eq(fstat(fd, &cut), 0);
        io_close(&fd);

        ck_assert_int_eq(check_status(path, false), EXIT_STATUS_FAILED);
        ck_assert_int_eq(check_status(path, true), EXIT_STATUS_OK);
        ck_assert_int_eq(check_status(path, false), EXIT_STATUS_OK);
        ck_assert_int_eq(stat(old_path, &kept), 0);
        ck_assert(kept.st_ino == cut.st_ino && kept.st_size == cut.st_size);

        fd = open(path, O_RDONLY | O_CLOEXEC);
        ck_assert(ftruncate(b.fd, 0) == 0 && lseek(b.fd, 0, SEEK_SET) == 0);
        ck_assert_int_eq(io_copy(fd, b.fd, NULL), 0);
        io_close(&fd);
        ck_assert_int_eq(extract(f.inner), 0);
        ck_assert_uint_eq(result.n_written, 1);
        ck_assert_uint_eq(result.n_incomplete, 1);
        expect_file(f.inner, "attachment-1-a", "0123");
        ck_assert(unlink(path) == 0 && unlink(old_path) == 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
