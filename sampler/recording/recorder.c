/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorder_state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/code/code_images.h"
#include "sampler/code/code_tables.h"
#include "sampler/code/early_opener.h"
#include "sampler/events/event_totals.h"
#include "sampler/kernel/privileges.h"
#include "sampler/kernel/thread_priority.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/python/python_frames.h"
#include "sampler/python/python_late.h"
#include "sampler/python/python_source.h"
#include "sampler/recording/recording_facts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
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
#define YOUNG_NS     (EARLY_OPENER_REPORT_NS + 50 * NS_PER_MS)
#define OPEN_ONLY_MS 10 /* since the last cycle: a new region alone is no reason for another */

/* After Ctrl-C a command usually ends by itself: its status belongs into the trace. */
#define GRACE_NS (NS_PER_S / 5)

/* For unwind tables, where a signal or the duration ends the recording. */
#define STOPPED_WAIT_NS (NS_PER_S / 20)

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
        uint64_t begin_ns;

        if (code == 0) {
                recorded_waiting_follow(&r->waiting, &r->scope, &r->merge.samples);
                code = give_up_rights(r, err);
        }
        if (code == 0 && recorder_joins(r))
                code = recorder_attach(r, err);
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
        p->n_zones = r->merge.n_zones;
        p->n_others = r->merge.n_others;
        p->n_lost = loss_counter_total(&r->merge.losses);
        p->n_kernel_full = r->merge.losses.totals[TRACE_LOSS_KERNEL_RING_FULL] +
                           r->merge.losses.totals[TRACE_LOSS_SAMPLES_LOST];
        p->n_too_deep = r->merge.losses.totals[TRACE_LOSS_ZONE_TOO_DEEP];
        p->client_need = r->merge.zones.need;
        if (r->writer)
                p->file_bytes = writer_thread_count_bytes(r->writer);
        if (r->options->on_progress && now_ns - r->progress_ns >= PROGRESS_PERIOD_NS) {
                r->progress_ns = now_ns;
                r->options->on_progress(r->options->context, p);
        }
}

/*
 * A terminal sends its signals to the command as well; those sent to us alone are passed on.  A command that
 * handles the first SIGINT tidies up, which belongs to the recording; the next signal ends it.
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
                        r->deadline_ns = clock_raw_ns() + (r->command.pid > 0 ? GRACE_NS : 0);
        }
}

/* The longest pause after a cycle. */
static int cycle_pause_ms(const struct recorder *r)
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
        if (python_frames_are_late(r->merge.recording.python) && ms > PYTHON_LATE_MS)
                ms = PYTHON_LATE_MS;
        if (ms > code_images_pause_ms(r->merge.samples.images))
                ms = code_images_pause_ms(r->merge.samples.images);
        return ms;
}

static int sleep_ms(const struct recorder *r, uint64_t now_ns)
{
        int ms = cycle_pause_ms(r);

        if (now_ns < r->young_until_ns && ms > OPEN_ONLY_MS)
                ms = OPEN_ONLY_MS;
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

/*
 * A new region is only opened, and so are files of young processes: whole cycles are for full rings and for
 * time that passed.  The more a cycle has to do, the less each record costs.
 */
static bool only_opens(const struct recorder *r, unsigned woken, uint64_t now_ns)
{
        const unsigned looks = 1u << WAKE_TRACKER | 1u << WAKE_REGION | 1u << WAKE_TABLES | 1u << WAKE_CODE;
        uint64_t pause_ms = woken == 0 && !r->has_new_tables ? (uint64_t)cycle_pause_ms(r) : OPEN_ONLY_MS;

        return (woken & ~looks) == 0 && now_ns - r->merge.cycled_ns < pause_ms * NS_PER_MS;
}

static int collect_once(struct recorder *r, unsigned woken, uint64_t now_ns, struct error *err)
{
        if (only_opens(r, woken, now_ns))
                return collector_open_regions(&r->merge, err);
        r->has_new_tables = false;
        return collector_cycle(&r->merge, false, err);
}

/* One line is enough: a program's children are usually in the same hands. */
static void note_busy(struct recorder *r)
{
        char words[ERROR_TEXT_BYTES + 32];

        if (r->busy_noted || r->merge.zones.busy.code == 0)
                return;
        r->busy_noted = true;
        (void)snprintf(words, sizeof(words), "%s: its zones are missing here", r->merge.zones.busy.text);
        recorder_note(r, words);
}

/* True if there is nothing more to wait for. */
static bool recorder_is_over(struct recorder *r, uint64_t now_ns)
{
        if (r->options->argv && command_reap(&r->command, false))
                return true;
        if (recorder_is_attaching(r) && recorded_scope_has_ended(&r->scope))
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
                if (woken & 1u << WAKE_TABLES) {
                        r->has_new_tables = true;
                        if (code_tables_take(r->merge.recording.tables) < 0)
                                return error_set(err, -ENOMEM, "no memory for unwind tables");
                }
                if (woken & 1u << WAKE_JOB)
                        stop_with = job_control_next(&r->job, &r->command);
                recorder_control_note_pauses(r, now_ns);
                code = collect_once(r, woken, now_ns, err);
                if (code == 0)
                        code = flight_recorder_cycle(&r->flight, &r->merge, err);
                if (code < 0)
                        return code;
                recorder_control_cycle(r);
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
        bool runs_on = recorder_is_attaching(r) ? is_named && !recorded_scope_has_ended(&r->scope)
                                                : r->result->stopped;
        int wait_status = r->command.reaped && !recorder_is_attaching(r) ? r->command.wait_status : -1;

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
                recorder_note(r, "no totals (--stat): events of whole CPUs count other programs as well; "
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
        recorder_control_end(r, end_ns);
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
        if (code == 0 && !r->write_failed)
                code_tables_keep(r->merge.recording.tables, r->signal_fd);
        return code;
}

static void recorder_release(struct recorder *r)
{
        if (r->merging)
                collector_deinit(&r->merge);
        if (r->writer)
                (void)writer_thread_join(r->writer, NULL);
        control_socket_close(&r->control.socket);
        flight_recorder_close(&r->flight);
        early_opener_stop(r->opener);
        job_control_close(&r->job);
        table_process_hang_up(&r->tables); /* its sign to end, while the rest is closed */
        event_set_close(&r->events);
        python_source_close(r->python);
        kernel_code_deinit(&r->kernel_code);
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
                .control = RECORDER_CONTROL_NONE,
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
