/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/lost_zones.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "base/text_view.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/export_file.h"
#include "cli/options/filter_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "export/tables/tracy_csv.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LETTER_SAFE = OPTION_LONG_ONLY };

struct arguments {
        struct tracy_csv_options csv;
        struct trace_filter_request filter;
};

/*
 * -e is --self as in tracy-csvexport; --event of the other commands has no place here: there are no samples.
 */
#define SHARED_ROWS                                                                               \
        { 'f', "filter", "NAME", "only zones whose name contains this" },                         \
                { 'c', "case", NULL, "make --filter case-sensitive" },                            \
                { 's', "sep", "CHAR", "column separator; default: a comma; \"\\t\" is a tab" },   \
                { LETTER_SAFE, "csv-safe", NULL,                                                  \
                  "put an apostrophe before texts that a spreadsheet would take for formulas" },  \
                { 'e', "self", NULL, "self times: without the zones inside" },                    \
                { 'u', "unwrap", NULL, "print every zone, one per line, instead of statistics" }, \
                { 'm', "messages", NULL, "print messages instead of zones" },                     \
                { 'g', "gpu", NULL, "print zones of accelerators instead, one per line" },        \
                { 'p', "plot", NULL, "with -u: print the values of plots as well" },              \
                FILTER_OPTION_ROWS_OF_PLACE, FILTER_OPTION_ROW_ZONE, COMMON_ROW_INPUT, COMMON_ROW_HELP

/* What `hyprof csv` and `hyprof export csv` have in common. */
#define SHARED_MEMBERS                                                                                          \
        .operands = "[TRACE]", .n_operands_max = 1,                                                             \
        .about =                                                                                                \
                "Prints statistics of the zones of a trace, or every zone, as tracy-csvexport does: the same\n" \
                "columns in the same order, quoted where necessary; more columns follow.  TRACE is a\n"         \
                "file, \"-\" standard input; default: " OPTION_DEFAULT_TRACE "\n",                              \
        .closing = FILTER_OPTION_WORDS                                                                          \
                "exit status: 0 = printed, or as far as a damaged trace can be read;\n"                         \
                "1 = TRACE cannot be read, nothing in it passes the filters, or the table cannot be\n"          \
                "written; 2 = usage\n"

static const struct option_row csv_rows[] = { SHARED_ROWS };

static const struct option_row export_rows[] = {
        COMMON_ROW_OUTPUT("write to FILE; default: standard output"),
        COMMON_ROW_FORCE,
        COMMON_ROW_QUIET,
        SHARED_ROWS,
};

static const struct option_table csv_table = {
        .command = "hyprof csv",
        .rows = csv_rows,
        .n_rows = sizeof(csv_rows) / sizeof(csv_rows[0]),
        SHARED_MEMBERS,
};

static const struct option_table export_table = {
        .command = "hyprof export csv",
        .rows = export_rows,
        .n_rows = sizeof(export_rows) / sizeof(export_rows[0]),
        SHARED_MEMBERS,
};

const struct option_table *cmd_csv_options(void)
{
        return &csv_table;
}

const struct option_table *cmd_export_csv_options(void)
{
        return &export_table;
}

static int take_separator(struct arguments *args, const char *value)
{
        if (strcmp(value, "\\t") == 0) {
                args->csv.separator = '\t';
                return 0;
        }
        if (strlen(value) != 1 || *value == '"' || *value == '\n') {
                complain("error: --sep %s: not a single character that can separate columns", value);
                return -EINVAL;
        }
        args->csv.separator = *value;
        return 0;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r;

        switch (letter) {
        case 'f':
                args->csv.name = value;
                return 0;
        case 'c':
                args->csv.case_sensitive = true;
                return 0;
        case 's':
                return take_separator(args, value);
        case LETTER_SAFE:
                args->csv.is_safe = true;
                return 0;
        case 'e':
                args->csv.self = true;
                return 0;
        case 'u':
                args->csv.unwrap = true;
                return 0;
        case 'm':
                args->csv.messages = true;
                return 0;
        case 'g':
                args->csv.devices = true;
                return 0;
        case 'p':
                args->csv.plots = true;
                return 0;
        default:
                r = filter_options_take(&args->filter, letter, value);
                return r < 0 ? r : 0;
        }
}

