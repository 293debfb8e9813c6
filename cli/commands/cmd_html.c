/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/cache_folder.h"
#include "cli/files/replaced_file.h"
#include "cli/options/source_options.h"
#include "cli/terminal/complaint.h"
#include "cli/viewer/view_answers.h"
#include "view/text/text_number.h"
#include "web/file/html_file.h"
#include "web/request/kept_values.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_DEFAULT (UINT64_C(20) << 20)
#define BYTES_MIN     (UINT64_C(64) << 10)
#define BYTES_MAX     (UINT64_C(1) << 30)

enum { LETTER_MAX_SIZE = OPTION_LONG_ONLY, LETTER_REDACT, LETTER_NOTE, LETTER_NOTES, LETTER_PIN };

struct arguments {
        uint64_t bytes_max;
        struct source_folders source_folders;
        struct html_marks marks;
        bool redact, wants_kept;
};

static const struct option_row option_rows[] = {
        COMMON_ROW_OUTPUT("write to FILE, - for standard output; default: the trace's name with .html"),
        { LETTER_MAX_SIZE, "max-size", "BYTES",
          "leave out what does not fit: short zones first; the page says so; default: 20M" },
        { LETTER_REDACT, "redact", NULL,
          "leave out source text, command lines, host names and folders, for a public bug report" },
        { LETTER_NOTE, "note", "TIME=TEXT",
          "write TEXT on the timeline at TIME, as 1.5s=here, or over 1.5s..2s=this; may be given again" },
        { LETTER_NOTES, "notes", NULL,
          "take along the notes, pins and folded rows that hyprof view keeps for the trace" },
        { LETTER_PIN, "pin", "TRACK", "pin tracks of this name (a glob) to the top; may be given again" },
        SOURCE_OPTION_ROW,
        COMMON_ROW_FORCE,
        COMMON_ROW_INPUT,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof html",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .about =
                "Writes the viewer and a trace as one HTML file, to attach to a bug report: it opens from a disk,\n"
                "without hyprof, without a server, and asks nothing of any other.  All tables are complete.\n"
                "TRACE is a file; default: " OPTION_DEFAULT_TRACE "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "exit status: 0 = written; 1 = TRACE cannot be read, FILE cannot be written, or not even the\n"
                "tables fit into the size; 2 = usage\n",
};

/* "TIME=TEXT" or "TIME..TIME=TEXT"; the times become ends of words in a copy. */
static int parse_note(struct html_note *note, const char *value)
{
        const char *text = strchr(value, '=');
        char times[128], *last;

        if (!text || text[1] == '\0' || (size_t)(text - value) >= sizeof(times))
                return -EINVAL;
        memcpy(times, value, (size_t)(text - value));
        times[text - value] = '\0';
        last = strstr(times, "..");
        if (last) {
                *last = '\0';
                last += 2;
        }
        note->text = text + 1;
        if (option_parse_duration(times, 0, INT64_MAX, &note->from_ns) < 0 ||
            option_parse_duration(last ? last : times, 0, INT64_MAX, &note->to_ns) < 0)
                return -EINVAL;
        return note->to_ns < note->from_ns ? -EINVAL : 0;
}

static int take_note(struct html_marks *marks, const char *value)
{
        if (marks->n_notes == HTML_NOTES_MAX) {
                complain("error: more than %d notes", HTML_NOTES_MAX);
                return -EINVAL;
        }
        if (parse_note(&marks->notes[marks->n_notes], value) < 0) {
                complain("error: --note %s: not a time and a text, as 1.5s=here or 1.5s..2s=this", value);
                return -EINVAL;
        }
        marks->n_notes++;
        return 0;
}

static int take_pin(struct html_marks *marks, const char *value)
{
        if (marks->n_pins == HTML_PINS_MAX || value[0] == '\0') {
                complain(value[0] == '\0' ? "error: --pin: the name is empty" : "error: more than %d pins",
                         HTML_PINS_MAX);
                return -EINVAL;
        }
        marks->pins[marks->n_pins++] = value;
        return 0;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        switch (letter) {
        case LETTER_MAX_SIZE:
                if (option_parse_bytes(value, BYTES_MIN, BYTES_MAX, &args->bytes_max) == 0)
                        return 0;
                complain("error: --max-size %s: not a size from 64K to 1G", value);
                return -EINVAL;
        case SOURCE_OPTION_DIR:
                return source_options_take(&args->source_folders, value);
        case LETTER_REDACT:
                args->redact = true;
                return 0;
        case LETTER_NOTE:
                return take_note(&args->marks, value);
        case LETTER_NOTES:
                args->wants_kept = true;
                return 0;
        case LETTER_PIN:
                return take_pin(&args->marks, value);
        default:
                return 0;
        }
}

