/* SPDX-License-Identifier: MIT */
#include "cli/commands/view_pipe.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/terminal/complaint.h"
#include "format/trace_lock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

int view_pipe_start(struct view_pipe *p, struct error *err)
{
        int fd, r;

        *p = (struct view_pipe){ .child = 0 };
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
