/* SPDX-License-Identifier: MIT */
#include "web/server/answer_process.h"

#include "base/byte_buffer.h"
#include "base/call_filter.h"
#include "base/confinement.h"
#include "base/error.h"
#include "base/io.h"
#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES_MAX   (UINT64_C(8) << 30) /* of memory with a descriptor: code that a trace keeps */
#define FIRST_FD         3
#define PROGRESS_STEP_NS 100000000
#define READ_BYTES       65536
#define N_PIPES          3

/*
 * ---- the child ------------------------------------------------------------------------------------------
 */

/* The thread that watches how much of the trace has been read. */
struct progress_watch {
        int fd;
        struct trace_identity trace;
};

/* The position of the trace's descriptor in percent of the trace; -1 = the trace is not open. */
static int read_percent(const struct progress_watch *watch)
{
        for (int fd = FIRST_FD; fd < CONFINEMENT_FILES_MAX; fd++) {
                struct trace_identity file;
                off_t at;

                if (trace_identity_read(&file, fd) < 0 || file.inode != watch->trace.inode ||
                    file.device != watch->trace.device)
                        continue;
                at = lseek(fd, 0, SEEK_CUR);
                if (at >= 0 && file.size_bytes > 0)
                        return (int)((double)at / (double)file.size_bytes * 100);
        }
        return -1;
}

/*
 * This thread does not touch the data of the main thread; ten looks a second do not change the cost of an
 * answer.
 */
static void *watch_progress(void *context)
{
        const struct progress_watch *watch = context;
        const struct timespec step = { .tv_nsec = PROGRESS_STEP_NS };

        for (;;) {
                int percent = read_percent(watch);

                if (percent >= 0 && io_write_all(watch->fd, &(uint8_t){ (uint8_t)percent }, 1, NULL) < 0)
                        return NULL;
                (void)nanosleep(&step, NULL);
        }
}

static void start_watch(struct progress_watch *watch, int fd, const struct trace_identity *trace)
{
        pthread_t thread;

        if (!trace)
                return;
        *watch = (struct progress_watch){ .fd = fd, .trace = *trace };
        if (pthread_create(&thread, NULL, watch_progress, watch) == 0)
                (void)pthread_detach(thread);
}

/* The life of the child, up to its exit status. */
static int run_child(const struct web_answers *answers, const struct web_question *question,
                     const struct trace_identity *trace, const int pipes[N_PIPES], int names_fd)
{
        int fds[N_PIPES + 1] = { pipes[0], pipes[1], pipes[2], names_fd };
        struct progress_watch watch;
        struct error err = ERROR_NONE;

        if (confinement_enter_writing((struct confinement_user){ 0, 0 }, fds, N_PIPES + 1, FILE_BYTES_MAX,
                                      &err) < 0) {
                (void)io_write_all(fds[1], err.text, strlen(err.text), NULL);
                return EXIT_FAILURE;
        }
        /* The kernel may lack these two; the other restrictions hold without them. */
        (void)landlock_restrict(LANDLOCK_BAN_CHANGES);
        (void)call_filter_enter(CALL_FILTER_BAN_CHANGES, NULL);
        if (dup2(fds[0], STDOUT_FILENO) < 0 || dup2(fds[1], STDERR_FILENO) < 0)
                return EXIT_FAILURE;
        io_close(&fds[0]);
        io_close(&fds[1]);
        start_watch(&watch, fds[2], trace);
        return answers->run(answers->context, question, answers->before, fds[N_PIPES]);
}

/*
 * ---- the parent -----------------------------------------------------------------------------------------
 */

static void close_pipes(struct answer_process *p)
{
        io_close(&p->out_fd);
        io_close(&p->words_fd);
        io_close(&p->progress_fd);
}

int answer_process_start(struct answer_process *p, const struct web_answers *answers,
                         const struct web_question *question, const struct trace_identity *trace,
                         int names_fd, struct error *err)
{
        int pipes[N_PIPES][2], write_ends[N_PIPES];
        int r = 0;

        *p = (struct answer_process){ .out_fd = -1, .words_fd = -1, .progress_fd = -1 };
        for (int i = 0; i < N_PIPES; i++) {
                pipes[i][0] = pipes[i][1] = -1;
                if (r == 0 && pipe2(pipes[i], O_CLOEXEC) < 0)
                        r = error_errno(err, "pipe for an answer");
                write_ends[i] = pipes[i][1];
        }
        if (r == 0) {
                p->pid = fork();
                if (p->pid < 0)
                        r = error_errno(err, "fork of an answer");
                if (p->pid == 0)
                        _exit(run_child(answers, question, trace, write_ends, names_fd));
        }
        p->out_fd = pipes[0][0];
        p->words_fd = pipes[1][0];
        p->progress_fd = pipes[2][0];
        for (int i = 0; i < N_PIPES; i++)
                io_close(&pipes[i][1]);
        if (r < 0) {
                p->pid = 0;
                close_pipes(p);
        }
        return r;
}

