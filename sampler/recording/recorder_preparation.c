/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorder_state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "sampler/keep/early_opener.h"
#include "sampler/kernel/ring_size.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/pace/pace.h"
#include "sampler/probes/probe_source.h"
#include "sampler/python/python_source.h"
#include "sampler/recording/recording_facts.h"
#include "sampler/recording/syscall_sums.h"
#include "sampler/rights/priority_guard.h"
#include "sampler/rights/privileges.h"
#include "sampler/rights/system_calls.h"
#include "sampler/rights/thread_priority.h"
#include "sampler/switches/switch_source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The signals that end a recording.  Under nohup(1), SIGHUP is not one of them. */
static sigset_t ending_signals(void)
{
        struct sigaction hang_up;
        sigset_t signals;

        (void)sigemptyset(&signals);
        (void)sigaddset(&signals, SIGINT);
        (void)sigaddset(&signals, SIGTERM);
        (void)sigaddset(&signals, SIGQUIT);
        if (sigaction(SIGHUP, NULL, &hang_up) < 0 || hang_up.sa_handler != SIG_IGN)
                (void)sigaddset(&signals, SIGHUP);
        return signals;
}

/*
 * With these signals blocked, a reader of the trace that goes away, and a limit on the trace's length, are
 * errors of write(2).
 */
static void add_signals_of_write(sigset_t *signals)
{
        (void)sigaddset(signals, SIGPIPE);
        (void)sigaddset(signals, SIGXFSZ);
}

void recorder_hold_signals(bool ending, sigset_t *ret_before)
{
        sigset_t signals;

        (void)sigemptyset(&signals);
        if (ending)
                signals = ending_signals();
        add_signals_of_write(&signals);
        (void)pthread_sigmask(SIG_BLOCK, &signals, ret_before); /* cannot fail for these arguments */
}

static int take_signals(struct recorder *r, struct error *err)
{
        sigset_t signals = ending_signals();

        r->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        add_signals_of_write(&signals);
        (void)pthread_sigmask(SIG_BLOCK, &signals, &r->child_signals); /* as above */
        if (r->options->signals)
                r->child_signals = *r->options->signals;
        if (r->signal_fd < 0)
                return error_errno(err, "signalfd");
        return r->options->argv ? job_control_open(&r->job, r->options->flight != NULL, err) : 0;
}

static bool needs_tables(const struct recorder *r)
{
        return r->unwinder.mode != UNWIND_FP;
}

/*
 * Starts the process of unwind tables.  Without it, call stacks end where there are no frame pointers: each
 * file is counted and reported at once.
 */
static void start_tables(struct recorder *r)
{
        struct error err = ERROR_NONE;

        if (needs_tables(r) && table_process_start(&r->tables, r->options->table_store,
                                                   r->options->run_as_uid, r->options->run_as_gid, &err) < 0)
                recorder_note(r, err.text);
}

static enum event_hardware hardware_of(const struct perf_access *access)
{
        if (access->hardware_error == 0)
                return EVENT_HARDWARE_SAMPLES;
        return perf_access_only_counts(access) ? EVENT_HARDWARE_COUNTS : EVENT_HARDWARE_NONE;
}

/* Chooses the requested events, or the default ones, within our rights. */
static int choose_events(struct recorder *r, bool *ret_fallback, struct error *err)
{
        size_t used;
        int code;

        r->request = *r->options->events;
        code = event_request_complete(&r->request, hardware_of(&r->access), ret_fallback, err);
        /* Without the right to see the kernel, only user code is left; a notice says so. */
        if (code == 0 && r->access.kernel_error < 0)
                code = event_request_leave_kernel(&r->request, err);
        event_request_name_sampled(&r->request, r->result->event_names, sizeof(r->result->event_names),
                                   &r->result->has_rate);
        /*
         * Another run may be able to sample cycles, if this machine was not scheduled while cycles were
         * tried.
         */
        used = strlen(r->result->event_names);
        if (*ret_fallback && r->access.hardware_error == -EIO)
                (void)snprintf(r->result->event_names + used, sizeof(r->result->event_names) - used,
                               " instead of cycles, whose interrupt never came,");
        return code;
}

/*
 * Reports events that will have no samples: the kernel accepts such an event, and nothing else would say
 * why its samples are missing.
 */
