/* SPDX-License-Identifier: MIT */
#include "symbolize/debug/debuginfod_fetch.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "symbolize/debug/debuginfod_message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CACHE_MODE   0700
#define READ_BYTES   65536
#define GRACE_S      30 /* the child ends downloads itself; silent for longer = stuck */
#define MILLISECONDS 1000

/* The parent's side of one run. */
struct receiver {
        struct debuginfod_request *requests;
        size_t n_requests;
        const struct debuginfod_options *options;
        bool is_at_end; /* the child said that it was done */
        int code;       /* that it ended with */
};

bool debuginfod_fetch_is_wanted(void)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): no thread changes the environment */
        const char *urls = getenv("DEBUGINFOD_URLS");

        return urls && urls[strspn(urls, " ")] != '\0';
}

/* ---- the cache ----------------------------------------------------------------------------------------- */

/* As libdebuginfod looks for it: the second name is that of earlier versions, if there is such a folder. */
static char *find_cache(void)
{
        /* NOLINTBEGIN(concurrency-mt-unsafe): no thread changes the environment */
        const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *all = getenv("XDG_CACHE_HOME");
        const char *home = getenv("HOME");
        /* NOLINTEND(concurrency-mt-unsafe) */
        char *path = NULL;
        int n;

        if (own)
                return strdup(own);
        if (asprintf(&path, "%s/.debuginfod_client_cache", home ? home : "") < 0)
                return NULL;
        if (access(path, F_OK) == 0)
                return path;
        free(path);
        n = all ? asprintf(&path, "%s/debuginfod_client", all)
                : asprintf(&path, "%s/.cache/debuginfod_client", home ? home : "");
        return n < 0 ? NULL : path;
}

int debuginfod_fetch_open_cache(void)
{
        char *path = find_cache();
        char *slash = path ? strrchr(path, '/') : NULL;
        int fd;

        if (slash && slash > path) {
                *slash = '\0';
                (void)mkdir(path, CACHE_MODE); /* opening the folder shows whether it is there */
                *slash = '/';
        }
        if (path)
                (void)mkdir(path, CACHE_MODE);
        fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        free(path);
        return fd;
}

/* ---- the parent's side --------------------------------------------------------------------------------- */

static int take_result(struct debuginfod_request *request, const struct debuginfod_message *message)
{
        if (message->state > DEBUGINFOD_WRONG || request->path)
                return -EBADMSG;
        request->state = (enum debuginfod_state)message->state;
        request->code = message->code;
        if (request->state != DEBUGINFOD_FOUND)
                return 0;
        if (message->path_bytes == 0 || message->path[0] != '/' ||
            memchr(message->path, '\0', message->path_bytes))
                return -EBADMSG;
        request->path = strndup((const char *)message->path, message->path_bytes);
        return request->path ? 0 : -ENOMEM;
}

static int take_message(struct receiver *receiver, const struct debuginfod_message *message)
{
        const struct debuginfod_options *options = receiver->options;

        if (message->kind == DEBUGINFOD_MESSAGE_END) {
                receiver->is_at_end = true;
                receiver->code = message->code;
                return 0;
        }
        if (message->request >= receiver->n_requests)
                return -EBADMSG;
        if (message->kind == DEBUGINFOD_MESSAGE_RESULT)
                return take_result(&receiver->requests[message->request], message);
        if (message->kind != DEBUGINFOD_MESSAGE_PROGRESS)
                return -EBADMSG;
        if (options->progress)
                options->progress(options->context, message->request, message->got_bytes,
                                  message->total_bytes);
        return 0;
}

static int take_messages(struct receiver *receiver, struct byte_buffer *in, struct error *err)
{
        struct byte_reader reader = byte_reader_of(in->data, in->used_bytes);
        struct debuginfod_message message;
        int r;

        while ((r = debuginfod_message_decode(&reader, &message)) == 1 && !receiver->is_at_end) {
                r = take_message(receiver, &message);
                if (r < 0)
                        break;
        }
        if (r < 0)
                return error_set(err, r, "debuginfod: the fetching process sent malformed data");
        if (reader.left > 0)
                memmove(in->data, reader.at, reader.left);
        in->used_bytes = reader.left;
        return 0;
}

