/* SPDX-License-Identifier: MIT */
#include "cli/terminal/standard_output.h"

#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/terminal/complaint.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int standard_output_check_bytes(const char *what, struct error *err)
{
        if (isatty(STDOUT_FILENO) != 1)
                return 0;
        return error_set(err, -EINVAL, "standard output is a terminal, and %s is not readable text", what);
}

/* A pipe without a reader. */
static bool has_no_reader(void)
{
        struct pollfd output = { .fd = STDOUT_FILENO };

        return poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

int standard_output_flush(void)
{
        errno = 0;
        if (fflush(stdout) == 0 && !ferror(stdout))
                return 0;
        if (errno != 0)
                return -errno;
        return has_no_reader() ? -EPIPE : -EIO; /* stdio forgets why an earlier write failed */
}

int standard_output_judge(int status, int r, const char *what)
{
        if (r == 0 || r == -EPIPE)
                return status;
        complain("error: writing %s: %s", what, strerrordesc_np(-r));
        return EXIT_STATUS_FAILED;
}

int standard_output_finish(int status, const char *what)
{
        return standard_output_judge(status, standard_output_flush(), what);
}
