/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/attachment_files.h"
#include "cli/options/filter_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "format/trace_dump.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

enum { LETTER_EXTRACT = OPTION_LONG_ONLY };

struct arguments {
        const char *folder; /* for attachments in the trace; NULL = print the trace */
        struct trace_filter_request filter;
};

static const struct option_row option_rows[] = {
        { LETTER_EXTRACT, "extract", "DIR",
          "print nothing; write the source texts and images of the trace to files in DIR" },
        FILTER_OPTION_ROWS,
        COMMON_ROW_INPUT,
        COMMON_ROW_PAGER,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof dump",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .about = "Prints everything in a trace as text, one line per record, as "
                 "docs/understand/trace-format.md\n"
                 "explains them.\n"
                 "With filters: all tables, then the events that pass.\n"
                 "TRACE is a file, \"-\" standard input; default: " OPTION_DEFAULT_TRACE "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "Files are called DIR/attachment-<id>-<name>; DIR is made if need be, and no file is "
                "overwritten.\n" FILTER_OPTION_WORDS
                "exit status: 0 = printed, or extracted, to its end; 1 = TRACE cannot be read, is not a trace,\n"
                "is cut off or damaged (the part before is printed or extracted), no event passes the filters,\n"
                "or a file cannot be written; 2 = usage\n",
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        if (letter != LETTER_EXTRACT) {
                int r = filter_options_take(&args->filter, letter, value);

                return r < 0 ? r : 0;
        }
        args->folder = value;
        return 0;
}

/* The fault at the end of the trace, if any. */
static int finish(const struct trace_reader *reader, const char *path, int status, const char *what)
{
        const char *words;

        enum trace_ending ending = trace_reader_ending(reader, &words, NULL);

        if (ending != TRACE_ENDING_WHOLE) {
                (void)fflush(stdout); /* the complaint must follow all output, not split a line */
                complain("error: %s: %s; the output covers the part before", path, words);
                if (ending == TRACE_ENDING_CUT_OFF)
                        complain_try_repair(path);
                return EXIT_STATUS_FAILED;
        }
        return standard_output_finish(status, what);
}

static int dump(struct trace_reader *reader, const char *path)
{
        struct error err = ERROR_NONE;
        int r = trace_dump_write(reader, stdout, &err);

        if (ferror(stdout)) /* then the rest was not read either */
                return standard_output_finish(EXIT_STATUS_OK, "the dump");
        if (r < 0) {
                (void)error_prefix_once(&err, r, path);
                complain("error: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        return finish(reader, path, EXIT_STATUS_OK, "the dump");
}

static int extract(struct trace_reader *reader, const char *path, const char *folder)
{
        struct attachment_files_result result;
        struct error err = ERROR_NONE;
        int status = EXIT_STATUS_OK;

        if (attachment_files_extract(reader, folder, stdout, &result, &err) < 0) {
                complain("error: %s into %s: %s", path, folder, err.text);
                return EXIT_STATUS_FAILED;
        }
        if (result.n_incomplete + result.n_absent != 0) {
                complain("warning: %s: %s of %s attachments lack bytes", path,
                         text_number_count(result.n_incomplete + result.n_absent).text,
                         text_number_count(result.n_written + result.n_absent).text);
                status = EXIT_STATUS_FAILED;
        }
        if (result.n_written + result.n_absent == 0)
                (void)printf("there are none\n");
        return finish(reader, path, status, "the names of the files");
}

/* ---- with filters: all tables, to which events refer, then the events that pass; no chunks and runs ---- */

struct printing {
        const struct trace_dictionary *dictionary;
        FILE *out;
        bool has_tables; /* they stand there already */
};

/* The tables are printed with the first event; if no event passes, only the complaint is printed. */
static int on_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                    struct error *err)
{
        struct printing *p = context;

        if (!p->has_tables)
                trace_dump_put_tables(p->dictionary, p->out);
        p->has_tables = true;
        trace_dump_put_event(thread->id, event, p->out);
        /* The reader of the output is gone.  The caller decides whether that is a failure. */
        return ferror(p->out) ? error_set(err, -EPIPE, "the dump cannot be written") : 0;
}

/* The end of a zone that passed the filter passes, too.  A zone that never ended has no end event. */
static int on_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                   struct error *err)
{
        const struct trace_event end = { .time_ns = zone->end_ns, .op = TRACE_OP_ZONE_END };

        return zone->closed ? on_event(context, thread, &end, err) : 0;
}

