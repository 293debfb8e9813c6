/* SPDX-License-Identifier: MIT */
/*
 * web/server/web_answers.h - the way from a question to the command that answers it, which `cli` provides
 *
 * Way of the data:  answer_process (a confined child) -> [web_answers] -> cli -> the document on standard
 *                   output
 */
#ifndef WEB_SERVER_WEB_ANSWERS_H
#define WEB_SERVER_WEB_ANSWERS_H

struct web_question;

struct web_answers {
        /*
         * Prints the document as JSON on standard output, which it flushes, complaints on standard error.
         * Called once in a process of its own, which ends after it.  Returns the command's exit status.
         * @names_fd:  of a trace that grows: the file of live_symbols; -1 = none
         */
        int (*run)(void *context, const struct web_question *question, int names_fd);
        void *context; /* borrowed */
};

#endif /* WEB_SERVER_WEB_ANSWERS_H */
