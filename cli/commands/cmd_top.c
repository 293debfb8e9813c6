/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/drop_rights.h"
#include "cli/files/reader_confinement.h"
#include "cli/options/common_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "cli/top/top_head.h"
#include "cli/top/top_input.h"
#include "cli/top/top_screen.h"
#include "cli/top/top_view.h"
#include "format/trace_follow.h"
#include "view/document/answer_schema.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"
#include "view/text/shell_word.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define INTERVAL_MIN_NS (100 * NS_PER_MS)
#define INTERVAL_MAX_NS (3600 * NS_PER_S)
#define UPDATES_MAX     1000000
#define WORDS_MAX       32 /* of the recorder's command line, without the command */
#define ROWS_PLAIN      20

enum {
        LETTER_TABLE = OPTION_LONG_ONLY,
        LETTER_SORT,
        LETTER_FILTER,
        LETTER_INTERVAL,
        LETTER_ALL_TIME,
        LETTER_JSON
};

struct arguments {
        struct top_view view;
        const char *sort;
        uint64_t interval_ns, n_updates;
        bool all_time, shows_native, wants_json;
        /* Words for the recorder. */
        char *record[WORDS_MAX];
        int n_record;
        bool is_attaching;
        /* The subject: one of them. */
        char **command; /* NULL = a trace, or running processes */
        const char *trace;
        int output; /* of standard_output_flush() after the last plain table */
};

static const struct option_row option_rows[] = {
        { 'p', "pid", "PID[,...]", "record these running processes and show them" },
        { 'a', "all-cpus", NULL, "record all processes of the machine and show them" },
        { 'F', "freq", "HZ",
          "with -p, -a and a command: samples a second of each thread; default as of record" },
        { 'e', "event", "EVENTS", "with -p, -a and a command: what to sample, as of record" },
        { LETTER_TABLE, "table", "functions|zones|threads|waits",
          "the table to begin with; default: functions" },
        { LETTER_SORT, "sort", "COLUMN", "sort by the column with this title" },
        { LETTER_FILTER, "filter", "TEXT", "show rows that have this text" },
        NATIVE_OPTION_ROW,
        { LETTER_ALL_TIME, "all-time", NULL, "sum up all that has arrived, not the last 10 seconds" },
        { LETTER_INTERVAL, "interval", "TIME", "between two tables; default: 1s" },
        { 'n', "updates", "N", "end after N tables" },
        { LETTER_JSON, "json", NULL, "no screen; print each table as JSON (docs/use/view-json.md)" },
        COMMON_ROW_LIMIT,
        COMMON_ROW_COLOR,
        COMMON_ROW_INPUT,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof top",
        .operands = "[TRACE | -- COMMAND [ARGS...]]",
        .about =
                "Shows a program while it runs: functions, zones, threads and waits of the last 10 seconds.\n"
                "Follows TRACE, a file that a recorder is writing, or '-', a pipe; default: " OPTION_DEFAULT_TRACE
                ".\n"
                "With a command, -p or -a it records by itself, and keeps no file.\n"
                "In a pipe it prints one plain table an interval.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .ends_at_operand = true,
        .n_operands_max = 1,
        .closing =
                "keys: 1 to 4 tables, Enter opens a zone, < > sort, / filter, space pause, ? all keys, q quit\n"
                "exit status: 0 = ended by q, a signal or the recording's end; 1 = TRACE cannot be read or is\n"
                "damaged; 2 = usage; if nothing was recorded, that of hyprof record, such as 125 or 127\n",
};

/* ---- the command line ---------------------------------------------------------------------------------- */

/* Adds a word for the recorder: an option together with its value. */
static int hand_on(struct arguments *args, const char *option, const char *value)
{
        char *word;

        if (args->n_record + 1 >= WORDS_MAX) {
                complain("error: too many options for the recorder");
                return -EINVAL;
        }
        if (asprintf(&word, "%s%s", option, value) < 0) {
                complain("error: no memory for the options");
                return -EINVAL;
        }
        args->record[args->n_record++] = word;
        return 0;
}

static int take_time(struct arguments *args, const char *value)
{
        if (option_parse_duration(value, INTERVAL_MIN_NS, INTERVAL_MAX_NS, &args->interval_ns) == 0)
                return 0;
        complain("error: --interval %s: not a time from 100ms to 1h", value);
        return -EINVAL;
}

