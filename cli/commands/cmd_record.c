/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/exit_status.h"
#include "cli/files/cache_folder.h"
#include "cli/files/drop_rights.h"
#include "cli/files/output_file.h"
#include "cli/on_host/host_record.h"
#include "cli/options/option_table.h"
#include "cli/options/record_options.h"
#include "cli/options/source_options.h"
#include "cli/record/listen_record.h"
#include "cli/record/record_parts.h"
#include "cli/record/ring_record.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"
#include "instrument/client_abi.h"
#include "sampler/recording/command.h"
#include "sampler/recording/recorder.h"
#include "sampler/recording/recording_facts.h"
#include "sampler/rights/privileges.h"
#include "sampler/tables/table_store.h"
#include "sampler/zones/spare_memory.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/images/index_cache.h"
#include "symbolize/kernel/kernel_symbols.h"
#include "symbolize/listing/source_embedder.h"
#include "symbolize/process/symbol_process.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * With default rings, a program needs this much memory for zones, which may take only this share of its
 * address space: docs/understand/client-abi.md.
 */
#define ZONE_MEMORY_BYTES_MIN   (UINT64_C(294) << 16)
#define ZONE_SHARE_OF_ADDRESSES 8

/* A table of this many rows takes about 100 MB; rows beyond that are counted as lost. */
#define TABLE_ROWS_MAX (UINT32_C(1) << 22)

/* Everything that one recording owns. */
struct work {
        const struct record_options *options;
        char **argv;
        struct output_file *file;
        const char *path;        /* of the file, as it is called now */
        char *new_path;          /* that, where it is not the options' */
        const sigset_t *signals; /* see recorder_hold_signals(); or NULL */
        struct progress_line line;
        struct ring_record ring;      /* if there is one */
        struct listen_record *listen; /* if the trace is given to a taker; NULL = it is not */
        struct recorder_result result;
        struct trace_dictionary dictionary;
        struct trace_writer *writer;
        struct image_spool spool;
        struct index_cache cache;
        bool has_cache;
        struct table_store tables;
        bool has_tables;
        int kallsyms_fd;
        struct injection injection;
};

/* ---- after the recording ------------------------------------------------------------------------------- */

/* Names for the addresses, found without our rights.  Failing costs names, not the recording. */
static void symbolize(struct trace_dictionary *dictionary, const struct symbol_process_options *options)
{
        struct error err = ERROR_NONE;
        int r = symbol_process_run(dictionary, options, &err);

        if (r == 0)
                return;
        complain("warning: symbols are incomplete: %s", err.text);
        (void)recording_facts_add_notice(dictionary, TRACE_NOTICE_SYMBOLIZER_FAILED, err.text);
}

static int complete(struct work *w, struct error *err)
{
        const struct record_options *options = w->options;
        struct symbol_process_options naming = { .stop_fd = w->result.stop_fd,
                                                 .kallsyms_fd = w->kallsyms_fd,
                                                 .spool = options->no_symbolize ? NULL : &w->spool,
                                                 .cache = w->has_cache ? &w->cache : NULL,
                                                 .only_kernel = options->no_symbolize,
                                                 .is_at_end = true };
        int r = 0;

        if (!options->ring) /* it is of the whole recording */
                r = recording_facts_add_number(&w->dictionary, "recorder_cpu_ns", w->result.own_cpu_ns);
        if (r < 0)
                return error_set(err, r, "no memory to describe the recording");
        if (options->no_symbolize)
                (void)recording_facts_add_notice(&w->dictionary, TRACE_NOTICE_NOT_SYMBOLIZED, NULL);
        trace_dictionary_lift_limits(&w->dictionary);
        /* The kernel's names can be found only on this machine, and only until it is rebooted. */
        symbolize(&w->dictionary, &naming);
        if (options->ring)
                ring_record_add_names(&w->ring, &w->dictionary);
        if (options->embed_source)
                r = source_options_embed(
                        &(struct source_embedder_options){ .given = &options->source_folders },
                        &w->dictionary, w->writer, options->quiet, NULL, err);
        if (r == 0)
                r = trace_writer_put_tables(w->writer, &w->dictionary, err);
        return r < 0 ? r : trace_writer_finish(w->writer, err);
}

