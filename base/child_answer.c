/* SPDX-License-Identifier: MIT */
#include "base/child_answer.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES 65536 /* at once */

static int receive(const char *who, int pipe_fd, size_t bytes_max, struct byte_buffer *in, struct error *err)
{
        size_t n_read = READ_BYTES;

        while (n_read == READ_BYTES) {
                uint8_t *at = byte_buffer_reserve(in, READ_BYTES);
                int r = at ? io_read_full(pipe_fd, at, READ_BYTES, &n_read, err)
                           : error_set(err, -ENOMEM, "no memory for what %s sends", who);

                if (r < 0)
                        return r;
                in->used_bytes += n_read;
                if (in->used_bytes > bytes_max)
                        return error_set(err, -EBADMSG, "%s sends too much", who);
        }
        return 0;
}

/* Ends the child; how it had ended is the error. */
static int reap(const char *who, pid_t pid, struct error *err)
{
        int status = 0;

        (void)kill(pid, SIGKILL); /* changes nothing for a child that is dying already */
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return error_set(err, -EPROTO, "%s is not a child process", who);
        if (WIFSIGNALED(status))
                return error_set(err, -EPROTO, "%s was ended by signal %d (%s)", who, WTERMSIG(status),
                                 sigdescr_np(WTERMSIG(status)));
        return error_set(err, -EPROTO, "%s ended with status %d", who, WEXITSTATUS(status));
}

int child_answer_take(const char *who, child_answer_run *run, void *context, size_t bytes_max,
                      struct byte_buffer *ret_bytes, struct error *err)
{
        struct error death = ERROR_NONE;
        int pipe_fds[2], r, how;
        pid_t pid;

        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return error_errno(err, "pipe for %s", who);
        pid = fork();
        if (pid == 0)
                _exit(run(context, pipe_fds[1]));
        r = pid < 0 ? error_errno(err, "fork of %s", who) : 0;
        io_close(&pipe_fds[1]);
        if (r == 0)
                r = receive(who, pipe_fds[0], bytes_max, ret_bytes, err);
        io_close(&pipe_fds[0]);
        if (pid < 0)
                return r;
        how = reap(who, pid, &death);
        return r == 0 && ret_bytes->used_bytes == 0 ? error_set(err, how, "%s", death.text) : r;
}
