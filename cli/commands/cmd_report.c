/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/filter_options.h"
#include "cli/terminal/complaint.h"
#include "cli/views/report_views.h"
#include "view/text/shell_word.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct arguments {
        const char *path;
        struct report_views views; /* one of these views, with its filters and output options */
        struct event_views events; /* or one of these */
};

static const struct option_row option_rows[] = {
        REPORT_VIEW_ROWS,   EVENT_VIEW_ROWS,  COMMON_ROW_INPUT, FILTER_OPTION_ROWS,
        OUTPUT_OPTION_ROWS, COMMON_ROW_PAGER, COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof report",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .about =
                "Shows where the time of a recorded program went: functions, zones, and the functions\n"
                "inside the zones; or one view of it in detail.  --zone alone is a view as well: its times, the\n"
                "calls inside, its waits and its slowest instances.  TRACE is a file, \"-\" standard input;\n"
                "default: " OPTION_DEFAULT_TRACE "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = FILTER_OPTION_WORDS
        "exit status: 0 = shown, or as far as a damaged trace can be read;\n"
        "1 = TRACE cannot be read or is not a trace, nothing in it passes the filters, or the report\n"
        "cannot be written; 2 = usage\n",
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r = event_views_take(&args->events, letter, value);

        if (r == 0)
                r = report_views_take(&args->views, letter, value);
        return r < 0 ? r : 0;
}

/* Returns the exit status. */
static int explain_failure(int code, const struct arguments *args, const struct error *err)
{
        bool is_there = strcmp(args->path, "-") == 0 || access(args->path, F_OK) == 0;

        if (code != -ENOENT || !args->views.function || !is_there)
                return filter_options_explain(&args->views.filter, code, args->path, err);
        complain("error: %s", err->text);
        complain_try("hyprof report --functions %s", shell_word_of(args->path).text);
        return EXIT_STATUS_FAILED;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct error err = ERROR_NONE;
        int r;

        args->path = common->trace;
        if (output_options_adopt(&args->views.output, common) < 0)
                return EXIT_STATUS_USAGE;
        if (args->events.view == EVENT_VIEW_IDLE) {
                args->events.has_steps = args->views.histogram;
                args->views.histogram = false;
        }
        if (report_views_complete(&args->views, args->events.view != EVENT_VIEW_NONE) < 0)
                return EXIT_STATUS_USAGE;
        args->events.shows_native = args->views.native;
        if (args->events.view != EVENT_VIEW_NONE)
                r = event_views_print(&args->events, &args->views.filter, &args->views.output, args->path,
                                      &err);
        else
                r = report_views_print(&args->views, args->path, &err);
        return r < 0 ? explain_failure(r, args, &err) : r;
}

const struct option_table *cmd_report_options(void)
{
        return &table;
}

int cmd_report(int argc, char **argv)
{
        struct arguments args = { .path = NULL };
        const struct command_frame frame = { .table = &table,
                                             .take = take_option,
                                             .context = &args,
                                             .takes_trace = true,
                                             .reading = COMMAND_PRINTS,
                                             .run = run };

        report_views_init(&args.views);
        return command_frame_run(&frame, argc, argv);
}
