/* SPDX-License-Identifier: MIT */
/*
 * web/server/answer_jobs.h - the answers that the server waits for
 *
 * Way of the data:  http_server -> [answer_jobs] -> web_channel -> view_front; pipes of the answers ->
 *                   [answer_jobs]
 *
 * A few run at a time, more wait for their turn, still more are refused: memory and processes are bounded.
 */
#ifndef WEB_SERVER_ANSWER_JOBS_H
#define WEB_SERVER_ANSWER_JOBS_H

#include "base/byte_buffer.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_JOBS_MAX         16
#define ANSWER_JOBS_RUNNING_MAX 4
#define ANSWER_JOBS_FDS         ((size_t)3 * ANSWER_JOBS_RUNNING_MAX) /* polled for them */
#define ANSWER_JOBS_BYTES_MAX   (UINT64_C(256) << 20)                 /* of one answer */

struct error;
struct text_view;
struct web_message;

struct answer_job {
        bool is_used, is_running;
        bool has_ended;  /* the child is gone; the answer is done when its pipes are at their ends too */
        bool is_resumed; /* the caller's: who waits was told */
        uint32_t id;
        uint64_t page_job; /* the page's own number; 0 = none */
        uint64_t begin_ns;
        int fds[3];               /* document, complaints, progress; -1 = at its end */
        struct byte_buffer query; /* until it runs */
        struct byte_buffer out, words;
        unsigned percent;
        int next_status; /* the child's wait status, once it has ended */
        int status;      /* HTTP's; 0 = not known yet */
        void *context;   /* of the caller: who waits for it */
};

struct answer_jobs {
        int channel_fd;
        uint32_t next_id;
        struct answer_job jobs[ANSWER_JOBS_MAX];
};

void answer_jobs_init(struct answer_jobs *jobs, int channel_fd);

/* Returns the job, or NULL if there are too many (or no memory). */
struct answer_job *answer_jobs_add(struct answer_jobs *jobs, struct text_view query, uint64_t page_job,
                                   void *context);

/* Ends the child, if one runs, and forgets the job. */
void answer_jobs_remove(struct answer_jobs *jobs, struct answer_job *job);

/* Takes a message of the front. */
void answer_jobs_take(struct answer_jobs *jobs, struct web_message *message);

/* Starts those whose turn it is.  Returns 0 or -errno. */
int answer_jobs_start_next(struct answer_jobs *jobs, struct error *err);

/* Fill in the descriptors to poll; and read from them, with poll's results.  @fds: ANSWER_JOBS_FDS. */
size_t answer_jobs_poll(const struct answer_jobs *jobs, struct pollfd *fds);
void answer_jobs_read(struct answer_jobs *jobs, const struct pollfd *fds, size_t n_fds);

/* The JSON list of those that wait or run. */
void answer_jobs_list(const struct answer_jobs *jobs, uint64_t now_ns, struct byte_buffer *out);

#endif /* WEB_SERVER_ANSWER_JOBS_H */
