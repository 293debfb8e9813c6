/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorder.h"
#include "sampler/kernel/unwind_request.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"
#include "instrument/region_inbox.h"
#include "sampler/code/code_images.h"
#include "sampler/code/code_tables.h"
#include "sampler/code/early_opener.h"
#include "sampler/code/table_process.h"
#include "sampler/events/event_set.h"
#include "sampler/events/event_totals.h"
#include "sampler/kernel/perf_access.h"
#include "sampler/kernel/privileges.h"
#include "sampler/kernel/ring_size.h"
#include "sampler/kernel/switch_source.h"
#include "sampler/kernel/system_calls.h"
#include "sampler/kernel/thread_priority.h"
#include "sampler/merge/collector.h"
#include "sampler/merge/flight_recorder.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/recording/command.h"
#include "sampler/recording/job_control.h"
#include "sampler/recording/recorded_scope.h"
#include "sampler/recording/recorded_waiting.h"
#include "sampler/recording/recording_facts.h"
#include "sampler/stacks/stack_unwinder.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define PROGRESS_PERIOD_NS (NS_PER_S / 5)

#define SLEEP_QUIET_MS 100 /* no instrumented program is there; where one is, drain_pace tells */
/*
 * Call stacks are longer than their copies, and samples are so far apart that few can be completed by others:
 * the missing part is read from memory, and the sooner the better.  So goes code that waits for the writer.
 */
#define SLEEP_CUT_MS    4
#define CUT_RATE_HZ_MAX 4000

/* After a mapping of code: a young process has no regions and no files yet, and may live briefly. */
#define YOUNG_NS     (50 * NS_PER_MS)
#define OPEN_ONLY_MS 10 /* since the last cycle: a new region alone is no reason for another */

/* After Ctrl-C a command usually ends by itself: its status belongs into the trace. */
#define GRACE_NS (NS_PER_S / 5)

/* For unwind tables, where a signal or the duration ends the recording. */
#define STOPPED_WAIT_NS (NS_PER_S / 20)

enum wake_reason {
        WAKE_SAMPLES,
        WAKE_TRACKER,
        WAKE_SIGNAL,
        WAKE_COMMAND,
        WAKE_WRITER,
        WAKE_REGION,
        WAKE_TABLES,
        WAKE_CODE,
        WAKE_JOB,
        WAKE_DUMP
};

struct recorder {
        const struct recorder_options *options;
        struct trace_dictionary *dictionary;
        struct recorder_result *result;
        struct event_request request; /* the requested events, or the default, within our rights */
        uint32_t sample_events[EVENT_REQUEST_SPECS_MAX];
        struct perf_access access;
        struct unwind_request unwinder; /* the feasible part of the request */
        struct command command;
        struct recorded_scope scope;
        struct event_set events;
        struct recorded_waiting waiting;
        struct region_inbox inbox;
        struct table_process tables; /* fd -1 = none is needed, or it could not be started */
        struct early_opener *opener; /* NULL = not needed or not started: the collector looks itself */
        struct collector merge;
        bool merging; /* `merge` is initialised */
        struct flight_recorder flight;
        struct writer_thread *writer;
        struct job_control job;
        sigset_t child_signals;
        int signal_fd, epoll_fd, fail_fd;
        uint64_t start_ns, progress_ns;
        uint64_t young_until_ns; /* code was mapped YOUNG_NS before that */
        uint64_t deadline_ns;    /* until then the command is waited for after a signal; 0 = no signal came */
        uint64_t stop_ns;        /* the duration is over; UINT64_MAX = none was given */
        uint64_t cpu_ns;         /* that this process and its children had taken before */
        int filter_fd;           /* of system calls; see system_calls_prepare() */
        int priority;            /* of this thread before */
        bool started;            /* the command was released */
        bool busy_noted;
        bool write_failed;
};

static bool is_attaching(const struct recorder *r)
{
        return recorded_scope_is_attaching(r->options->scope);
}

/* Is something recorded that runs already? */
static bool joins(const struct recorder *r)
{
        return is_attaching(r) || r->options->delay_ns > 0;
}

