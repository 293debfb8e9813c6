/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "analyze/trace/meta_value.h"
#include "base/byte_buffer.h"
#include "base/call_filter.h"
#include "base/confinement.h"
#include "base/error.h"
#include "base/io.h"
#include "base/landlock.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/replaced_file.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "import/formats/import_formats.h"
#include "import/rows/import_boot.h"
#include "import/rows/import_clocks.h"
#include "import/rows/import_trace.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LETTER_INTO = OPTION_LONG_ONLY, LETTER_CLOCK, LETTER_CLOCK_ERROR };

#define CLOCK_WORDS      "raw|monotonic|realtime|boottime|tsc"
#define FILES_MAX        256
#define KEPT_BLOCK_BYTES (8 << 20)
#define CLOCK_ERROR_NS   UINT64_C(3600000000000)

static const struct option_row option_rows[] = {
        COMMON_ROW_OUTPUT(
                "write the trace to FILE, - for a pipe; default: hyprof.hyp, or the trace of --into"),
        { LETTER_INTO, "into", "TRACE",
          "put all of it onto the timeline of this recording; without -o the result takes its place" },
        { LETTER_CLOCK, "clock", CLOCK_WORDS,
          "which clock of the host the times are of, where a file does not say, or says it wrong" },
        { LETTER_CLOCK_ERROR, "clock-error", "TIME",
          "how wrong the times and clock readings of a file may be: 20us; added to the error that is shown" },
        COMMON_ROW_FORCE,
        COMMON_ROW_MODE,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof import",
        .operands = "FILE|FOLDER...",
        .n_operands_max = FILES_MAX,
        .about =
                "Reads what other tools and devices recorded, and writes a trace that every command of hyprof\n"
                "takes.  The format is found by what is in a file, which may be packed with gzip or zstd; - is\n"
                "standard input.  With --into, the spans are put onto the timeline of a recording of hyprof, by\n"
                "the readings of clocks that it has.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "exit status: 0 = written, also if rows were malformed, or a file is cut off: they are counted, and\n"
                "reports say so; 1 = a file cannot be read, has an unknown format or no event, cannot be placed in\n"
                "time, or the trace cannot be written; 2 = usage\n",
};

struct arguments {
        const char *into;
        enum import_clock_kind clock;
        uint64_t clock_error_ns;
};

/* The process that reads is left the result, two files for what waits on the disk, and its 0 and 2. */
enum { FD_OUTPUT, FD_RUNS, FD_TEXTS, FD_SPOOL, FD_INPUT, FD_ERRORS, N_FDS };

/* One run. */
struct work {
        const struct arguments *args;
        const struct common_options *common;
        const char *output;
        char *folder; /* heap: of the output */
        char *command;
        struct trace_reader *into;
        struct import_rows *rows;
        struct replaced_file file;
        int fds[N_FDS];
        struct trace_writer *writer;
        const char *bad; /* the file that the error is about; NULL = the trace or memory */
        const char *advice;
        bool is_empty; /* the files were read, and nothing was in them */
};

static int take(void *context, int letter, const char *value)
{
        static const enum import_clock_kind kinds[] = { IMPORT_CLOCK_RAW, IMPORT_CLOCK_MONOTONIC,
                                                        IMPORT_CLOCK_REALTIME, IMPORT_CLOCK_BOOTTIME,
                                                        IMPORT_CLOCK_TSC };
        struct arguments *args = context;

        if (letter == LETTER_INTO) {
                args->into = value;
        } else if (letter == LETTER_CLOCK) {
                args->clock = kinds[argument_words_find(CLOCK_WORDS, value)];
        } else if (option_parse_duration(value, 0, CLOCK_ERROR_NS, &args->clock_error_ns) < 0) {
                complain("error: --clock-error: '%s' is not a time of up to an hour, such as 20us", value);
                return -EINVAL;
        }
        return 0;
}

/* ---- from files to a trace ----------------------------------------------------------------------------- */

