/* SPDX-License-Identifier: MIT */
/*
 * import/text/ftrace_line.h - one line of ftrace's text, and what a program wrote into it
 *
 * Way of the data:  import_source -> [ftrace_line] -> import_ftrace
 *
 *      TASK-TID (TGID) [CPU] FLAGS SECONDS: EVENT: TEXT
 *
 * TGID and FLAGS may be missing.  TASK may have any bytes but the end of a line, so also what follows it.
 */
#ifndef IMPORT_FTRACE_LINE_H
#define IMPORT_FTRACE_LINE_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct ftrace_line {
        struct text_view task; /* "<...>": not known */
        uint64_t tid, tgid;    /* tgid: 0 = not said */
        uint64_t time_ns;
        struct text_view event, text;
};

/* False: it is no such line.  Texts are borrowed from it. */
bool ftrace_line_read(struct text_view line, struct ftrace_line *ret);

/* Gives the text that a program wrote; false: the event is another one. */
bool ftrace_line_marker(const struct ftrace_line *line, struct text_view *ret);

/* B|PID|NAME and others */
struct ftrace_marker {
        char what; /* B E C S F G H I N; 0: any other text */
        uint64_t pid;
        bool has_pid;
        struct text_view name, track; /* track: of G, H and N */
        struct text_view value;       /* of C; the cookie of S, F, G and H */
};

void ftrace_marker_read(struct text_view text, struct ftrace_marker *ret);

#endif /* IMPORT_FTRACE_LINE_H */
