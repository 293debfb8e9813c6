/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/text_view.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/export_file.h"
#include "cli/options/common_options.h"
#include "cli/options/filter_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More freeze the viewer (firefox-devtools/profiler #4808). */
#define MARKERS_MAX_DEFAULT 200000

enum {
        LETTER_LIST = OPTION_LONG_ONLY,
        LETTER_ZONES_AS_FRAMES,
        LETTER_MAX_MARKERS,
        LETTER_NO_WAITS,
        LETTER_WAITS,
        LETTER_WALL
};

struct arguments {
        const char *path;
        const char *output; /* NULL = named like the trace */
        struct trace_filter_request filter;
        uint64_t n_markers_max;
        bool zones_as_frames, waits, no_waits, wall, shows_native;
        bool force, list, quiet;
};

/* These formats are commands of their own, see the aliases of command_table. */
static const struct {
        const char *name, *extension, *help;
} other_formats[] = {
        { "sqlite", ".db", "a database, for any other question: docs/use/sqlite.md" },
        { "html", ".html", "the viewer and the trace as one file, for a bug report" },
        { "csv", "", "zones, messages and plots as tracy-csvexport prints them" },
};

static const struct option_row option_rows[] = {
        COMMON_ROW_OUTPUT("write to FILE, - for standard output; default: named after the trace"),
        COMMON_ROW_FORCE,
        { LETTER_LIST, "list", NULL, "show the formats" },
        { LETTER_ZONES_AS_FRAMES, "zones-as-frames", NULL,
          "add the open zones to the call stacks, as outermost frames \"zone:NAME\"" },
        { LETTER_WALL, "wall", NULL,
          "pprof: a number more, the part of the wall time, as report --wall has it" },
        { LETTER_WAITS, "waits", NULL,
          "flamegraph, folded: waits as well, in one with the samples; all in nanoseconds" },
        { LETTER_NO_WAITS, "no-waits", NULL,
          "firefox, perfetto, chrome: no waits, and no arrows from who ended them" },
        { LETTER_MAX_MARKERS, "max-markers", "N",
          "firefox: at most N zones, the longest; 0 = all; default: 200000" },
        NATIVE_OPTION_ROW,
        FILTER_OPTION_ROWS,
        COMMON_ROW_INPUT,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof export",
        .operands = "FORMAT [TRACE]",
        /* export_formats(), other_formats */
        .choices =
                "perfetto|firefox|speedscope|pprof|folded|flamegraph|chrome|perf-data|callgrind|sqlite|html|csv",
        .n_operands_max = 2,
        .about =
                "Writes a trace in the format of another tool, and reports what that format cannot hold.  --list\n"
                "shows the formats.  TRACE is - for standard input; default: " OPTION_DEFAULT_TRACE
                ".  A FILE whose name ends in .gz\n"
                "is compressed.  --event also chooses which samples are written; default: the event with the most.\n"
                "sqlite, html and csv have options of their own: hyprof export sqlite --help\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = FILTER_OPTION_WORDS
        "exit status: 0 = written; 1 = the trace cannot be read, nothing in it passes the filters,\n"
        "or FILE cannot be written; 2 = usage\n",
};

const struct option_table *cmd_export_options(void)
{
        return &table;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r;

        switch (letter) {
        case LETTER_LIST:
                args->list = true;
                return 0;
        case LETTER_ZONES_AS_FRAMES:
                args->zones_as_frames = true;
                return 0;
        case NATIVE_OPTION:
                args->shows_native = true;
                return 0;
        case LETTER_WALL:
                args->wall = true;
                return 0;
        case LETTER_WAITS:
                args->waits = true;
                return 0;
        case LETTER_NO_WAITS:
                args->no_waits = true;
                return 0;
        case LETTER_MAX_MARKERS:
                if (option_parse_number(value, 0, UINT32_MAX, &args->n_markers_max) == 0)
                        return 0;
                complain("error: --max-markers %s: not a number of zones", value);
                return -EINVAL;
        default:
                r = filter_options_take(&args->filter, letter, value);
                return r < 0 ? r : 0;
        }
}

