/* SPDX-License-Identifier: MIT */
#include "cli/viewer/viewer_start.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/exit_status.h"
#include "cli/files/cache_folder.h"
#include "cli/files/drop_rights.h"
#include "cli/terminal/complaint.h"
#include "format/trace_lock.h"
#include "symbolize/images/index_cache.h"
#include "timeline/timeline_cache.h"
#include "view/text/shell_word.h"
#include "web/server/view_front.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------ a trace on standard input */

/*
 * A trace on standard input, for the viewer: goes into a file as it comes.
 *
 * The viewer reads a trace again and again, and a pipe can be read once.
 */

struct view_pipe {
        char *path;  /* of the file; heap */
        pid_t child; /* copies; 0 = none */
};

#define FIRST_BYTES 4096

/*
 * Runs in the child.  The byte tells the parent that the lock is taken, or that this file system has no
 * locks.
 */
static _Noreturn void copy(int fd, int ready_fd)
{
        struct error err = ERROR_NONE;
        int r;

        (void)signal(SIGINT, SIG_IGN); /* the child ends when the pipe ends */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)trace_lock_take(fd);
        (void)!write(ready_fd, "", 1);
        r = io_copy(STDIN_FILENO, fd, &err);
        if (r < 0)
                complain("error: the trace on standard input: %s", err.text);
        _exit(r < 0);
}

static int start_child(struct view_pipe *p, int fd, struct error *err)
{
        int ready[2];
        char byte;

        if (pipe(ready) < 0)
                return error_errno(err, "a pipe for the trace on standard input");
        p->child = fork();
        if (p->child == 0)
                copy(fd, ready[1]);
        io_close(&ready[1]);
        if (p->child > 0)
                (void)!read(ready[0], &byte, 1);
        io_close(&ready[0]);
        if (p->child > 0)
                return 0;
        p->child = 0;
        return error_errno(err, "fork");
}

/*
 * Reads the first bytes before a file is made: a signal during this wait leaves no file behind.  Returns how
 * many bytes were read, or -errno.
 */
static ssize_t begin(uint8_t *bytes, size_t n_bytes, struct error *err)
{
        ssize_t got;

        do
                got = read(STDIN_FILENO, bytes, n_bytes);
        while (got < 0 && errno == EINTR);
        if (got < 0)
                return error_errno(err, "standard input");
        return got > 0 ? got : error_set(err, -ENODATA, "standard input is empty, and no trace");
}

/*
 * start_pipe() - copies the pipe into a growing file, locked like a trace that is being written
 * Waits for the first bytes.  A full disk ends the copy with a line on standard error.  Returns 0; -ENODATA
 * if nothing comes, -errno; to be ended in any case.
 */
static int start_pipe(struct view_pipe *p, struct error *err)
{
        uint8_t first[FIRST_BYTES];
        ssize_t n_first;
        int fd, r;

        *p = (struct view_pipe){ .child = 0 };
        n_first = begin(first, sizeof(first), err);
        if (n_first < 0)
                return (int)n_first;
        if (asprintf(&p->path, "%s/hyprof-view-XXXXXX", io_temporary_folder()) < 0) {
                p->path = NULL;
                return error_set(err, -ENOMEM, "no memory");
        }
        fd = mkstemp(p->path);
        if (fd < 0) {
                r = error_errno(err, "%s", p->path);
                free(p->path);
                p->path = NULL;
                return r;
        }
        r = io_write_all(fd, first, (size_t)n_first, err);
        if (r == 0)
                r = start_child(p, fd, err);
        io_close(&fd);
        return r;
}