static void note(const struct recorder *r, const char *words)
{
        if (r->options->on_note)
                r->options->on_note(r->options->context, words);
}

/* ---- preparation --------------------------------------------------------------------------------------- */

static int take_signals(struct recorder *r, struct error *err)
{
        sigset_t signals;

        (void)sigemptyset(&signals);
        (void)sigaddset(&signals, SIGINT);
        (void)sigaddset(&signals, SIGTERM);
        (void)sigaddset(&signals, SIGHUP);
        (void)sigaddset(&signals, SIGQUIT);
        r->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        /* A reader of the trace that goes away, and a limit on its length, are errors of write(2). */
        (void)sigaddset(&signals, SIGPIPE);
        (void)sigaddset(&signals, SIGXFSZ);
        (void)pthread_sigmask(SIG_BLOCK, &signals, &r->child_signals); /* cannot fail for these arguments */
        if (r->signal_fd < 0)
                return error_errno(err, "signalfd");
        return r->options->argv ? job_control_open(&r->job, r->options->flight != NULL, err) : 0;
}

static bool needs_tables(const struct recorder *r)
{
        return r->unwinder.mode != UNWIND_FP;
}

/* Without it call stacks end where there are no frame pointers: each file is counted and reported at once. */
static void start_tables(struct recorder *r)
{
        struct error err = ERROR_NONE;

        if (needs_tables(r) &&
            table_process_start(&r->tables, r->options->run_as_uid, r->options->run_as_gid, &err) < 0)
                note(r, err.text);
}

/* The requested events, or the default, within our rights. */
static int choose_events(struct recorder *r, bool *ret_fallback, struct error *err)
{
        int code;

        r->request = *r->options->events;
        code = event_request_complete(&r->request, r->access.hardware_error == 0, ret_fallback, err);
        /* Without the right to see the kernel, only user code is left; a notice says so. */
        if (code == 0 && r->access.kernel_error < 0)
                code = event_request_leave_kernel(&r->request, err);
        event_request_name_sampled(&r->request, r->result->event_names, sizeof(r->result->event_names),
                                   &r->result->has_rate);
        return code;
}

static int recorder_describe(struct recorder *r, bool fallback, struct error *err)
{
        struct trace_dictionary *dictionary = r->dictionary;
        int code = recording_facts_begin(dictionary, r->start_ns, err);

        if (code == 0)
                code = recorded_scope_describe(&r->scope, &r->events, r->options->argv, dictionary, err);
        if (code == 0 && is_attaching(r) && r->options->client_ring_bytes)
                code = recording_facts_add_notice(dictionary, TRACE_NOTICE_CLIENT_RING_FIXED, NULL);
        if (code < 0)
                return code;
        code = recording_facts_add_limits(dictionary, &r->access, fallback, err);
        if (code == 0)
                code = recorded_waiting_describe(&r->waiting, dictionary);
        if (code == 0)
                code = recording_facts_add_unwinding(dictionary, &r->options->unwinder, &r->unwinder, err);
        return code == 0 ? recording_facts_add_events(dictionary, &r->request, r->sample_events, err) : code;
}

/* The command is recorded, but where it only says how long. */
static bool records_command(const struct recorder *r)
{
        return r->options->argv && (!is_attaching(r) || r->options->scope->whole_machine);
}

/* Samples with copies of stacks are large. */
static size_t choose_ring_bytes(const struct recorder *r, size_t tracker_bytes)
{
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
        struct ring_size_wanted wanted = { .rate_hz = r->request.rate_hz,
                                           .n_events = r->request.n_specs,
                                           .copy_bytes = r->unwinder.copy_bytes,
                                           .n_cpus = n_cpus > 0 ? (uint64_t)n_cpus : 1,
                                           .memory_bytes = ring_size_machine_memory() };
        size_t bytes = ring_size_find(&wanted);

        return r->access.locks_memory ? bytes : ring_size_find_allowed(bytes, tracker_bytes, wanted.n_cpus);
}

