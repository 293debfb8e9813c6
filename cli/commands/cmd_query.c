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
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LETTER_SQLITE = OPTION_LONG_ONLY, LETTER_PATH };

struct arguments {
        const char *command; /* as it was called */
        const char *option;  /* the one that names the database */
        const char *path;
        const char *database;  /* NULL = not given */
        const char *path_zone; /* the same */
        struct trace_filter_request filter;
        bool force, quiet;
};

/* After the one that names the database. */
#define SHARED_ROWS                                                                 \
        { LETTER_PATH, "path", "ZONE",                                              \
          "fill the table path_segments: who delayed the instances of this zone" }, \
                COMMON_ROW_FORCE, FILTER_OPTION_ROWS, COMMON_ROW_INPUT, COMMON_ROW_QUIET, COMMON_ROW_HELP

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
 * While it is written, a database has a temporary name beside its own: under its own name it is always
 * complete.
 */
static int create_part(const struct arguments *args, char **ret_part, struct error *err)
{
        struct stat status;
        int fd;

        if (stat(args->database, &status) == 0 && S_ISDIR(status.st_mode))
                return error_set(err, -EISDIR, "%s: is a directory", args->database);
        if (!args->force && stat(args->database, &status) == 0)
                return error_set(err, -EEXIST, "%s: the file exists", args->database);
        if (asprintf(ret_part, "%s.part-%ld", args->database, (long)getpid()) < 0) {
                *ret_part = NULL;
                return error_set(err, -ENOMEM, "no memory for a path");
        }
        (void)unlink(*ret_part);
        fd = open(*ret_part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0) {
                if (errno == ENOENT) /* whose code stands for a missing name */
                        return error_set(err, -ENOTDIR, "%s: its folder does not exist", args->database);
                return error_errno(err, "%s: a file beside it", args->database);
        }
        (void)close(fd);
        return 0;
}

static int write_database(struct loaded_trace *trace, const struct sqlite_database_request *request,
                          const struct arguments *args, struct error *err)
{
        struct sqlite_database_totals totals = { .n_zones = 0 };
        char *part = NULL;
        int r = create_part(args, &part, err);

        if (r == 0)
                r = sqlite_database_write(trace, request, part, &totals, err);
        if (r == 0 && rename(part, args->database) < 0)
                r = error_errno(err, "%s", args->database);
        if (r < 0 && part)
                (void)unlink(part);
        free(part);
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