static int say_silent_counters(const struct recorder *r)
{
        char detail[2 * EVENT_SPEC_NAME_BYTES + 32];
        char note[sizeof(detail) + 128];

        for (size_t i = 0; r->access.hardware_error == -EIO && i < r->request.n_specs; i++) {
                const struct event_spec *spec = &r->request.specs[i];

                if (spec->only_counts || (spec->type != PERF_TYPE_HARDWARE &&
                                          spec->type != PERF_TYPE_HW_CACHE && spec->type != PERF_TYPE_RAW))
                        continue;
                (void)snprintf(detail, sizeof(detail), "%s; try -e {cpu-clock,%s}:S", spec->name, spec->name);
                (void)snprintf(
                        note, sizeof(note),
                        "no samples: this machine's counters count, but their interrupt never comes: %s",
                        detail);
                recorder_note(r, note);
                return recording_facts_add_notice(r->dictionary, TRACE_NOTICE_SILENT_COUNTERS, detail);
        }
        return 0;
}

/* Memory that the kernel holds for rings: it is never swapped out. */
static uint64_t count_pinned(const struct recorder *r)
{
        return event_set_count_bytes(&r->events) + switch_source_count_bytes(r->waiting.switches);
}

static int describe(struct recorder *r, bool fallback, struct error *err)
{
        struct trace_dictionary *dictionary = r->dictionary;
        struct unwind_request unwinding = r->unwinder;
        int code = recording_facts_begin(dictionary, r->start_ns, err);

        if (r->request.no_samples)
                unwinding.copy_bytes = 0; /* they come with samples */
        if (code == 0)
                code = recorded_scope_describe(&r->scope, &r->events, r->options->argv, dictionary, err);
        if (code == 0 && recording_facts_add_number(dictionary, "pinned_bytes", count_pinned(r)) < 0)
                code = error_set(err, -ENOMEM, "no memory to describe the recording");
        if (code == 0 && recorder_is_attaching(r) && r->options->client_ring_bytes)
                code = recording_facts_add_notice(dictionary, TRACE_NOTICE_CLIENT_RING_FIXED, NULL);
        if (code < 0)
                return code;
        code = recording_facts_add_families(dictionary, r->options->families);
        if (code < 0)
                return error_set(err, code, "no memory to describe the recording");
        code = recording_facts_add_limits(dictionary, &r->access, fallback, err);
        if (code == 0)
                code = say_silent_counters(r);
        if (code == 0)
                code = recorded_waiting_describe(&r->waiting, dictionary);
        if (code == 0)
                code = recording_facts_add_unwinding(dictionary, &r->options->unwinder, &unwinding,
                                                     &r->access, err);
        if (code == 0)
                code = recording_facts_add_events(dictionary, &r->request, r->sample_events, err);
        if (code == 0 && r->options->syscalls && syscall_sums_describe(dictionary, &r->syscall_event) < 0)
                code = error_set(err, -ENOMEM, "no memory to describe the recording");
        return code;
}

/* True if the command is recorded and does not only set the length of the recording. */
static bool records_command(const struct recorder *r)
{
        return r->options->argv && (!recorder_is_attaching(r) || r->options->scope->whole_machine);
}

static size_t count_cpus(void)
{
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

        return n_cpus > 0 ? (size_t)n_cpus : 1;
}

static struct ring_size_wanted wanted_of_copies(const struct recorder *r, uint32_t copy_bytes)
{
        return (struct ring_size_wanted){ .rate_hz = r->request.rate_hz,
                                          .n_events = r->request.n_specs,
                                          .copy_bytes = copy_bytes,
                                          .n_cpus = count_cpus(),
                                          .memory_bytes = ring_size_machine_memory() };
}

/* True if copies may be long: the user set no --stack-size, and not all copies are written to the trace. */
static bool may_be_long(const struct recorder *r)
{
        return r->unwinder.copy_bytes > 0 && r->options->unwinder.copy_bytes == 0 &&
               r->options->unwinder.keeping != STACK_KEEPING_ALL;
}

/*
 * Copies are shorter where the rings of many CPUs must be small; a --stack-size of the user's stays.  Users
 * who may lock little memory have small rings on any machine.
 */