static int recorder_open_events(struct recorder *r, struct error *err)
{
        const struct recorded_waiting_options waiting = { .no_switches = r->options->no_switches,
                                                          .off_cpu = r->options->off_cpu,
                                                          .sees_kernel = r->access.kernel_error == 0,
                                                          .copy_bytes = r->unwinder.copy_bytes };
        size_t tracker_bytes = ring_size_of_tracker(r->access.locks_memory, r->options->scope->whole_machine);
        struct event_set_options options = {
                .attr = { .request = &r->request,
                          .unwinder = r->unwinder,
                          .build_ids = r->access.build_id_error == 0 },
                .tracker_ring_bytes = tracker_bytes,
        };

        int code;

        recorded_waiting_open(&r->waiting, &waiting, &r->request);
        options.attr.switches = r->waiting.by_perf;
        options.attr.ring_bytes = choose_ring_bytes(r, tracker_bytes);
        code = recorded_scope_open_events(&r->scope, records_command(r) ? r->command.pid : 0,
                                          r->options->delay_ns > 0, &options, &r->events, err);
        if (code < 0 || r->options->delay_ns > 0) /* data from before the recording does not belong
                                                   * to it: see join() */
                return code;
        return recorded_waiting_begin(&r->waiting, &r->scope, &r->events.cpus, false, err);
}

/* A missing file, -1, reports nothing. */
static int recorder_watch(struct recorder *r, int fd, enum wake_reason reason, uint32_t how,
                          struct error *err)
{
        struct epoll_event event = { .events = EPOLLIN | how, .data = { .u32 = (uint32_t)reason } };

