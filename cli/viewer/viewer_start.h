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
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/*
 * viewer_child.c - the viewer of a trace that this command makes, in a child
 *
 * Way of the data:  record_and_view, cmd_capture -> [viewer_child] -> fork -> viewer_start
 *
 * The child has a process group of its own: Ctrl-C ends the process that makes the trace; a second Ctrl-C
 * ends the viewer.
 */

/*
 * viewer_child_start() - to be called while the process has one thread
 * @foreign_fds:  descriptors that the child closes; -1 = none
 * Returns the child, or -1 after a complaint.
 */
pid_t viewer_child_start(struct viewer_start *start, const int *foreign_fds, size_t n_foreign_fds);

/* From now on SIGINT, SIGTERM and SIGHUP end the viewer; they are not blocked any more. */
void viewer_child_end_at_signals(pid_t viewer);

/* Waits for a child.  Returns its exit status, as shells have it; EXIT_STATUS_RECORD_FAILED without one. */
int viewer_child_wait(pid_t child);

/* The exit status of a wait status: 128 plus the number of a signal. */
int viewer_child_status(int wait_status);

#endif /* CLI_VIEWER_VIEWER_START_H */
