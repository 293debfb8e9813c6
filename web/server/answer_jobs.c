/* SPDX-License-Identifier: MIT */
#include "web/server/answer_jobs.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/text_view.h"
#include "web/server/answer_process.h"
#include "web/server/web_channel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES 65536

#define HTTP_OK         200
#define HTTP_BAD        400
#define HTTP_REPLACED   409
#define HTTP_NO_ANSWER  422
#define HTTP_INTERNAL   500
#define EXIT_OF_USAGE   2 /* of hyprof's commands */
#define STATUS_REPLACED (-1)
#define PERCENT_MAX     100

enum { PIPE_OUT, PIPE_WORDS, PIPE_PROGRESS, N_PIPES };

void answer_jobs_init(struct answer_jobs *jobs, int channel_fd)
{
        *jobs = (struct answer_jobs){ .channel_fd = channel_fd, .next_id = 1 };
}

static uint64_t job_age_rank(const struct answer_jobs *jobs, const struct answer_job *job)
{
        return (uint32_t)(job->id - jobs->next_id); /* ids wrap around */
}

struct answer_job *answer_jobs_add(struct answer_jobs *jobs, struct text_view query, uint64_t page_job,
                                   void *context)
{
        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++) {
                struct answer_job *job = &jobs->jobs[i];

                if (job->is_used)
                        continue;
                *job = (struct answer_job){ .is_used = true,
                                            .id = jobs->next_id++,
                                            .page_job = page_job,
                                            .begin_ns = clock_raw_ns(),
                                            .fds = { -1, -1, -1 },
                                            .context = context };
                byte_buffer_add(&job->query, query.bytes, query.n_bytes);
                if (!job->query.failed)
                        return job;
                answer_jobs_remove(jobs, job);
                return NULL;
        }
        return NULL;
}

void answer_jobs_remove(struct answer_jobs *jobs, struct answer_job *job)
{
        struct web_message message;

        if (job->is_running && !job->has_ended) {
                web_message_init(&message, WEB_MESSAGE_CANCEL, job->id);
                (void)web_channel_send(jobs->channel_fd, &message,
                                       NULL); /* other code notices that the front is gone */
        }
        for (int i = 0; i < N_PIPES; i++)
                io_close(&job->fds[i]);
        byte_buffer_deinit(&job->query);
        byte_buffer_deinit(&job->out);
        byte_buffer_deinit(&job->words);
        *job = (struct answer_job){ .fds = { -1, -1, -1 } };
}

static struct answer_job *find_job(struct answer_jobs *jobs, uint32_t id)
{
        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++)
                if (jobs->jobs[i].is_used && jobs->jobs[i].id == id)
                        return &jobs->jobs[i];
        return NULL;
}

static void set_words(struct answer_job *job, const char *words)
{
        byte_buffer_clear(&job->words);
        byte_buffer_add(&job->words, words, strlen(words));
}

/* Chooses the status of the answer when the child has ended and its pipes have been read to their ends. */
static void judge(struct answer_job *job, int wait_status)
{
        if (job->status != 0)
                return;
        answer_words_tidy(&job->words);
        if (wait_status == STATUS_REPLACED) {
                job->status = HTTP_REPLACED;
                set_words(job, "the trace was replaced by another file: start hyprof view again");
        } else if (wait_status == 0) {
                job->status = HTTP_OK;
        } else if (WIFEXITED(wait_status)) {
                job->status = WEXITSTATUS(wait_status) == EXIT_OF_USAGE ? HTTP_BAD : HTTP_NO_ANSWER;
                if (job->words.used_bytes == 0)
                        set_words(job, "the process that answers failed, and could not say why");
        } else {
                job->status = HTTP_INTERNAL;
                set_words(job, "the process that answers was killed: it needed too much memory or time");
        }
}

static bool is_at_end(const struct answer_job *job)
{
        return job->fds[PIPE_OUT] < 0 && job->fds[PIPE_WORDS] < 0;
}

static void take_pipes(struct answer_job *job, struct web_message *message)
{
        for (int i = 0; i < N_PIPES; i++) {
                io_close(&job->fds[i]);
                job->fds[i] = message->fds[i];
                message->fds[i] = -1;
        }
}

static void take_refusal(struct answer_job *job, struct web_message *message)
{
        job->has_ended = true;
        job->status = message->number;
        byte_buffer_add(&job->words, message->text.data, message->text.used_bytes);
}

void answer_jobs_take(struct answer_jobs *jobs, struct web_message *message)
{
        struct answer_job *job = find_job(jobs, message->id);

        if (!job || !job->is_running)
                return;
        if (message->kind == WEB_MESSAGE_STARTED) {
                take_pipes(job, message);
        } else if (message->kind == WEB_MESSAGE_REFUSED) {
                take_refusal(job, message);
        } else if (message->kind == WEB_MESSAGE_ENDED) {
                job->has_ended = true;
                job->percent = PERCENT_MAX;
                job->next_status = message->number;
                if (is_at_end(job))
                        judge(job, job->next_status);
        }
}

