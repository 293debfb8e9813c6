/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/source_options.h"
#include "cli/terminal/complaint.h"
#include "cli/viewer/view_answers.h"
#include "cli/viewer/viewer_start.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PORT_MAX 65535

enum { LETTER_PORT = OPTION_LONG_ONLY, LETTER_NO_OPEN, LETTER_BEFORE, LETTER_AFTER, LETTER_FOLLOW };

struct arguments {
        const char *before, *after;
        uint16_t port;
        struct source_folders source_folders;
        bool no_open, follows;
};

static const struct option_row option_rows[] = {
        { LETTER_PORT, "port", "N", "serve on this port of 127.0.0.1; default: any" },
        { LETTER_NO_OPEN, "no-open", NULL, "do not start a browser: only print the address" },
        { LETTER_BEFORE, "before", "TRACE",
          "with --after: compare, as BEFORE AFTER; this is the recording from before a change" },
        { LETTER_AFTER, "after", "TRACE", "with --before: the recording from after the change" },
        { LETTER_FOLLOW, "follow", NULL, "TRACE is still being recorded: show it as it grows" },
        SOURCE_OPTION_ROW,
        COMMON_ROW_INPUT,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof view",
        .operands = "[TRACE | BEFORE AFTER]",
        .n_operands_max = 2,
        .stray_advice = "hyprof view BEFORE AFTER, which compares two traces",
        .about =
                "Shows a trace in the browser: a timeline, tables, flame graphs, source; or two traces side by side,\n"
                "and the changes between them.  Serves the pages on 127.0.0.1 until Ctrl-C, to the browser of this\n"
                "user alone.  TRACE is a file; default: " OPTION_DEFAULT_TRACE "; - is standard input,\n"
                "which is shown as it comes.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "exit status: 0 = ended by Ctrl-C or a signal; 1 = TRACE cannot be read, was truncated or replaced while\n"
                "it was followed, or the port cannot be used; 2 = usage\n",
};

static int take_port(struct arguments *args, const char *value)
{
        uint64_t port;

        if (option_parse_number(value, 0, PORT_MAX, &port) < 0) {
                complain("error: --port %s: not a number from 0 to %d", value, PORT_MAX);
                return -EINVAL;
        }
        args->port = (uint16_t)port;
        return 0;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        switch (letter) {
        case LETTER_PORT:
                return take_port(args, value);
        case SOURCE_OPTION_DIR:
                return source_options_take(&args->source_folders, value);
        case LETTER_FOLLOW:
                args->follows = true;
                return 0;
        case LETTER_NO_OPEN:
                args->no_open = true;
                return 0;
        case LETTER_BEFORE:
                args->before = value;
                return 0;
        case LETTER_AFTER:
                args->after = value;
                return 0;
        default:
                return 0;
        }
}

/*
 * A comparison needs both options, and a single trace needs neither.  Returns 0 or -EINVAL after a
 * complaint.
 */
static int check(const struct arguments *args, const struct common_options *common)
{
        bool has_trace = common->trace || common->n_operands > 0;

        if (!args->before != !args->after) {
                complain("error: %s without %s: a comparison has two traces",
                         args->before ? "--before" : "--after", args->before ? "--after" : "--before");
                complain_try("hyprof view BEFORE AFTER");
                return -EINVAL;
        }
        if (args->before && has_trace) {
                complain("error: a trace beside --before and --after");
                complain_try("hyprof view BEFORE AFTER");
                return -EINVAL;
        }
        if (args->before && args->follows) {
                complain("error: --follow: a comparison is of two recordings that are over");
                complain_try("hyprof view BEFORE AFTER");
                return -EINVAL;
        }
        return 0;
}

/* Two operands are what the options say. */
static void take_pair(struct arguments *args, struct common_options *common)
{
        if (common->n_operands != 2 || common->trace || args->before || args->after)
                return;
        args->before = common->operands[0];
        args->after = common->operands[1];
        common->n_operands = 0;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct viewer_start start = {
                .port = args->port, .no_open = args->no_open, .quiet = common->quiet, .follows = args->follows
        };

        take_pair(args, common);
        if (check(args, common) < 0)
                return EXIT_STATUS_USAGE;
        if (!args->before && common_options_take_trace(common) < 0)
                return EXIT_STATUS_USAGE;
        start.traces.source_folders = args->source_folders;
        start.traces.before = args->before;
        start.traces.trace = args->before ? args->after : common->trace;
        return viewer_start_run(&start);
}

const struct option_table *cmd_view_options(void)
{
        return &table;
}

int cmd_view(int argc, char **argv)
{
        struct arguments args = { .source_folders = { .has_current = true } };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .run = run
        };

        return command_frame_run(&frame, argc, argv);
}