static void shorten_copies(struct recorder *r, size_t ring_bytes)
{
        struct ring_size_wanted wanted = wanted_of_copies(r, r->unwinder.copy_bytes);

        if (r->access.locks_memory && r->options->unwinder.copy_bytes == 0)
                r->unwinder.copy_bytes = ring_size_copy(&wanted, ring_bytes);
}

static void note_short_copies(const struct recorder *r, uint32_t wished_bytes)
{
        char words[160];

        if (r->unwinder.copy_bytes >= wished_bytes)
                return;
        (void)snprintf(words, sizeof(words),
                       "copies of stacks have %u KiB instead of %u: rings of %zu KiB on each of %zu CPUs "
                       "(--stack-size, or a lower -F)",
                       r->unwinder.copy_bytes / 1024, wished_bytes / 1024, r->events.ring_bytes / 1024,
                       count_cpus());
        recorder_note(r, words);
}

/*
 * Chooses the size of rings: samples with copies of stacks are large, and copies become long where there is
 * room for them.
 */
static size_t choose_ring_bytes(struct recorder *r, size_t tracker_bytes)
{
        struct ring_size_wanted usual = wanted_of_copies(r, r->unwinder.copy_bytes);
        struct ring_size_wanted wanted = may_be_long(r) ? wanted_of_copies(r, UNWIND_COPY_LONG) : usual;
        size_t usual_bytes = ring_size_find(&usual);
        size_t bytes = ring_size_find(&wanted);

        if (!r->access.locks_memory)
                bytes = ring_size_find_allowed(bytes, tracker_bytes, wanted.n_cpus);
        if (bytes >= ring_size_need(&wanted))
                r->unwinder.copy_bytes = (uint32_t)wanted.copy_bytes;
        else if (bytes > usual_bytes)
                bytes = usual_bytes;
        shorten_copies(r, bytes);
        return bytes;
}

/*
 * The size of all CPUs' rings together: they hold the Python frames of samples since the last look and, in
 * up to half of the space, copies of code.
 */
#define PYTHON_RING_BYTES (UINT32_C(1) << 21)

/* Python's interpreters are found when unwind tables are made, so tables are needed. */
static bool wants_python(const struct recorder *r)
{
        return r->options->python != PYTHON_OFF && needs_tables(r);
}

/* Without it there is a notice, where there is Python. */
static void begin_python(struct recorder *r)
{
        unsigned hooks = r->options->syscalls ? PYTHON_HOOK_CALLS : 0;

        if (r->options->off_cpu && !r->options->no_switches)
                hooks |= PYTHON_HOOK_WAITS;
        if (wants_python(r))
                (void)python_source_begin(PYTHON_RING_BYTES, hooks, &r->python, NULL);
}

static void finish_python(struct recorder *r)
{
        if (r->python && python_source_finish(r->python, NULL) < 0) {
                python_source_close(r->python);
                r->python = NULL;
        }
}

static void note_no_idle(const struct recorder *r)
{
        char words[ERROR_TEXT_BYTES + 64];

        (void)snprintf(words, sizeof(words), "no idle times of CPUs (--idle): %s", r->waiting.no_bpf.text);
        recorder_note(r, words);
}

/* @by_perf: perf's events report context switches */
static int open_set(struct recorder *r, bool by_perf, struct error *err)
{
        size_t tracker_bytes = ring_size_of_tracker(r->access.locks_memory, r->options->scope->whole_machine,
                                                    count_cpus());
        struct event_set_options options = {
                .attr = { .request = &r->request,
                          .switches = by_perf,
                          .build_ids = r->access.build_id_error == 0,
                          .data = recorder_joins(r) },
                .tracker_ring_bytes = tracker_bytes,
                .wants_kernel_code = r->access.kernel_error == 0 && r->access.kernel_symbols,
        };

        options.attr.ring_bytes = choose_ring_bytes(r, tracker_bytes);
        options.attr.unwinder = r->unwinder;
        return recorded_scope_open_events(&r->scope, records_command(r) ? r->command.pid : 0,
                                          r->options->delay_ns > 0, &options, &r->events, err);
}

/*
 * Opens the events while the kernel verifies the BPF programs.  Where it refuses that of context switches,
 * the events are opened again, for perf to report switches: nothing has been recorded yet.
 */