/* Where sorted runs have room, if $TMPDIR does not say: beside the result. */
static char *find_folder(const char *output)
{
        const char *slash = strrchr(output, '/');

        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        if (getenv("TMPDIR") || strcmp(output, "-") == 0)
                return NULL;
        return slash ? strndup(output, slash > output ? (size_t)(slash - output) : 1) : strdup(".");
}

static char *join_command(const struct common_options *common)
{
        struct byte_buffer words = { .data = NULL };
        char *command = NULL;

        byte_buffer_add_format(&words, "hyprof import");
        for (int i = 0; i < common->n_operands; i++)
                byte_buffer_add_format(&words, " %s", common->operands[i]);
        byte_buffer_add_u8(&words, '\0');
        if (!words.failed)
                command = strdup((const char *)words.data);
        byte_buffer_deinit(&words);
        return command;
}

static int open_recording(struct work *w, struct error *err)
{
        const char *words;
        uint64_t first_ns, last_ns;
        int r;

        if (!w->args->into)
                return 0;
        w->bad = w->args->into;
        r = trace_reader_open(w->args->into, &w->into, err);
        if (r == 0)
                r = trace_reader_read_tables(w->into, &first_ns, &last_ns, err);
        if (r == 0)
                r = trace_reader_skip_rest(w->into, err);
        if (r < 0)
                return r;
        if (trace_reader_ending(w->into, &words, NULL) != TRACE_ENDING_WHOLE) {
                w->advice = "hyprof check --repair";
                return error_set(err, -ENODATA, "%s: %s; only a whole recording takes more", w->args->into,
                                 words);
        }
        w->bad = NULL;
        return 0;
}

static uint64_t count_events(const struct import_file *file)
{
        return file->n_spans + file->n_values + file->n_instants + file->n_samples + file->n_switches;
}

/* All of a file would be there twice. */
static int refuse_twice(struct work *w, int n, struct error *err)
{
        struct stat now, before;

        for (int i = 0; i < n; i++)
                if (stat(w->common->operands[n], &now) == 0 && S_ISREG(now.st_mode) &&
                    stat(w->common->operands[i], &before) == 0 && now.st_dev == before.st_dev &&
                    now.st_ino == before.st_ino) {
                        w->bad = w->common->operands[n];
                        return error_set(err, -EEXIST, "%s is given twice", w->bad);
                }
        return 0;
}

static int read_files(struct work *w, struct error *err)
{
        uint64_t n = 0;

        for (int i = 0; i < w->common->n_operands; i++) {
                int r = refuse_twice(w, i, err);

                if (r < 0)
                        return r;
                r = import_trace_begin_file(w->rows, w->common->operands[i], err);

                w->bad = w->common->operands[i];
                if (r == 0)
                        r = import_formats_read(w->bad, w->rows, &w->advice, err);
                if (r < 0)
                        return r;
                n += count_events(import_trace_file(w->rows, (size_t)i));
        }
        w->is_empty = n == 0;
        if (n == 0)
                return error_set(err, -ENODATA, "%s: nothing in it happened at any time: no trace is written",
                                 w->bad);
        return 0;
}

static int place_files(struct work *w, struct error *err)
{
        int r = import_trace_place(w->rows, err);
        uint32_t clock = import_trace_clocks(w->rows)->unplaced;

        if (r == -ESTALE)
                w->advice =
                        "hyprof import -o FILE without --into: a trace of its own; touch its file if it was of this boot";
        if (r != -EINVAL)
                return r;
        for (size_t i = 0; i < import_trace_count_files(w->rows); i++) {
                const struct import_file *file = import_trace_file(w->rows, i);

                if (clock >= file->first_clock && clock < file->end_clock)
                        w->bad = file->path;
        }
        w->advice =
                "hyprof import --clock monotonic, realtime, boottime, tsc, or raw if the times are close enough";
        return error_prefix(err, r, "%s", w->bad);
}