/* @path: of the trace, as it is called now */
static void print_summary(const struct record_options *options, const struct recorder_result *result,
                          const char *path, uint64_t file_bytes)
{
        struct recorder_progress progress = result->progress;
        const struct recorder_progress *p = &progress;
        double used = p->elapsed_ns ? 100.0 * (double)result->own_cpu_ns / (double)p->elapsed_ns : 0.0;
        const struct event_request *events = &options->events;
        char rate[40] = "", samples[sizeof(result->event_names) + sizeof(struct text_counted) + sizeof(rate) +
                                    sizeof(" of , ")] = "";

        if (result->has_rate && events->rate_hz)
                (void)snprintf(rate, sizeof(rate), " at %" PRIu64 " Hz", events->rate_hz);
        else if (result->has_rate)
                (void)snprintf(rate, sizeof(rate), ", one every %" PRIu64, events->period);
        if (options->ring)
                ring_record_count(options->path, &progress);
        if (!events->no_samples)
                (void)snprintf(samples, sizeof(samples), "%s of %s%s, ",
                               text_number_counted(p->n_samples, "samples").text, result->event_names, rate);
        /* With --listen the trace is not written yet; listen_record.c reports what became of it. */
        complain("%s%s (%s): %s, %s%s, %s lost; sampler used %.1f%% of one core",
                 options->listen ? "recorded" : "wrote ", options->listen ? "" : path,
                 text_number_bytes(file_bytes).text, text_number_duration(p->elapsed_ns).text, samples,
                 text_number_counted(p->n_zones, "zones").text, text_number_count(p->n_lost).text, used);
        if (isatty(STDERR_FILENO) && !options->view && (!options->listen || options->has_path)) {
                const char *word = options->to_stdout                        ? "FILE"
                                   : strcmp(path, OPTION_DEFAULT_TRACE) != 0 ? shell_word_of(path).text
                                                                             : "";

                complain_next("hyprof report %s", word);
                complain_next("hyprof view %s", word);
        }
}

/* Whether any event includes the kernel's code: each one does, unless the user excluded the kernel. */
static bool wants_kernel(const struct event_request *events)
{
        for (size_t i = 0; i < events->n_specs; i++)
                if (!events->specs[i].exclude_kernel)
                        return true;
        return events->n_specs == 0;
}

/* Without this note, an ordinary user would notice only that frames are missing. */
static void note_no_kernel(const struct record_options *options, const struct perf_access *access)
{
        struct perf_refusal refusal;

        if (access->user_error != 0 || access->kernel_error == 0 || !wants_kernel(&options->events))
                return;
        perf_access_explain(access, access->kernel_error, true, &refusal);
        complain("note: kernel frames are off: %s", refusal.reason);
        if (refusal.remedy[0] != '\0')
                complain_try("%s", refusal.remedy);
}

