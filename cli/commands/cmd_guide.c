/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/manual/man_page.h"
#include "cli/terminal/standard_output.h"

#include <stdio.h>

static const struct option_row option_rows[] = {
        COMMON_ROW_PAGER,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof guide",
        .operands = "",
        .about = "Prints one page of workflow: which command answers which question, and what to do next.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0; 2 = usage\n",
};

static int run(void *context, struct common_options *common)
{
        (void)context;
        (void)common;
        man_page_print_prose("guide", stdout);
        return standard_output_finish(EXIT_STATUS_OK, "the guide");
}

const struct option_table *cmd_guide_options(void)
{
        return &table;
}

int cmd_guide(int argc, char **argv)
{
        const struct command_frame frame = { .table = &table, .run = run };

        return command_frame_run(&frame, argc, argv);
}
