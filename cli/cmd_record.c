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
#include "instrument/client_abi.h"
#include "sampler/command.h"
#include "sampler/event_spec.h"
#include "sampler/recorder.h"
#include "sampler/recording_facts.h"
#include "sampler/running_process.h"
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

#define PIDS_MAX       1024
#define RING_BYTES_MIN UINT64_C(4096)
#define RING_BYTES_MAX (UINT64_C(1) << 28)
#define DURATION_MAX   (UINT64_C(100) * 24 * 3600 * NS_PER_S)

enum {
        LETTER_NO_SYMBOLIZE = OPTION_LONG_ONLY,
        LETTER_CLIENT_RING,
        LETTER_ZONES, /* from here on in the order of `families` */
        LETTER_FRAMES,
        LETTER_MESSAGES,
        LETTER_PLOTS,
        LETTER_MEMORY,
        LETTER_LOCKS,
        LETTER_DEVICES,
};

static const uint32_t families[] = {
        CLIENT_ABI_FAMILY_ZONES,   CLIENT_ABI_FAMILY_FRAMES, CLIENT_ABI_FAMILY_MESSAGES,
        CLIENT_ABI_FAMILY_PLOTS,   CLIENT_ABI_FAMILY_MEMORY, CLIENT_ABI_FAMILY_LOCKS,
        CLIENT_ABI_FAMILY_DEVICES,
};

struct arguments {
        const char *path;
        uint32_t pids[PIDS_MAX];
        size_t n_pids;
        uint32_t families; /* 0 = all */
        uint64_t client_ring_bytes;
        uint64_t duration_ns;
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
          "events to sample: cycles, cpu-clock, page-faults:u, r01c2, ...;\n                          default: cycles, or cpu-clock where there is no cycle counter" },
        { 'o', "output", "FILE",
          "the trace; default: " OPTION_DEFAULT_TRACE " (an earlier one becomes " OPTION_DEFAULT_TRACE
          ".old)" },
        { 'p', "pid", "PID[,...]",
          "record processes that run already, with their children; until they\n                          end, or as long as COMMAND runs if there is one" },
        { 'd', "duration", "TIME", "stop recording after so long: 500ms, 10s, 2m, 1h" },
        { LETTER_ZONES, "zones", "[=callstacks]", "of what the program says of itself, only zones ..." },
        { LETTER_FRAMES, "frames", NULL, "... and frames ..." },
        { LETTER_MESSAGES, "messages", "[=callstacks]", "... and messages ..." },
        { LETTER_PLOTS, "plots", NULL, "... and plots ..." },
        { LETTER_MEMORY, "memory", "[=callstacks]", "... and allocations of memory ..." },
        { LETTER_LOCKS, "locks", NULL, "... and locks ..." },
        { LETTER_DEVICES, "devices", "[=callstacks]",
          "... and work on devices: each that is named; default: all, without\n                          callstacks" },
        { LETTER_CLIENT_RING, "client-ring", "SIZE",
          "memory for the events of each thread of COMMAND: 512K, 4M; a power of\n                          two from 4K to 256M; default: 1M" },
        { LETTER_NO_SYMBOLIZE, "no-symbolize", NULL, "record addresses only, without looking up names" },
        { 'q', "quiet", NULL, "say nothing but errors" },
        { 'h', "help", NULL, "print this help" },
};

static const struct option_table table = {
        .command = "hyprof record",
        .operands = "[--] COMMAND [ARGS]\n       hyprof record [OPTIONS] -p PID [[--] COMMAND [ARGS]]",
        .about =
                "Runs COMMAND and records where it spends its time: callstacks of all its threads and children,\n"
                "and the zones and other events that they emit.  With -p, does so with processes that run already.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "exit status: that of COMMAND (128 + N if a signal N ended it), or 0 with -p;\n"
                "125 = hyprof failed; 126 = COMMAND cannot be executed; 127 = COMMAND not found; 2 = usage\n"
                "Ctrl-C ends the recording and keeps the trace; a second one gives up the names.\n",
        .ends_at_operand = true,
};

static const char *name_of(int letter)
{
        for (size_t i = 0; i < table.n_rows; i++)
                if (option_rows[i].letter == letter)
                        return option_rows[i].name;
        return "";
}

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

static void add_pid(struct arguments *args, uint32_t pid)
{
        for (size_t i = 0; i < args->n_pids; i++)
                if (args->pids[i] == pid)
                        return;
        args->pids[args->n_pids++] = pid;
}

static int take_pids(struct arguments *args, const char *list)
{
        while (true) {
                size_t n = strcspn(list, ",");
                char text[16];
                uint64_t pid = 0;

                (void)snprintf(text, sizeof(text), "%.*s", (int)n, list);
                if (n >= sizeof(text) || option_parse_number(text, 1, INT32_MAX, &pid) < 0) {
                        complain("error: -p %.*s: not a process number", (int)n, list);
                        return -EINVAL;
                }
                if (args->n_pids == PIDS_MAX) {
                        complain("error: more than %d processes", PIDS_MAX);
                        return -EINVAL;
                }
                add_pid(args, (uint32_t)pid);
                if (list[n] == '\0')
                        return 0;
                list += n + 1;
        }
}