/* If rings were full, suggests the size that would have been enough, if that is known. */
static void try_for_full_rings(const struct recorder_progress *p)
{
        const struct spare_need *need = &p->client_need;
        uint64_t ring_bytes = need->bytes > 0 ? spare_memory_round_up(need->bytes) : 0;
        uint64_t program_bytes = spare_memory_round_up(need->program_bytes);

        if (ring_bytes == 0) { /* no size is known that would help */
                if (p->n_kernel_full > 0)
                        complain_try("hyprof record with a lower -F");
                return;
        }
        /* The kernel would charge such rings to the program, and kill the program when its cgroup is full. */
        if (ring_bytes > need->group_bytes)
                complain_try(
                        "hyprof record with a lower -F, or, if they are the program's, with a higher memory "
                        "limit: %" PRIu64 "M would have been enough, of which its cgroup leaves %" PRIu64 "M",
                        ring_bytes >> 20, need->group_bytes >> 20);
        else if (program_bytes > need->room_bytes)
                complain_try("hyprof record with a lower -F, or, if they are the program's, with a higher "
                             "ulimit -v and -f of it: %" PRIu64 "M would have been enough, of which these "
                             "limits leave %" PRIu64 "M",
                             program_bytes >> 20, need->room_bytes >> 20);
        else
                complain_try("hyprof record with a lower -F, or with --client-ring %" PRIu64
                             "M if they are the program's",
                             ring_bytes >> 20);
}

/*
 * True if the note was printed.  Even on a busy machine, a light thread waits for less than a fifth of the
 * time.
 */
static bool told_of_waiting(const struct recorder_progress *p)
{
        if (p->n_kernel_full == 0 || p->waited_ns < p->elapsed_ns / 5)
                return false;
        complain("note: hyprof itself waited for a processor for %s of %s: programs with a higher priority, "
                 "such as those of a real-time class (chrt), took it",
                 text_number_duration(p->waited_ns).text, text_number_duration(p->elapsed_ns).text);
        if (p->is_guarded)
                complain_try(
                        "hyprof record with a lower -F, or with a processor that these programs leave free "
                        "(taskset)");
        else
                complain_try("sudo hyprof record, which has a higher priority, or the programs without chrt");
        return true;
}

/* A loss of at least one event in a hundred changes the reports, which say what was lost. */
static void warn_of_losses(const struct recorder_progress *p)
{
        uint64_t n_all = p->n_samples + p->n_zones + p->n_others + p->n_lost;

        if (p->n_lost < n_all / 100 || p->n_lost == 0)
                return;
        complain("warning: %s lost (%.1f%%); hyprof report says which",
                 text_number_counted(p->n_lost, p->n_lost == 1 ? "events was" : "events were").text,
                 100.0 * (double)p->n_lost / (double)n_all);
        if (!told_of_waiting(p) || p->client_need.bytes > 0)
                try_for_full_rings(p);
        if (p->n_too_deep > 0)
                complain_try(
                        "zones around a recursion instead of inside it, for they nest 4,095 deep; of calls in "
                        "Python: python3 -m hyprof --exclude MODULE");
}

/* Ends with the status or signal of the command, but dumps no core of its own. */
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

/*
 * A process that was attached to runs on or has ended by itself: only a recorded command has a status for us.
 */
static int end_of_recording(const struct record_options *options, const struct recorder_result *result)
{
        if (result->flight.n_failed > 0) /* what --ring is for is lost */
                return EXIT_STATUS_RECORD_FAILED;
        if (record_options_is_attaching(options) || options->ignore_status)
                return EXIT_STATUS_OK;
        return end_as_command(result);
}

/* ---- the recording ------------------------------------------------------------------------------------- */

static int status_of_failure(int code, const struct recorder_result *result)
{
        if (result->exec_failed)
                return code == -ENOENT ? EXIT_STATUS_COMMAND_NOT_FOUND : EXIT_STATUS_CANNOT_EXECUTE;
        return EXIT_STATUS_RECORD_FAILED;
}

/* Clears the progress line, which is drawn again soon, for a note. */
static void print_note(void *context, const char *words)
{
        progress_line_clear(context);
        complain("note: %s", words);
}

/* If the soft limit equals the hard limit, it was raised already or cannot be raised. */
static void suggest_descriptors(void)
{
        struct rlimit files;

        if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max)
                complain_try("ulimit -n %llu, for more descriptors", (unsigned long long)files.rlim_max);
        else if (geteuid() == 0)
                complain_try("prlimit --nofile=1048576 hyprof record ..., for more descriptors");
        else
                complain_try("sudo hyprof record ..., which may open more descriptors");
}

