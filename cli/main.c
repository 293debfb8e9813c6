/* SPDX-License-Identifier: MIT */
#include "cli/cmd_annotate.h"
#include "cli/cmd_check.h"
#include "cli/cmd_doctor.h"
#include "cli/cmd_dump.h"
#include "cli/cmd_export.h"
#include "cli/cmd_extract.h"
#include "cli/cmd_list.h"
#include "cli/cmd_modules.h"
#include "cli/cmd_record.h"
#include "cli/cmd_report.h"
#include "cli/cmd_symbolize.h"
#include "cli/complaint.h"
#include "cli/exit_status.h"
#include "cli/standard_output.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct command_row {
        const char *name;
        int (*run)(int argc, char **argv);
        bool runs_command; /* whose signals are left alone */
        const char *help;
};

static const struct command_row command_rows[] = {
        { "record", cmd_record, true, "run a program and record its callstacks and zones" },
        { "report", cmd_report, false, "show where the time went: functions, zones, functions inside zones" },
        { "symbolize", cmd_symbolize, false, "find names for the addresses of a trace, on any machine" },
        { "export", cmd_export, false,
          "write a trace as a file of another tool: firefox, perfetto, pprof ..." },
        { "modules", cmd_modules, false, "show the code of a trace: kept, found or missing" },
        { "extract", cmd_extract, false, "write code that a trace keeps into a file" },
        { "annotate", cmd_annotate, false,
          "show the instructions and lines of a function, with its samples" },
        { "dump", cmd_dump, false, "print a trace as text, a line a record" },
        { "check", cmd_check, false, "say whether a trace is whole; mend one that is cut off" },
        { "list", cmd_list, false, "show the events that can be recorded" },
        { "doctor", cmd_doctor, false,
          "show what this machine and user can record, and what would allow the rest" },
};

#define N_COMMANDS (sizeof(command_rows) / sizeof(command_rows[0]))

/* In bytes: the names are a column. */
static size_t longest_name(void)
{
        size_t longest = 0;

        for (size_t i = 0; i < N_COMMANDS; i++)
                if (strlen(command_rows[i].name) > longest)
                        longest = strlen(command_rows[i].name);
        return longest;
}

static void print_help(FILE *out)
{
        (void)fputs(
                "usage: hyprof COMMAND [OPTIONS]\n"
                "\n"
                "A hybrid profiler: samples callstacks, collects the zones that a program emits, and shows\n"
                "what the program did inside the piece of work that you care about.\n"
                "\n",
                out);
        for (size_t i = 0; i < N_COMMANDS; i++)
                (void)fprintf(out, "  %-*s  %s\n", (int)longest_name(), command_rows[i].name,
                              command_rows[i].help);
        (void)fputs("\n"
                    "hyprof COMMAND --help explains a command; hyprof --version prints the version.\n"
                    "First steps:  hyprof record ./program    then    hyprof report\n",
                    out);
}

/*
 * Keeps the numbers of closed standard streams from the files that are opened later: what is meant for people
 * would get into the trace.  The wrong way round, so that a result that nobody gets is an error still; closed
 * on exec, so that the recorded command finds them as we did.
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
        if (!fill_standard_streams()) {
                complain("error: a standard stream is closed, and /dev/null cannot be opened in its place");
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (argc < 2) {
                print_help(stderr);
                return EXIT_STATUS_USAGE;
        }
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
                print_help(stdout);
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        if (strcmp(argv[1], "--version") == 0) {
                (void)printf("hyprof %s\n", HYPROF_VERSION);
                return standard_output_finish(EXIT_STATUS_OK, "the version");
        }
        for (size_t i = 0; i < N_COMMANDS; i++) {
                if (strcmp(argv[1], command_rows[i].name) != 0)
                        continue;
                if (!command_rows[i].runs_command)
                        (void)signal(SIGPIPE, SIG_IGN); /* `| head` is an error of write(2), not our death */
                return command_rows[i].run(argc - 1, argv + 1);
        }
        complain("error: unknown command '%s'", argv[1]);
        complain_try("hyprof --help");
        return EXIT_STATUS_USAGE;
}
