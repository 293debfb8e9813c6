/* SPDX-License-Identifier: MIT */
#include "cli/commands/cmd_help.h"

#include "cli/commands/command_frame.h"
#include "cli/commands/command_table.h"
#include "cli/commands/man_page.h"
#include "cli/exit_status.h"
#include "cli/terminal/standard_output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Shows it as `man` does, with the pager that this has; the page is the one of this very program. */
#define SHOW_COMMAND "exec man -l - 2>/dev/null"

static const struct option_row option_rows[] = {
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof help",
        .operands = "[TOPIC]",
        .n_operands_max = 1,
        .about =
                "Shows the manual of a command, as man(1) does, or as plain text where there is no terminal.\n"
                "TOPIC is a command; default: the list of them.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = shown; 2 = there is no such command, or usage\n",
};

/* Whether people have seen it. */
static bool show_with_man(const char *name)
{
        FILE *man;

        if (isatty(STDOUT_FILENO) != 1)
                return false;
        man = popen(SHOW_COMMAND, "we"); /* NOLINT(cert-env33-c): words of ours alone */
        if (!man)
                return false;
        (void)man_page_print(name, MAN_PAGE_ROFF, man);
        return pclose(man) == 0;
}

static int run(void *context, struct common_options *common)
{
        const char *name = common->operands[0];

        (void)context;
        if (!name) {
                command_table_print(stdout);
        } else if (!command_table_find(name) && strcmp(name, MAN_PAGE_OWN) != 0) {
                command_table_complain(name);
                return EXIT_STATUS_USAGE;
        } else if (!show_with_man(name)) {
                (void)man_page_print(name, MAN_PAGE_TEXT, stdout);
        }
        return standard_output_finish(EXIT_STATUS_OK, "the manual");
}

const struct option_table *cmd_help_options(void)
{
        return &table;
}

int cmd_help(int argc, char **argv)
{
        const struct command_frame frame = { .table = &table, .run = run };

        return command_frame_run(&frame, argc, argv);
}
