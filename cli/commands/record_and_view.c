/* SPDX-License-Identifier: MIT */
#include "cli/commands/record_and_view.h"

#include "cli/commands/viewer_start.h"
#include "cli/exit_status.h"
#include "cli/options/record_options.h"
#include "cli/terminal/complaint.h"
#include "web/trace_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_OF_SIGNAL 128 /* plus its number, as shells have it */

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

static int wait_for_recording(pid_t child)
{
        int status = 0;

        while (waitpid(child, &status, 0) < 0)
                if (errno != EINTR)
                        return EXIT_STATUS_RECORD_FAILED;
        return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_OF_SIGNAL + WTERMSIG(status);
}

int record_and_view_run(struct record_options *options, char **argv,
                        int (*record)(struct record_options *options, char **argv))
{
        struct viewer_start start = { .traces = { .trace = options->path }, .quiet = options->quiet };
        struct trace_identity before;
        pid_t child;
        int status;

        if (options->to_stdout) {
                complain("error: --view: the trace goes to standard output, and cannot be viewed from there");
                return EXIT_STATUS_USAGE;
        }
        before = look_at_trace(options->path);
        child = fork();
        if (child < 0) {
                complain("error: fork: %s", strerrordesc_np(errno));
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (child == 0)
                return record(options, argv);
        /* Ctrl-C ends the recording, which is in the same group; the viewer comes after it. */
        (void)signal(SIGINT, SIG_IGN);
        status = wait_for_recording(child);
        (void)signal(SIGINT, SIG_DFL);
        if (trace_identity_is_at(&before, options->path) || look_at_trace(options->path).inode == 0)
                return status;
        (void)signal(SIGPIPE, SIG_IGN);
        return viewer_start_run(&start);
}