static int take_filter(struct arguments *args, const char *value)
{
        if (strlen(value) < sizeof(args->view.filter)) {
                memcpy(args->view.filter, value, strlen(value) + 1);
                return 0;
        }
        complain("error: --filter: the text is longer than %zu bytes", sizeof(args->view.filter) - 1);
        return -EINVAL;
}

static int take_updates(struct arguments *args, const char *value)
{
        if (option_parse_number(value, 1, UPDATES_MAX, &args->n_updates) == 0)
                return 0;
        complain("error: --updates %s: not a number from 1 to %d", value, UPDATES_MAX);
        return -EINVAL;
}

static int take_recording(struct arguments *args, int letter, const char *value)
{
        switch (letter) {
        case 'p':
                args->is_attaching = true;
                return hand_on(args, "--pid=", value);
        case 'a':
                args->is_attaching = true;
                return hand_on(args, "-a", "");
        case 'F':
                return hand_on(args, "--freq=", value);
        case 'e':
                return hand_on(args, "--event=", value);
        default:
                return 0;
        }
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        switch (letter) {
        case LETTER_TABLE:
                args->view.table = (enum top_table)top_view_find(value);
                return 0;
        case LETTER_SORT:
                args->sort = value;
                return 0;
        case LETTER_FILTER:
                return take_filter(args, value);
        case LETTER_INTERVAL:
                return take_time(args, value);
        case NATIVE_OPTION:
                args->shows_native = true;
                return 0;
        case LETTER_ALL_TIME:
                args->all_time = true;
                return 0;
        case LETTER_JSON:
                args->wants_json = true;
                return 0;
        case 'n':
                return take_updates(args, value);
        default:
                return take_recording(args, letter, value);
        }
}

static int take_sort(struct arguments *args)
{
        int column;

        if (!args->sort)
                return 0;
        column = top_view_find_column(args->view.table, args->sort);
        if (column < 0) {
                complain("error: --sort %s: the table of %s has no such column", args->sort,
                         top_view_name(args->view.table));
                return -EINVAL;
        }
        args->view.sort[args->view.table] = (unsigned)column;
        return 0;
}

/* A command, processes, or a trace.  Returns 0 or -EINVAL after a complaint. */
static int take_subject(struct arguments *args, struct common_options *common)
{
        bool is_command = common->n_operands > 0 && strcmp(common->operands[-1], "--") == 0;

        if (is_command && common->trace) {
                complain("error: a command beside --input %s", common->trace);
                return -EINVAL;
        }
        if (is_command) {
                args->command = common->operands;
                return 0;
        }
        if (args->is_attaching && (common->trace || common->n_operands > 0)) {
                complain("error: a trace beside -p or -a: it is either followed or recorded");
                return -EINVAL;
        }
        if (!args->is_attaching && args->n_record > 0) {
                complain("error: -F and -e are of a recording, and a trace is followed as it is");
                complain_try("hyprof top -F 1000 -- COMMAND");
                return -EINVAL;
        }
        if (common->n_operands > 1) {
                complain("error: unexpected argument '%s'", common->operands[1]);
                complain_try("hyprof top -- %s ..., to record a command",
                             shell_word_of(common->operands[0]).text);
                return -EINVAL;
        }
        if (!args->is_attaching && common_options_take_trace(common) < 0)
                return -EINVAL;
        args->trace = args->is_attaching ? NULL : common->trace;
        return 0;
}

/* ---- the recorder -------------------------------------------------------------------------------------- */

/* In the child: `hyprof record` with the trace as its standard output.  It records where threads wait. */
static int run_record(void *context)
{
        const struct arguments *args = context;
        char name[] = "record", quiet[] = "-q", output[] = "-o", standard[] = "-";
        char waits[] = "--off-cpu", end[] = "--";
        char *const first[] = { name, quiet, output, standard, waits };
        int argc = (int)(sizeof(first) / sizeof(first[0])), n_command = 0;
        char **words;
        int status;

        while (args->command && args->command[n_command])
                n_command++;
        words = calloc((size_t)(argc + args->n_record + n_command) + 2, sizeof(*words));
        if (!words)
                return EXIT_STATUS_FAILED;
        memcpy(words, first, sizeof(first));
        for (int i = 0; i < args->n_record; i++)
                words[argc++] = args->record[i];
        if (args->command)
                words[argc++] = end;
        for (int i = 0; i < n_command; i++)
                words[argc++] = args->command[i];
        status = cmd_record(argc, words);
        free(words);
        return status;
}