static int write_trace(struct work *w, struct error *err)
{
        int r;

        w->bad = NULL;
        r = trace_writer_new(w->fds[FD_OUTPUT], &w->writer, err);
        if (r == 0)
                r = import_trace_write(w->rows, w->writer, err);
        if (r < 0 && (!w->writer || trace_writer_has_failed(w->writer)))
                return error_prefix(err, r, "%s", w->output);
        return r;
}

static int import_all(struct work *w, struct error *err)
{
        struct import_options options = {
                .said = w->args->clock,
                .clock_error_ns = w->args->clock_error_ns,
                .hyprof_version = HYPROF_VERSION,
        };
        int r = open_recording(w, err);

        if (r < 0)
                return r;
        w->command = join_command(w->common);
        options.into = w->into;
        options.runs_fd = w->fds[FD_RUNS];
        options.texts_fd = w->fds[FD_TEXTS];
        options.spool_fd = w->fds[FD_SPOOL];
        options.command = w->command;
        r = import_trace_new(&w->rows, &options, err);
        if (r == 0)
                r = read_files(w, err);
        if (r == 0)
                r = place_files(w, err);
        return r < 0 ? r : write_trace(w, err);
}

/* ---- what came of it ----------------------------------------------------------------------------------- */

/* "3 rows malformed (first at line 17: ...), 2 flow left out" */
static void describe_losses(const struct work *w, const struct import_file *file, struct byte_buffer *words)
{
        const struct trace_dictionary *d = import_trace_dictionary(w->rows);
        const char *unit = file->is_binary ? "byte" : "line";

        if (file->n_malformed != 0)
                byte_buffer_add_format(words, ", %s malformed (first at %s %" PRIu64 ": %s)",
                                       text_number_counted(file->n_malformed, "rows").text, unit,
                                       file->first_malformed_at, file->first_malformed);
        for (size_t i = 0; i < file->n_left_out; i++) {
                struct text_view kind = trace_dictionary_text(d, file->left_out[i].kind);

                byte_buffer_add_format(words, ", left out: %s %.*s",
                                       text_number_count(file->left_out[i].n).text,
                                       kind.n_bytes < 200 ? (int)kind.n_bytes : 200, kind.bytes);
        }
        if (file->n_dropped != 0)
                byte_buffer_add_format(words, ", lost before, as it says itself: %s",
                                       text_number_count(file->n_dropped).text);
        if (file->is_cut)
                byte_buffer_add_format(words, ", cut off at %s %" PRIu64, unit, file->cut_at);
        byte_buffer_add_u8(words, '\0');
}

/* Into a trace that has the file already: another name, or the number of its rows, tells others apart. */
static void report_again(const struct work *w, const struct import_file *file)
{
        const struct trace_dictionary *d = import_trace_dictionary(w->rows);
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_IMPORTS);

        for (uint32_t i = 1; i <= n - import_trace_count_files(w->rows); i++) {
                const struct trace_import *row = trace_dictionary_row(d, TRACE_TABLE_IMPORTS, i);

                if (row->n_rows != file->n_rows ||
                    !text_view_is(trace_dictionary_text(d, row->file), file->path))
                        continue;
                complain("warning: %s was imported into this trace before: all of it is there twice",
                         file->path);
                return;
        }
}

static void report_file(const struct work *w, const struct import_file *file)
{
        struct byte_buffer words = { .data = NULL };

        describe_losses(w, file, &words);
        if (file->n_samples != 0 || file->n_switches != 0)
                complain("imported %s and %s on %s from %s (%s)%s%s",
                         text_number_counted(file->n_samples, "samples").text,
                         text_number_counted(file->n_switches, "switches").text,
                         text_number_counted(file->n_tracks, "tracks").text, file->path, file->format,
                         words.failed || words.used_bytes <= 1 ? "" : ":",
                         words.failed || words.used_bytes <= 1 ? "" : (const char *)words.data + 1);
        else
                complain("imported %s, %s and %s on %s from %s (%s)%s%s",
                         text_number_counted(file->n_spans, "spans").text,
                         text_number_counted(file->n_values, "values").text,
                         text_number_counted(file->n_instants, "instants").text,
                         text_number_counted(file->n_tracks, "tracks").text, file->path, file->format,
                         words.failed || words.used_bytes <= 1 ? "" : ":",
                         words.failed || words.used_bytes <= 1 ? "" : (const char *)words.data + 1);
        byte_buffer_deinit(&words);
}