int answer_process_stop(struct answer_process *p)
{
        int status = 0;

        if (p->pid != 0) {
                (void)kill(p->pid, SIGKILL); /* changes nothing for one that is dying already */
                while (waitpid(p->pid, &status, 0) < 0)
                        if (errno != EINTR)
                                break;
        }
        p->pid = 0;
        close_pipes(p);
        return status;
}

/* Reads a part of @fd to the end of @to, at most up to @bytes_max.  Returns 1, 0 at the end, -errno. */
static int read_part(int fd, struct byte_buffer *to, uint64_t bytes_max, struct error *err)
{
        uint8_t *at = byte_buffer_reserve(to, READ_BYTES);
        ssize_t got;

        if (!at)
                return error_set(err, -ENOMEM, "no memory for an answer");
        do
                got = read(fd, at, READ_BYTES);
        while (got < 0 && errno == EINTR);
        if (got < 0)
                return error_errno(err, "reading an answer");
        to->used_bytes += (size_t)got;
        if (to->used_bytes > bytes_max)
                return error_set(err, -EOVERFLOW, "the answer is longer than %" PRIu64 " bytes", bytes_max);
        return got > 0;
}

static int collect_all(struct answer_process *p, uint64_t bytes_max, struct byte_buffer *document,
                       struct byte_buffer *words, struct error *err)
{
        struct pollfd fds[2] = { { .fd = p->out_fd, .events = POLLIN },
                                 { .fd = p->words_fd, .events = POLLIN } };

        io_close(&p->progress_fd);
        while (fds[0].fd >= 0 || fds[1].fd >= 0) {
                if (poll(fds, 2, -1) < 0 && errno != EINTR)
                        return error_errno(err, "poll of an answer");
                for (int i = 0; i < 2; i++) {
                        int r;

                        if (fds[i].fd < 0 || !fds[i].revents)
                                continue;
                        r = i == 0 ? read_part(fds[i].fd, document, bytes_max, err)
                                   : read_part(fds[i].fd, words, UINT64_MAX, err);
                        if (words->used_bytes > ANSWER_PROCESS_WORDS_MAX)
                                words->used_bytes = ANSWER_PROCESS_WORDS_MAX;
                        if (r < 0)
                                return r;
                        if (r == 0)
                                fds[i].fd = -1;
                }
        }
        return 0;
}

/* The child has closed all of its descriptors, so it is ending by itself and is not killed. */
static int wait_for_child(struct answer_process *p)
{
        int status = -1;

        while (waitpid(p->pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -1;
        p->pid = 0;
        return status;
}

int answer_process_collect(struct answer_process *p, uint64_t bytes_max, struct byte_buffer *ret_document,
                           struct error *err)
{
        struct byte_buffer words = { .data = NULL };
        int r = collect_all(p, bytes_max, ret_document, &words, err);

        if (r == 0 && wait_for_child(p) != 0) {
                answer_words_tidy(&words);
                r = error_set(err, -ENODATA, "%.*s", (int)words.used_bytes,
                              words.data ? (const char *)words.data : "");
        }
        (void)answer_process_stop(p);
        byte_buffer_deinit(&words);
        return r;
}

void answer_words_tidy(struct byte_buffer *words)
{
        static const char *const starts[] = { "hyprof: ", "error: ", "warning: " };
        const char *end;
        size_t n_away = 0;

        if (words->used_bytes == 0)
                return;
        end = memchr(words->data, '\n', words->used_bytes);
        if (end)
                words->used_bytes = (size_t)(end - (const char *)words->data);
        for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
                size_t n = strlen(starts[i]);

                if (words->used_bytes - n_away >= n && memcmp(words->data + n_away, starts[i], n) == 0)
                        n_away += n;
        }
        words->used_bytes -= n_away;
        memmove(words->data, words->data + n_away, words->used_bytes);
}
