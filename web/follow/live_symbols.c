/* SPDX-License-Identifier: MIT */
#include "web/follow/live_trace.h"

#include "base/error.h"
#include "base/io.h"
#include "format/trace_follow.h"
#include "format/trace_reader.h"
#include "symbolize/process/live_names.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_BYTES_MAX (UINT64_C(1) << 30) /* of names; beyond that, functions have none until the end */

/* The process's own. */
struct symbol_writer {
        int fd;
        uint64_t n_bytes;
        int r;
};

static void write_live_names(void *context, const uint8_t *bytes, size_t n_bytes)
{
        struct symbol_writer *w = context;

        w->n_bytes += n_bytes;
        if (w->r == 0)
                w->r = w->n_bytes > FILE_BYTES_MAX ? -EFBIG : io_write_all(w->fd, bytes, n_bytes, NULL);
}

/* Runs until the recording is over; from then on the trace has names of its own. */
static int follow_tables(struct trace_follow *follow, struct live_names *names, const struct symbol_writer *w)
{
        struct trace_item item;
        const char *words;
        int r;

        do {
                struct pollfd ready = { .fd = live_names_fd(names), .events = POLLIN };

                (void)poll(&ready, 1, TRACE_FOLLOW_LOOK_MS);
                while ((r = trace_follow_next(follow, &item, NULL)) == 1)
                        ;
                if (r == 0)
                        r = live_names_step(names);
        } while (r >= 0 && w->r == 0 && trace_follow_state(follow, &words) == TRACE_FOLLOW_PAUSED);
        return r;
}

static _Noreturn void run(const char *trace, const struct index_cache *cache, int fd)
{
        const struct trace_follow_options following = { .path = trace, .leaves_events = true };
        struct symbol_writer writer = { .fd = fd };
        struct live_names_options naming = { .cache = cache,
                                             .pass_on = write_live_names,
                                             .context = &writer };
        struct trace_follow *follow;
        struct live_names names;
        int r;

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGINT, SIG_IGN); /* the front answers the terminal's Ctrl-C */
        if (trace_follow_open(&following, &follow, NULL) < 0)
                _exit(EXIT_FAILURE);
        naming.dictionary = trace_follow_dictionary(follow);
        live_names_init(&names, &naming);
        r = follow_tables(follow, &names, &writer);
        live_names_deinit(&names);
        trace_follow_close(follow);
        _exit(r < 0);
}

/* Opens the same file again, for a reader with a position of its own. */
static int open_for_reading(int fd, struct error *err)
{
        char path[40];
        int r;

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = open(path, O_RDONLY | O_CLOEXEC);
        return r < 0 ? error_errno(err, "a file for names") : r;
}

int live_symbols_start(struct live_symbols *s, const char *trace, const struct index_cache *cache,
                       struct error *err)
{
        int fd = io_open_unnamed(err), r = 0;

        *s = (struct live_symbols){ .names_fd = -1 };
        if (fd < 0)
                return fd;
        s->names_fd = open_for_reading(fd, err);
        if (s->names_fd < 0) {
                r = s->names_fd;
                goto end;
        }
        s->pid = fork();
        if (s->pid == 0)
                run(trace, cache, fd);
        if (s->pid < 0) {
                s->pid = 0;
                r = error_errno(err, "fork of the process for names");
        }
end:
        io_close(&fd);
        return r;
}

void live_symbols_stop(struct live_symbols *s)
{
        if (s->pid > 0) {
                (void)kill(s->pid, SIGKILL);
                while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        io_close(&s->names_fd);
        *s = (struct live_symbols){ .names_fd = -1 };
}
