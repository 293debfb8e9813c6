/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "analyze/report/report.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/filter_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "cli/views/cpus_text.h"
#include "cli/views/event_views.h"
#include "cli/views/report_json.h"
#include "cli/views/report_text.h"
#include "cli/views/report_views.h"
#include "cli/views/waits_text.h"
#include "view/answers/off_cpu_view.h"
#include "view/document/view_document.h"
#include "view/text/shell_word.h"
#include "view/text/text_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Rows of each list in the text, unless --limit says otherwise: all of it is to be about 60 lines. */
#define TEXT_ROWS         8
#define TEXT_ZONES_INSIDE 3
#define TEXT_ROWS_INSIDE  3
#define JSON_ROWS_INSIDE  10

enum { LETTER_OFF_CPU = OPTION_LONG_ONLY, LETTER_CPUS };

struct arguments {
        const char *path;
        struct report_views views; /* or one of these; with filters, and how to print */
        struct event_views events; /* or one of these */
        bool off_cpu, cpus;        /* views instead of the usual one, or both */
};

static const struct option_row option_rows[] = {
        REPORT_VIEW_ROWS,
        EVENT_VIEW_ROWS,
        COMMON_ROW_INPUT,
        { LETTER_OFF_CPU, "off-cpu", NULL, "what threads waited for, and which threads woke them" },
        { LETTER_CPUS, "cpus", NULL, "how busy each CPU was, and with which threads" },
        FILTER_OPTION_ROWS,
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_PAGER,
        COMMON_ROW_HELP,
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

        switch (letter) {
        case LETTER_OFF_CPU:
                args->off_cpu = true;
                return 0;
        case LETTER_CPUS:
                args->cpus = true;
                return 0;
        default: {
                int r = event_views_take(&args->events, letter, value);

                if (r == 0)
                        r = report_views_take(&args->views, letter, value);
                return r < 0 ? r : 0;
        }
        }
}

/* The trace is there, but not all of it: once on stderr, where a pipe does not swallow it. */
static void warn_of_ending(const struct report *report, const char *path)
{
        if (report->ending == TRACE_ENDING_CUT_OFF || report->ending == TRACE_ENDING_DAMAGED)
                complain("warning: %s: %s; showing the part before", path, report->ending_words);
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

/* The next questions: the same as for the overview in other formats. */
static void print_hints(const struct text_page *page, const struct report *report, const char *path)
{
        bool is_named = strcmp(path, OPTION_DEFAULT_TRACE) != 0 && strcmp(path, "-") != 0;
        struct shell_word word = shell_word_of(is_named ? path : "");
        const char *between = is_named ? " " : "";

        if (report->functions.n_rows == 0 && report->n_zones == 0)
                return;
        text_page_print_title(page, "next");
        if (report->functions.n_rows != 0)
                (void)printf("  hyprof report --top-down%s%s\n", between, is_named ? word.text : "");
        if (report->n_zones != 0)
                (void)printf("  hyprof report --zone z%" PRIu32 "%s%s\n", report->zones[0].location, between,
                             is_named ? word.text : "");
}

static int print_text(const struct report *report, const struct arguments *args, uint32_t limit)
{
        struct output_options output = args->views.output;
        struct text_page page = { .out = stdout };
        int r;

        output_options_complete(&output);
        page.color = output.document.color;
        page.full_names = output.document.full_names;
        if (!args->off_cpu && !args->cpus) {
                r = report_text_print(report, limit, &page);
                print_hints(&page, report, args->path);
                return r;
        }
        r = report_text_print_header(report, &page);
        if (r == 0 && args->off_cpu)
                r = waits_text_print(report, limit, &page);
        if (r == 0 && args->cpus)
                r = cpus_text_print(report, limit, &page);
        print_hints(&page, report, args->path);
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

static bool is_json(const struct arguments *args)
{
        return args->views.output.document.format == DOCUMENT_JSON;
}

/* Tables of what threads waited for, and of the CPUs, where they are neither text nor JSON. */
static int print_document(const struct report *report, const struct arguments *args, uint32_t limit)
{
        struct output_options output = args->views.output;
        struct byte_buffer words = { .data = NULL };
        struct view_document document;
        struct report_string filter;
        int r;

        filter_options_describe(&args->views.filter, &words);
        filter = (struct report_string){ .bytes = (const char *)words.data, .n_bytes = words.used_bytes };
        output_options_complete(&output);
        view_document_init(&document, args->off_cpu ? OFF_CPU_VIEW_SCHEMA : CPUS_VIEW_SCHEMA);
        if (args->cpus)
                cpus_view_fill(&document, report, filter, limit);
        if (args->off_cpu)
                off_cpu_view_fill(&document, report, filter, limit);
        r = output_options_print(&output, &document);
        view_document_deinit(&document);
        byte_buffer_deinit(&words);
        return r;
}

static int write_report(const struct report *report, const struct arguments *args)
{
        uint32_t limit = output_options_limit(&args->views.output, TEXT_ROWS);
        int r;

        if (!is_json(args) && args->views.output.document.format != DOCUMENT_TEXT)
                return print_document(report, args, limit);
        r = is_json(args) ? print_json(report, args, limit) : print_text(report, args, limit);
        if (r < 0) {
                complain("error: writing the report: out of memory");
                return EXIT_STATUS_FAILED;
        }
        return standard_output_finish(EXIT_STATUS_OK, "the report");
}

/* The overview, or what threads waited for, or the CPUs. */
static int print_overview(const struct arguments *args, struct error *err)
{
        uint32_t limit = args->views.output.limit;
        struct report_options options = {
                .event = args->views.filter.event,
                .n_zones_inside = is_json(args) ? 0 : TEXT_ZONES_INSIDE,
                .n_functions_inside = is_json(args) ? JSON_ROWS_INSIDE : TEXT_ROWS_INSIDE,
                .wants_waits = args->off_cpu,
                .wants_cpus = args->cpus,
        };
        struct trace_filter_request filter = args->views.filter;
        struct byte_buffer words = { .data = NULL };
        struct report *report = NULL;
        int r;

        /* Which samples are shown; counters that were read with them are shown as well. */
        filter.event = NULL;
        options.filter = &filter;
        if (limit != OUTPUT_LIMIT_UNSET)
                options.n_zones_inside = options.n_functions_inside = limit;
        filter_options_describe(&filter, &words);
        options.filter_words = (struct report_string){ (const char *)words.data, words.used_bytes };
        r = words.failed ? error_set(err, -ENOMEM, "out of memory")
                         : report_load(args->path, &options, &report, err);
        if (r == 0 && report) {
                warn_of_ending(report, args->path);
                r = write_report(report, args);
                report_free(report);
        }
        byte_buffer_deinit(&words);
        return r;
}

/* Which are not among args->views; of these two at once there is only --off-cpu with --cpus. */
static bool has_other_view(const struct arguments *args)
{
        return args->off_cpu || args->cpus || args->events.view != EVENT_VIEW_NONE;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct error err = ERROR_NONE;
        int r;

        args->path = common->trace;
        if (output_options_adopt(&args->views.output, common) < 0)
                return EXIT_STATUS_USAGE;
        if (report_views_complete(&args->views, has_other_view(args)) < 0)
                return EXIT_STATUS_USAGE;
        if (args->events.view != EVENT_VIEW_NONE)
                r = event_views_print(&args->events, &args->views.filter, &args->views.output, args->path,
                                      &err);
        else if (args->views.view == REPORT_VIEW_NONE)
                r = print_overview(args, &err);
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
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .takes_trace = true, .run = run
        };

        report_views_init(&args.views);
        return command_frame_run(&frame, argc, argv);
}
