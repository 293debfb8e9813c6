/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/replaced_file.h"
#include "cli/options/filter_options.h"
#include "cli/terminal/complaint.h"
#include "export/tables/sqlite_database.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LETTER_SQLITE = OPTION_LONG_ONLY, LETTER_PATH };

struct arguments {
        const char *command; /* as it was called */
        const char *option;  /* the one that names the database */
        const char *path;
        const char *database;  /* NULL = not given */
        const char *path_zone; /* the same */
        struct trace_filter_request filter;
        unsigned mode; /* of the database; 0 = not given */
        bool force, quiet;
};

/* After the one that names the database. */
#define SHARED_ROWS                                                                                      \
        { LETTER_PATH, "path", "ZONE",                                                                   \
          "fill the table path_segments: who delayed the instances of this zone" },                      \
                COMMON_ROW_FORCE,                                                                        \
                { COMMON_OPTION_MODE, "mode", "MODE",                                                    \
                  "who may read the database, as of chmod: 640 also its group, 644 all users; default: " \
                  "600, or that of the file that it replaces" },                                         \
                FILTER_OPTION_ROWS, COMMON_ROW_INPUT, COMMON_ROW_QUIET, COMMON_ROW_HELP

/* What `hyprof query` and `hyprof export sqlite` have in common. */
#define SHARED_MEMBERS                                                                                                 \
        .operands = "[TRACE]", .n_operands_max = 1,                                                                    \
        .about =                                                                                                       \
                "Writes samples, call stacks, zones, waits and counters into an SQLite database, with views for the\n" \
                "usual questions (docs/use/sqlite.md), for any other: sqlite3 FILE 'select * from zone_stats'.\n"      \
                "TRACE is - for standard input; default: " OPTION_DEFAULT_TRACE "\n",                                  \
        .closing = FILTER_OPTION_WORDS                                                                                 \
                "exit status: 0 = written; 1 = the trace cannot be read, nothing in it passes the filters,\n"          \
                "or FILE cannot be written; 2 = usage\n"

static const struct option_row query_rows[] = {
        { LETTER_SQLITE, "sqlite", "FILE", "write the database to FILE" },
        SHARED_ROWS,
};

static const struct option_row sqlite_rows[] = {
        COMMON_ROW_OUTPUT("write to FILE; default: the trace's name with .db"),
        { LETTER_SQLITE, "sqlite", "FILE", NULL },
        SHARED_ROWS,
};

static const struct option_table query_table = {
        .command = "hyprof query",
        .stray_advice = "hyprof query --sqlite out.db TRACE, then sqlite3 out.db 'SELECT ...'",
        .rows = query_rows,
        .n_rows = sizeof(query_rows) / sizeof(query_rows[0]),
        SHARED_MEMBERS,
};

static const struct option_table sqlite_table = {
        .command = "hyprof export sqlite",
        .stray_advice = "hyprof export sqlite -o out.db TRACE, then sqlite3 out.db 'SELECT ...'",
        .rows = sqlite_rows,
        .n_rows = sizeof(sqlite_rows) / sizeof(sqlite_rows[0]),
        SHARED_MEMBERS,
};

const struct option_table *cmd_query_options(void)
{
        return &query_table;
}

const struct option_table *cmd_export_sqlite_options(void)
{
        return &sqlite_table;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r;

        if (letter == LETTER_PATH) {
                args->path_zone = value;
                return 0;
        }
        if (letter == LETTER_SQLITE) {
                args->database = value;
                return 0;
        }
        r = filter_options_take(&args->filter, letter, value);
        return r < 0 ? r : 0;
}

/*
 * A database has all that its trace has, and so is its owner's alone, as traces are.  While it is written it
 * has another name: under its own it is always complete.
 */
static int make_file(struct loaded_trace *trace, const struct sqlite_database_request *request,
                     const struct arguments *args, struct sqlite_database_totals *ret_totals,
                     struct error *err)
{
        const struct replaced_file_options options = {
                .only_new = !args->force, .is_recording = true, .is_by_name = true, .mode = args->mode
        };
        struct replaced_file file;
        char *part;
        int r = replaced_file_open(&file, args->database, &options, err);

        if (r < 0)
                return r == -ENOENT ? -ENOTDIR : r; /* the first stands for a missing name */
        part = replaced_file_part(&file);
        r = part ? sqlite_database_write(trace, request, part, ret_totals, err)
                 : error_set(err, -ENOMEM, "no memory for a path");
        if (r == 0)
                r = replaced_file_commit(&file, err);
        replaced_file_close(&file);
        free(part);
        return r;
}