/* Suggests a remedy for what the kernel refused, after the error message. */
static void suggest(int code, const struct record_options *options, const struct recorder_result *result)
{
        const struct perf_access *access = &result->access;
        struct perf_refusal refusal;

        if (code == -EMFILE)
                suggest_descriptors();
        if ((code == -ENOSPC || code == -EDQUOT || code == -EFBIG) && !options->to_stdout &&
            result->progress.elapsed_ns > 0)
                complain_try("hyprof symbolize -o FILE %s, with FILE where there is room: names are missing",
                             shell_word_of(options->path).text);
        if (code != -EACCES && code != -EPERM && code != -ENOSYS)
                return;
        perf_access_explain(access, code, access->user_error == 0, &refusal);
        if (refusal.remedy[0] != '\0')
                complain_try("%s", refusal.remedy);
}

/* Opens files before the recording begins, while that is still permitted. */
static void open_work(struct work *w)
{
        /* The rights of the process that opens the file decide whether it shows the kernel's addresses. */
        w->kallsyms_fd = open(KERNEL_SYMBOLS_PATH, O_RDONLY | O_CLOEXEC);
        w->has_cache = cache_folder_open(&w->cache) && index_cache_prepare(&w->cache, NULL) == 0;
        w->has_tables = w->options->unwinder.mode != UNWIND_FP && cache_folder_open_tables(&w->tables);
        trace_dictionary_init(&w->dictionary, TABLE_ROWS_MAX);
        image_spool_init(&w->spool);
}

static void close_work(struct work *w)
{
        free(w->new_path);
        if (!w->result.writer_stuck) {
                output_file_close(w->file);
                trace_writer_free(w->writer);
        }
        if (w->options->ring)
                ring_record_close(&w->ring);
        image_spool_deinit(&w->spool);
        trace_dictionary_deinit(&w->dictionary);
        if (w->has_cache)
                index_cache_close(&w->cache);
        if (w->has_tables)
                table_store_close(&w->tables);
        io_close(&w->kallsyms_fd);
}

static int run_recorder(struct work *w, struct error *err)
{
        const struct record_options *options = w->options;
        struct invoking_user user = invoking_user_read();
        struct recorder_options recording = {
                .argv = w->argv,
                .environment = w->injection.pairs,
                .run_as_uid = user.uid,
                .run_as_gid = user.gid,
                .events = &options->events,
                .unwinder = options->unwinder,
                .table_store = w->has_tables ? &w->tables : NULL,
                .scope = &options->scope,
                .duration_ns = options->duration_ns,
                .delay_ns = options->delay_ns,
                .bytes_max = options->bytes_max,
                .keeper = { .mode = options->embed_bytes_max > 0 ? options->embed : CODE_KEEPER_NONE,
                            .bytes_max = options->embed_bytes_max,
                            .spool = options->no_symbolize ? NULL : &w->spool },
                .signals = w->signals,
                .python = options->python,
                .probes = options->probes,
                .n_probes = options->n_probes,
                .zone_function_rate = options->zone_function_rate,
                .off_cpu = options->off_cpu,
                .syscalls = options->syscalls,
                .idle = options->idle,
                .no_switches = options->no_switches || options->events.no_samples,
                .command_as_root = options->as_root,
                .families = options->families ? options->families | CLIENT_ABI_FAMILY_ALWAYS
                                              : CLIENT_ABI_FAMILIES,
                .client_ring_bytes = options->client_ring_bytes,
                .trace_name = options->to_stdout ? "-" : options->path,
                .on_progress = isatty(STDERR_FILENO) && !options->quiet ? progress_line_draw : NULL,
                .on_note = options->quiet ? NULL : print_note,
                .on_busy = print_note, /* also with -q: the trace is not what was asked for */
                .context = &w->line,
        };
        int r;

        if (options->ring) {
                r = ring_record_open(&w->ring, options, &w->line, err);
                if (r < 0)
                        return r;
                recording.flight = &w->ring.flight;
                recording.file_opener_pid = w->ring.opener.pid;
        }
        if (w->listen)
                recording.file_opener_pid = w->listen->relay.pid;
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        recording.keeper.temporary_folder = getenv("TMPDIR");
        r = recorder_run(&recording, w->writer, &w->dictionary, &w->result, err);
        progress_line_clear(&w->line);
        return r;
}

