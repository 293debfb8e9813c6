/* SPDX-License-Identifier: MIT */
#include "cli/cmd_report.h"

#include "analyze/report.h"
#include "base/error.h"
#include "cli/command_frame.h"
#include "cli/complaint.h"
#include "cli/cpus_text.h"
#include "cli/exit_status.h"
#include "cli/report_json.h"
#include "cli/report_text.h"
#include "cli/standard_output.h"
#include "cli/waits_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Rows of each list in the text, unless --limit says otherwise: a screen or two. */
#define TEXT_ROWS         10
#define TEXT_ZONES_INSIDE 5
#define TEXT_ROWS_INSIDE  5
#define JSON_ROWS_INSIDE  10

enum { LETTER_OFF_CPU = OPTION_LONG_ONLY, LETTER_CPUS };

struct arguments {
        const char *path;
        const char *event; /* NULL = the one with the most samples */
        uint32_t limit;    /* 0 = all */
        bool json;
        bool off_cpu, cpus; /* views instead of the usual one, or both */
};

static const struct option_row option_rows[] = {
        COMMON_ROW_JSON("print JSON (schema " REPORT_JSON_SCHEMA ", docs/report-json.md) instead of text"),
        COMMON_ROW_LIMIT,
        { 'e', "event", "EVENT", "show the samples of this event; default: the one with the most" },
        COMMON_ROW_INPUT,
        { LETTER_OFF_CPU, "off-cpu", NULL, "what threads waited for, and who woke them" },
        { LETTER_CPUS, "cpus", NULL, "how busy each CPU was, and with whom" },
        COMMON_ROW_PAGER,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof report",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .about = "Shows where the time of a recorded program went: functions, zones, and the functions\n"
                 "inside the zones.  TRACE is a file, \"-\" standard input; default: " OPTION_DEFAULT_TRACE
                 "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = shown, also what could be read of a trace that is cut off or damaged;\n"
                   "1 = TRACE cannot be read or is no trace, or the report cannot be written; 2 = usage\n",
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        switch (letter) {
        case 'e':
                args->event = value;
                return 0;
        case LETTER_OFF_CPU:
                args->off_cpu = true;
                return 0;
        default:
                args->cpus = true;
                return 0;
        }
}

/* The trace is there, but not all of it: once on stderr, where a pipe does not swallow it. */
static void warn_of_ending(const struct report *report, const char *path)
{
        if (report->ending == TRACE_ENDING_CUT_OFF || report->ending == TRACE_ENDING_DAMAGED)
                complain("warning: %s: %s; showing what stands before", path, report->ending_words);
}

static void explain_failure(int code, const struct arguments *args, const struct error *err)
{
        complain("error: %s", err->text);
        if (code == -ENOENT && !args->event)
                complain_try("hyprof record COMMAND");
        else if (code == -EBADMSG)
                complain_try("a file that hyprof record wrote");
        else if (code == -ENOTSUP)
                complain_try("a newer hyprof");
}

static int print_text(const struct report *report, const struct arguments *args, uint32_t limit)
{
        int r;

        if (!args->off_cpu && !args->cpus)
                return report_text_print(report, limit, stdout);
        r = report_text_print_header(report, stdout);
        if (r == 0 && args->off_cpu)
                r = waits_text_print(report, limit, stdout);
        if (r == 0 && args->cpus)
                r = cpus_text_print(report, limit, stdout);
        return r;
}

static int print_json(const struct report *report, const struct arguments *args, uint32_t limit)
{
        struct report_json_options options = {
                .limit = limit,
                .wants_waits = args->off_cpu,
                .wants_cpus = args->cpus,
        };

        return report_json_print(report, &options, stdout);
}

static int write_report(const struct report *report, const struct arguments *args)
{
        uint32_t limit = args->limit;
        int r;

        if (limit == COMMON_LIMIT_UNSET)
                limit = args->json ? 0 : TEXT_ROWS;
        r = args->json ? print_json(report, args, limit) : print_text(report, args, limit);
        if (r < 0) {
                complain("error: writing the report: out of memory");
                return EXIT_STATUS_FAILED;
        }
        return standard_output_finish(EXIT_STATUS_OK, "the report");
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct report_options options;
        struct error err = ERROR_NONE;
        struct report *report;
        int r;

        args->path = common->trace;
        args->limit = common->limit;
        args->json = common->json;
        options = (struct report_options){
                .event = args->event,
                .n_zones_inside = args->json ? 0 : TEXT_ZONES_INSIDE,
                .n_functions_inside = args->json ? JSON_ROWS_INSIDE : TEXT_ROWS_INSIDE,
                .wants_waits = args->off_cpu,
                .wants_cpus = args->cpus,
        };
        if (args->limit != COMMON_LIMIT_UNSET)
                options.n_zones_inside = options.n_functions_inside = args->limit;
        r = report_load(args->path, &options, &report, &err);
        if (r < 0) {
                explain_failure(r, args, &err);
                return EXIT_STATUS_FAILED;
        }
        warn_of_ending(report, args->path);
        r = write_report(report, args);
        report_free(report);
        return r;
}

const struct option_table *cmd_report_options(void)
{
        return &table;
}

int cmd_report(int argc, char **argv)
{
        struct arguments args = { .event = NULL };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .takes_trace = true, .run = run
        };

        return command_frame_run(&frame, argc, argv);
}
