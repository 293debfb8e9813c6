/* SPDX-License-Identifier: MIT */
#include "cli/commands/command_frame.h"

#include "cli/exit_status.h"
#include "cli/terminal/pager.h"
#include "cli/terminal/standard_output.h"

#include <stddef.h>
#include <stdio.h>

/* The target of the options. */
struct taking {
        const struct command_frame *frame;
        struct common_options common;
};

static int command_frame_take(void *context, int letter, const char *value)
{
        struct taking *t = context;
        const struct option_row *row = option_table_find_letter(t->frame->table, letter);
        int r = row ? common_options_take(&t->common, row, value) : 0;

        if (r == 0 && t->frame->take)
                r = t->frame->take(t->frame->context, letter, value);
        return r < 0 ? r : 0;
}

static int command_frame_run_one(const struct command_frame *frame, struct common_options *common)
{
        struct pager pager = { .stream = NULL };
        int status;

        if (common->pager)
                pager_start(&pager, &common->color);
        status = frame->run(frame->context, common);
        pager_finish(&pager);
        return status;
}

int command_frame_run(const struct command_frame *frame, int argc, char **argv)
{
        struct taking t = { .frame = frame };
        int first;

        common_options_init(&t.common);
        if (option_table_parse(frame->table, argc, argv, command_frame_take, &t, &first) < 0)
                return EXIT_STATUS_USAGE;
        if (t.common.help) {
                option_table_print(frame->table, stdout);
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        t.common.operands = argv + first;
        t.common.n_operands = argc - first;
        if (frame->takes_trace && common_options_take_trace(&t.common, frame->table) < 0)
                return EXIT_STATUS_USAGE;
        return command_frame_run_one(frame, &t.common);
}
