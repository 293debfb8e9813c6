/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorder_state.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/events/event_totals.h"
#include "sampler/images/code_images.h"
#include "sampler/keep/early_opener.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/pace/pace.h"
#include "sampler/python/python_frames.h"
#include "sampler/python/python_late.h"
#include "sampler/python/python_source.h"
#include "sampler/recording/recording_facts.h"
#include "sampler/recording/syscall_sums.h"
#include "sampler/rights/priority_guard.h"
#include "sampler/rights/privileges.h"
#include "sampler/rights/thread_priority.h"
#include "sampler/tables/code_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* ---- attaching ----------------------------------------------------------------------------------------- */

/*
 * Runs two cycles: a region that was found waits for a cycle, and its zones should begin without a delay.
 */
static int attach(struct recorder *r, struct error *err)
{
        int code = collector_cycle(&r->merge, false, err);

        if (code == 0)
                code = collector_cycle(&r->merge, false, err);
        return code;
}

/*
 * Gives up rights once all files are open: new data is read with few rights.  Rights that cannot be given
 * up are no reason to record nothing.
 */
static int give_up_rights(struct recorder *r, struct error *err)
{
        struct error reason = ERROR_NONE;
        int code = 0;

        if (privileges_narrow(false, r->filter_fd, &reason) < 0) /* the cgroup has its keeper */
                code = recording_facts_add_notice(r->dictionary, TRACE_NOTICE_RIGHTS_KEPT, reason.text);
        return code < 0 ? error_set(err, code, "no memory to describe the recording") : 0;
}

/*
 * Begins to watch the quota of the command, or of the first of the processes that run already: the quota is
 * that of the process's groups.
 */
static void begin_quota(struct recorder *r)
{
        const struct attachment *a = &r->scope.attachment;

        if (r->command.pid > 0)
                r->quota_pid = (uint32_t)r->command.pid;
        else if (a->n_named != 0)
                r->quota_pid = a->named[0].pid;
        else if (a->n_found != 0 && !r->options->scope->whole_machine)
                r->quota_pid = (uint32_t)a->found[0].pid;
        cpu_quota_begin(&r->quota, r->quota_pid, clock_raw_ns());
}

/* Lets everything begin. */
static int begin(struct recorder *r, struct error *err)
{
        int code = recorded_scope_begin(&r->scope, &r->events, &r->merge.samples, &r->merge.zones,
                                        r->start_ns, err);
        uint64_t begin_ns;

        if (code == 0) {
                recorded_waiting_follow(&r->waiting, &r->scope, &r->merge.samples);
                code = give_up_rights(r, err);
        }
        if (code == 0 && recorder_joins(r))
                code = attach(r, err);
        begin_quota(r);
        if (code == 0)
                code = recorder_let_go(r, err);
        r->progress_ns = clock_raw_ns();
        /* Samples of programs that already run come while their mappings are still being read. */
        begin_ns = recorder_joins(r) ? r->scope.enabled_ns : r->progress_ns;
        r->stop_ns = r->options->duration_ns ? begin_ns + r->options->duration_ns : UINT64_MAX;
        if (r->control.is_stopped) /* in the delay */
                r->stop_ns = 0;
        return code;
}

/* ---- recording ----------------------------------------------------------------------------------------- */

static void report_progress(struct recorder *r, uint64_t now_ns)
{
        struct recorder_progress *p = &r->result->progress;

        p->elapsed_ns = now_ns - r->start_ns;
        p->n_samples = r->merge.samples.n_samples;
        p->n_zones = r->merge.n_zones + r->merge.sink.n_probed;
        p->n_others = r->merge.n_others;
        p->n_lost = loss_counter_total(&r->merge.losses);
        p->n_kernel_full = r->merge.losses.totals[TRACE_LOSS_KERNEL_RING_FULL] +
                           r->merge.losses.totals[TRACE_LOSS_SAMPLES_LOST];
        p->n_too_deep = r->merge.losses.totals[TRACE_LOSS_ZONE_TOO_DEEP];
        p->client_need = r->merge.zones.need;
        if (r->writer)
                p->file_bytes = writer_thread_count_bytes(r->writer);
        if (r->options->on_progress && now_ns - r->progress_ns >= PACE_LOOP_PROGRESS_NS) {
                r->progress_ns = now_ns;
                r->options->on_progress(r->options->context, p);
        }
}

/*
 * A terminal sends its signals to the command as well; signals sent to us alone are passed on.  A command
 * that handles the first SIGINT tidies up, which belongs to the recording; the next signal ends the
 * recording.
 */
