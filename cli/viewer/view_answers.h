/* SPDX-License-Identifier: MIT */
/*
 * cli/viewer/view_answers.h - the viewer's questions, answered by the commands themselves
 *
 * Way of the data:  web_question -> [view_answers] (a command line) -> cmd_report, cmd_why, ... -> standard
 *                   output
 *
 * So a page shows what the same command prints: there is no second way to an answer.
 */
#ifndef CLI_VIEWER_VIEW_ANSWERS_H
#define CLI_VIEWER_VIEW_ANSWERS_H

#include "symbolize/listing/source_rule.h"
#include "web/server/answer_process.h"

struct view_traces {
        const char *trace;  /* path; of a comparison: the one after */
        const char *before; /* path; NULL = no comparison */
        struct source_folders source_folders;
};

/* @traces: borrowed, outlives the answers. */
struct web_answers view_answers_of(struct view_traces *traces);

#define VIEW_ANSWERS_WORDS_MAX 64

/*
 * view_answers_command() - the command line of a question
 * @names_fd:  as of web_answers
 * @argv:    filled, with NULL at its end; words are heap: see view_answers_free()
 * Returns the number of words, or -ENOMEM.
 */
int view_answers_command(const struct view_traces *traces, const struct web_question *question, int names_fd,
                         char *argv[VIEW_ANSWERS_WORDS_MAX]);
void view_answers_free(char *argv[VIEW_ANSWERS_WORDS_MAX]);

#endif /* CLI_VIEWER_VIEW_ANSWERS_H */