static int take_family(struct arguments *args, int letter, const char *value)
{
        uint32_t family = families[letter - LETTER_ZONES];

        if (value && strcmp(value, "callstacks") != 0) {
                complain("error: --%s=%s: only =callstacks is known", name_of(letter), value);
                return -EINVAL;
        }
        args->families |= family;
        if (value)
                args->families |= family << CLIENT_ABI_CALLSTACK_SHIFT;
        return 0;
}

static int take_ring(struct arguments *args, const char *value)
{
        uint64_t n_bytes;

        if (option_parse_bytes(value, RING_BYTES_MIN, RING_BYTES_MAX, &n_bytes) < 0 ||
            (n_bytes & (n_bytes - 1)) != 0) {
                complain("error: --client-ring %s: not a power of two from 4K to 256M", value);
                return -EINVAL;
        }
        args->client_ring_bytes = n_bytes;
        return 0;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        if (letter >= LETTER_ZONES)
                return take_family(args, letter, value);
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
        case 'p':
                return take_pids(args, value);
        case 'd':
                if (option_parse_duration(value, 1, DURATION_MAX, &args->duration_ns) == 0)
                        return 0;
                complain("error: -d %s: not a time such as 500ms, 10s, 2m or 1h", value);
                return -EINVAL;
        case LETTER_CLIENT_RING:
                return take_ring(args, value);
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

/* What was attached to runs on or has ended by itself: only a command that was recorded has a status for us. */
static int end_of_recording(const struct arguments *args, const struct recorder_result *result)
{
        return args->n_pids > 0 ? EXIT_STATUS_OK : end_as_command(result);
}

/* ---- the recording ------------------------------------------------------------------------------------- */

static int status_of_failure(int code, const struct recorder_result *result)
{
        if (result->exec_failed)
                return code == -ENOENT ? EXIT_STATUS_COMMAND_NOT_FOUND : EXIT_STATUS_CANNOT_EXECUTE;
        return EXIT_STATUS_RECORD_FAILED;
}

/* Over the line of progress, which is drawn anew soon. */
static void print_note(void *context, const char *words)
{
        progress_line_clear(context);
        complain("note: %s", words);
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
                .pids = args->pids,
                .n_pids = args->n_pids,
                .duration_ns = args->duration_ns,
                .families = args->families ? args->families | CLIENT_ABI_FAMILY_ALWAYS : CLIENT_ABI_FAMILIES,
                .client_ring_bytes = args->client_ring_bytes,
                .specs = args->specs,
                .n_specs = args->n_specs,
                .rate_hz = args->rate_hz,
                .on_progress = isatty(STDERR_FILENO) && !args->quiet ? progress_line_draw : NULL,
                .on_note = args->quiet ? NULL : print_note,
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
                         result.exec_failed && argv ? argv[0] : args->path, err.text);
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
        return r < 0 ? status_of_failure(r, &result) : end_of_recording(args, &result);
}

/* Looked for before an earlier trace is put aside.  Returns an exit status. */
static int check_command(const char *name)
{
        struct error err = ERROR_NONE;
        int r = command_find(name, &err);

        if (r == 0)
                return EXIT_STATUS_OK;
        complain("error: %s", err.text);
        return r == -ENOENT ? EXIT_STATUS_COMMAND_NOT_FOUND : EXIT_STATUS_CANNOT_EXECUTE;
}

/* The same for the processes. */
static int check_processes(const struct arguments *args)
{
        for (size_t i = 0; i < args->n_pids; i++) {
                struct error err = ERROR_NONE;
                int r = running_process_check(args->pids[i], &err);

                if (r == 0)
                        continue;
                complain("error: %s", err.text);
                if (r == -EACCES)
                        complain_try("sudo hyprof record -p %" PRIu32, args->pids[i]);
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (args->n_pids > 0 && args->client_ring_bytes > 0 && !args->quiet)
                complain("note: --client-ring is for programs that hyprof starts; what runs keeps its rings");
        return EXIT_STATUS_OK;
}

int cmd_record(int argc, char **argv)
{
        struct arguments args = { .path = OPTION_DEFAULT_TRACE, .rate_hz = DEFAULT_HZ };
        struct error err = ERROR_NONE;
        struct output_file file;
        int first, status;

        if (option_table_parse(&table, argc, argv, take_option, &args, &first) < 0)
                return EXIT_STATUS_USAGE;
        if (args.help) {
                option_table_print(&table, stdout);
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        if (first >= argc && args.n_pids == 0) {
                complain("error: no command to record");
                complain_try("hyprof record -- COMMAND ARGS, or hyprof record -p PID");
                return EXIT_STATUS_USAGE;
        }
        status = first < argc ? check_command(argv[first]) : EXIT_STATUS_OK;
        if (status == EXIT_STATUS_OK)
                status = check_processes(&args);
        if (status != EXIT_STATUS_OK)
                return status;
        if (output_file_open(&file, args.path, &err) < 0) {
                complain("error: cannot write the trace: %s", err.text);
                complain_try("hyprof record -o FILE ..., with a FILE in a folder of yours");
                return EXIT_STATUS_RECORD_FAILED;
        }
        return record_into(&file, &args, first < argc ? argv + first : NULL);
}
