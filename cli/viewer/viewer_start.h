/* SPDX-License-Identifier: MIT */
/*
 * cli/viewer/viewer_start.h - opens the viewer: for `hyprof view` and `hyprof record --view`
 *
 * Way of the data:  command line, environment -> [viewer_start] -> view_front
 */
#ifndef CLI_VIEWER_VIEWER_START_H
#define CLI_VIEWER_VIEWER_START_H

#include "cli/viewer/view_answers.h"

#include <stdbool.h>
#include <stdint.h>

struct viewer_start {
        struct view_traces traces;
        uint16_t port; /* 0 = any */
        bool no_open, quiet;
        bool follows;          /* the trace is still being written */
        int names_come_fd;     /* as of view_front_options */
        bool is_pipe;          /* it comes on standard input; set by viewer_start_run() */
        bool ends_with_parent; /* SIGTERM when the process that started it ends */
};

/*
 * viewer_start_run() - serve until a signal
 * Under sudo the process becomes the invoking user first, for good.  Returns the exit status, after
 * complaints.
 */
int viewer_start_run(struct viewer_start *start);

#endif /* CLI_VIEWER_VIEWER_START_H */