        if (fd >= 0 && epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
                return error_errno(err, "epoll");
        return 0;
}

static int recorder_watch_all(struct recorder *r, struct error *err)
{
        /* Where there are doorbells, it waits for those alone. */
        bool opener_waits = r->opener && !event_set_has_doorbells(&r->events);
        const struct {
                int fd; /* -1 = there is none */
                enum wake_reason reason;
                uint32_t how;
        } fixed[] = {
                { r->signal_fd, WAKE_SIGNAL, 0 },
                { r->job.fd, WAKE_JOB, 0 },
                { r->options->flight ? r->flight.signal_fd : -1, WAKE_DUMP, 0 },
                { r->command.pid_fd, WAKE_COMMAND, 0 },
                { r->fail_fd, WAKE_WRITER, EPOLLET },
                { r->inbox.fd, WAKE_REGION, EPOLLET },
                { r->tables.fd, WAKE_TABLES, 0 },
                { code_keeper_fd(r->merge.recording.keeper), WAKE_CODE, 0 },
                { r->opener ? early_opener_fd(r->opener) : -1, WAKE_TRACKER, EPOLLET },
                { r->waiting.switches ? switch_source_fd(r->waiting.switches) : -1, WAKE_SAMPLES, EPOLLET },
        };
        int code = 0;

        r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (r->epoll_fd < 0)
                return error_errno(err, "epoll");
        for (size_t i = 0; code == 0 && i < sizeof(fixed) / sizeof(fixed[0]); i++)
                code = recorder_watch(r, fixed[i].fd, fixed[i].reason, fixed[i].how, err);
        for (size_t i = 0; code == 0 && i < r->scope.attachment.n_named; i++)
                code = recorder_watch(r, r->scope.attachment.named[i].pid_fd, WAKE_COMMAND, EPOLLET, err);
        /* Edge-triggered: the event of an ended task stays ready.  A CPU without the event has no ring. */
        for (size_t i = 0; code == 0 && i < r->events.n_rings; i++)
                if (r->events.ring_fds[i] >= 0 && !(opener_waits && event_set_is_tracker_ring(&r->events, i)))
                        code = recorder_watch(r, r->events.ring_fds[i],
                                              event_set_is_tracker_ring(&r->events, i) ? WAKE_TRACKER
                                                                                       : WAKE_SAMPLES,
                                              EPOLLET, err);
        return code;
}

static int start_merge(struct recorder *r, struct trace_writer *writer, struct error *err)
{
        struct recording recording = {
                .dictionary = r->dictionary,
                .events = &r->events,
                .sample_events = r->sample_events,
                .switches = r->waiting.switches,
                .filter = &r->scope.filter,
                .stop_fd = r->signal_fd,
                .cpu_wide = r->scope.kind != EVENT_SCOPE_THREADS,
                .keep_stacks = r->options->keep_stacks,
        };
        struct collector_options options = {
                .unwinder = r->unwinder,
                .table_process = needs_tables(r) ? &r->tables : NULL,
                .families = r->options->families,
                .client_ring_bytes = r->options->client_ring_bytes,
                .inbox = &r->inbox,
                .keeper = r->options->keeper,
                .trigger = flight_recorder_trigger(&r->flight),
                .in_ring = r->options->flight != NULL,
                .priority = r->priority,
        };
        const struct writer_thread_target target = {
                .writer = options.in_ring ? NULL : writer,
                .ring = options.in_ring ? &r->flight.ring : NULL,
        };
        int code;

        r->flight.start_ns = r->start_ns;

        r->fail_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (r->fail_fd < 0)
                return error_errno(err, "eventfd");
        if (needs_tables(r) || r->options->keeper.mode != CODE_KEEPER_NONE ||
            event_set_has_doorbells(&r->events))
                (void)early_opener_start(&r->events, &r->opener, NULL);
        recording.opened = early_opener_files(r->opener);
        thread_priority_restore(r->priority); /* threads begin with that of who starts them */
        code = writer_thread_start_for(&target, r->fail_fd, r->signal_fd, &r->writer, err);
        options.writer = r->writer;
        if (code == 0)
                code = collector_init(&r->merge, &recording, &options, err);
        thread_priority_raise();
        r->merging = code == 0;
        return code;
}

/*
 * The command's environment makes an instrumented program record from its first
 * instruction.  Where running processes are recorded, the command is left alone.
 */
static int start_command(struct recorder *r, struct error *err)
{
        struct command_environment environment = { .n = 0 };
        struct command_options options;
        int code;

        if (!r->options->argv)
                return 0;
        if (records_command(r)) {
                command_environment_add_rings(&environment, r->options->client_ring_bytes);
                if (r->options->delay_ns ==
                    0) /* else its zones begin later, as those of one that ran before */
                        command_environment_add_recording(&environment, r->options->families,
                                                          r->inbox.address);
        }
        options = (struct command_options){ .argv = r->options->argv,
                                            .environment = environment.pairs,
                                            .signals = &r->child_signals,
                                            .as_root = r->options->command_as_root };
        if (records_command(r))
                options.cgroup_fd = recorded_scope_open_cgroup(&r->scope);
        code = command_start(&r->command, &options, err);
        r->scope.is_command_inside = r->command.in_cgroup;
        return code;
}

static int recorder_let_go(struct recorder *r, struct error *err)
{
        int code;

        if (!r->options->argv || r->started)
                return 0;
        code = command_go(&r->command, err);
        r->started = code == 0;
        r->result->exec_failed = !r->started;
        return code;
}

/* A signal, or the end of the command, ends the wait: then there is little to record. */
static int wait_for_delay(struct recorder *r, struct error *err)
{
        uint64_t now_ns = clock_raw_ns(), until_ns = now_ns + r->options->delay_ns;
        struct pollfd fds[2] = { { .fd = r->signal_fd, .events = POLLIN },
                                 { .fd = r->command.pid_fd, .events = POLLIN } };
        int n = 0, code = recorder_let_go(r, err);

        while (code == 0 && n == 0 && now_ns < until_ns) {
                n = poll(fds, 2,
                         (int)((until_ns - now_ns < NS_PER_S ? until_ns - now_ns : NS_PER_S) / NS_PER_MS) +
                                 1);
                now_ns = clock_raw_ns();
        }
        if (code == 0 &&
            (r->options->argv ? command_reap(&r->command, false) != 0 : recorded_scope_has_ended(&r->scope)))
                return error_set(err, -ESRCH, "%s ended before the recording began, after --delay",
                                 r->options->argv ? "the command" : "the processes to be recorded");
        return code;
}

/* The recorded threads that are already running: named, or released. */
static int recorder_join(struct recorder *r, struct error *err)
{
        int code = r->options->delay_ns > 0 ? wait_for_delay(r, err) : 0;

        r->start_ns = clock_raw_ns();
        if (code == 0 && r->options->delay_ns > 0)
                code = recorded_waiting_begin(&r->waiting, &r->scope, &r->events.cpus, true, err);
        recorded_waiting_expect(&r->waiting, &r->scope);
        return code == 0 ? recorded_scope_join(&r->scope, &r->events, err) : code;
}

/* Nothing at all can be recorded: better said at once, with the reason. */
static int check_access(struct recorder *r, struct error *err)
{
        struct perf_refusal refusal;

        perf_access_read(&r->access);
        if (r->access.user_error == 0)
                return 0;
        perf_access_explain(&r->access, r->access.user_error, false, &refusal);
        return error_set(err, r->access.user_error, "no performance events: %s", refusal.reason);
}

static int recorder_prepare(struct recorder *r, struct trace_writer *writer, struct error *err)
{
        bool fallback;
        int code;

        code = check_access(r, err);
        r->unwinder = unwind_request_complete(&r->options->unwinder, r->access.stack_copy_error == 0);
        if (code < 0)
                return code;
        r->filter_fd = system_calls_prepare(NULL);
        start_tables(r); /* early: it keeps what we have now, and must not be forked beside threads */
        code = take_signals(r, err);
        if (code < 0)
                return code;
        code = flight_recorder_open(&r->flight, r->options->flight, r->dictionary, err);
        if (code < 0)
                return code;
        code = choose_events(r, &fallback, err);
        if (code < 0)
                return code;
        code = region_inbox_open(&r->inbox, err);
        if (code < 0)
                return code;
        r->inbox.any_user = privileges_has(CAP_SYS_PTRACE);
        code = recorded_scope_open(&r->scope, r->options->scope, err);
        if (code < 0)
                return code;
        if (recorded_scope_add_own(&r->scope, r->tables.pid) < 0 ||
            recorded_scope_add_own(&r->scope, r->options->file_opener_pid) < 0)
                return error_set(err, -ENOMEM, "no memory for a list of processes");
        code = start_command(r, err);
        r->start_ns = clock_raw_ns();
        if (code < 0)
                return code;
        /* Events begin, or rings are full before a program of many threads is known; the command stays. */
        r->priority = thread_priority_get();
        thread_priority_raise();
        code = recorder_open_events(r, err);
        if (code < 0)
                return code;
        if (joins(r))
                code = recorder_join(r, err);
        if (code < 0)
                return code;
        code = recorder_describe(r, fallback, err);
        if (code < 0)
                return code;
        code = start_merge(r, writer, err);
        return code < 0 ? code : recorder_watch_all(r, err);
}

/* ---- attaching ----------------------------------------------------------------------------------------- */

/* A region that was found waits for a cycle; its zones should begin without a delay. */
static int recorder_attach(struct recorder *r, struct error *err)
{
        int code = collector_cycle(&r->merge, false, err);

        if (code == 0)
                code = collector_cycle(&r->merge, false, err);
        return code;
}

/* All files are open: new data is read with few rights.  More than that is no reason to record nothing. */
static int give_up_rights(struct recorder *r, struct error *err)
{
        struct error reason = ERROR_NONE;
        int code = 0;

        if (privileges_narrow(false, r->filter_fd, &reason) < 0) /* the cgroup has its keeper */
                code = recording_facts_add_notice(r->dictionary, TRACE_NOTICE_RIGHTS_KEPT, reason.text);
        return code < 0 ? error_set(err, code, "no memory to describe the recording") : 0;
}

/* Lets everything begin. */
static int recorder_begin(struct recorder *r, struct error *err)
{
        int code = recorded_scope_begin(&r->scope, &r->events, &r->merge.samples, &r->merge.zones,
                                        r->start_ns, err);

        if (code == 0) {
                recorded_waiting_follow(&r->waiting, &r->scope, &r->merge.samples);
                code = give_up_rights(r, err);
        }
        if (code == 0 && joins(r))
                code = recorder_attach(r, err);
        if (code == 0)
                code = recorder_let_go(r, err);
        r->progress_ns = clock_raw_ns();
        r->stop_ns = r->options->duration_ns ? clock_raw_ns() + r->options->duration_ns : UINT64_MAX;
        return code;
}

/* ---- recording ----------------------------------------------------------------------------------------- */

static void report_progress(struct recorder *r, uint64_t now_ns)
{
        struct recorder_progress *p = &r->result->progress;

        p->elapsed_ns = now_ns - r->start_ns;
        p->n_samples = r->merge.samples.n_samples;
        p->n_zones = r->merge.n_zones;
        p->n_lost = loss_counter_total(&r->merge.losses);
        if (r->writer)
                p->file_bytes = writer_thread_count_bytes(r->writer);
        if (r->options->on_progress && now_ns - r->progress_ns >= PROGRESS_PERIOD_NS) {
                r->progress_ns = now_ns;
                r->options->on_progress(r->options->context, p);
        }
}

/* A terminal sends its signals to the command as well; those sent to us alone are passed on. */
static void take_signal(struct recorder *r)
{
        struct signalfd_siginfo info;

        while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info)) {
                command_hand_on(r->command.pid, &info, &r->result->urge);
                r->result->stopped = true;
                if (r->deadline_ns == 0)
                        r->deadline_ns = clock_raw_ns() + (r->command.pid > 0 ? GRACE_NS : 0);
        }
}

