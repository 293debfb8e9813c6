/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/view_pipe.h - a trace on standard input, for the viewer: goes into a file as it comes
 *
 * Way of the data:  standard input -> [view_pipe] (child) -> file in $TMPDIR -> view_front (which follows it)
 *
 * The viewer reads a trace again and again, and a pipe can be read once.
 */
#ifndef CLI_COMMANDS_VIEW_PIPE_H
#define CLI_COMMANDS_VIEW_PIPE_H

#include <sys/types.h>

struct error;

struct view_pipe {
        char *path;  /* of the file; heap */
        pid_t child; /* copies; 0 = none */
};

/*
 * view_pipe_start() - from now on the file grows with what comes, under the lock of a trace that is written
 * Waits for the first bytes.  A full disk ends it with a line on standard error.  Returns 0; -ENODATA if
 * nothing comes, -errno; to be ended in any case.
 */
int view_pipe_start(struct view_pipe *p, struct error *err);

/* Ends the child and removes the file. */
void view_pipe_end(struct view_pipe *p);

#endif /* CLI_COMMANDS_VIEW_PIPE_H */
