/* SPDX-License-Identifier: MIT */
/*
 * web/file/html_answers.h - the documents that a page without a server holds: of all questions, and of the
 * largest zones and functions
 *
 * Way of the data:  web_answers (the commands) -> answer_process -> [html_answers] -> packed_text ->
 *                   html_file
 */
#ifndef WEB_FILE_HTML_ANSWERS_H
#define WEB_FILE_HTML_ANSWERS_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stdint.h>

#define HTML_ANSWERS_ZONES 12 /* with documents of their own: those with the most time */
#define HTML_ANSWERS_FUNCTIONS \
        12 /* likewise, with their source and instructions: those with the most samples */

struct error;
struct html_redaction;
struct web_answers;

struct html_answers {
        const struct web_answers *answers;
        const struct html_redaction *redaction; /* NULL = nothing is left out */
        struct byte_buffer text;                /* a JSON object without its last brace: key -> document */
        struct byte_buffer zones, functions;    /* those two documents */
        struct byte_buffer sources; /* files whose text is in the answers, each once, with a NUL at its end */
        uint32_t n_answers;
};

void html_answers_init(struct html_answers *a, const struct web_answers *answers,
                       const struct html_redaction *redaction);
void html_answers_deinit(struct html_answers *a);

/*
 * All questions about the whole trace.  One that the trace has no answer to is left out.  Returns 0,
 * -ENOMEM, -errno.
 */
int html_answers_add_all(struct html_answers *a, struct error *err);

/* The largest zones and functions: after that.  Returns the same. */
int html_answers_add_details(struct html_answers *a, struct error *err);

#endif /* WEB_FILE_HTML_ANSWERS_H */