static int sleep_ms(const struct recorder *r, uint64_t now_ns)
{
        int ms = (int)(drain_pace_rest_ns(&r->merge.zones.pace) / NS_PER_MS);

        if (r->merge.zones.n_waiting > 0)
                ms = 1; /* a program writes already, and its ring is not read yet */
        else if (r->merge.zones.n_regions == 0 && r->deadline_ns == 0)
                ms = SLEEP_QUIET_MS;
        if (((r->merge.samples.has_cuts && r->request.rate_hz <= CUT_RATE_HZ_MAX) ||
             code_keeper_has_parts(r->merge.recording.keeper)) &&
            ms > SLEEP_CUT_MS)
                ms = SLEEP_CUT_MS;
        if (now_ns < r->young_until_ns && ms > OPEN_ONLY_MS)
                ms = OPEN_ONLY_MS;
        if (ms > code_images_pause_ms(r->merge.samples.images))
                ms = code_images_pause_ms(r->merge.samples.images);
        if (r->stop_ns < now_ns + (uint64_t)ms * NS_PER_MS)
                ms = r->stop_ns > now_ns ? (int)((r->stop_ns - now_ns) / NS_PER_MS) + 1 : 0;
        return ms;
}

/* Sleeps, and says what woke us: a bit for each enum wake_reason; 0 = time has passed. */
static unsigned wait_for_work(struct recorder *r)
{
        struct epoll_event events[16];
        int n = epoll_wait(r->epoll_fd, events, 16, sleep_ms(r, clock_raw_ns()));
        unsigned reasons = 0;

        for (int i = 0; i < n; i++)
                reasons |= 1u << events[i].data.u32;
        return reasons;
}

