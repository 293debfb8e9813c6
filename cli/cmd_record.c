/* SPDX-License-Identifier: MIT */
#include "cli/cmd_record.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/complaint.h"
#include "cli/exit_status.h"
#include "cli/invoking_user.h"
#include "cli/option_table.h"
#include "cli/output_file.h"
#include "cli/progress_line.h"
#include "cli/standard_output.h"
#include "cli/text_number.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"
#include "sampler/command.h"
#include "sampler/event_spec.h"
#include "sampler/recorder.h"
#include "sampler/recording_facts.h"
#include "symbolize/symbol_process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_HZ \
        997 /* prime: a round rate falls into step with timers and sees the same spot again and again */
#define HZ_MAX     100000
#define EVENTS_MAX 16
/* A table of this many rows takes about 100 MB; what finds no room is counted as lost. */
#define TABLE_ROWS_MAX (UINT32_C(1) << 22)

enum { LETTER_NO_SYMBOLIZE = OPTION_LONG_ONLY };

struct arguments {
        const char *path;
        uint64_t rate_hz;
        struct event_spec specs[EVENTS_MAX];
        size_t n_specs;
        bool no_symbolize;
        bool quiet;
        bool help;
};

static const struct option_row option_rows[] = {
        { 'F', "freq", "HZ", "samples a second on each CPU, 1 to 100000; default: 997" },
        { 'e', "event", "LIST",
          "events to sample: cycles, cpu-clock, page-faults:u, r01c2, ...;\n                         default: cycles, or cpu-clock where there is no cycle counter" },
        { 'o', "output", "FILE",
          "the trace; default: " OPTION_DEFAULT_TRACE " (an earlier one becomes " OPTION_DEFAULT_TRACE
          ".old)" },
        { LETTER_NO_SYMBOLIZE, "no-symbolize", NULL, "record addresses only, without looking up names" },
        { 'q', "quiet", NULL, "say nothing but errors" },
        { 'h', "help", NULL, "print this help" },
};

static const struct option_table table = {
        .command = "hyprof record",
        .operands = "[--] COMMAND [ARGS]",
        .about =
                "Runs COMMAND and records where it spends its time: callstacks of all its threads and children,\n"
                "and the zones that they emit.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: that of COMMAND (128 + N if a signal N ended it); 125 = hyprof failed;\n"
                   "126 = COMMAND cannot be executed; 127 = COMMAND not found; 2 = usage\n"
                   "Ctrl-C ends the recording and keeps the trace; a second one gives up the names.\n",
        .ends_at_operand = true,
};

static int take_events(struct arguments *args, const char *list)
{
        struct error err = ERROR_NONE;

        while (true) {
                size_t n = strcspn(list, ",");

                if (args->n_specs == EVENTS_MAX) {
                        complain("error: more than %d events", EVENTS_MAX);
                        return -EINVAL;
                }
                if (event_spec_parse(list, n, &args->specs[args->n_specs], &err) < 0) {
                        complain("error: %s", err.text);
                        return -EINVAL;
                }
                args->n_specs++;
                if (list[n] == '\0')
                        return 0;
                list += n + 1;
        }
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        switch (letter) {
        case 'F':
                if (option_parse_number(value, 1, HZ_MAX, &args->rate_hz) == 0)
                        return 0;
                complain("error: -F %s: not a rate from 1 to %d Hz", value, HZ_MAX);
                return -EINVAL;
        case 'e':
                return take_events(args, value);
        case 'o':
                args->path = value;
                return 0;
        case LETTER_NO_SYMBOLIZE:
                args->no_symbolize = true;
                return 0;
        case 'q':
                args->quiet = true;
                return 0;
        default:
                args->help = true;
                return 0;
        }
}

/* ---- after the recording ------------------------------------------------------------------------------- */

/* Names for the addresses, found without our rights.  Failing costs names, not the recording. */
static void symbolize(struct trace_dictionary *dictionary, const struct recorder_result *result)
{
        struct invoking_user user = invoking_user_read();
        struct symbol_process_options options = { .run_as_uid = user.uid,
                                                  .run_as_gid = user.gid,
                                                  .stop_fd = result->stop_fd };
        struct error err = ERROR_NONE;

        if (symbol_process_run(dictionary, &options, &err) == 0)
                return;
        complain("warning: symbols are incomplete: %s", err.text);
        (void)recording_facts_add_notice(dictionary, TRACE_NOTICE_SYMBOLIZER_FAILED, err.text);
}

static int complete(struct trace_writer *writer, struct trace_dictionary *dictionary,
                    const struct arguments *args, const struct recorder_result *result, struct error *err)
{
        int r;

        if (args->no_symbolize)
                (void)recording_facts_add_notice(dictionary, TRACE_NOTICE_NOT_SYMBOLIZED, NULL);
        else
                symbolize(dictionary, result);
        r = trace_writer_put_tables(writer, dictionary, err);
        return r < 0 ? r : trace_writer_finish(writer, err);
}

