/* SPDX-License-Identifier: MIT */
#include "cli/on_host/host_place.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/on_host/host_board.h"
#include "cli/on_host/host_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDERS_MAX 8 /* of the list below */
#define TAR_WORDS   8

/*
 * Prints the machine, then a line "in FOLDER" for each folder that can hold a program, and "has FILE" for
 * what was left there.  A folder that is another user's, or a link, is not used.  Memory comes first; that of
 * a login ($XDG_RUNTIME_DIR) may go with it.
 */
static const char question[] =
        "uname -m; umask 077; u=$(id -u)\n"
        "for d in /dev/shm \"$XDG_RUNTIME_DIR\" \"$TMPDIR\" /tmp /data/local/tmp \"$HOME/.cache\"; do\n"
        "  [ -n \"$d\" ] && [ -d \"$d\" ] || continue\n"
        "  f=$d/hyprof-$u t=$d/hyprof-$u/try-$$\n"
        "  mkdir -m 700 \"$f\" 2>/dev/null\n"
        "  [ -d \"$f\" ] && [ -O \"$f\" ] && ! [ -h \"$f\" ] || continue\n"
        "  { printf '#!/bin/sh\\nexit 0\\n' >\"$t\" && chmod 700 \"$t\" && \"$t\"; } 2>/dev/null && printf 'in %s\\n' \"$f\"\n"
        "  rm -f \"$t\"\n"
        "  ls \"$f\" | sed -n 's/^hyprof-/has hyprof-/p'\n"
        "  rmdir \"$f\" 2>/dev/null\n"
        "done";

/* The answer of the host. */
struct answer {
        char *machine; /* all borrowed from the text */
        char *folders[FOLDERS_MAX];
        size_t n_folders;
        size_t has_it; /* the folder that has hyprof already; n_folders = none */
};

static void read_answer(struct answer *a, char *text, const char *hyprof_name)
{
        char *rest = text, *line;

        while ((line = strsep(&rest, "\n"))) {
                size_t n = strlen(line);

                if (n > 0 && line[n - 1] == '\r') /* of an adb that has a terminal */
                        line[n - 1] = '\0';
                if (!a->machine)
                        a->machine = line;
                else if (strncmp(line, "in /", 4) == 0 && a->n_folders < FOLDERS_MAX)
                        a->folders[a->n_folders++] = line + 3;
                else if (strncmp(line, "has ", 4) == 0 && strcmp(line + 4, hyprof_name) == 0 &&
                         a->n_folders > 0)
                        a->has_it = a->n_folders - 1;
        }
}

static int make_script(struct byte_buffer *script, struct error *err)
{
        byte_buffer_add_u8(script, '\0');
        return script->failed ? error_set(err, -ENOMEM, "no memory for a command") : 0;
}

/* Sends hyprof to @path in @folder there.  Returns 0 or -ENOSPC. */
static int send_hyprof(const struct host *host, const struct host_board *board, const char *folder,
                       const char *path, struct error *err)
{
        struct byte_buffer script = { .data = NULL };
        int r;

        byte_buffer_add_format(&script, "umask 077; n=");
        host_quote(&script, path);
        byte_buffer_add_format(&script, "; d=");
        host_quote(&script, folder);
        byte_buffer_add_format(
                &script,
                "; mkdir -m 700 \"$d\" 2>/dev/null; [ -O \"$d\" ] && ! [ -h \"$d\" ] || exit 1; "
                "t=$n.$$; cat >\"$t\" && chmod 700 \"$t\" && [ $(wc -c <\"$t\") -eq %" PRIu64
                " ] && mv -f \"$t\" \"$n\" || { rm -f \"$t\"; exit 1; }",
                board->n_bytes);
        r = make_script(&script, err);
        if (r == 0 && lseek(board->fd, 0, SEEK_SET) < 0)
                r = error_errno(err, "hyprof for the host");
        if (r == 0 && host_ask(host, (char *)script.data, board->fd, false, NULL, err) != 0)
                r = error_set(err, -ENOSPC, "%s: cannot send hyprof (%" PRIu64 " KB) to %s", host->name,
                              board->n_bytes >> 10, path);
        byte_buffer_deinit(&script);
        return r;
}