static void report_clock(const struct work *w, const struct placed_clock *clock)
{
        struct text_view name = trace_dictionary_text(import_trace_dictionary(w->rows), clock->name);
        const char *kind = import_clock_kind_name(clock->clock.kind);
        char words[160];

        if (clock->first > clock->last ||
            (clock->clock.of != 0 && clock->line.bound_ns == IMPORT_BOUND_UNKNOWN))
                return;
        (void)snprintf(words, sizeof(words), "%.*s%s%s", name.n_bytes < 64 ? (int)name.n_bytes : 64,
                       name.n_bytes != 0 ? name.bytes : "", name.n_bytes != 0 ? ": " : "", kind);
        if (!clock->is_placed)
                complain("warning: %s: no reading of it: only lengths are known", words);
        else if (clock->line.bound_ns == IMPORT_BOUND_UNKNOWN)
                complain("note: %s: when it began is not known: its first event is at the start", words);
        else if (w->into)
                complain("%s, placed within %s%s", words, text_number_duration(clock->line.bound_ns).text,
                         clock->is_of_other_boot
                                 ? ", by CLOCK_REALTIME: it is of another boot than the recording"
                                 : "");
}

/* A clock that begins anew with each boot means nothing in another one; few files say of which they are. */
static void report_boot(const struct import_file *file)
{
        if (file->late_ns > IMPORT_BOOT_LATE_NS)
                complain(
                        "note: %s was written %s after its last event there: if it is of another boot of the machine, its place is wrong",
                        file->path, text_number_duration(file->late_ns).text);
}

/* The constant between a clock of the host and the timeline, at its first event. */
static void report_shift(const struct placed_clock *clock)
{
        uint64_t time_ns;

        if (!clock->is_placed || clock->first > clock->last || clock->clock.period_ns != 1 ||
            clock->is_of_other_boot || clock->clock.kind == IMPORT_CLOCK_OWN ||
            clock->clock.kind == IMPORT_CLOCK_RAW)
                return;
        time_ns = import_line_time(&clock->line, clock->first);
        complain(
                "%s is %s %s CLOCK_MONOTONIC_RAW there", import_clock_kind_name(clock->clock.kind),
                text_number_duration(clock->first > time_ns ? clock->first - time_ns : time_ns - clock->first)
                        .text,
                clock->first > time_ns ? "ahead of" : "behind");
}

/* Where the bound is so large because the clock was set, or the machine slept. */
static void report_step(const struct work *w, const struct placed_clock *clock)
{
        const struct import_line *line = &clock->line;
        uint64_t start_ns = meta_value_number(import_trace_dictionary(w->rows), "start_raw_ns");

        if (!clock->is_placed || clock->first > clock->last || line->step_ns == 0)
                return;
        complain("note: %s went %s by %s, %s into the recording%s",
                 clock->clock.kind == IMPORT_CLOCK_OWN ? "the host's clock"
                                                       : import_clock_kind_name(clock->clock.kind),
                 line->step_ns < 0 ? "back" : "forward",
                 text_number_duration(line->step_ns < 0 ? 0 - (uint64_t)line->step_ns
                                                        : (uint64_t)line->step_ns)
                         .text,
                 text_number_duration(line->step_after_ns > start_ns ? line->step_after_ns - start_ns : 0)
                         .text,
                 line->step_ns < 0 ? ": what happened around that may be as far from its place"
                                   : ": elsewhere places are more exact");
}