static void take_signal(struct recorder *r)
{
        struct signalfd_siginfo info;

        while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info)) {
                bool tidies_up = info.ssi_signo == SIGINT && !r->interrupted &&
                                 command_catches(&r->command, SIGINT);

                command_hand_on(r->command.pid, &info, &r->result->urge);
                r->interrupted = true;
                if (tidies_up)
                        continue;
                r->result->stopped = true;
                if (r->deadline_ns == 0)
                        r->deadline_ns = clock_raw_ns() + (r->command.pid > 0 ? PACE_END_GRACE_NS : 0);
        }
}

static struct recorder_needs needs_of(const struct recorder *r, uint64_t now_ns)
{
        const struct collector *m = &r->merge;

        return (struct recorder_needs){ .has_zones = m->zones.n_regions > 0,
                                        .opens = m->zones.n_waiting > 0,
                                        .is_ending = r->deadline_ns != 0,
                                        .has_cuts = m->samples.has_cuts,
                                        .has_parts = code_keeper_has_parts(m->recording.keeper),
                                        .reads_python = python_frames_are_late(m->recording.python),
                                        .lacks_data = code_images_lack_data(m->samples.images, now_ns),
                                        .rate_hz = r->request.rate_hz };
}

/* Sleeps, and returns the reasons for waking: a bit for each enum wake_reason; 0 = time has passed. */
static unsigned wait_for_work(struct recorder *r)
{
        struct epoll_event events[16];
        uint64_t now_ns = clock_raw_ns();
        const struct recorder_needs needs = needs_of(r, now_ns);
        int ms = recorder_pace_sleep_ms(&r->merge.pace, &needs, r->stop_ns, now_ns), n;
        unsigned reasons = 0;

        priority_guard_expect(r->guard, ms);
        n = epoll_wait(r->epoll_fd, events, 16, ms);
        for (int i = 0; i < n; i++)
                reasons |= 1u << events[i].data.u32;
        return reasons;
}

/*
 * True if only new regions and files of young processes are to be opened: whole cycles are for full rings
 * and for time that passed.
 */
static bool only_opens(const struct recorder *r, unsigned woken, uint64_t now_ns)
{
        const unsigned looks = 1u << WAKE_TRACKER | 1u << WAKE_REGION | 1u << WAKE_TABLES | 1u << WAKE_CODE;
        const struct recorder_needs needs = needs_of(r, now_ns);

        return (woken & ~looks) == 0 &&
               !recorder_pace_cycle_is_due(&r->merge.pace, &needs, woken == 0, now_ns);
}

static int collect_once(struct recorder *r, unsigned woken, uint64_t now_ns, struct error *err)
{
        return only_opens(r, woken, now_ns) ? collector_open_regions(&r->merge, err)
                                            : collector_cycle(&r->merge, false, err);
}

/*
 * Reports programs that another recorder has, in one line: a program's children usually have the same
 * recorder.
 */
static void note_busy(struct recorder *r)
{
        char words[ERROR_TEXT_BYTES + 32];

        if (r->busy_noted || r->merge.zones.busy.code == 0)
                return;
        r->busy_noted = true;
        (void)snprintf(words, sizeof(words), "%s: its zones are missing here", r->merge.zones.busy.text);
        if (r->options->on_busy)
                r->options->on_busy(r->options->context, words);
}

/* Says once, while it records, that samples are left out. */
static void note_thinning(struct recorder *r)
{
        if (r->thinning_noted || r->merge.samples.thinning.n_left_out == 0)
                return;
        r->thinning_noted = true;
        recorder_note(r, "more samples than there is time for: some are left out, and others count for them "
                         "(a lower -F takes less time)");
}

/* True if there is nothing more to wait for. */
static bool is_over(struct recorder *r, uint64_t now_ns)
{
        if (r->options->argv && command_reap(&r->command, false))
                return true;
        if (recorder_is_attaching(r) && recorded_scope_has_ended(&r->scope))
                return true;
        /* Without a limit bytes_max is 0, and 0 - 1 is the largest number. */
        r->result->is_full = r->result->progress.file_bytes > r->options->bytes_max - 1;
        if (r->result->is_full || now_ns >= r->stop_ns)
                r->result->stopped = true;
        return r->result->is_full || now_ns >= r->stop_ns ||
               (r->deadline_ns != 0 && now_ns >= r->deadline_ns);
}

