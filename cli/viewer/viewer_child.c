/* SPDX-License-Identifier: MIT */
#include "cli/viewer/viewer_start.h"

#include "cli/exit_status.h"
#include "cli/terminal/complaint.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_OF_SIGNAL 128 /* plus its number, as shells have it */

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t viewer_to_end;

static void end_viewer(int signal_number)
{
        (void)signal_number;
        (void)kill((pid_t)viewer_to_end, SIGTERM);
}

static void unblock_ending_signals(void)
{
        sigset_t set;

        (void)sigemptyset(&set);
        for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
                (void)sigaddset(&set, ending_signals[i]);
        (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

pid_t viewer_child_start(struct viewer_start *start, const int *foreign_fds, size_t n_foreign_fds)
{
        pid_t child = fork();

        if (child == 0) {
                (void)setpgid(0, 0);
                for (size_t i = 0; i < n_foreign_fds; i++)
                        if (foreign_fds[i] >= 0)
                                (void)close(foreign_fds[i]);
                (void)signal(SIGINT, SIG_DFL);
                (void)signal(SIGPIPE, SIG_IGN);
                unblock_ending_signals();
                exit(viewer_start_run(start)); /* NOLINT(concurrency-mt-unsafe): there is one thread */
        }
        if (child < 0)
                complain("error: fork of the viewer: %s", strerrordesc_np(errno));
        return child;
}

void viewer_child_end_at_signals(pid_t viewer)
{
        viewer_to_end = viewer;
        for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
                (void)signal(ending_signals[i], end_viewer);
        unblock_ending_signals();
}

int viewer_child_status(int wait_status)
{
        return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : STATUS_OF_SIGNAL + WTERMSIG(wait_status);
}

int viewer_child_wait(pid_t child)
{
        int status = 0;

        while (waitpid(child, &status, 0) < 0)
                if (errno != EINTR)
                        return EXIT_STATUS_RECORD_FAILED;
        return viewer_child_status(status);
}