static size_t count_running(const struct answer_jobs *jobs)
{
        size_t n = 0;

        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++)
                n += jobs->jobs[i].is_used && jobs->jobs[i].is_running && jobs->jobs[i].status == 0;
        return n;
}

/* The one that waits the longest. */
static struct answer_job *find_next(struct answer_jobs *jobs)
{
        struct answer_job *first = NULL;

        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++) {
                struct answer_job *job = &jobs->jobs[i];

                if (job->is_used && !job->is_running &&
                    (!first || job_age_rank(jobs, job) < job_age_rank(jobs, first)))
                        first = job;
        }
        return first;
}

int answer_jobs_start_next(struct answer_jobs *jobs, struct error *err)
{
        struct answer_job *job;

        while (count_running(jobs) < ANSWER_JOBS_RUNNING_MAX && (job = find_next(jobs)) != NULL) {
                struct web_message message;
                int r;

                web_message_init(&message, WEB_MESSAGE_ASK, job->id);
                message.text = job->query;
                r = web_channel_send(jobs->channel_fd, &message, err);
                if (r < 0)
                        return r;
                job->is_running = true;
        }
        return 0;
}

/*
 * ---- reading --------------------------------------------------------------------------------------------
 */

size_t answer_jobs_poll(const struct answer_jobs *jobs, struct pollfd *fds)
{
        size_t n = 0;

        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++)
                for (int j = 0; j < N_PIPES && n < ANSWER_JOBS_FDS; j++)
                        if (jobs->jobs[i].is_used && jobs->jobs[i].fds[j] >= 0)
                                fds[n++] = (struct pollfd){ .fd = jobs->jobs[i].fds[j], .events = POLLIN };
        return n;
}

static void take_bytes(struct answer_job *job, int pipe_index, const uint8_t *bytes, size_t n)
{
        if (pipe_index == PIPE_PROGRESS) {
                job->percent = bytes[n - 1] < PERCENT_MAX ? bytes[n - 1] : PERCENT_MAX;
                return;
        }
        if (pipe_index == PIPE_WORDS) {
                if (job->words.used_bytes + n <= ANSWER_PROCESS_WORDS_MAX)
                        byte_buffer_add(&job->words, bytes, n);
                return;
        }
        if (job->status != 0)
                return; /* too long already */
        byte_buffer_add(&job->out, bytes, n);
        if (!job->out.failed && job->out.used_bytes <= ANSWER_JOBS_BYTES_MAX)
                return;
        job->status = HTTP_INTERNAL;
        set_words(job, "the answer is too long: ask for less, by a filter or top");
}

static void read_pipe(struct answer_job *job, int pipe_index)
{
        uint8_t bytes[READ_BYTES / 8];
        ssize_t got;

        do
                got = read(job->fds[pipe_index], bytes, sizeof(bytes));
        while (got < 0 && errno == EINTR);
        if (got > 0)
                take_bytes(job, pipe_index, bytes, (size_t)got);
        else
                io_close(&job->fds[pipe_index]);
        if (job->has_ended && is_at_end(job))
                judge(job, job->next_status);
}

void answer_jobs_read(struct answer_jobs *jobs, const struct pollfd *fds, size_t n_fds)
{
        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++) {
                struct answer_job *job = &jobs->jobs[i];

                for (int j = 0; job->is_used && j < N_PIPES; j++)
                        for (size_t k = 0; k < n_fds; k++)
                                if (fds[k].revents && fds[k].fd == job->fds[j] && job->fds[j] >= 0) {
                                        read_pipe(job, j);
                                        break;
                                }
        }
}

void answer_jobs_list(const struct answer_jobs *jobs, uint64_t now_ns, struct byte_buffer *out)
{
        const char *comma = "";

        byte_buffer_add_u8(out, '[');
        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++) {
                const struct answer_job *job = &jobs->jobs[i];
                char text[128];
                int n;

                if (!job->is_used || job->status != 0)
                        continue;
                n = snprintf(text, sizeof(text),
                             "%s{\"job\":%" PRIu64 ",\"elapsed_ms\":%" PRIu64 ",\"progress\":%u.%02u}", comma,
                             job->page_job, (now_ns - job->begin_ns) / NS_PER_MS, job->percent / PERCENT_MAX,
                             job->percent % PERCENT_MAX);
                byte_buffer_add(out, text, (size_t)n);
                comma = ",";
        }
        byte_buffer_add_u8(out, ']');
}