static int print_passing(struct loaded_trace *trace, const struct trace_filter *filter, FILE *out,
                         struct error *err)
{
        struct printing p = { .dictionary = trace->dictionary, .out = out };
        const struct trace_sink sink = {
                .context = &p,
                .begin_zone = on_event,
                .zone = on_zone,
                .sample = on_event,
                .event = on_event,
                .may_skip = true,
        };
        struct trace_walk walk = { .n_threads = 0 };
        int r = trace_walk_init(&walk, trace, filter, &sink);

        r = r < 0 ? error_set(err, r, "choosing events: out of memory")
                  : loaded_trace_walk(trace, &walk, err);
        trace_walk_deinit(&walk);
        return r;
}

/*
 * Prints the events that pass the filter, and complains if the trace is not whole.  Returns an exit status;
 * -errno with words in @err if the dump could not be printed.
 */
static int print_filtered(const char *path, const struct trace_filter_request *request, FILE *out,
                          struct error *err)
{
        struct trace_filter filter = { .is_empty = true };
        struct loaded_trace trace;
        int status = EXIT_STATUS_OK;
        int r = loaded_trace_open_plain(&trace, path, err);

        if (r == 0)
                r = trace_filter_init(&filter, request, &trace, err);
        if (r == 0)
                r = print_passing(&trace, &filter, out, err);
        if (r == 0 && (trace_ending_is_early(trace.ending))) {
                (void)fflush(stdout); /* the complaint must follow all output, not split a line */
                complain("error: %s: %s; the output covers the part before", path, trace.ending_words);
                if (trace.ending == TRACE_ENDING_CUT_OFF)
                        complain_try_repair(path);
                status = EXIT_STATUS_FAILED;
        }
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return r < 0 ? r : status;
}

static int dump_filtered(const struct trace_filter_request *filter, const char *path)
{
        struct error err = ERROR_NONE;
        int r = print_filtered(path, filter, stdout, &err);

        if (r < 0 && r != -EPIPE)
                return filter_options_explain(filter, r, path, &err);
        return standard_output_finish(r < 0 ? EXIT_STATUS_OK : r, "the dump");
}

static int run(void *context, struct common_options *common)
{
        const struct arguments *args = context;
        struct error err = ERROR_NONE;
        struct trace_reader *reader;
        int status, r;

        if (args->folder && !filter_options_is_empty(&args->filter)) {
                complain("error: --extract writes everything, so it takes no filters");
                complain_try("hyprof dump --help");
                return EXIT_STATUS_USAGE;
        }
        if (command_frame_confine(COMMAND_PRINTS, common, args->folder) < 0)
                return EXIT_STATUS_FAILED;
        if (!filter_options_is_empty(&args->filter))
                return dump_filtered(&args->filter, common->trace);
        r = trace_reader_open(common->trace, &reader, &err);
        if (r < 0) {
                complain_of_trace(r, common->trace, &err);
                return EXIT_STATUS_FAILED;
        }
        status = args->folder ? extract(reader, common->trace, args->folder) : dump(reader, common->trace);
        trace_reader_close(reader);
        return status;
}

const struct option_table *cmd_dump_options(void)
{
        return &table;
}

int cmd_dump(int argc, char **argv)
{
        struct arguments args = { .folder = NULL };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .takes_trace = true, .run = run
        };

        return command_frame_run(&frame, argc, argv);
}