/* Ends the child and removes the file. */
static void end_pipe(struct view_pipe *p)
{
        if (p->child > 0) {
                (void)kill(p->child, SIGKILL);
                while (waitpid(p->child, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        if (p->path)
                (void)unlink(p->path);
        free(p->path);
        *p = (struct view_pipe){ .path = NULL };
}

/* ------------------------------------------------------------------ the viewer */

#define SSH_PORT_STANDARD "22"

/* NULL if it is not set, or empty. */
static const char *environment(const char *name)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *value = getenv(name);

        return value && value[0] != '\0' ? value : NULL;
}

static bool has_display(void)
{
        return environment("DISPLAY") || environment("WAYLAND_DISPLAY");
}

/* "ssh -L 8080:127.0.0.1:8080 user@host", from "client-address client-port server-address server-port". */
static void print_ssh_line(uint16_t port)
{
        const char *connection = environment("SSH_CONNECTION");
        const char *user = environment("USER");
        char host[64], ssh_port[16];

        if (!connection || sscanf(connection, "%*63s %*15s %63s %15s", host, ssh_port) != 2)
                return;
        (void)printf("on the machine with the browser:  ssh -N -L %u:127.0.0.1:%u%s%s %s%s%s\n",
                     (unsigned)port, (unsigned)port, strcmp(ssh_port, SSH_PORT_STANDARD) == 0 ? "" : " -p ",
                     strcmp(ssh_port, SSH_PORT_STANDARD) == 0 ? "" : ssh_port,
                     user ? shell_word_of(user).text : "", user ? "@" : "", host);
}

/* Without its address no user could reach the viewer, so standard error has it at least. */
static void print_address(void *context, const char *url, uint16_t port)
{
        const struct viewer_start *start = context;
        struct error err = ERROR_NONE;

        (void)printf("%s\n", url);
        if (!start->quiet) {
                if (!has_display())
                        print_ssh_line(port);
                (void)printf(
                        "browsers and curl know this name; other programs use 127.0.0.1:%u, for data only\n",
                        (unsigned)port);
                (void)printf("Ctrl-C ends the viewer\n");
        }
        if (fflush(stdout) != 0) {
                (void)error_errno(&err, "standard output");
                complain("warning: %s; the address is %s", err.text, url);
        }
}

static int explain(const struct viewer_start *start, int code, const struct error *err)
{
        const char *path = start->traces.trace;

        if (start->is_pipe && strncmp(err->text, path, strlen(path)) == 0) {
                complain("error: standard input%s", err->text + strlen(path));
                complain_try("hyprof record -o - COMMAND | hyprof view -");
        } else if (code == -EADDRINUSE) {
                complain("error: %s", err->text);
                complain_try("hyprof view --port 0, which takes a free one");
        } else {
                complain_of_trace(code, start->traces.trace, err);
        }
        return EXIT_STATUS_FAILED;
}

static int serve(struct viewer_start *start)
{
        struct web_answers answers = view_answers_of(&start->traces);
        struct view_front_options options = { .trace = start->traces.trace,
                                              .before = start->traces.before,
                                              .port = start->port,
                                              .follows = start->follows,
                                              .names_come_fd = start->names_come_fd,
                                              .opens_browser = !start->no_open && has_display(),
                                              .answers = &answers,
                                              .ready = print_address,
                                              .context = start };
        struct timeline_cache cache;
        struct index_cache symbols;
        struct error err = ERROR_NONE;
        char *kept = cache_folder_find_kept();
        bool has_cache, has_symbols;
        int r;

        options.kept = kept;
        has_cache = cache_folder_open_timeline(&cache);
        has_symbols = start->follows && cache_folder_open(&symbols);
        options.cache = has_cache ? &cache : NULL;
        options.symbols = has_symbols && index_cache_prepare(&symbols, NULL) == 0 ? &symbols : NULL;
        r = view_front_run(&options, &err);
        free(kept);
        if (has_cache)
                timeline_cache_close(&cache);
        if (has_symbols)
                index_cache_close(&symbols);
        return r < 0 ? explain(start, r, &err) : EXIT_STATUS_OK;
}

/* The trace that comes on standard input is followed in a file. */
static int follow_pipe(struct viewer_start *start)
{
        struct error err = ERROR_NONE;
        struct view_pipe spool;
        int status = EXIT_STATUS_FAILED;

        if (start_pipe(&spool, &err) == 0) {
                start->traces.trace = spool.path;
                start->follows = start->is_pipe = true;
                status = serve(start);
        } else {
                complain("error: %s", err.text);
                complain_try("hyprof record -o - COMMAND | hyprof view -");
        }
        end_pipe(&spool);
        return status;
}

int viewer_start_run(struct viewer_start *start)
{
        if (drop_rights_for_good("hyprof view without sudo") < 0)
                return EXIT_STATUS_FAILED;
        if (start->ends_with_parent) /* not before the change of user, which would reset this signal */
                (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        return strcmp(start->traces.trace, "-") == 0 ? follow_pipe(start) : serve(start);
}