static void report_place(const struct work *w)
{
        const struct import_clocks *clocks = import_trace_clocks(w->rows);
        const struct import_sums *sums = import_trace_sums(w->rows);

        for (uint32_t i = 0; i < clocks->n_clocks; i++) {
                report_clock(w, &clocks->clocks[i]);
                if (w->into) {
                        report_step(w, &clocks->clocks[i]);
                        report_shift(&clocks->clocks[i]);
                }
        }
        if (!w->into)
                return;
        for (size_t i = 0; i < import_trace_count_files(w->rows); i++) {
                report_boot(import_trace_file(w->rows, i));
                report_again(w, import_trace_file(w->rows, i));
        }
        if (sums->last_ns < sums->start_ns || (sums->end_ns != 0 && sums->first_ns > sums->end_ns))
                complain(
                        "warning: nothing of it is within the recording: another run, another boot, or another "
                        "--clock");
        else if (sums->n_outside != 0)
                complain("note: %s before or after the recording",
                         text_number_counted(sums->n_outside, "spans").text);
}

static int report(struct work *w, int r, const struct error *err)
{
        if (r == 0) {
                if (w->common->quiet)
                        return EXIT_STATUS_OK;
                for (size_t i = 0; i < import_trace_count_files(w->rows); i++)
                        report_file(w, import_trace_file(w->rows, i));
                report_place(w);
                return EXIT_STATUS_OK;
        }
        /* The reader of the pipe wants no more. */
        if (r == -EPIPE)
                return EXIT_STATUS_OK;
        for (size_t i = 0; w->is_empty && i < import_trace_count_files(w->rows); i++)
                report_file(w, import_trace_file(w->rows, i));
        if (r == -ENOSPC && !w->advice)
                w->advice =
                        "TMPDIR=FOLDER hyprof import, with a FOLDER that has room for what is to be sorted";
        if (w->bad && w->bad == w->args->into && !w->advice) {
                complain_of_trace(r, w->bad, err);
        } else {
                complain("error: %s", err->text);
                if (w->advice)
                        complain_try("%s", w->advice);
                else if (w->bad && r == -EBADMSG)
                        complain_try("hyprof help import, which lists the formats");
        }
        return EXIT_STATUS_FAILED;
}

/* ---- two processes ------------------------------------------------------------------------------------ */

/* Reads what strangers wrote, with no rights but to read the user's files and to write to what is open. */
static int work_confined(struct work *w)
{
        struct confinement_user as_now = { 0, 0 };
        struct error err = ERROR_NONE;
        int r = confinement_enter_serving(as_now, w->fds, N_FDS, UINT64_MAX, &err);

        if (dup2(w->fds[FD_INPUT], STDIN_FILENO) < 0 || dup2(w->fds[FD_ERRORS], STDERR_FILENO) < 0)
                return EXIT_STATUS_FAILED;
        if (r < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        /* Buffers of a chunk are given back and taken again with each: their pages stay. */
        (void)mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK_BYTES);     /* NOLINT(concurrency-mt-unsafe): one thread */
        (void)mallopt(M_TRIM_THRESHOLD, 2 * KEPT_BLOCK_BYTES); /* NOLINT(concurrency-mt-unsafe): one thread */
        (void)signal(SIGPIPE, SIG_IGN);                /* as main() does, which the confinement has undone */
        (void)landlock_restrict(LANDLOCK_BAN_CHANGES); /* without these two the other restrictions hold */
        (void)call_filter_enter(CALL_FILTER_BAN_CHANGES, NULL);
        r = import_all(w, &err);
        r = report(w, r, &err);
        trace_writer_free(w->writer);
        import_trace_free(w->rows);
        trace_reader_close(w->into);
        free(w->command);
        return r;
}