static int list_formats(void)
{
        for (const struct export_format *f = export_formats(); f->name; f++)
                (void)printf("%-11s %-16s %s\n", f->name, f->extension, f->help);
        for (size_t i = 0; i < sizeof(other_formats) / sizeof(other_formats[0]); i++)
                (void)printf("%-11s %-16s %s\n", other_formats[i].name, other_formats[i].extension,
                             other_formats[i].help);
        return standard_output_finish(EXIT_STATUS_OK, "the list");
}

/* Finds one of the choices of the table; other names are refused before.  NULL after a complaint. */
static const struct export_format *find_format(const char *name)
{
        for (const struct export_format *f = export_formats(); f->name; f++)
                if (strcmp(f->name, name) == 0)
                        return f;
        complain("error: unknown format '%s'", name);
        complain_try("hyprof export --list");
        return NULL;
}

static bool is_packed(const struct export_format *format, const char *output)
{
        return text_ends_with(strcmp(output, "-") == 0 ? format->extension : output, ".gz");
}

static int open_file(struct export_file *f, const struct export_format *format, const char *path, bool force,
                     struct error *err)
{
        const struct export_file_options how = { .packed = is_packed(format, path),
                                                 .only_new = !force,
                                                 .is_recording = format->is_recording };
        int r = 0;

        *f = EXPORT_FILE_NONE;
        if (strcmp(path, "-") == 0 && (how.packed || format->is_binary))
                r = standard_output_check_bytes(format->name, err);
        return r < 0 ? r : export_file_open(f, path, &how, err);
}

/* "left out: 3 messages; 2 frames" */
static void print_left_out(const struct export_totals *totals)
{
        struct byte_buffer words = { .data = NULL };

        for (size_t i = 0; i < EXPORT_LEFT_OUT_COUNT; i++) {
                char line[160];
                int n = snprintf(line, sizeof(line), "%s%s %s", words.used_bytes > 0 ? "; " : "",
                                 text_number_count(totals->left_out[i]).text,
                                 export_left_out_words((enum export_left_out)i));

                if (totals->left_out[i] > 0)
                        byte_buffer_add(&words, line, (size_t)n);
        }
        byte_buffer_add_u8(&words, 0);
        if (words.used_bytes > 1 && !words.failed)
                complain("left out: %s", (const char *)words.data);
        byte_buffer_deinit(&words);
}

static void print_done(const char *path, const struct export_format *format,
                       const struct export_totals *totals, uint64_t n_bytes)
{
        bool is_stdout = strcmp(path, "-") == 0;

        complain("wrote %s (%s): %s, %s", is_stdout ? "standard output" : path,
                 text_number_bytes(n_bytes).text, text_number_counted(totals->n_samples, "samples").text,
                 text_number_counted(totals->n_zones, "zones").text);
        if (totals->n_waits > 0)
                complain("%s beside the samples, all in nanoseconds",
                         text_number_counted(totals->n_waits, "waits").text);
        if (totals->n_waits_without_stack > 0)
                complain("%s without a call stack (record --off-cpu: fewer)",
                         text_number_counted(totals->n_waits_without_stack, "waits").text);
        if (totals->n_arrows > 0)
                complain("%s from threads that ended waits (--no-waits: none)",
                         text_number_counted(totals->n_arrows, "arrows").text);
        if (totals->is_folded)
                complain("native code counts for the Python function that called it (--native: apart)");
        print_left_out(totals);
        if (!is_stdout)
                complain_next("%s %s",
                              text_ends_with(path, ".gz") && !format->reads_packed ? "gunzip" : format->next,
                              shell_word_of(path).text);
}

static void warn_of_ending(const struct loaded_trace *trace, const char *path)
{
        complain_of_newer(path, trace->version, trace->n_unknown_events);
        if (trace_ending_is_early(trace->ending))
                complain("warning: %s: %s; writing the part before", path, trace->ending_words);
}