static int record_trace(struct work *w, struct error *err)
{
        int r = trace_writer_new(w->file->fd, &w->writer, err);

        if (r == 0)
                r = run_recorder(w, err);
        return r == 0 ? complete(w, err) : r;
}

static ino_t inode_of(int fd)
{
        struct stat st;

        return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Meanwhile another recording may have taken the name, or the file may have been moved or removed. */
static int locate_trace(struct work *w, struct error *err)
{
        const char *path = w->options->path;

        if (w->options->ring || w->listen)
                return 0;
        switch (output_file_find(w->file, &w->new_path)) {
        case OUTPUT_FILE_IN_PLACE:
                break;
        case OUTPUT_FILE_IS_MOVED:
                w->path = w->new_path ? w->new_path : "FILE";
                if (w->options->quiet)
                        break;
                if (w->new_path)
                        complain("note: %s was renamed meanwhile: this recording is %s", path, w->path);
                else
                        complain("note: %s was renamed meanwhile: this recording is the FILE with inode %ju",
                                 path, (uintmax_t)inode_of(w->file->fd));
                break;
        case OUTPUT_FILE_IS_GONE:
                return error_set(
                        err, -ESTALE,
                        "the file was removed or replaced meanwhile: nothing is left of the recording");
        }
        return 0;
}

static void say_how_it_went(const struct work *w, int code, const struct error *err)
{
        const struct recorder_result *result = &w->result;

        if (code == 0 && result->is_full && !w->options->quiet)
                complain("note: the trace has reached --max-size (%s); the recording ended there",
                         text_number_bytes(w->options->bytes_max).text);
        if (code == 0)
                rate_limit_check(w->options, result->access.max_sample_hz);
        if (code == 0 && !w->options->quiet) {
                note_no_kernel(w->options, &result->access);
                warn_of_losses(&result->progress);
                injection_note_unused(&w->injection, w->options, &w->dictionary);
                print_summary(w->options, result, w->path, trace_writer_count_bytes(w->writer));
                if (w->options->ring)
                        ring_record_print_summary(&w->ring, &result->flight);
        }
        if (code == 0)
                return;
        if (result->exec_failed) {
                complain("error: %s: %s", w->argv ? w->argv[0] : w->options->path, err->text);
                return;
        }
        complain("error: recording to %s: %s", w->options->path, err->text);
        suggest(code, w->options, result);
}

static void wait_for_command(struct work *w)
{
        if (w->result.exec_failed || w->result.command_pid <= 0 || w->result.ended)
                return;
        if (!w->options->quiet)
                complain("the recording has ended; waiting for the command (process %d)",
                         w->result.command_pid);
        recorder_wait(&w->result);
        if (!w->options->quiet && kill(w->result.command_pid, 0) == 0)
                complain("the command (process %d) goes on, unrecorded", w->result.command_pid);
}

/*
 * The programs' shared memory counts as a file, and may take only a part of their address space.  Even its
 * minimum exceeds small limits, which the programs inherit from us.
 */
static void note_small_limits(const struct record_options *options, char **argv)
{
        const struct text_number memory = text_number_bytes(ZONE_MEMORY_BYTES_MIN);
        struct rlimit limit;

        if (!argv || options->quiet || options->client_ring_bytes != 0)
                return;
        if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ZONE_MEMORY_BYTES_MIN)
                complain(
                        "note: no zones will be recorded: their shared memory takes %s, and ulimit -f allows %s",
                        memory.text, text_number_bytes(limit.rlim_cur).text);
        else if (getrlimit(RLIMIT_AS, &limit) == 0 &&
                 limit.rlim_cur / ZONE_SHARE_OF_ADDRESSES < ZONE_MEMORY_BYTES_MIN)
                complain(
                        "note: no zones will be recorded: their shared memory takes %s, and ulimit -v allows "
                        "an 8th of %s",
                        memory.text, text_number_bytes(limit.rlim_cur).text);
}