/* One line is enough: a program's children are usually in the same hands. */
static void note_busy(struct recorder *r)
{
        char words[ERROR_TEXT_BYTES + 32];

        if (r->busy_noted || r->merge.zones.busy.code == 0)
                return;
        r->busy_noted = true;
        (void)snprintf(words, sizeof(words), "%s: its zones are missing here", r->merge.zones.busy.text);
        note(r, words);
}

/* True if there is nothing more to wait for. */
static bool recorder_is_over(struct recorder *r, uint64_t now_ns)
{
        if (r->options->argv && command_reap(&r->command, false))
                return true;
        if (is_attaching(r) && recorded_scope_has_ended(&r->scope))
                return true;
        /* Without a limit, which is 0, one less is the maximum. */
        r->result->is_full = r->result->progress.file_bytes > r->options->bytes_max - 1;
        if (r->result->is_full || now_ns >= r->stop_ns)
                r->result->stopped = true;
        return r->result->is_full || now_ns >= r->stop_ns ||
               (r->deadline_ns != 0 && now_ns >= r->deadline_ns);
}

static int recorder_collect(struct recorder *r, struct error *err)
{
        const unsigned looks = 1u << WAKE_TRACKER | 1u << WAKE_REGION | 1u << WAKE_TABLES | 1u << WAKE_CODE;

        while (true) {
                unsigned woken = wait_for_work(r);
                uint64_t now_ns = clock_raw_ns();
                int stop_with = 0, code;

                if (woken & 1u << WAKE_WRITER) {
                        r->write_failed = true;
                        return 0; /* joining the writer says why */
                }
                if (woken & 1u << WAKE_TRACKER)
                        r->young_until_ns = now_ns + YOUNG_NS;
                if (woken & 1u << WAKE_SIGNAL)
                        take_signal(r);
                if (woken & 1u << WAKE_TABLES && code_tables_take(r->merge.recording.tables) < 0)
                        return error_set(err, -ENOMEM, "no memory for unwind tables");
                if (woken & 1u << WAKE_JOB)
                        stop_with = job_control_next(&r->job, &r->command);
                /* A new region is only opened: whole cycles are for full rings and for time that passed. */
                if (woken != 0 && (woken & ~looks) == 0 &&
                    now_ns - r->merge.cycled_ns < OPEN_ONLY_MS * NS_PER_MS)
                        code = collector_open_regions(&r->merge, err);
                else
                        code = collector_cycle(&r->merge, false, err);
                if (code == 0)
                        code = flight_recorder_cycle(&r->flight, &r->merge, err);
                if (code < 0)
                        return code;
                note_busy(r);
                report_progress(r, now_ns);
                if (recorder_is_over(r, now_ns))
                        return 0;
                if (stop_with != 0)
                        job_control_stop(&r->job, stop_with);
        }
}