static int write_trace(struct loaded_trace *trace, const struct export_format *format,
                       const struct export_options *options, const struct arguments *args, const char *path,
                       struct error *err)
{
        struct export_totals totals = { .n_samples = 0 };
        struct export_file file;
        uint64_t n_bytes = 0;
        int r = open_file(&file, format, path, args->force, err);

        if (r == 0)
                r = format->write(trace, options, file.out, &totals, err);
        /* After a failed write, the error of the file itself explains it best. */
        if (file.out && (r == 0 || ferror(file.out) != 0))
                r = export_file_finish(&file, &n_bytes, err);
        if (r == 0) {
                warn_of_ending(trace, args->path);
                if (!args->quiet)
                        print_done(path, format, &totals, n_bytes);
        }
        /* The reader of a pipe may have seen enough. */
        if (r == -EPIPE && strcmp(path, "-") == 0)
                r = 0;
        export_file_close(&file);
        return r;
}

static int export_trace(const struct export_format *format, const struct arguments *args, struct error *err)
{
        struct export_options options = {
                .zones_as_frames = args->zones_as_frames,
                .wall = args->wall,
                .waits = args->waits,
                .no_waits = args->no_waits,
                .shows_native = args->shows_native,
                .n_markers_max = args->n_markers_max,
        };
        struct trace_filter filter = { .is_empty = true };
        struct loaded_trace trace;
        char *path = args->output ? strdup(args->output)
                                  : replaced_file_name_after(args->path, format->extension);
        int r;

        if (!path)
                return error_set(err, -ENOMEM, "no memory for a path");
        r = loaded_trace_open(&trace, args->path, err);
        if (r != 0)
                goto done;
        r = trace_filter_init(&filter, &args->filter, &trace, err);
        if (r != 0)
                goto done;
        options.filter = &filter;
        r = export_event_choose(&trace, &filter, &options.event, err);
        if (r != 0)
                goto done;
        r = write_trace(&trace, format, &options, args, path, err);

done:
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        free(path);
        return r;
}

/* Returns the exit status. */
static int explain_failure(int code, const struct error *err, const struct export_format *format,
                           const struct arguments *args)
{
        char command[64];

        if (code != -EEXIST)
                return filter_options_explain(&args->filter, code, args->path, err);
        (void)snprintf(command, sizeof(command), "hyprof export %s", format->name);
        complain_of_existing(command, "-o", args->output, args->path, err);
        return EXIT_STATUS_FAILED;
}

/* The format, which goes before the trace.  NULL after a complaint. */
static const struct export_format *take_format(struct common_options *common)
{
        if (common->n_operands > 0) {
                common->n_operands--;
                return find_format(*common->operands++);
        }
        complain("error: no FORMAT was given");
        complain_try("hyprof export --list");
        return NULL;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        const struct export_format *format;
        struct error err = ERROR_NONE;
        int r;

        if (args->list)
                return list_formats();
        format = take_format(common);
        if (!format || common_options_take_trace(common) < 0)
                return EXIT_STATUS_USAGE;
        if (args->wall && strcmp(format->name, "pprof") != 0) {
                complain("error: --wall: %s has no place for shares of the wall time", format->name);
                complain_try("hyprof export pprof --wall");
                return EXIT_STATUS_USAGE;
        }
        if (args->waits && strcmp(format->name, "flamegraph") != 0 && strcmp(format->name, "folded") != 0) {
                complain("error: --waits: is for flamegraph and folded, not for %s", format->name);
                complain_try("hyprof export flamegraph --waits");
                return EXIT_STATUS_USAGE;
        }
        if (command_frame_confine(COMMAND_WRITES_BESIDE, common, NULL) < 0)
                return EXIT_STATUS_FAILED;
        args->path = common->trace;
        args->output = common->output;
        args->force = common->force;
        args->quiet = common->quiet;
        r = export_trace(format, args, &err);
        return r < 0 ? explain_failure(r, &err, format, args) : EXIT_STATUS_OK;
}

int cmd_export(int argc, char **argv)
{
        struct arguments args = { .n_markers_max = MARKERS_MAX_DEFAULT };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .run = run
        };

        return command_frame_run(&frame, argc, argv);
}