static int collect(struct recorder *r, struct error *err)
{
        r->merge.samples.command_pid = r->command.pid > 0 ? (uint32_t)r->command.pid : 0;
        while (true) {
                unsigned woken = wait_for_work(r);
                uint64_t now_ns = clock_raw_ns();
                int stop_with = 0, code;

                if (woken & 1u << WAKE_WRITER) {
                        r->write_failed = true;
                        return 0; /* joining the writer says why */
                }
                if (woken & 1u << WAKE_TRACKER)
                        r->merge.pace.code_ns = now_ns;
                if (woken & 1u << WAKE_SIGNAL)
                        take_signal(r);
                if (woken & 1u << WAKE_TABLES) {
                        r->merge.pace.has_tables = true;
                        if (code_tables_take(r->merge.recording.tables) < 0)
                                return error_set(err, -ENOMEM, "no memory for unwind tables");
                }
                if (woken & 1u << WAKE_JOB)
                        stop_with = job_control_next(&r->job, &r->command);
                recorder_control_note_pauses(r, now_ns);
                cpu_quota_read(&r->quota, r->quota_pid, now_ns, false);
                code = collect_once(r, woken, now_ns, err);
                if (code == 0)
                        code = flight_recorder_cycle(&r->flight, &r->merge, err);
                if (code < 0)
                        return code;
                recorder_control_cycle(r);
                note_busy(r);
                note_thinning(r);
                report_progress(r, now_ns);
                if (is_over(r, now_ns))
                        return 0;
                if (stop_with != 0)
                        job_control_stop(&r->job, stop_with);
        }
}

/* Names the programs with more rights than ours, which the kernel hides from us. */
static void describe_out_of_reach(struct recorder *r)
{
        const struct kernel_side *side = &r->merge.samples;
        struct text_view name = trace_dictionary_text(r->dictionary, side->out_of_reach_name);
        char detail[96];

        if (side->n_out_of_reach == 0)
                return;
        (void)snprintf(detail, sizeof(detail), "%.*s", (int)(name.n_bytes < 32 ? name.n_bytes : 32),
                       name.n_bytes > 0 ? name.bytes : "");
        if (side->n_out_of_reach > 1)
                (void)snprintf(detail + strlen(detail), sizeof(detail) - strlen(detail),
                               " and %" PRIu64 " more", side->n_out_of_reach - 1);
        (void)recording_facts_add_notice(r->dictionary, TRACE_NOTICE_OUT_OF_REACH, detail);
}

/* Describes how often, for how long, and when a quota kept the program from running. */
static int describe_quota(struct recorder *r)
{
        const struct cpu_quota_stat *total = &r->quota.total;
        const struct cpu_quota_limit *limit = &r->quota.limit;
        struct byte_buffer spans = { .data = NULL };
        char detail[128], quota[64];
        int code;

        if (total->throttled_ns == 0)
                return 0;
        (void)snprintf(detail, sizeof(detail),
                       "in %" PRIu64 " of %" PRIu64 " periods, for %.3f s of its CPUs", total->n_throttled,
                       total->n_periods, (double)total->throttled_ns / NS_PER_S);
        cpu_quota_list(&r->quota, &spans);
        byte_buffer_add(&spans, "", 1);
        code = spans.failed
                       ? -ENOMEM
                       : recording_facts_add_meta(r->dictionary, "cpu_throttled", (const char *)spans.data);
        byte_buffer_deinit(&spans);
        (void)snprintf(quota, sizeof(quota), "%" PRIu64 "/%" PRIu64, limit->quota_us, limit->period_us);
        if (code == 0 && limit->period_us != 0)
                code = recording_facts_add_meta(r->dictionary, "cpu_quota", quota);
        return code < 0 ? code : recording_facts_add_notice(r->dictionary, TRACE_NOTICE_CPU_QUOTA, detail);
}

/*
 * Describes the recording's end: a program that still runs, or that we did not start, has no exit status.
 */
static void describe_end(struct recorder *r, bool runs_on, uint64_t end_ns)
{
        int wait_status = r->command.reaped && !recorder_is_attaching(r) ? r->command.wait_status : -1;

        if (runs_on)
                (void)recording_facts_add_notice(r->dictionary, TRACE_NOTICE_STOPPED_EARLY, NULL);
        describe_out_of_reach(r);
        (void)recording_facts_end(r->dictionary, end_ns, wait_status);
        if (wait_status >= 0)
                (void)recording_facts_add_times(r->dictionary, r->command.cpu_ns, r->command.kernel_ns);
}