static int open_beside_programs(struct recorder *r, struct error *err)
{
        const struct unwind_request wished = r->unwinder;
        /* This user's program is refused at once. */
        bool by_perf = !r->access.has_perfmon && recorded_waiting_choose(&r->waiting, &r->request);
        int code = open_set(r, by_perf, err);

        if (r->access.has_perfmon)
                by_perf = recorded_waiting_choose(&r->waiting, &r->request);
        if (code == 0 && r->options->syscalls && !r->waiting.switches)
                return error_set(err, -ENOTSUP, "--syscalls counts system calls in the kernel, by %s",
                                 r->waiting.no_bpf.text);
        if (code == 0 && by_perf && !r->events.options.attr.switches) {
                event_set_close(&r->events);
                r->unwinder = wished;
                code = open_set(r, true, err);
        }
        if (code == 0)
                note_short_copies(r, wished.copy_bytes);
        return code;
}

static int open_events(struct recorder *r, struct error *err)
{
        struct recorded_waiting_options waiting = { .no_switches = r->options->no_switches,
                                                    .off_cpu = r->options->off_cpu,
                                                    .syscalls = r->options->syscalls,
                                                    .idle = r->options->idle,
                                                    .sees_kernel = r->access.kernel_error == 0,
                                                    .copy_bytes = r->unwinder.copy_bytes };
        int code;

        /* The kernel verifies both programs at the same time. */
        begin_python(r);
        waiting.python_fd = python_source_map(r->python);
        recorded_waiting_open(&r->waiting, &waiting);
        code = open_beside_programs(r, err);
        finish_python(r);
        python_source_forget_map(r->python);
        if (code < 0)
                return code;
        event_set_use_program(&r->events, python_source_program(r->python));
        if (r->options->idle && !r->waiting.idle)
                note_no_idle(r);
        if (r->events.kernel_code_boot_ns > 0)
                kernel_code_read_programs(&r->kernel_code, r->events.kernel_code_boot_ns);
        if (r->options->delay_ns > 0) /* data from before the recording does not belong to it: see join() */
                return 0;
        return recorded_waiting_begin(&r->waiting, &r->scope, &r->events.cpus, false, err);
}

