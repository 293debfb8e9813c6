/* SPDX-License-Identifier: MIT */
#include "base/child_end.h"

#include "base/io.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLED_MS 1000 /* until one that was killed has ended */

/* Without a descriptor of the child (@fd < 0), always waits for @patience_ms. */
static bool child_has_ended(pid_t pid, int fd, int patience_ms)
{
        struct pollfd ended = { .fd = fd, .events = POLLIN };

        while (poll(&ended, 1, patience_ms) < 0 && errno == EINTR)
                ;
        return waitpid(pid, NULL, WNOHANG) != 0;
}

void child_end_within(pid_t pid, int patience_ms)
{
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);

        if (!child_has_ended(pid, fd, patience_ms)) {
                (void)kill(pid, SIGKILL);
                (void)child_has_ended(pid, fd, KILLED_MS);
        }
        io_close(&fd);
}
