/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/exit_status.h"
#include "cli/manual/command_table.h"
#include "cli/manual/commands.h"
#include "cli/manual/man_page.h"
#include "cli/on_host/host_attendant.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Keeps files that are opened later from getting the numbers of closed standard streams: messages for
 * people would end up in the trace.  The placeholders are opened in the wrong direction, so that an
 * undeliverable result is still an error, and are closed on exec, so that the recorded command finds the
 * streams as we did.
 */
static bool fill_standard_streams(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                if (fcntl(fd, F_GETFD) < 0 &&
                    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
                        return false;
        return true;
}

int main(int argc, char **argv)
{
        const struct command_row *row;

        if (!fill_standard_streams()) {
                complain("error: a standard stream is closed, and /dev/null cannot be opened in its place");
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (argc < 2) {
                command_table_print(stderr);
                return EXIT_STATUS_USAGE;
        }
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
                command_table_print(stdout);
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        if (strcmp(argv[1], "--version") == 0)
                return version_run(argc - 1, argv + 1);
        if (strcmp(argv[1], COMPLETION_COMMAND) == 0)
                return completion_run(argc - 2, argv + 2);
        if (strcmp(argv[1], MAN_PAGE_COMMAND) == 0)
                return man_page_run(argc - 2, argv + 2);
        if (strcmp(argv[1], HOST_ATTENDANT_COMMAND) == 0)
                return host_attendant_run(argc - 2, argv + 2);
        clock_begin();
        row = command_table_find(argv[1]);
        if (!row) {
                command_table_complain(argv[1]);
                return EXIT_STATUS_USAGE;
        }
        if (!row->runs_command) {
                (void)signal(SIGPIPE, SIG_IGN); /* `| head` is an error of write(2), not our death */
                (void)signal(SIGXFSZ, SIG_IGN); /* so is a limit on the length of files */
        }
        return command_table_run(row, argc - 1, argv + 1);
}