/* How it ended, in words: a program that still runs, or that we did not start, has no exit status. */
static void describe_end(struct recorder *r, uint64_t end_ns)
{
        bool is_named = r->scope.attachment.n_named > 0; /* else nothing was to end */
        bool runs_on = is_attaching(r) ? is_named && !recorded_scope_has_ended(&r->scope)
                                       : r->result->stopped;
        int wait_status = r->command.reaped && !is_attaching(r) ? r->command.wait_status : -1;

        if (runs_on)
                (void)recording_facts_add_notice(r->dictionary, TRACE_NOTICE_STOPPED_EARLY, NULL);
        (void)recording_facts_end(r->dictionary, end_ns, wait_status);
}

/* Events of whole CPUs count what everybody does there, though only some processes are recorded. */
static bool counts_ours(const struct recorder *r)
{
        return r->scope.kind != EVENT_SCOPE_CPUS || r->options->scope->whole_machine;
}

static int recorder_add_totals(struct recorder *r, struct error *err)
{
        bool shared = false;
        int code = 0;

        if (counts_ours(r))
                code = event_totals_write(&r->events, r->sample_events, r->dictionary, &shared, err);
        else if (r->request.wants_totals)
                note(r, "no totals (--stat): events of whole CPUs count other programs as well; "
                        "--scope=threads counts only those that are recorded");
        if (code == 0 && (shared || r->merge.samples.counts.shared))
                code = recording_facts_add_notice(r->dictionary, TRACE_NOTICE_COUNTERS_SHARED, NULL);
        return code;
}