/* @signals: see recorder_hold_signals(), or NULL */
static int record_into(struct output_file *file, const struct record_options *options, char **argv,
                       struct listen_record *listen, const sigset_t *signals)
{
        struct work w = { .options = options,
                          .argv = argv,
                          .file = file,
                          .signals = signals,
                          .path = options->path,
                          .ring = RING_RECORD_NONE,
                          .listen = listen,
                          .result = { .stop_fd = -1 } };
        struct error err = ERROR_NONE;
        int r;

        note_small_limits(options, argv);
        injection_init(&w.injection, options, argv);
        open_work(&w);
        r = record_trace(&w, &err);
        if (r == 0)
                r = locate_trace(&w, &err);
        say_how_it_went(&w, r, &err);
        wait_for_command(&w);
        if (w.result.progress.elapsed_ns == 0 && r < 0)
                output_file_discard(file); /* nothing was recorded */
        close_work(&w);
        if (listen &&
            !listen_record_finish(listen, options, w.result.stop_fd, w.result.progress.elapsed_ns > 0) &&
            r == 0)
                return EXIT_STATUS_RECORD_FAILED;
        return r < 0 ? status_of_failure(r, &w.result) : end_of_recording(options, &w.result);
}

/* Looks for the command before an earlier trace is put aside.  Returns an exit status. */
static int check_command(const char *name)
{
        struct error err = ERROR_NONE;
        int r = command_find(name, &err);

        if (r == 0)
                return EXIT_STATUS_OK;
        complain("error: %s", err.text);
        return r == -ENOENT ? EXIT_STATUS_COMMAND_NOT_FOUND : EXIT_STATUS_CANNOT_EXECUTE;
}

/* From here on, files are opened and the command is started with the rights of the user who called sudo. */
static int become_user(const struct record_options *options)
{
        struct invoking_user user = invoking_user_read();
        unsigned needs = (options->as_root ? PRIVILEGES_COMMAND_AS_ROOT : 0) |
                         (options->n_probes > 0 ? PRIVILEGES_SET_PROBES : 0);
        struct error err = ERROR_NONE;

        if (privileges_become_user(&user, needs, &err) == 0)
                return EXIT_STATUS_OK;
        complain("error: %s", err.text);
        complain_try("env -u SUDO_UID hyprof record ..., to work as root");
        return EXIT_STATUS_RECORD_FAILED;
}

/* Records for a taker; the file, if there is one, belongs to the relay. */
static int record_for_taker(struct record_options *options, char **argv)
{
        struct output_file file;
        struct listen_record listen;
        int status = listen_record_open(&listen, options, &file);

        if (status == EXIT_STATUS_OK)
                status = record_into(&file, options, argv, &listen, NULL);
        listen_record_close(&listen);
        return status;
}

/* Opening a pipe may block until another process reads it; a signal ends that wait. */
static bool is_for_a_file(const char *path)
{
        struct stat status;

        return stat(path, &status) < 0 || S_ISREG(status.st_mode);
}