/* Prints the recorder's complaints and the end of the command's output, which went nowhere else. */
static void print_words(const struct top_input *in)
{
        struct byte_buffer out = { .data = NULL };
        size_t begin = 0;

        while (begin < in->n_words) {
                const char *end = memchr(in->words + begin, '\n', in->n_words - begin);
                size_t n = end ? (size_t)(end - in->words) - begin : in->n_words - begin;

                byte_buffer_clear(&out);
                (void)text_escape(&out, in->words + begin, n);
                (void)fprintf(stderr, "%.*s\n", (int)out.used_bytes, out.data ? (const char *)out.data : "");
                begin += n + 1;
        }
        byte_buffer_deinit(&out);
}

/* ---- plain tables -------------------------------------------------------------------------------------- */

static int print_text(const struct top_input *in, const struct arguments *args, const struct live_rows *rows,
                      struct top_head *head, size_t n_rows_max)
{
        struct byte_buffer out = { .data = NULL };
        struct top_text text;
        char line[512];

        if (top_view_print(&args->view, rows, n_rows_max, &text) < 0)
                return -ENOMEM;
        head->is_python = text.is_python;
        top_head_print(in, head, line, sizeof(line));
        (void)text_escape(&out, line, strlen(line));
        (void)printf("%.*s\n%s\n", (int)out.used_bytes, out.data ? (const char *)out.data : "", text.bytes);
        byte_buffer_deinit(&out);
        top_text_free(&text);
        return 0;
}

static int print_json(const struct top_input *in, const struct arguments *args, const struct live_rows *rows,
                      struct top_head *head, size_t n_rows_max)
{
        const struct document_options options = { .format = DOCUMENT_JSON };
        struct view_document d;
        int r;

        view_document_init(&d, top_view_schema.name);
        r = top_view_fill(&args->view, rows, n_rows_max, &d, &head->is_python);
        top_head_fill(in, head, &d);
        if (r == 0)
                r = document_print_json(&d, &options, stdout);
        view_document_deinit(&d);
        return r;
}

static int print_plain(const struct top_input *in, struct arguments *args, const char *title, uint32_t limit,
                       struct error *err)
{
        const struct live_rows rows = {
                .stats = &in->stats,
                .names = &in->names,
                .shown = in->shown,
                .all = args->all_time,
                .shows_native = args->shows_native,
        };
        struct top_head head = { .title = title, .all = args->all_time };
        size_t n_rows_max = limit == COMMON_LIMIT_UNSET ? ROWS_PLAIN : limit;

        if ((args->wants_json ? print_json : print_text)(in, args, &rows, &head, n_rows_max) < 0)
                return error_set(err, -ENOMEM, "the table: out of memory");
        args->output = standard_output_flush();
        return 0;
}

static int run_plain(struct top_input *in, struct arguments *args, const char *title, uint32_t limit,
                     int stop_fd, struct error *err)
{
        uint64_t next_ns = clock_raw_ns() + args->interval_ns, n = 0;
        bool is_stopped = false;
        int r = 0;

        while (r == 0 && !is_stopped && (args->n_updates == 0 || n < args->n_updates)) {
                uint64_t now_ns = clock_raw_ns();
                int timeout_ms = now_ns < next_ns ? (int)((next_ns - now_ns) / NS_PER_MS) + 1 : 0;

                is_stopped = top_input_wait(in, stop_fd, timeout_ms < 100 ? timeout_ms : 100);
                r = top_input_step(in, err);
                if (r < 0 || (clock_raw_ns() < next_ns && !in->is_over))
                        continue;
                if (top_input_has_failed_early(in))
                        break;
                r = print_plain(in, args, title, limit, err);
                next_ns += args->interval_ns;
                n++;
                if (in->is_over || args->output < 0)
                        break;
        }
        return r;
}

/* ---- all together -------------------------------------------------------------------------------------- */

