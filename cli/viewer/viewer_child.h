/* SPDX-License-Identifier: MIT */
/*
 * cli/viewer/viewer_child.h - the viewer of a trace that this command makes, in a child
 *
 * Way of the data:  record_and_view, cmd_capture -> [viewer_child] -> fork -> viewer_start
 *
 * The child has a process group of its own: Ctrl-C ends what makes the trace, another one the viewer.
 */
#ifndef CLI_VIEWER_VIEWER_CHILD_H
#define CLI_VIEWER_VIEWER_CHILD_H

#include <stddef.h>
#include <sys/types.h>

struct viewer_start;

/*
 * viewer_child_start() - the process has one thread
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

#endif /* CLI_VIEWER_VIEWER_CHILD_H */
