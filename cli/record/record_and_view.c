/* SPDX-License-Identifier: MIT */
#include "cli/record/record_parts.h"

#include "base/io.h"
#include "cli/exit_status.h"
#include "cli/files/drop_rights.h"
#include "cli/options/record_options.h"
#include "cli/terminal/complaint.h"
#include "cli/viewer/viewer_start.h"
#include "web/model/trace_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 50 /* how often the trace is looked for */

/* The file that is there now; zero if there is none. */
static struct trace_identity look_at_trace(const char *path)
{
        struct trace_identity identity = { .inode = 0 };
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd >= 0) {
                (void)trace_identity_read(&identity, fd);
                (void)close(fd);
        }
        return identity;
}

static bool is_trace_new(const struct trace_identity *before, const char *path)
{
        return !trace_identity_is_at(before, path) && look_at_trace(path).size_bytes > 0;
}

/*
 * Waits until the recorder has written something.  Returns false if it ended before, with its @ret_status.
 */
static bool wait_for_trace(pid_t recorder, const struct trace_identity *before, const char *path,
                           int *ret_status)
{
        int status;

        while (!is_trace_new(before, path)) {
                if (waitpid(recorder, &status, WNOHANG) == recorder) {
                        *ret_status = viewer_child_status(status);
                        return is_trace_new(before, path);
                }
                (void)poll(NULL, 0, LOOK_MS);
        }
        return true;
}

/* The viewer shows the recording while it runs, and after it until a signal. */
static int view_until_end(pid_t recorder, struct viewer_start *start)
{
        pid_t viewer = viewer_child_start(start, NULL, 0);
        int status = viewer_child_wait(recorder);

        if (viewer < 0)
                return status;
        viewer_child_end_at_signals(viewer);
        return viewer_child_wait(viewer);
}

/* The recorder begins when its parent has seen the earlier trace.  Returns whether it is to begin. */
static bool wait_at_gate(int gate[2])
{
        char byte;
        ssize_t got;

        io_close(&gate[1]);
        do
                got = read(gate[0], &byte, 1);
        while (got < 0 && errno == EINTR);
        io_close(&gate[0]);
        return got == 1;
}

int record_and_view_run(struct record_options *options, char **argv,
                        int (*record)(struct record_options *options, char **argv))
{
        struct viewer_start start = { .traces = { .trace = options->path,
                                                  .source_folders = { .has_current = true } },
                                      .quiet = options->quiet,
                                      .follows = true,
                                      .ends_with_parent = true };
        struct trace_identity before;
        int gate[2], status;
        pid_t child;

        if (options->to_stdout) {
                complain("error: --view: the trace goes to standard output, and cannot be viewed from there");
                return EXIT_STATUS_USAGE;
        }
        if (pipe2(gate, O_CLOEXEC) < 0) {
                complain("error: a pipe to the recorder: %s", strerrordesc_np(errno));
                return EXIT_STATUS_RECORD_FAILED;
        }
        child = fork();
        if (child == 0)
                return wait_at_gate(gate) ? record(options, argv) : EXIT_STATUS_RECORD_FAILED;
        io_close(&gate[0]);
        if (child < 0) {
                complain("error: fork: %s", strerrordesc_np(errno));
                io_close(&gate[1]);
                return EXIT_STATUS_RECORD_FAILED;
        }
        /* Only the recorder needs more than its user has, and opens the trace by these rights. */
        if (drop_rights_for_good("hyprof record without --view") < 0) {
                io_close(&gate[1]);
                (void)viewer_child_wait(child);
                return EXIT_STATUS_RECORD_FAILED;
        }
        before = look_at_trace(options->path);
        (void)!write(gate[1], "", 1);
        io_close(&gate[1]);
        /*
         * Ctrl-C ends the recording, which is in the same process group; a second Ctrl-C ends the viewer.
         */
        (void)signal(SIGINT, SIG_IGN);
        return wait_for_trace(child, &before, options->path, &status) ? view_until_end(child, &start)
                                                                      : status;
}
