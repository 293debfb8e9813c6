/* SPDX-License-Identifier: MIT */
#include "tests/unit/built_files.h"

#include <check.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATHS         8
#define COMMAND_BYTES 4096

void built_files_init(struct built_files *b)
{
        (void)snprintf(b->folder, sizeof(b->folder), "/tmp/hyprof-built-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(b->folder));
}

static bool run_shell(const char *command)
{
        char *words = strdup(command);
        char shell[] = "sh", option[] = "-c";
        char *const argv[] = { shell, option, words, NULL };
        int status = -1;
        pid_t pid;

        if (posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) == 0)
                (void)waitpid(pid, &status, 0);
        free(words);
        return status == 0;
}

void built_files_deinit(struct built_files *b)
{
        char command[COMMAND_BYTES];

        (void)snprintf(command, sizeof(command), "rm -rf '%s'", b->folder);
        ck_assert(run_shell(command));
}

const char *built_files_path(const struct built_files *b, const char *name)
{
        static char paths[PATHS][BUILT_FILES_PATH_BYTES];
        static unsigned next;
        char *path = paths[next++ % PATHS];

        (void)snprintf(path, BUILT_FILES_PATH_BYTES, "%s/%s", b->folder, name);
        return path;
}

void built_files_write(const struct built_files *b, const char *name, const char *text)
{
        FILE *file = fopen(built_files_path(b, name), "we");

        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(text, file), 0);
        ck_assert_int_eq(fclose(file), 0);
}

bool built_files_run(const struct built_files *b, const char *command)
{
        char words[COMMAND_BYTES];

        ck_assert_int_lt(
                snprintf(words, sizeof(words), "cd '%s' && { %s; } >/dev/null 2>&1", b->folder, command),
                COMMAND_BYTES);
        return run_shell(words);
}

bool built_files_has(const char *program)
{
        char words[COMMAND_BYTES];

        (void)snprintf(words, sizeof(words), "command -v %s >/dev/null", program);
        if (run_shell(words))
                return true;
        printf("skipped: %s is not installed\n", program);
        return false;
}