/* A missing file, -1, reports nothing. */
static int watch(struct recorder *r, int fd, enum wake_reason reason, uint32_t how, struct error *err)
{
        struct epoll_event event = { .events = EPOLLIN | how, .data = { .u32 = (uint32_t)reason } };

        if (fd >= 0 && epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
                return error_errno(err, "epoll");
        return 0;
}

static int watch_all(struct recorder *r, struct error *err)
{
        /* If there are doorbells, the early opener waits for those alone. */
        bool opener_waits = r->opener && !event_set_has_doorbells(&r->events);
        const struct {
                int fd; /* -1 = there is none */
                enum wake_reason reason;
                uint32_t how;
        } fixed[] = {
                { r->signal_fd, WAKE_SIGNAL, 0 },
                { r->job.fd, WAKE_JOB, 0 },
                { r->control.socket.fd, WAKE_CONTROL, 0 },
                { r->options->flight ? r->flight.signal_fd : -1, WAKE_DUMP, 0 },
                { r->command.pid_fd, WAKE_COMMAND, 0 },
                { r->fail_fd, WAKE_WRITER, EPOLLET },
                { r->inbox.fd, WAKE_REGION, EPOLLET },
                { r->merge.zones.full_ring.fd, WAKE_BURST, EPOLLET },
                { r->tables.fd, WAKE_TABLES, 0 },
                { code_keeper_fd(r->merge.recording.keeper), WAKE_CODE, 0 },
                { r->opener ? early_opener_fd(r->opener) : -1, WAKE_TRACKER, EPOLLET },
                { r->waiting.switches ? switch_source_fd(r->waiting.switches) : -1, WAKE_SAMPLES, EPOLLET },
                { probe_source_fd(r->probes.source), WAKE_SAMPLES, EPOLLET },
        };
        int code = 0;

        r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (r->epoll_fd < 0)
                return error_errno(err, "epoll");
        for (size_t i = 0; code == 0 && i < sizeof(fixed) / sizeof(fixed[0]); i++)
                code = watch(r, fixed[i].fd, fixed[i].reason, fixed[i].how, err);
        for (size_t i = 0; code == 0 && i < r->scope.attachment.n_named; i++)
                code = watch(r, r->scope.attachment.named[i].pid_fd, WAKE_COMMAND, EPOLLET, err);
        /*
         * Edge-triggered, because the event of an ended task stays ready.  A CPU without the event has no
         * ring.
         */
        for (size_t i = 0; code == 0 && i < r->events.n_rings; i++)
                if (r->events.ring_fds[i] >= 0 && !(opener_waits && event_set_is_tracker_ring(&r->events, i)))
                        code = watch(r, r->events.ring_fds[i],
                                     event_set_is_tracker_ring(&r->events, i) ? WAKE_TRACKER : WAKE_SAMPLES,
                                     EPOLLET, err);
        return code;
}

static int start_merge(struct recorder *r, struct trace_writer *writer, struct error *err)
{
        struct recording recording = {
                .start_ns = r->start_ns,
                .dictionary = r->dictionary,
                .events = &r->events,
                .sample_events = r->sample_events,
                .syscall_event = r->syscall_event,
                .switches = r->waiting.switches,
                .probes = r->probes.source,
                .filter = &r->scope.filter,
                .stop_fd = r->signal_fd,
                .cpu_wide = r->scope.kind != EVENT_SCOPE_THREADS,
                .python_source = r->python,
                .kernel_code = r->events.kernel_code_boot_ns > 0 ? &r->kernel_code : NULL,
        };
        struct collector_options options = {
                .unwinder = r->unwinder,
                .table_process = needs_tables(r) ? &r->tables : NULL,
                .families = r->options->families,
                .client_ring_bytes = r->options->client_ring_bytes,
                .inbox = &r->inbox,
                .keeper = r->options->keeper,
                .wants_python = wants_python(r),
                .keeps_python_c = r->options->python == PYTHON_FRAMES,
                .trigger = flight_recorder_trigger(&r->flight),
                .in_ring = r->options->flight != NULL,
                .tells_programs = !recorder_joins(r),
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
        (void)priority_guard_start(&r->guard, NULL);
        options.guard = r->guard;
        thread_priority_restore(r->priority); /* threads begin with the priority of their creator */
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
                command_environment_add_pairs(&environment, r->options->environment);
                /* otherwise the command's zones begin later, as if it had run before */
                if (r->options->delay_ns == 0)
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

/* True if a signal came before the command began. */
static bool has_ending_signal(const struct recorder *r)
{
        struct pollfd signals = { .fd = r->signal_fd, .events = POLLIN };

        return poll(&signals, 1, 0) > 0;
}

int recorder_let_go(struct recorder *r, struct error *err)
{
        int code;

        if (!r->options->argv || r->started)
                return 0;
        if (has_ending_signal(r))
                return error_set(err, -ECANCELED, "ended by a signal before the command began");
        code = command_go(&r->command, err);
        r->started = code == 0;
        r->result->exec_failed = !r->started;
        return code;
}

/*
 * Sleeps until the end of the delay at most; connections that have sent nothing yet are looked at now and
 * then.
 */
static int delay_sleep_ms(const struct recorder *r, uint64_t left_ns)
{
        uint64_t most_ns = r->control.socket.n_held > 0 ? PACE_DELAY_HELD_NS : PACE_DELAY_LOOK_NS;

        return (int)((left_ns < most_ns ? left_ns : most_ns) / NS_PER_MS) + 1;
}

/*
 * Waits for the end of the delay.  A signal, a request, or the end of the command, ends the wait early:
 * then there is little to record.
 */
static int wait_for_delay(struct recorder *r, struct error *err)
{
        uint64_t now_ns = clock_raw_ns(), until_ns = now_ns + r->options->delay_ns;
        struct pollfd fds[3] = { { .fd = r->signal_fd, .events = POLLIN },
                                 { .fd = r->command.pid_fd, .events = POLLIN },
                                 { .fd = r->control.socket.fd, .events = POLLIN } };
        int code = recorder_let_go(r, err);

        while (code == 0 && now_ns < until_ns && !r->control.is_stopped &&
               (fds[0].revents | fds[1].revents) == 0) {
                if (poll(fds, 3, delay_sleep_ms(r, until_ns - now_ns)) < 0)
                        break;
                recorder_control_cycle(r);
                now_ns = clock_raw_ns();
        }
        if (code == 0 &&
            (r->options->argv ? command_reap(&r->command, false) != 0 : recorded_scope_has_ended(&r->scope)))
                return error_set(err, -ESRCH, "%s ended before the recording began, after --delay",
                                 r->options->argv ? "the command" : "the processes to be recorded");
        return code;
}

/* Joins the recorded threads that are already running: named threads, or those of a released command. */
static int join(struct recorder *r, struct error *err)
{
        int code = r->options->delay_ns > 0 ? wait_for_delay(r, err) : 0;

        r->start_ns = clock_raw_ns();
        if (code == 0 && r->options->delay_ns > 0)
                code = recorded_waiting_begin(&r->waiting, &r->scope, &r->events.cpus, true, err);
        recorded_waiting_expect(&r->waiting, &r->scope);
        return code == 0 ? recorded_scope_join(&r->scope, &r->events, err) : code;
}

/* If nothing at all can be recorded, reports this at once, with the reason. */
static int check_access(struct recorder *r, struct error *err)
{
        struct perf_refusal refusal;

        perf_access_read(&r->access);
        if (r->access.user_error == 0)
                return 0;
        perf_access_explain(&r->access, r->access.user_error, false, &refusal);
        return error_set(err, r->access.user_error, "no performance events: %s", refusal.reason);
}

/* A recording without a control socket is still a recording. */
static void open_control(struct recorder *r)
{
        char words[ERROR_TEXT_BYTES + 64];
        struct error err = ERROR_NONE;

        if (control_socket_open(&r->control.socket, &err) == 0)
                return;
        (void)snprintf(words, sizeof(words), "hyprof ctl cannot reach this recording: %s", err.text);
        recorder_note(r, words);
}

static struct recorded_probes_request probes_of(const struct recorder *r)
{
        const struct event_scope_request *scope = r->options->scope;

        return (struct recorded_probes_request){ .wishes = r->options->probes,
                                                 .n_wishes = r->options->n_probes,
                                                 .rate_max = r->options->zone_function_rate,
                                                 .command = records_command(r) ? r->options->argv[0] : NULL,
                                                 .pid = scope->n_pids > 0   ? scope->pids[0]
                                                        : scope->n_tids > 0 ? scope->tids[0]
                                                                            : 0,
                                                 .uid = r->options->run_as_uid,
                                                 .gid = r->options->run_as_gid };
}

/* Everything before the command exists. */
static int prepare_command(struct recorder *r, const struct recorded_probes_request *probes,
                           bool *ret_fallback, struct error *err)
{
        int code = check_access(r, err);

        r->unwinder = unwind_request_complete(&r->options->unwinder, r->access.stack_copy_error == 0);
        if (code < 0)
                return code;
        r->filter_maker = system_calls_begin();
        /* early: the child keeps the memory that we have now, and is forked before there are threads */
        start_tables(r);
        code = take_signals(r, err);
        if (code < 0)
                return code;
        open_control(r);
        code = flight_recorder_open(&r->flight, r->options->flight, r->dictionary, err);
        if (code < 0)
                return code;
        code = choose_events(r, ret_fallback, err);
        if (code < 0)
                return code;
        code = recorded_probes_plan(&r->probes, probes, r->dictionary, err);
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
        return 0;
}

int recorder_prepare(struct recorder *r, struct trace_writer *writer, struct error *err)
{
        struct recorded_probes_request request = probes_of(r);
        bool fallback;
        int code = prepare_command(r, &request, &fallback, err);

        if (code == 0)
                code = start_command(r, err);
        r->start_ns = clock_raw_ns();
        if (code < 0)
                return code;
        /*
         * Raises our priority: events begin, and rings could be full before a program of many threads is
         * known.  The command keeps its priority.
         */
        r->priority = thread_priority_get();
        r->waited_ns = thread_priority_waited_ns();
        thread_priority_raise();
        code = open_events(r, err);
        r->filter_fd = system_calls_finish(&r->filter_maker, NULL); /* no child of ours is to be recorded */
        if (code < 0)
                return code;
        if (recorder_joins(r))
                code = join(r, err);
        if (code == 0)
                code = recorded_probes_begin(&r->probes, &request, &r->scope, r->waiting.switches, err);
        if (code < 0)
                return code;
        code = describe(r, fallback, err);
        if (code < 0)
                return code;
        code = start_merge(r, writer, err);
        return code < 0 ? code : watch_all(r, err);
}