static int open_signals(void)
{
        sigset_t set;

        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGINT);
        (void)sigaddset(&set, SIGTERM);
        (void)sigaddset(&set, SIGHUP);
        (void)sigaddset(&set, SIGQUIT);
        (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
        (void)signal(SIGPIPE, SIG_IGN);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A whole path would take the room of the numbers, so the last part of it is the title. */
static const char *title_of(const struct arguments *args)
{
        const char *path = args->command ? args->command[0] : args->trace ? args->trace : "recording";
        const char *slash = strrchr(path, '/');

        return slash && slash[1] != '\0' ? slash + 1 : path;
}

static int show(struct top_input *in, struct arguments *args, const struct common_options *common,
                bool on_screen, struct error *err)
{
        const char *title = title_of(args);
        struct top_screen_options options = { .title = title,
                                              .interval_ns = args->interval_ns,
                                              .n_updates = args->n_updates,
                                              .all = args->all_time,
                                              .shows_native = args->shows_native,
                                              .stop_fd = open_signals() };
        int r;

        options.wants_color = text_color_is_wanted(common->color, STDOUT_FILENO);
        r = on_screen ? top_screen_run(in, &args->view, &options, err)
                      : run_plain(in, args, title, common->limit, options.stop_fd, err);
        io_close(&options.stop_fd);
        return r;
}

/* The exit status, after complaints.  @r: the result of show(). */
static int judge(const struct top_input *in, const struct arguments *args, bool has_events, int r,
                 const struct error *err)
{
        int status = in->recorder_status;
        bool has_recorder_failed = !args->trace && !has_events && WIFEXITED(status) &&
                                   WEXITSTATUS(status) != 0;

        if (r < 0 && args->trace) {
                complain_of_trace(r, args->trace, err);
                return EXIT_STATUS_FAILED;
        }
        if (r < 0) {
                complain("error: %s", err->text);
                return EXIT_STATUS_FAILED;
        }
        /* A recorder that failed has said why; its trace has no end. */
        if (in->is_over && in->ending[0] != '\0' && !has_recorder_failed)
                complain("%s: %s: %s", args->trace ? "warning" : "note",
                         args->trace ? args->trace : "the recording", in->ending);
        if (args->trace)
                return in->is_over && in->ending[0] != '\0' ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
        if (has_recorder_failed)
                return WEXITSTATUS(status) > EXIT_STATUS_FAILED ? WEXITSTATUS(status) : EXIT_STATUS_FAILED;
        return EXIT_STATUS_OK;
}

static int open_input(struct top_input *in, struct arguments *args, bool on_screen, struct error *err)
{
        if (args->trace)
                return top_input_open(in, args->trace, err);
        return top_input_record(in, run_record, args, on_screen, err);
}

/*
 * A recorder of its own goes on with the rights that it needs, and ends by a signal of this process.  Where a
 * trace is followed, the rights were dropped before it was opened.
 */
static int confine(const struct top_input *in, const struct arguments *args)
{
        const struct reader_places places = { .folder_fds = &in->cache.folder.fd,
                                              .n_folders = in->has_cache ? 1 : 0 };

        return !args->trace && drop_rights_to_read() < 0 ? -EPERM : reader_confinement_enter(&places);
}

static int run_top(struct arguments *args, const struct common_options *common)
{
        bool on_screen = !args->wants_json && top_screen_can_draw(), has_events;
        struct error err = ERROR_NONE;
        struct top_input in;
        int r, status;

        r = open_input(&in, args, on_screen, &err);
        if (r == 0 && confine(&in, args) < 0) {
                top_input_close(&in);
                return EXIT_STATUS_FAILED;
        }
        if (r == 0)
                r = show(&in, args, common, on_screen, &err);
        has_events = in.latest_ns != 0;
        if (r == 0)
                complain_of_newer(args->trace ? args->trace : "the recording",
                                  trace_follow_version(in.follow), in.stats.walk.n_unknown_ops);
        top_input_close(&in);
        print_words(&in);
        status = judge(&in, args, has_events, r, &err);
        return standard_output_judge(status, args->output, "the tables");
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;

        if (take_sort(args) < 0 || take_subject(args, common) < 0)
                return EXIT_STATUS_USAGE;
        if (args->trace && drop_rights_to_read() < 0)
                return EXIT_STATUS_FAILED;
        return run_top(args, common);
}

const struct option_table *cmd_top_options(void)
{
        return &table;
}

int cmd_top(int argc, char **argv)
{
        struct arguments args = { .interval_ns = NS_PER_S };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .run = run
        };
        int status;

        args.view.sort[TOP_ZONES] = 2; /* by their total time */
        args.view.sort[TOP_THREADS] = 1;
        status = command_frame_run(&frame, argc, argv);
        for (int i = 0; i < args.n_record; i++)
                free(args.record[i]);
        return status;
}