static int wait_for_child(pid_t pid)
{
        int status;

        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return EXIT_STATUS_FAILED;
        if (WIFEXITED(status))
                return WEXITSTATUS(status);
        complain("error: the process that reads the files died of signal %d (%s); no trace is written",
                 WTERMSIG(status), sigdescr_np(WTERMSIG(status)));
        return EXIT_STATUS_FAILED;
}

/* The files that the child is left; one for what waits may be missing until something has to wait. */
static int open_files(struct work *w, struct error *err)
{
        bool is_in_place = w->args->into && !w->common->output;
        const struct replaced_file_options options = { .only_new = !w->common->force && !is_in_place,
                                                       .is_recording = true,
                                                       .mode = w->common->mode };
        int r = replaced_file_open(&w->file, w->output, &options, err);

        if (r < 0)
                return r;
        w->folder = find_folder(w->output);
        w->fds[FD_OUTPUT] = w->file.fd;
        w->fds[FD_RUNS] = io_open_unnamed_in(w->folder, NULL);
        w->fds[FD_TEXTS] = io_open_unnamed_in(w->folder, NULL);
        w->fds[FD_SPOOL] = io_open_unnamed_in(w->folder, NULL);
        w->fds[FD_INPUT] = STDIN_FILENO;
        w->fds[FD_ERRORS] = STDERR_FILENO;
        return 0;
}

static int import_in_child(struct work *w, struct error *err)
{
        pid_t parent = getpid(), pid = fork();
        int r;

        if (pid < 0) {
                (void)error_errno(err, "no process to read the files");
                complain("error: %s", err->text);
                return EXIT_STATUS_FAILED;
        }
        if (pid == 0) {
                r = work_confined(w);
                /* The parent may have been killed before this process could die with it. */
                _exit(getppid() == parent ? r : EXIT_STATUS_FAILED);
        }
        r = wait_for_child(pid);
        if (r != EXIT_STATUS_OK)
                return r;
        if (replaced_file_commit(&w->file, err) < 0) {
                complain("error: %s: %s", w->output, err->text);
                return EXIT_STATUS_FAILED;
        }
        if (!w->common->quiet && strcmp(w->output, "-") != 0)
                complain_next("hyprof report %s", shell_word_of(w->output).text);
        return EXIT_STATUS_OK;
}

static int run(void *context, struct common_options *common)
{
        struct work w = { .args = context,
                          .common = common,
                          .file = { .fd = -1, .folder_fd = -1 },
                          .fds = { -1, -1, -1, -1, -1, -1 } };
        struct error err = ERROR_NONE;
        int r;

        if (common->n_operands == 0) {
                complain("error: expected a file or folder to import");
                complain_try("hyprof import profile.json -o profile.hyp");
                return EXIT_STATUS_USAGE;
        }
        w.output = common->output ? common->output : w.args->into ? w.args->into : OPTION_DEFAULT_TRACE;
        if (strcmp(w.output, "-") == 0 && standard_output_check_bytes("a trace", &err) < 0) {
                complain("error: %s", err.text);
                complain_try("hyprof import profile.json -o profile.hyp");
                return EXIT_STATUS_USAGE;
        }
        r = open_files(&w, &err);
        if (r == 0) {
                r = import_in_child(&w, &err);
        } else {
                complain("error: %s", err.text);
                if (r == -EEXIST)
                        complain_try("hyprof import --force, or another FILE");
                r = EXIT_STATUS_FAILED;
        }
        io_close(&w.fds[FD_RUNS]);
        io_close(&w.fds[FD_TEXTS]);
        io_close(&w.fds[FD_SPOOL]);
        replaced_file_close(&w.file);
        free(w.folder);
        return r;
}

const struct option_table *cmd_import_options(void)
{
        return &table;
}

int cmd_import(int argc, char **argv)
{
        struct arguments args = { .clock = IMPORT_CLOCK_UNKNOWN };
        const struct command_frame frame = { .table = &table, .take = take, .context = &args, .run = run };

        return command_frame_run(&frame, argc, argv);
}