/* True if the recording ends before the programs that it was started for. */
static bool stops_early(struct recorder *r)
{
        bool is_named = r->scope.attachment.n_named > 0; /* else nothing was to end */

        return recorder_is_attaching(r) ? is_named && !recorded_scope_has_ended(&r->scope)
                                        : r->result->stopped;
}

/* False where events of whole CPUs also count other programs, though only some processes are recorded. */
static bool counts_ours(const struct recorder *r)
{
        return r->scope.kind != EVENT_SCOPE_CPUS || r->options->scope->whole_machine;
}

static int add_totals(struct recorder *r, struct error *err)
{
        bool shared = false;
        int code = 0;

        if (counts_ours(r))
                code = event_totals_write(&r->events, r->sample_events, r->dictionary, &shared, err);
        else if (r->request.wants_totals)
                recorder_note(r, "no totals (--stat): events of whole CPUs count other programs as well; "
                                 "--scope=threads counts only those that are recorded");
        if (code == 0 && (shared || r->merge.samples.counts.shared))
                code = recording_facts_add_notice(r->dictionary, TRACE_NOTICE_COUNTERS_SHARED, NULL);
        return code;
}

/* Runs after the last cycle, because that cycle adds the last threads. */
static int add_syscalls(struct recorder *r, uint64_t end_ns, struct error *err)
{
        uint64_t n_missed = 0;
        int code;

        if (!r->options->syscalls)
                return 0;
        code = syscall_sums_write(r->waiting.switches, r->dictionary, &n_missed, err);
        if (code < 0 || n_missed == 0)
                return code;
        loss_counter_add(&r->merge.losses, TRACE_LOSS_SYSCALLS_MISSED, n_missed);
        return loss_counter_flush(&r->merge.losses, r->dictionary, end_ns);
}

/*
 * The time of the command's end, or of the last record of another process, if the kernel has reported all
 * of it: a long cycle notices the command's end late.
 */
static uint64_t recording_end_ns(const struct recorder *r, uint64_t now_ns)
{
        const struct kernel_side *side = &r->merge.samples;
        bool is_known = r->command.reaped && side->command_exit_ns != 0 && side->n_lost_records == 0 &&
                        side->n_out_of_reach == 0;
        uint64_t end_ns = side->command_exit_ns > side->others_ns ? side->command_exit_ns : side->others_ns;

        return is_known && end_ns < now_ns ? end_ns : now_ns;
}

static int add_python_counts(struct recorder *r)
{
        uint64_t n_samples, n_bare;
        int code;

        python_frames_count(r->merge.recording.python, &n_samples, &n_bare);
        if (n_samples == 0)
                return 0;
        code = recording_facts_add_number(r->dictionary, "python_samples", n_samples);
        return code == 0 ? recording_facts_add_number(r->dictionary, "python_samples_bare", n_bare) : code;
}

/* Describes when samples were left out, since there was no time for all. */
static int describe_thinning(struct recorder *r, uint64_t end_ns)
{
        struct byte_buffer text = { .data = NULL };
        int code = 0;

        sample_throttle_describe(&r->merge.pace.throttle, r->start_ns, end_ns, &text);
        if (text.used_bytes == 0)
                return 0;
        byte_buffer_add_format(&text, "; left out: %" PRIu64 "; a lower -F takes less time",
                               r->merge.samples.thinning.n_left_out);
        byte_buffer_add(&text, "", 1);
        code = text.failed ? -ENOMEM
                           : recording_facts_add_notice(r->dictionary, TRACE_NOTICE_SAMPLES_THINNED,
                                                        (const char *)text.data);
        byte_buffer_deinit(&text);
        return code;
}

/* Describes what a dump has only a part of: samples, and time. */
static int describe_whole(struct recorder *r, uint64_t end_ns)
{
        int code = describe_thinning(r, end_ns);

        if (code == 0 && !r->options->flight)
                code = add_python_counts(r);

        if (code < 0 || r->options->flight)
                return code;
        code = describe_quota(r);
        return code < 0 ? code
                        : recorded_waiting_describe_idle(&r->waiting, r->start_ns, end_ns, r->dictionary);
}