/* Runs hyprof there, which says its version, and makes the folder of this recording. */
static int make_folder(struct host_place *p, const struct host *host, const char *folder, struct error *err)
{
        struct byte_buffer script = { .data = NULL }, answer = { .data = NULL };
        char *end;
        int r;

        byte_buffer_add_format(&script, "umask 077; ");
        host_quote(&script, p->hyprof);
        byte_buffer_add_format(&script, " --version | sed -n 1p && mktemp -d ");
        host_quote(&script, folder);
        byte_buffer_add_format(&script, "/run-XXXXXX");
        r = make_script(&script, err);
        if (r == 0)
                r = host_ask(host, (char *)script.data, -1, false, &answer, err);
        byte_buffer_deinit(&script);
        if (r >= 0) {
                char *rest = (char *)answer.data;
                const char *version = rest ? strsep(&rest, "\n") : "";
                const char *wanted = "hyprof " HYPROF_VERSION;

                end = rest ? strchrnul(rest, '\n') : NULL;
                if (strncmp(version, wanted, strlen(wanted)) != 0)
                        r = error_set(err, -ENOEXEC, "%s: %s does not run there%s%s", host->name, p->hyprof,
                                      version[0] ? ", or is another version: " : "", version);
                else if (r != 0 || !rest || strncmp(rest, folder, strlen(folder)) != 0)
                        r = error_set(err, -ENOSPC, "%s: no folder can be made in %s", host->name, folder);
                else if (!(p->folder = strndup(rest, (size_t)(end - rest))))
                        r = error_set(err, -ENOMEM, "no memory for a path");
        }
        byte_buffer_deinit(&answer);
        return r;
}

/* The first folder with enough room. */
static int put_hyprof(struct host_place *p, const struct host *host, const struct host_board *board,
                      const struct answer *a, const char *name, struct error *err)
{
        bool is_there = a->has_it < a->n_folders;
        int r = error_set(err, -ENOSPC,
                          "%s: no folder there can hold hyprof: they are full, read-only or noexec",
                          host->name);

        for (size_t i = is_there ? a->has_it : 0; r == -ENOSPC && i < a->n_folders; i++) {
                if (asprintf(&p->hyprof, "%s/%s", a->folders[i], name) < 0) {
                        p->hyprof = NULL;
                        return error_set(err, -ENOMEM, "no memory for a path");
                }
                r = is_there ? 0 : send_hyprof(host, board, a->folders[i], p->hyprof, err);
                if (r == 0)
                        r = make_folder(p, host, a->folders[i], err);
                if (r < 0) {
                        free(p->hyprof);
                        p->hyprof = NULL;
                }
                is_there = false;
        }
        return r;
}

static int take_answer(struct host_place *p, const struct host *host, char *text, struct error *err)
{
        struct answer answer = { .machine = NULL };
        struct host_board board;
        char name[64];
        int r;

        p->machine = strndup(text, strcspn(text, "\r\n"));
        if (!p->machine)
                return error_set(err, -ENOMEM, "no memory for the name of a machine");
        r = host_board_open(&board, p->machine, err);
        if (r < 0)
                return r;
        (void)snprintf(name, sizeof(name), "hyprof-%016" PRIx64, board.number);
        answer.has_it = FOLDERS_MAX;
        read_answer(&answer, text, name);
        r = put_hyprof(p, host, &board, &answer, name, err);
        host_board_close(&board);
        return r;
}