/* Stops everything, merges the rest and waits until it is written. */
static int recorder_finish(struct recorder *r, int code, struct trace_writer *writer, struct error *err)
{
        struct error join_err = ERROR_NONE;
        uint64_t end_ns = clock_raw_ns();
        int joined;

        thread_priority_restore(r->priority);
        job_control_close(&r->job);
        event_set_disable(&r->events);
        zone_source_disable(&r->merge.zones);
        if (r->deadline_ns != 0)
                zone_merge_hurry(&r->merge.zone_merge);
        if (r->result->stopped) /* at a time that the user chose */
                r->merge.tables_wait_ns = STOPPED_WAIT_NS;
        if (code == 0 && !r->write_failed) {
                describe_end(r, end_ns);
                code = collector_cycle(&r->merge, true, err);
                if (code == 0)
                        code = recorder_add_totals(r, err);
                if (code == 0)
                        code = flight_recorder_finish(&r->flight, &r->merge, writer, err);
                r->result->flight = r->flight.totals;
        }
        report_progress(r, end_ns);
        joined = writer_thread_join(r->writer, &join_err);
        r->writer = NULL;
        r->result->writer_stuck = joined == -EINTR;
        if (joined < 0) {
                if (err)
                        *err = join_err; /* the cause of whatever else failed */
                return joined;
        }
        return code;
}

static void recorder_release(struct recorder *r)
{
        if (r->merging)
                collector_deinit(&r->merge);
        if (r->writer)
                (void)writer_thread_join(r->writer, NULL);
        flight_recorder_close(&r->flight);
        early_opener_stop(r->opener);
        job_control_close(&r->job);
        io_close(&r->tables.fd); /* its sign to end, while the rest is closed */
        event_set_close(&r->events);
        recorded_waiting_close(&r->waiting);
        command_deinit(&r->command);
        recorded_scope_close(&r->scope);
        region_inbox_close(&r->inbox);
        table_process_stop(&r->tables);
        io_close(&r->epoll_fd);
        io_close(&r->fail_fd);
        io_close(&r->filter_fd);
}

/* Usage of this process and of the children that it has reaped, which are its helpers and the command. */
static uint64_t count_own_cpu_ns(const struct command *command)
{
        return clock_cpu_ns(RUSAGE_SELF) + clock_cpu_ns(RUSAGE_CHILDREN) - command->cpu_ns;
}

int recorder_run(const struct recorder_options *options, struct trace_writer *writer,
                 struct trace_dictionary *dictionary, struct recorder_result *ret_result, struct error *err)
{
        struct recorder *r = calloc(1, sizeof(*r));
        int code;

        *ret_result = (struct recorder_result){ .stop_fd = -1 };
        if (!r)
                return error_set(err, -ENOMEM, "no memory for a recording");
        *r = (struct recorder){
                .options = options,
                .dictionary = dictionary,
                .result = ret_result,
                .command = { .pid_fd = -1, .go_fd = -1, .exec_fd = -1 },
                .inbox = { .fd = -1 },
                .tables = { .fd = -1 },
                .signal_fd = -1,
                .epoll_fd = -1,
                .fail_fd = -1,
                .filter_fd = -1,
                .job = { .fd = -1 },
        };
        code = recorder_prepare(r, writer, err);
        r->cpu_ns = count_own_cpu_ns(&r->command); /* the preparations are over before anything is recorded */
        if (code == 0)
                code = recorder_begin(r, err);
        if (code == 0)
                code = recorder_finish(r, recorder_collect(r, err), writer, err);

        ret_result->ended = r->command.reaped;
        ret_result->wait_status = r->command.wait_status;
        ret_result->command_pid = r->started ? r->command.pid : 0;
        ret_result->stop_fd = r->signal_fd;
        recorder_release(r);
        ret_result->own_cpu_ns = count_own_cpu_ns(&r->command) - r->cpu_ns;
        ret_result->access = r->access;
        free(r);
        return code;
}

void recorder_wait(struct recorder_result *result)
{
        if (result->ended || result->exec_failed || result->command_pid <= 0)
                return;
        result->wait_status = command_wait(result->command_pid, result->stop_fd, &result->urge);
        result->ended = true;
}
