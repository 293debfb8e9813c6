/* SPDX-License-Identifier: MIT */
#include "cli/commands/view_pipe.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/terminal/complaint.h"
#include "format/trace_lock.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_BYTES 4096

/* The child's side.  The byte says that the lock is there, or that this file system has none. */
static _Noreturn void view_pipe_copy(int fd, int ready_fd)
{
        struct error err = ERROR_NONE;
        int r;

        (void)signal(SIGINT, SIG_IGN); /* the end of the pipe is the end */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)trace_lock_take(fd);
        (void)!write(ready_fd, "", 1);
        r = io_copy(STDIN_FILENO, fd, &err);
        if (r < 0)
                complain("error: the trace on standard input: %s", err.text);
        _exit(r < 0);
}

static int view_pipe_fork(struct view_pipe *p, int fd, struct error *err)
{
        int ready[2];
        char byte;

        if (pipe(ready) < 0)
                return error_errno(err, "a pipe for the trace on standard input");
        p->child = fork();
        if (p->child == 0)
                view_pipe_copy(fd, ready[1]);
        io_close(&ready[1]);
        if (p->child > 0)
                (void)!read(ready[0], &byte, 1);
        io_close(&ready[0]);
        if (p->child > 0)
                return 0;
        p->child = 0;
        return error_errno(err, "fork");
}

/* The first bytes: a signal before them leaves no file behind.  Returns how many, or -errno. */
static ssize_t view_pipe_begin(uint8_t *bytes, size_t n_bytes, struct error *err)
{
        ssize_t got;

        do
                got = read(STDIN_FILENO, bytes, n_bytes);
        while (got < 0 && errno == EINTR);
        if (got < 0)
                return error_errno(err, "standard input");
        return got > 0 ? got : error_set(err, -ENODATA, "standard input is empty, and no trace");
}

int view_pipe_start(struct view_pipe *p, struct error *err)
{
        uint8_t first[FIRST_BYTES];
        ssize_t n_first;
        int fd, r;

        *p = (struct view_pipe){ .child = 0 };
        n_first = view_pipe_begin(first, sizeof(first), err);
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
                r = view_pipe_fork(p, fd, err);
        io_close(&fd);
        return r;
}

void view_pipe_end(struct view_pipe *p)
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