int host_place_make(struct host_place *p, const struct host *host, struct error *err)
{
        struct byte_buffer answer = { .data = NULL };
        int r;

        *p = (struct host_place){ .machine = NULL };
        r = host_ask(host, question, -1, true, &answer, err);
        if (r > 0 && answer.used_bytes == 0)
                r = error_set(err, -EHOSTUNREACH, "%s does not answer", host->name);
        if (r >= 0)
                r = take_answer(p, host, (char *)answer.data, err);
        byte_buffer_deinit(&answer);
        return r;
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* Absolute paths without links, split before the last name; the words of a `tar` that packs them. */
struct parcel {
        char *words[TAR_WORDS + 3 * HOST_PLACE_FILES_MAX]; /* heap from n_fixed on */
        size_t n_words;
};

static int add_tar_word(struct parcel *tar, char *word, struct error *err)
{
        if (!word)
                return error_set(err, -ENOMEM, "no memory for a path");
        tar->words[tar->n_words++] = word;
        return 0;
}

static bool is_named_twice(const struct parcel *tar, const char *name)
{
        for (size_t i = 2; i < tar->n_words; i += 3)
                if (strcmp(tar->words[i] + 2, name) == 0)
                        return true;
        return false;
}

/* Cuts @path, which has no slash at its end, at its last name, and returns that. */
static char *split(char *path, const char **ret_folder)
{
        char *slash = strrchr(path, '/');

        *ret_folder = !slash ? "." : slash == path ? "/" : path;
        if (slash)
                *slash = '\0';
        return slash ? slash + 1 : path;
}

static int check_name(const struct parcel *tar, const char *path, const char *name, struct error *err)
{
        if (access(path, R_OK) < 0)
                return error_errno(err, "%s", path);
        if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return error_set(err, -EINVAL, "%s has no name to be sent under", path);
        if (is_named_twice(tar, name))
                return error_set(err, -EEXIST, "two files to send are called %s", name);
        return 0;
}

/* "-C FOLDER ./NAME".  The name is the one that was given: a link is sent as what it leads to. */
static int add_file(struct parcel *tar, const char *path, struct error *err)
{
        char *copy = strdup(path), *name, *word = NULL;
        const char *folder;
        int r;

        if (!copy)
                return error_set(err, -ENOMEM, "no memory for a path");
        for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
                copy[n - 1] = '\0';
        name = split(copy, &folder);
        r = check_name(tar, path, name, err);
        if (r == 0)
                r = add_tar_word(tar, strdup("-C"), err);
        if (r == 0)
                r = add_tar_word(tar, realpath(folder, NULL), err);
        if (r == 0)
                r = add_tar_word(tar, asprintf(&word, "./%s", name) < 0 ? NULL : word, err);
        free(copy);
        return r;
}

static _Noreturn void pack(struct parcel *tar, int out_fd)
{
        char *words[TAR_WORDS + 3 * HOST_PLACE_FILES_MAX] = { (char[]){ "tar" }, (char[]){ "-chf" },
                                                              (char[]){ "-" } };

        memcpy(words + 3, tar->words, tar->n_words * sizeof(words[0]));
        words[3 + tar->n_words] = NULL;
        (void)dup2(out_fd, STDOUT_FILENO);
        (void)execvp(words[0], words);
        (void)dprintf(STDERR_FILENO, "hyprof: tar: %s\n", strerrordesc_np(errno));
        _exit(127);
}

/* Packs here, unpacks there. */
static int send_parcel(struct parcel *tar, const struct host *host, const char *folder, struct error *err)
{
        struct byte_buffer script = { .data = NULL };
        int pipe_fds[2], r;

        byte_buffer_add_format(&script, "umask 077; mkdir -p ");
        host_quote(&script, folder);
        byte_buffer_add_format(&script, "/files && tar -xf - -C ");
        host_quote(&script, folder);
        byte_buffer_add_format(&script, "/files");
        r = make_script(&script, err);
        if (r == 0 && pipe2(pipe_fds, O_CLOEXEC) < 0)
                r = error_errno(err, "pipe");
        if (r == 0) {
                pid_t packer = fork();
                int status;

                if (packer == 0)
                        pack(tar, pipe_fds[1]);
                io_close(&pipe_fds[1]);
                status = host_ask(host, (char *)script.data, pipe_fds[0], false, NULL, err);
                io_close(&pipe_fds[0]);
                if (packer < 0 || host_wait(packer) != 0 || status != 0)
                        r = error_set(err, -EIO, "the program and its files did not arrive in %s on %s",
                                      folder, host->name);
        }
        byte_buffer_deinit(&script);
        return r;
}

int host_place_send(struct host_place *p, const struct host *host, const char *const *paths, size_t n_paths,
                    struct error *err)
{
        struct parcel tar = { .n_words = 0 };
        int r = n_paths > HOST_PLACE_FILES_MAX
                        ? error_set(err, -E2BIG, "more than %d files to send: name their folder",
                                    HOST_PLACE_FILES_MAX)
                        : 0;

        for (size_t i = 0; r == 0 && i < n_paths; i++)
                r = add_file(&tar, paths[i], err);
        if (r == 0 && n_paths > 0) {
                r = send_parcel(&tar, host, p->folder, err);
                p->has_files = r == 0;
        }
        for (size_t i = 0; i < tar.n_words; i++)
                free(tar.words[i]);
        return r;
}

void host_place_remove(const struct host_place *p, const struct host *host)
{
        struct byte_buffer script = { .data = NULL };

        if (!p->folder)
                return;
        byte_buffer_add_format(&script, "rm -rf -- ");
        host_quote(&script, p->folder);
        if (make_script(&script, NULL) == 0)
                (void)host_ask(host, (char *)script.data, -1, false, NULL, NULL);
        byte_buffer_deinit(&script);
}

void host_place_deinit(struct host_place *p)
{
        free(p->machine);
        free(p->hyprof);
        free(p->folder);
        *p = (struct host_place){ .machine = NULL };
}