/* Returns 0 when the pipe can be read, -EINTR when it is time to stop. */
static int wait_for_child(const struct debuginfod_options *options, int pipe_fd, struct error *err)
{
        struct pollfd fds[2] = { { .fd = pipe_fd, .events = POLLIN },
                                 { .fd = options->stop_fd, .events = POLLIN } };
        uint32_t timeout_s = options->file_timeout_s ? options->file_timeout_s : DEBUGINFOD_FILE_TIMEOUT_S;
        int64_t timeout_ms = ((int64_t)timeout_s + GRACE_S) * MILLISECONDS;
        int n;

        do
                n = poll(fds, 2, timeout_ms > INT32_MAX ? INT32_MAX : (int)timeout_ms);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return error_errno(err, "poll of debuginfod");
        if (n == 0)
                return error_set(err, -EPROTO, "debuginfod: no data for %u s", timeout_s + GRACE_S);
        return fds[1].revents ? error_set(err, -EINTR, "debuginfod: stopped") : 0;
}

static int receive(struct receiver *receiver, int pipe_fd, struct error *err)
{
        struct byte_buffer in = { .data = NULL };
        int r = 0;

        while (r == 0 && !receiver->is_at_end) {
                uint8_t *at = byte_buffer_reserve(&in, READ_BYTES);
                ssize_t got;

                if (!at) {
                        r = error_set(err, -ENOMEM, "no memory for what debuginfod sends");
                        break;
                }
                r = wait_for_child(receiver->options, pipe_fd, err);
                if (r < 0)
                        break;
                got = read(pipe_fd, at, READ_BYTES);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        r = error_errno(err, "reading from debuginfod");
                if (got <= 0)
                        break;
                in.used_bytes += (size_t)got;
                r = take_messages(receiver, &in, err);
        }
        byte_buffer_deinit(&in);
        return r;
}

/* Ends the child, and says what became of it. */
static int reap(const struct receiver *receiver, pid_t pid, int r, struct error *err)
{
        int status = 0;
        pid_t done;

        (void)kill(pid, SIGKILL); /* changes nothing for a child that is dying already */
        do
                done = waitpid(pid, &status, 0);
        while (done < 0 && errno == EINTR);
        if (r < 0)
                return r;
        if (!receiver->is_at_end)
                return error_set(err, -EPROTO, "debuginfod: the fetching process died");
        if (receiver->code == -ENOTSUP)
                return error_set(err, -ENOTSUP, "debuginfod: libdebuginfod.so.1 is not installed");
        return receiver->code < 0 ? error_set(err, receiver->code, "debuginfod: the fetching process failed")
                                  : 0;
}

int debuginfod_fetch_run(struct debuginfod_request *requests, size_t n_requests,
                         const struct debuginfod_options *options, struct error *err)
{
        struct receiver receiver = { .requests = requests, .n_requests = n_requests, .options = options };
        int pipe_fds[2];
        pid_t pid;
        int r;

        for (size_t i = 0; i < n_requests; i++) {
                requests[i].state = DEBUGINFOD_NOT_TRIED;
                requests[i].path = NULL;
        }
        if (!debuginfod_fetch_is_wanted())
                return error_set(err, -ENODATA, "debuginfod: DEBUGINFOD_URLS names no server");
        if (n_requests > DEBUGINFOD_REQUESTS_MAX)
                return error_set(err, -EOVERFLOW, "debuginfod: %zu files at once", n_requests);
        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return error_errno(err, "pipe for debuginfod");
        pid = fork();
        if (pid < 0) {
                r = error_errno(err, "fork for debuginfod");
                io_close(&pipe_fds[0]);
                io_close(&pipe_fds[1]);
                return r;
        }
        if (pid == 0)
                _exit(debuginfod_client_main(requests, n_requests, options, pipe_fds[1]));
        io_close(&pipe_fds[1]);
        r = reap(&receiver, pid, receive(&receiver, pipe_fds[0], err), err);
        io_close(&pipe_fds[0]);
        return r;
}

void debuginfod_fetch_deinit(struct debuginfod_request *requests, size_t n_requests)
{
        for (size_t i = 0; i < n_requests; i++) {
                free(requests[i].path);
                requests[i].path = NULL;
        }
}
