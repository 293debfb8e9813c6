/* SPDX-License-Identifier: MIT */
#include "tests/unit/ran_report.h"

#include "cli/exit_status.h"
#include "cli/manual/commands.h"
#include "view/text/utf8.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARGS_MAX 16

static char *read_back(int fd)
{
        off_t n_bytes = lseek(fd, 0, SEEK_END);
        char *text;

        if (n_bytes < 0)
                n_bytes = 0; /* a pipe, or the like: nothing to read back */
        text = calloc((size_t)n_bytes + 1, 1);
        ck_assert_ptr_nonnull(text);
        if (n_bytes > 0)
                ck_assert_int_eq(pread(fd, text, (size_t)n_bytes, 0), n_bytes);
        (void)close(fd);
        return text;
}

/* Puts @fd in the place of @std_fd.  Returns a copy of what was there. */
static int redirect(int std_fd, int fd)
{
        int saved = dup(std_fd);

        ck_assert_int_ge(dup2(fd, std_fd), 0);
        return saved;
}

static void restore(int std_fd, int saved)
{
        ck_assert_int_ge(dup2(saved, std_fd), 0);
        (void)close(saved);
}

static struct ran_report run(int out_fd, int argc, const char *const *argv)
{
        char *copy[ARGS_MAX] = { NULL };
        struct ran_report output = { .err = NULL };
        int saved_out;

        ck_assert_int_le(argc, ARGS_MAX);
        for (int i = 0; i < argc; i++)
                copy[i] = strdup(argv[i]); /* getopt may move them */
        (void)fflush(stdout);
        saved_out = redirect(STDOUT_FILENO, out_fd);
        output.status = cmd_report(argc, copy);
        (void)fflush(stdout);
        restore(STDOUT_FILENO, saved_out);
        clearerr(stdout);
        output.out = read_back(out_fd);
        for (int i = 0; i < argc; i++)
                free(copy[i]);
        return output;
}

struct ran_report ran_report_run_into(int out_fd, int argc, const char *const *argv)
{
        int err_fd = memfd_create("err", MFD_CLOEXEC), saved_err;
        struct ran_report output;

        (void)fflush(stderr);
        saved_err = redirect(STDERR_FILENO, err_fd);
        output = run(out_fd, argc, argv);
        restore(STDERR_FILENO, saved_err);
        output.err = read_back(err_fd);
        return output;
}

struct ran_report ran_report_run(const char *path, const char *const *words)
{
        const char *argv[ARGS_MAX] = { "report" };
        int argc = 1;

        for (; *words && argc + 1 < ARGS_MAX; words++)
                argv[argc++] = *words;
        argv[argc++] = path;
        return run(memfd_create("out", MFD_CLOEXEC), argc, argv);
}

json_t *ran_report_load(const char *path, const char *const *words)
{
        struct ran_report output = ran_report_run(path, words);
        json_t *root = json_loads(output.out, 0, NULL);

        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_ptr_nonnull(root);
        free(output.out);
        return root;
}

json_t *ran_report_row(json_t *root, const char *table, size_t row)
{
        json_t *found = json_array_get(json_object_get(json_object_get(root, table), "rows"), row);

        ck_assert_ptr_nonnull(found);
        return found;
}

long long ran_report_number(json_t *object, const char *key)
{
        json_t *found = json_object_get(object, key);

        ck_assert_msg(json_is_integer(found), "%s is no number", key);
        return json_integer_value(found);
}

void ran_report_check_text(const char *text)
{
        uint32_t n_columns = 0;

        for (size_t i = 0, n_bytes = strlen(text); i < n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(text + i, n_bytes - i, &character);

                ck_assert_uint_gt(length, 0);
                i += length;
                n_columns = character == '\n' ? 0 : n_columns + 1;
                ck_assert_msg(character == '\n' || utf8_is_safe(character), "character %x in: %s", character,
                              text);
                ck_assert_msg(n_columns <= 120, "a line is too long: %s", text);
        }
}