static int write_table(struct arguments *args, const char *path, FILE *out, struct error *err)
{
        struct trace_filter filter = { .is_empty = true };
        struct lost_zones lost = { .n_lost = 0 };
        char words[LOST_ZONES_WORDS_BYTES];
        struct loaded_trace trace;
        int r = loaded_trace_open(&trace, path, err);

        if (r < 0)
                goto fail;
        r = trace_filter_init(&filter, &args->filter, &trace, err);
        if (r < 0)
                goto fail;
        args->csv.filter = &filter;
        if (!args->csv.messages && !args->csv.devices && !args->csv.plots)
                args->csv.ret_lost = &lost;
        r = tracy_csv_write(&trace, &args->csv, out, err);
        args->csv.ret_lost = NULL;
        if (r < 0)
                goto fail;
        complain_of_newer(path, trace.version, trace.n_unknown_events);
        if (trace_ending_is_early(trace.ending))
                complain("warning: %s: %s; showing the part before", path, trace.ending_words);
        lost_zones_words(&lost, words);
        if (lost.n_lost != 0)
                complain("warning: %s: counts and totals are %s", path, words);
fail:
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return r;
}

/* Writes the file, which appears only when it is complete. */
static int write_file(struct arguments *args, const struct common_options *common, struct error *err)
{
        const struct export_file_options how = { .packed = text_ends_with(common->output, ".gz"),
                                                 .only_new = !common->force };
        struct export_file file;
        uint64_t n_bytes;
        int r = export_file_open(&file, common->output, &how, err);

        if (r == 0)
                r = write_table(args, common->trace, file.out, err);
        if (r == 0)
                r = export_file_finish(&file, &n_bytes, err);
        if (r == 0 && !common->quiet)
                complain("wrote %s (%s)", common->output, text_number_bytes(n_bytes).text);
        export_file_close(&file);
        return r;
}

/* Explains that --filter matches no zone, or that the trace is missing. */
static int explain_name(const char *path, const struct error *err)
{
        complain_of_trace(-ENOENT, path, err);
        if (strcmp(path, "-") == 0 || access(path, F_OK) == 0)
                complain_try("hyprof report --zones %s", shell_word_of(path).text);
        return EXIT_STATUS_FAILED;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct error err = ERROR_NONE;
        bool is_file;
        int r;

        if (args->csv.plots && !args->csv.unwrap) {
                complain("error: --plot prints values below every zone");
                complain_try("%s --unwrap --plot", common->command);
                return EXIT_STATUS_USAGE;
        }
        is_file = common->output && strcmp(common->output, "-") != 0;
        r = is_file ? write_file(args, common, &err) : write_table(args, common->trace, stdout, &err);
        if (r == -EEXIST) {
                complain_of_existing(common->command, "-o", common->output, common->trace, &err);
                return EXIT_STATUS_FAILED;
        }
        if (r == -EPIPE) /* who reads has seen enough */
                return EXIT_STATUS_OK;
        if (r < 0 && args->csv.name && !args->filter.zone && r == -ENOENT)
                return explain_name(common->trace, &err);
        if (r < 0)
                return filter_options_explain(&args->filter, r, common->trace, &err);
        return standard_output_finish(EXIT_STATUS_OK, "the table");
}

static int run_with(const struct option_table *table, int argc, char **argv)
{
        struct arguments args = { .csv = { .separator = ',' } };
        const struct command_frame frame = { .table = table,
                                             .take = take_option,
                                             .context = &args,
                                             .takes_trace = true,
                                             .reading = COMMAND_WRITES_OUTPUT,
                                             .run = run };

        return command_frame_run(&frame, argc, argv);
}

int cmd_csv(int argc, char **argv)
{
        return run_with(&csv_table, argc, argv);
}

int cmd_export_csv(int argc, char **argv)
{
        return run_with(&export_table, argc, argv);
}