/* The price of zones of functions; without the command's processor time, as a part of the whole time. */
static int describe_probes(struct recorder *r, uint64_t end_ns)
{
        uint64_t cpu_ns = r->command.reaped ? r->command.cpu_ns : end_ns - r->start_ns;
        uint64_t n_full, n_lost = recorded_probes_count_lost(&r->probes, &n_full);

        if (n_lost > 0)
                loss_counter_add(&r->merge.losses, TRACE_LOSS_PROBES_LOST, n_lost);
        if (n_full > 0)
                loss_counter_add(&r->merge.losses, TRACE_LOSS_PROBES_OPEN, n_full);
        if (n_lost + n_full > 0 && loss_counter_flush(&r->merge.losses, r->dictionary, end_ns) < 0)
                return -ENOMEM;
        return recorded_probes_describe(&r->probes, &r->merge.sink, cpu_ns, r->dictionary);
}

/* Stops everything, merges the rest and waits until it is written. */
static int finish(struct recorder *r, int code, struct trace_writer *writer, struct error *err)
{
        struct error join_err = ERROR_NONE;
        uint64_t end_ns = clock_raw_ns();
        int joined;

        thread_priority_restore(r->priority);
        job_control_close(&r->job);
        recorder_control_end(r, end_ns);
        event_set_disable(&r->events);
        cpu_quota_read(&r->quota, r->quota_pid, end_ns, true);
        zone_source_disable(&r->merge.zones);
        recorded_probes_end(&r->probes);
        if (r->deadline_ns != 0)
                zone_merge_hurry(&r->merge.zone_merge);
        if (r->result->stopped) /* at a time that the user chose */
                r->merge.tables_wait_ns = PACE_END_STOPPED_NS;
        if (code == 0 && !r->write_failed) {
                bool runs_on = stops_early(r);

                code = collector_cycle(&r->merge, true, err);
                if (code == 0)
                        end_ns = recording_end_ns(r, end_ns);
                describe_end(r, runs_on, end_ns);
                if (code == 0)
                        code = add_totals(r, err);
                if (code == 0)
                        code = add_syscalls(r, end_ns, err);
                if (code == 0)
                        code = describe_probes(r, end_ns);
                if (code == 0)
                        code = describe_whole(r, end_ns);
                if (code == 0)
                        code = flight_recorder_finish(&r->flight, &r->merge, writer, err);
                r->result->flight = r->flight.totals;
        }
        r->result->progress.waited_ns = thread_priority_waited_ns() - r->waited_ns;
        r->result->progress.is_guarded = r->guard != NULL;
        report_progress(r, end_ns);
        joined = writer_thread_join(r->writer, &join_err);
        r->writer = NULL;
        r->result->writer_stuck = joined == -EINTR;
        if (joined < 0) {
                if (err)
                        *err = join_err; /* the cause of whatever else failed */
                return joined;
        }
        if (code == 0 && !r->write_failed)
                code_tables_keep(r->merge.recording.tables, r->signal_fd);
        return code;
}

static void release(struct recorder *r)
{
        if (r->merging)
                collector_deinit(&r->merge);
        if (r->writer)
                (void)writer_thread_join(r->writer, NULL);
        control_socket_close(&r->control.socket);
        flight_recorder_close(&r->flight);
        priority_guard_stop(r->guard);
        early_opener_stop(r->opener);
        job_control_close(&r->job);
        table_process_hang_up(&r->tables); /* tells the table process to end while the rest is closed */
        event_set_close(&r->events);
        python_source_close(r->python);
        kernel_code_deinit(&r->kernel_code);
        recorded_probes_close(&r->probes);
        recorded_waiting_close(&r->waiting);
        command_deinit(&r->command);
        recorded_scope_close(&r->scope);
        region_inbox_close(&r->inbox);
        table_process_stop(&r->tables);
        io_close(&r->epoll_fd);
        io_close(&r->fail_fd);
        if (r->filter_maker.pid > 0) /* the preparations ended early */
                r->filter_fd = system_calls_finish(&r->filter_maker, NULL);
        io_close(&r->filter_fd);
}

/* CPU time of this process and of the helpers that it has reaped, without that of the command. */
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
                .filter_maker = { .fd = -1 },
                .job = { .fd = -1 },
                .control = RECORDER_CONTROL_NONE,
        };
        code = recorder_prepare(r, writer, err);
        /* the preparations end here, before anything is recorded */
        r->cpu_ns = count_own_cpu_ns(&r->command);
        if (code == 0)
                code = begin(r, err);
        if (code == 0)
                code = finish(r, collect(r, err), writer, err);

        ret_result->ended = r->command.reaped;
        ret_result->wait_status = r->command.wait_status;
        ret_result->command_pid = r->started ? r->command.pid : 0;
        ret_result->stop_fd = r->signal_fd;
        release(r);
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