static void print_summary(const struct arguments *args, const struct recorder_result *result,
                          uint64_t file_bytes)
{
        const struct recorder_progress *p = &result->progress;

        complain("wrote %s (%s): %s, %s samples of %s at %" PRIu64 " Hz, %s zones, %s lost", args->path,
                 text_number_bytes(file_bytes).text, text_number_duration(p->elapsed_ns).text,
                 text_number_count(p->n_samples).text, result->event_names, args->rate_hz,
                 text_number_count(p->n_zones).text, text_number_count(p->n_lost).text);
        if (isatty(STDERR_FILENO))
                complain_next("hyprof report %s", strcmp(args->path, OPTION_DEFAULT_TRACE) ? args->path : "");
}

/* Ends as the command did; a signal's core dump is the command's alone. */
static int end_as_command(const struct recorder_result *result)
{
        static const struct rlimit no_core = { .rlim_cur = 0, .rlim_max = 0 };
        int status = result->wait_status;
        sigset_t one;

        if (!WIFSIGNALED(status))
                return WEXITSTATUS(status);
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(WTERMSIG(status), SIG_DFL);
        (void)sigemptyset(&one);
        (void)sigaddset(&one, WTERMSIG(status));
        (void)kill(getpid(), WTERMSIG(status));
        (void)pthread_sigmask(SIG_UNBLOCK, &one, NULL);
        return 128 + WTERMSIG(status);
}

/* ---- the recording ------------------------------------------------------------------------------------- */

static int status_of_failure(int code, const struct recorder_result *result)
{
        if (result->exec_failed)
                return code == -ENOENT ? EXIT_STATUS_COMMAND_NOT_FOUND : EXIT_STATUS_CANNOT_EXECUTE;
        return EXIT_STATUS_RECORD_FAILED;
}

static int record_into(struct output_file *file, struct arguments *args, char **argv)
{
        struct progress_line line = { .shown = false };
        struct recorder_result result = { .stop_fd = -1 };
        struct trace_dictionary dictionary;
        struct trace_writer *writer = NULL;
        struct error err = ERROR_NONE;
        struct recorder_options options = {
                .argv = argv,
                .specs = args->specs,
                .n_specs = args->n_specs,
                .rate_hz = args->rate_hz,
                .on_progress = isatty(STDERR_FILENO) && !args->quiet ? progress_line_draw : NULL,
                .context = &line,
        };
        int r;

        trace_dictionary_init(&dictionary, TABLE_ROWS_MAX);
        r = trace_writer_new(file->fd, &writer, &err);
        if (r == 0)
                r = recorder_run(&options, writer, &dictionary, &result, &err);
        progress_line_clear(&line);
        if (r == 0)
                r = complete(writer, &dictionary, args, &result, &err);
        if (r < 0)
                complain(result.exec_failed ? "error: %s: %s" : "error: recording to %s: %s",
                         result.exec_failed ? argv[0] : args->path, err.text);
        else if (!args->quiet)
                print_summary(args, &result, trace_writer_count_bytes(writer));

        if (!result.exec_failed && result.command_pid > 0 && !result.ended) {
                if (!args->quiet)
                        complain("the recording has ended; waiting for the command (process %d)",
                                 result.command_pid);
                recorder_wait(&result);
        }
        if (result.progress.elapsed_ns == 0 && r < 0)
                output_file_discard(file); /* nothing was recorded */
        if (!result.writer_stuck) {
                output_file_close(file);
                trace_writer_free(writer);
        }
        trace_dictionary_deinit(&dictionary);
        return r < 0 ? status_of_failure(r, &result) : end_as_command(&result);
}

int cmd_record(int argc, char **argv)
{
        struct arguments args = { .path = OPTION_DEFAULT_TRACE, .rate_hz = DEFAULT_HZ };
        struct error err = ERROR_NONE;
        struct output_file file;
        int first;
        int r;

        if (option_table_parse(&table, argc, argv, take_option, &args, &first) < 0)
                return EXIT_STATUS_USAGE;
        if (args.help) {
                option_table_print(&table, stdout);
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        if (first >= argc) {
                complain("error: no command to record");
                complain_try("hyprof record -- COMMAND ARGS");
                return EXIT_STATUS_USAGE;
        }
        r = command_find(argv[first], &err);
        if (r < 0) {
                complain("error: %s", err.text);
                return r == -ENOENT ? EXIT_STATUS_COMMAND_NOT_FOUND : EXIT_STATUS_CANNOT_EXECUTE;
        }
        r = output_file_open(&file, args.path, &err);
        if (r < 0) {
                complain("error: cannot write the trace: %s", err.text);
                complain_try("hyprof record -o FILE ..., with a FILE in a folder of yours");
                return EXIT_STATUS_RECORD_FAILED;
        }
        return record_into(&file, &args, argv + first);
}
