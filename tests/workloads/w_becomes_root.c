/* SPDX-License-Identifier: MIT */
/*
 * w_becomes_root [MILLISECONDS=300]
 *
 * Truth: prints "uid U euid E capeff C", burns so much processor time in busy_as_root(), and ends with status
 * 6.  A test makes it set-uid root.
 */
#include "tests/workloads/burn.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

BURN_FUNCTION(busy_as_root);

int main(int argc, char **argv)
{
        double milliseconds = burn_argument(argc, argv, 1, 300);
        char line[256], effective[32] = "?";
        FILE *status = fopen("/proc/self/status", "re");

        while (status && fgets(line, sizeof(line), status))
                if (strncmp(line, "CapEff:", 7) == 0)
                        (void)sscanf(line + 7, " %31s", effective);
        if (status)
                (void)fclose(status);
        (void)printf("uid %u euid %u capeff %s\n", getuid(), geteuid(), effective);
        (void)fflush(stdout);
        busy_as_root(burn_rounds_of((int64_t)(milliseconds * 1e6)));
        return 6;
}
