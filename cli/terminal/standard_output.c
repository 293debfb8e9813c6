/* SPDX-License-Identifier: MIT */
#include "cli/terminal/standard_output.h"

#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/terminal/complaint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int standard_output_check_bytes(const char *what, struct error *err)
{
        if (isatty(STDOUT_FILENO) != 1)
                return 0;
        return error_set(err, -EINVAL, "standard output is a terminal, and %s is not readable text", what);
}

int standard_output_flush(void)
{
        errno = 0;
        if (fflush(stdout) == 0 && !ferror(stdout))
                return 0;
        return errno != 0 ? -errno : -EIO; /* stdio forgets why an earlier write failed */
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
