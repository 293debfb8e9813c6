/* SPDX-License-Identifier: MIT */
#include "symbolize/process/symbol_children.h"

#include "base/io.h"
#include "symbolize/process/symbol_process.h"
#include "symbolize/process/symbol_stream.h"
#include "symbolize/symbols/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLUSH_BYTES 65536 /* the child writes when it has this many bytes */
#define READ_BYTES  65536 /* the parent reads so many at once */

/* ---- the child ----------------------------------------------------------------------------------------- */

/* The child's end of the pipe. */
struct sender {
        int fd;
        struct byte_buffer out;
};

static int flush(struct sender *sender, struct error *err)
{
        int r;

        if (sender->out.failed)
                return error_set(err, -ENOMEM, "no memory for symbols");
        r = io_write_all(sender->fd, sender->out.data, sender->out.used_bytes, err);
        byte_buffer_clear(&sender->out);
        return r;
}

static int flush_if_full(struct sender *sender, struct error *err)
{
        return sender->out.used_bytes < FLUSH_BYTES && !sender->out.failed ? 0 : flush(sender, err);
}

/*
 * Writes at once, so that the parent knows that work on the module had begun if the module kills the child.
 */
static int send_module(void *context, uint32_t module, struct error *err)
{
        struct sender *sender = context;

        symbol_stream_encode_module(&sender->out, module);
        return flush(sender, err);
}

static int send_symbols(void *context, uint32_t frame, const struct symbol *symbols, uint32_t n_symbols,
                        struct error *err)
{
        struct sender *sender = context;

        symbol_stream_encode_symbols(&sender->out, frame, symbols, n_symbols);
        return flush_if_full(sender, err);
}

static int send_finding(void *context, const struct module_finding *finding, struct error *err)
{
        struct sender *sender = context;

        symbol_stream_encode_finding(&sender->out, finding);
        return flush_if_full(sender, err);
}

static int send_index(void *context, const void *bytes, size_t n_bytes, struct error *err)
{
        struct sender *sender = context;
        const uint8_t *at = bytes;
        int r = 0;

        while (n_bytes > 0 && r == 0) {
                size_t n = n_bytes < SYMBOL_STREAM_PART_MAX ? n_bytes : SYMBOL_STREAM_PART_MAX;

                symbol_stream_encode_index(&sender->out, at, n);
                at += n;
                n_bytes -= n;
                r = flush_if_full(sender, err);
        }
        return r;
}

/* Runs as the child; returns its exit status. */
static int run_child(const struct symbol_worker_options *options, uint32_t task, int pipe_fd)
{
        struct error err = ERROR_NONE;
        struct sender sender = { .fd = -1 };
        int fds[4] = { pipe_fd, options->kallsyms_fd, options->spool_fd, options->cache_fd };
        struct symbolizer_sink sink = { .begin_module = send_module,
                                        .add_symbols = send_symbols,
                                        .end_module = options->wants_findings ? send_finding : NULL,
                                        .add_index = options->cache_fd >= 0 ? send_index : NULL,
                                        .context = &sender };
        int r = confinement_enter(options->user, fds, 4, &err);

        sender.fd = fds[0];
        if (r == 0) {
                symbolizer_set_fds(options->symbolizer, fds[1], fds[2], fds[3]);
                r = options->run(options->symbolizer, task, &sink, &err);
        }
        if (sender.out.failed)
                byte_buffer_clear(&sender.out);
        symbol_stream_encode_end(&sender.out, r, r < 0 ? err.text : NULL);
        return flush(&sender, NULL) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- the parent ---------------------------------------------------------------------------------------- */

int symbol_worker_start(struct symbol_worker *w, const struct symbol_worker_options *options, uint32_t task,
                        struct error *err)
{
        int pipe_fds[2];
        pid_t pid;

        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return error_errno(err, "pipe for the symbolizer");
        pid = fork();
        if (pid < 0) {
                int r = error_errno(err, "fork of the symbolizer");

                io_close(&pipe_fds[0]);
                io_close(&pipe_fds[1]);
                return r;
        }
        if (pid == 0)
                _exit(run_child(options, task, pipe_fds[1]));
        io_close(&pipe_fds[1]);
        *w = (struct symbol_worker){ .pid = pid, .fd = pipe_fds[0], .task = task };
        return 0;
}

int symbol_worker_read(struct symbol_worker *w, struct error *err)
{
        uint8_t *at = byte_buffer_reserve(&w->in, READ_BYTES);
        ssize_t got;

        if (!at)
                return error_set(err, -ENOMEM, "no memory for symbols");
        do
                got = read(w->fd, at, READ_BYTES);
        while (got < 0 && errno == EINTR);
        if (got < 0)
                return error_errno(err, "reading from the symbolizer");
        w->in.used_bytes += (size_t)got;
        w->n_bytes += (uint64_t)got;
        if (w->n_bytes > SYMBOL_PROCESS_BYTES_MAX)
                return error_set(err, -EBADMSG, "symbolizer: sent too much");
        return got > 0;
}

void symbol_worker_stop(struct symbol_worker *w)
{
        int status = 0;

        if (w->pid == 0)
                return;
        (void)kill(w->pid, SIGKILL); /* changes nothing for a child that is dying already */
        while (waitpid(w->pid, &status, 0) < 0)
                if (errno != EINTR) {
                        status = -1; /* the calling process ignores the exit of its children */
                        break;
                }
        w->pid = 0;
        io_close(&w->fd);
        if (status == 0)
                return;
        if (status != -1 && WIFSIGNALED(status))
                (void)error_set(&w->why, -EPROTO, "symbolizer: killed by signal %d (%s)", WTERMSIG(status),
                                sigdescr_np(WTERMSIG(status)));
        else
                (void)error_set(&w->why, -EPROTO, "symbolizer: ended with status %d",
                                status == -1 ? -1 : WEXITSTATUS(status));
}

void symbol_worker_deinit(struct symbol_worker *w)
{
        symbol_worker_stop(w);
        byte_buffer_deinit(&w->in);
        *w = (struct symbol_worker){ .fd = -1 };
}
