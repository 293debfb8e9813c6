/* SPDX-License-Identifier: MIT */
/*
 * cli/record/progress_line.h - one line on the terminal that is drawn over while recording
 *
 * Way of the data:  recorder -> [progress_line] -> standard error, if it is a terminal
 */
#ifndef CLI_RECORD_PROGRESS_LINE_H
#define CLI_RECORD_PROGRESS_LINE_H

#include <stdbool.h>

struct recorder_progress;

struct progress_line {
        bool shown; /* something is on the line */
};

/* Draws; @context is a struct progress_line. */
void progress_line_draw(void *context, const struct recorder_progress *progress);

/* Wipes the line away. */
void progress_line_clear(struct progress_line *line);

#endif /* CLI_RECORD_PROGRESS_LINE_H */