static int write_database(struct loaded_trace *trace, const struct sqlite_database_request *request,
                          const struct arguments *args, struct error *err)
{
        struct sqlite_database_totals totals = { .n_zones = 0 };
        int r = make_file(trace, request, args, &totals, err);

        if (r < 0)
                return r;
        complain_of_newer(args->path, trace->version, trace->n_unknown_events);
        if (trace_ending_is_early(trace->ending))
                complain("warning: %s: %s; writing the part before", args->path, trace->ending_words);
        if (args->quiet)
                return 0;
        complain("wrote %s: %s, %s, %s, %s", args->database,
                 text_number_counted(totals.n_zones, "zones").text,
                 text_number_counted(totals.n_samples, "samples").text,
                 text_number_counted(totals.n_waits, "waits").text,
                 text_number_counted(totals.n_other, "other events").text);
        complain_next("sqlite3 -box %s 'select * from zone_stats order by total_ns desc limit 10'",
                      shell_word_of(args->database).text);
        return 0;
}

/* What --path asks for; "frame@main" is one of some threads, while the other tables have all. */
static int write_all(struct loaded_trace *trace, const struct trace_filter *filter,
                     const struct arguments *args, struct error *err)
{
        struct sqlite_database_request request = { .filter = filter, .path_zone = args->path_zone };
        struct trace_filter_request of_path = args->filter;
        struct trace_filter path_filter = { .is_empty = true };
        char *zone = NULL;
        int r = 0;

        if (args->path_zone)
                r = filter_options_find_zone(&of_path, trace, args->path_zone, &zone, err);
        if (r == 0 && zone) {
                r = trace_filter_init(&path_filter, &of_path, trace, err);
                request.path_zone = zone;
                request.path_filter = &path_filter;
        }
        if (r == 0)
                r = write_database(trace, &request, args, err);
        trace_filter_deinit(&path_filter);
        free(zone);
        return r;
}

/* Writes args->database, which is not NULL.  Returns the exit status. */
static int make_database(const struct arguments *args)
{
        struct trace_filter filter = { .is_empty = true };
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        int r = loaded_trace_open(&trace, args->path, &err);

        if (r == 0)
                r = trace_filter_init(&filter, &args->filter, &trace, &err);
        if (r == 0)
                r = write_all(&trace, &filter, args, &err);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        if (r < 0 && r != -EEXIST)
                return filter_options_explain(&args->filter, r, args->path, &err);
        if (r == -EEXIST)
                complain_of_existing(args->command, args->option, args->database, args->path, &err);
        return r < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}

static void learn_common(struct arguments *args, const struct common_options *common)
{
        args->command = common->command;
        args->path = common->trace;
        args->quiet = common->quiet;
        args->force = common->force;
        args->mode = common->mode;
        if (!args->database)
                args->database = common->output;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;

        learn_common(args, common);
        if (args->database)
                return command_frame_confine(COMMAND_PRINTS, common, args->database) < 0
                               ? EXIT_STATUS_FAILED
                               : make_database(args);
        complain("error: --sqlite FILE is missing: the database to write");
        complain_try("%s --sqlite out.db %s", args->command, shell_word_of(args->path).text);
        return EXIT_STATUS_USAGE;
}

int cmd_query(int argc, char **argv)
{
        struct arguments args = { .option = "--sqlite" };
        const struct command_frame frame = {
                .table = &query_table, .take = take_option, .context = &args, .takes_trace = true, .run = run
        };

        return command_frame_run(&frame, argc, argv);
}

/* The database is named after the trace where -o names none. */
static int export_sqlite_run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        char *named = NULL;
        int status;

        learn_common(args, common);
        if (args->database && strcmp(args->database, "-") == 0) {
                complain("error: -o -: a database is written to a file");
                complain_try("%s -o out.db %s", args->command, shell_word_of(args->path).text);
                return EXIT_STATUS_USAGE;
        }
        if (!args->database)
                args->database = named = replaced_file_name_after(args->path, ".db");
        if (!args->database) {
                complain("error: no memory for a path");
                return EXIT_STATUS_FAILED;
        }
        status = make_database(args);
        free(named);
        return status;
}

int cmd_export_sqlite(int argc, char **argv)
{
        struct arguments args = { .option = "-o" };
        const struct command_frame frame = { .table = &sqlite_table,
                                             .take = take_option,
                                             .context = &args,
                                             .takes_trace = true,
                                             .reading = COMMAND_WRITES_BESIDE,
                                             .run = export_sqlite_run };

        return command_frame_run(&frame, argc, argv);
}
