/* SPDX-License-Identifier: MIT */
/*
 * web/server/answer_process.h - one question answered in a child without privileges
 *
 * Way of the data:  view_front, html_answers -> [answer_process] (fork, confinement) -> web_answers -> pipe
 *
 * The child is confined as the symbolizer's are: no capabilities, bounded memory and processor time, and
 * where the kernel
 * has Landlock it changes no file.  It reads what its user can read, as the command on a terminal does.  It
 * dies with its
 * parent, and is killed to cancel it.
 */
#ifndef WEB_SERVER_ANSWER_PROCESS_H
#define WEB_SERVER_ANSWER_PROCESS_H

#include "web/model/trace_identity.h"

#include <stdint.h>
#include <sys/types.h>

struct byte_buffer;
struct error;
struct web_question;

/*
 * struct web_answers - the way from a question to the command that answers it, which `cli` provides
 *
 * Way of the data:  answer_process (a confined child) -> [web_answers] -> cli -> the document on standard
 *                   output
 */

struct web_answers {
        /*
         * Prints the document as JSON on standard output, which it flushes, and complaints on standard error.
         * Called once in a process of its own, which ends after it.  Returns the command's exit status.
         * @before:    as below
         * @names_fd:  of a trace that grows: the file of live_symbols; -1 = none
         */
        int (*run)(void *context, const struct web_question *question, const char *before, int names_fd);
        void *context;      /* borrowed */
        const char *before; /* path of the trace to compare with, borrowed; NULL = none */
};

#define ANSWER_PROCESS_WORDS_MAX 8192 /* bytes of complaints that are kept */

struct answer_process {
        pid_t pid;       /* 0 = none runs */
        int out_fd;      /* the document; owned, as the others */
        int words_fd;    /* complaints */
        int progress_fd; /* a byte for each percent that is done, with that number; the last one counts */
};

/*
 * answer_process_start()
 * @trace:     the file by whose position the progress is known; NULL = there is no progress
 * @names_fd:  for web_answers; -1 = none; borrowed
 * Returns 0 or -errno.  Then the caller reads the three pipes to their ends and waits for the child.
 */
int answer_process_start(struct answer_process *p, const struct web_answers *answers,
                         const struct web_question *question, const struct trace_identity *trace,
                         int names_fd, struct error *err);

/*
 * Kills the child if it runs, waits for it, closes what is open.  Returns its wait status, 0 if there was
 * none.
 */
int answer_process_stop(struct answer_process *p);

/*
 * answer_process_collect() - read all of one that was started, wait for it, stop it
 * @ret_document:  the JSON text; initialised by the caller
 * @bytes_max:     a longer answer is a failure
 * Returns 0; -ENODATA if the command ended with another status than 0, with its words; -EOVERFLOW, -errno.
 */
int answer_process_collect(struct answer_process *p, uint64_t bytes_max, struct byte_buffer *ret_document,
                           struct error *err);

/* The complaint in what a command wrote on standard error: its first line without "hyprof: error: ". */
void answer_words_tidy(struct byte_buffer *words);

#endif /* WEB_SERVER_ANSWER_PROCESS_H */