/* Returns an exit status. */
static int open_output(const struct record_options *options, struct output_file *file)
{
        struct error err = ERROR_NONE;
        int r = options->to_stdout ? output_file_take_stdout(file, &err)
                                   : output_file_open(file, options->path, options->mode, &err);

        if (r == 0)
                return EXIT_STATUS_OK;
        complain("error: cannot write the trace: %s", err.text);
        if (options->to_stdout && r == -EINVAL) {
                complain_try("hyprof record -o FILE ...");
                return EXIT_STATUS_USAGE;
        }
        complain_try("hyprof record -o FILE ..., with %s",
                     r == -EBUSY ? "another name" : "a FILE in a folder of yours");
        return EXIT_STATUS_RECORD_FAILED;
}

static int run(struct record_options *options, char **argv)
{
        struct output_file file;
        sigset_t signals;
        int status = EXIT_STATUS_OK;

        if (options->help) {
                record_options_print_help();
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        if (!argv && !record_options_is_attaching(options)) {
                complain("error: no command to record");
                complain_try("hyprof record -- COMMAND ARGS, or hyprof record -p PID");
                return EXIT_STATUS_USAGE;
        }
        if (options->as_root && geteuid() != 0) {
                complain("error: --as-root: hyprof was not started as root");
                complain_try("sudo hyprof record --as-root ...");
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (argv && options->as_root)
                status = check_command(argv[0]);
        if (status == EXIT_STATUS_OK)
                status = become_user(options);
        if (status == EXIT_STATUS_OK && argv && !options->as_root)
                status = check_command(argv[0]);
        if (status == EXIT_STATUS_OK)
                status = scope_check(options);
        if (status == EXIT_STATUS_OK)
                status = rate_limit_apply(options);
        if (status != EXIT_STATUS_OK)
                return status;
        if (options->listen)
                return record_for_taker(options, argv);
        recorder_hold_signals(!options->to_stdout && is_for_a_file(options->path), &signals);
        status = open_output(options, &file);
        if (status != EXIT_STATUS_OK)
                return status;
        if (options->ring && !file.created) { /* a device or a pipe has nothing beside it */
                complain("error: --ring: %s is not a file, and dumps are written beside it", options->path);
                output_file_close(&file);
                return EXIT_STATUS_USAGE;
        }
        return record_into(&file, options, argv, NULL, &signals);
}

/* On another machine what can be recorded is checked there.  No right of root's is needed here. */
static int run_on_host(struct record_options *options, char **argv)
{
        if (options->help || (!argv && !record_options_is_attaching(options)))
                return run(options, argv);
        if (drop_rights_for_good("hyprof record --on ... --sudo, without sudo here") < 0)
                return EXIT_STATUS_RECORD_FAILED;
        return host_record_run(options, argv);
}

const struct option_table *cmd_record_options(void)
{
        return record_options_table();
}

/* As in perf's front ends; everything else is up to `hyprof list`. */
static int list_events(void)
{
        char *words[] = { (char[]){ "list" }, NULL };

        return cmd_list(1, words);
}

/* Where addresses are few: each thread's heap would take 64 MB of them, whether it needs it or not. */
static void share_heap(void)
{
#ifdef M_ARENA_MAX /* of glibc */
        struct rlimit addresses;

        if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
                (void)mallopt(M_ARENA_MAX, 1); /* NOLINT(concurrency-mt-unsafe): there is one thread */
#endif
}

int cmd_record(int argc, char **argv)
{
        struct record_options *options = calloc(1, sizeof(*options));
        int first, status = EXIT_STATUS_USAGE;

        if (!options) {
                complain("error: no memory for the options");
                return EXIT_STATUS_RECORD_FAILED;
        }
        share_heap();
        if (record_options_parse(options, argc, argv, &first) == 0) {
                argv = first < argc ? argv + first : NULL;
                if (options->lists_events && !options->help)
                        status = list_events();
                else if (options->view && !options->help)
                        status = record_and_view_run(options, argv, options->host.on ? run_on_host : run);
                else
                        status = (options->host.on ? run_on_host : run)(options, argv);
        }
        record_options_deinit(options);
        free(options);
        return status;
}