static int write_page(const char *output, bool only_new, const struct html_file *file, struct error *err)
{
        struct replaced_file out;
        int r;

        if (strcmp(output, "-") == 0) {
                r = io_write_all(STDOUT_FILENO, file->text.data, file->text.used_bytes, err);
                return r < 0 ? error_prefix(err, r, "standard output") : 0;
        }
        r = replaced_file_open(&out, output, &(struct replaced_file_options){ .only_new = only_new }, err);
        if (r < 0)
                return r;
        r = io_write_all(out.fd, file->text.data, file->text.used_bytes, err);
        r = r < 0 ? error_prefix(err, r, "%s", output) : replaced_file_commit(&out, err);
        replaced_file_close(&out);
        return r;
}

static void print_done(const char *output, const struct html_file *file)
{
        const char *at = (const char *)file->left_out.data, *end = at + file->left_out.used_bytes;

        complain("wrote %s (%s)", output, text_number_bytes(file->text.used_bytes).text);
        source_options_list("the page", &file->sources);
        while (at && at < end) {
                const char *line = memchr(at, '\n', (size_t)(end - at));

                complain("  to fit: %.*s", (int)(line - at), at);
                at = line + 1;
        }
}

/*
 * @is_made: the page was made, but its file could not be written.  A page that is too large then exceeds a
 *           limit of the file system, not --max-size.
 */
static int explain(int code, bool is_made, const struct common_options *common, const struct error *err)
{
        if (code == -EFBIG || code == -EEXIST) {
                complain("error: %s", err->text);
                if (code == -EEXIST)
                        complain_try("%s --force", common->command);
                else if (!is_made)
                        complain_try("a larger --max-size");
        } else {
                complain_of_trace(code, common->trace, err);
        }
        return EXIT_STATUS_FAILED;
}

/* "a.hyp" -> "a.html" */
static const char *choose_output(const char *trace, char *buffer, size_t n_buffer)
{
        const char *dot = strrchr(trace, '.'), *slash = strrchr(trace, '/');
        int n = dot && (!slash || dot > slash) ? (int)(dot - trace) : (int)strlen(trace);

        return snprintf(buffer, n_buffer, "%.*s.html", n, trace) < (int)n_buffer ? buffer : NULL;
}

/* The next stage overwrites this one; NULL clears the line. */
static void show_stage(const char *stage)
{
        (void)fprintf(stderr, "\r\033[K%s%s", stage ? "making the page: " : "", stage ? stage : "");
        (void)fflush(stderr);
}

/* Values that cannot be read are absent: the trace is read, and complained about, later. */
static void read_kept(struct arguments *args, struct kept_values *kept, const char *trace)
{
        int fd = args->wants_kept ? open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
        char *folder = cache_folder_find_kept();

        *kept = (struct kept_values){ .folder = NULL };
        if (fd >= 0)
                kept_values_init(kept, folder, fd);
        kept->folder = NULL; /* nothing is written there */
        free(folder);
        io_close(&fd);
        args->marks.kept_notes = (struct text_view){ (const char *)kept->values[KEPT_NOTES].data,
                                                     kept->values[KEPT_NOTES].used_bytes };
        args->marks.kept_tracks = (struct text_view){ (const char *)kept->values[KEPT_TRACKS].data,
                                                      kept->values[KEPT_TRACKS].used_bytes };
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct view_traces traces = { .trace = common->trace, .source_folders = args->source_folders };
        struct web_answers answers = view_answers_of(&traces);
        struct html_file_options options = { .trace = common->trace,
                                             .marks = &args->marks,
                                             .bytes_max = args->bytes_max,
                                             .redacts = args->redact,
                                             .answers = &answers };
        struct error err = ERROR_NONE;
        struct kept_values kept;
        struct html_file file;
        const char *output;
        char name[4096];
        bool is_made;
        int r;

        if (strcmp(common->trace, "-") == 0) {
                complain("error: the page is made in several passes: standard input cannot be read");
                complain_try("%s TRACE -o FILE", common->command);
                return EXIT_STATUS_USAGE;
        }
        output = common->output ? common->output : choose_output(common->trace, name, sizeof(name));
        if (!output)
                return EXIT_STATUS_USAGE;
        if (!common->quiet && isatty(STDERR_FILENO) == 1)
                options.show_stage = show_stage;
        read_kept(args, &kept, common->trace);
        r = html_file_make(&file, &options, &err);
        if (options.show_stage)
                options.show_stage(NULL);
        is_made = r == 0;
        if (is_made)
                r = write_page(output, !common->force, &file, &err);
        if (r == 0 && !common->quiet)
                print_done(output, &file);
        html_file_deinit(&file);
        kept_values_deinit(&kept);
        return r < 0 ? explain(r, is_made, common, &err) : EXIT_STATUS_OK;
}

const struct option_table *cmd_html_options(void)
{
        return &table;
}

int cmd_html(int argc, char **argv)
{
        struct arguments args = { .bytes_max = BYTES_DEFAULT };
        const struct command_frame frame = { .table = &table,
                                             .take = take_option,
                                             .context = &args,
                                             .takes_trace = true,
                                             .reading = COMMAND_WRITES_BESIDE,
                                             .run = run };

        return command_frame_run(&frame, argc, argv);
}
