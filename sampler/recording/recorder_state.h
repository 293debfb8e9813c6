/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/recorder_state.h - the state of a recording from its preparation to its end
 *
 * Way of the data:  recorder_preparation -> [recorder_state] -> recorder, recorder_control
 *
 * For these files alone; the collector's thread owns it.
 */
#ifndef SAMPLER_RECORDING_RECORDER_STATE_H
#define SAMPLER_RECORDING_RECORDER_STATE_H

#include "instrument/region_inbox.h"
#include "sampler/events/event_set.h"
#include "sampler/keep/kernel_code.h"
#include "sampler/merge/collector.h"
#include "sampler/merge/flight_recorder.h"
#include "sampler/proc/cpu_quota.h"
#include "sampler/recording/command.h"
#include "sampler/recording/control_socket.h"
#include "sampler/recording/job_control.h"
#include "sampler/recording/recorded_probes.h"
#include "sampler/recording/recorded_scope.h"
#include "sampler/recording/recorded_waiting.h"
#include "sampler/recording/recorder.h"
#include "sampler/rights/perf_access.h"
#include "sampler/rights/system_calls.h"
#include "sampler/tables/table_process.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct early_opener;
struct error;
struct priority_guard;
struct python_source;
struct trace_dictionary;
struct trace_writer;
struct writer_thread;

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
        WAKE_CONTROL,
        WAKE_DUMP,
        WAKE_BURST
};

/* The requests of the user: recorder_control.c. */
struct recorder_control {
        struct control_socket socket;
        bool is_paused, is_stopped;
        uint64_t paused_ns;     /* since when */
        uint64_t paused_sum_ns; /* all pauses that are over */
        uint32_t n_pauses, n_marks;
        int dump_connection; /* a connection that waits for its dump; -1 = there is none */
        uint32_t n_dumps_before, n_failed_before;
};

#define RECORDER_CONTROL_NONE                                        \
        {                                                            \
                .socket = CONTROL_SOCKET_NONE, .dump_connection = -1 \
        }

struct recorder {
        const struct recorder_options *options;
        struct trace_dictionary *dictionary;
        struct recorder_result *result;
        struct event_request request; /* the requested events, or the default, within our rights */
        uint32_t sample_events[EVENT_REQUEST_SPECS_MAX];
        uint32_t syscall_event; /* id of the event of counted system calls' samples; 0 = none are counted */
        uint32_t quota_pid;     /* the process whose `quota` is watched; 0 = none */
        struct perf_access access;
        struct unwind_request unwinder; /* the feasible part of the request */
        struct command command;
        struct recorded_scope scope;
        struct event_set events;
        struct recorded_waiting waiting;
        struct recorded_probes probes;
        struct kernel_code kernel_code;
        struct python_source *python; /* NULL = not wanted, or not permitted */
        struct region_inbox inbox;
        struct table_process tables;  /* fd -1 = none is needed, or it could not be started */
        struct early_opener *opener;  /* NULL = not needed or not started: the collector looks itself */
        struct priority_guard *guard; /* NULL = not permitted */
        struct collector merge;
        struct flight_recorder flight;
        struct writer_thread *writer;
        struct job_control job;
        struct recorder_control control;
        struct cpu_quota quota;
        struct system_calls_maker filter_maker;
        sigset_t child_signals;
        uint64_t start_ns, progress_ns;
        uint64_t deadline_ns; /* until then the command is waited for after a signal; 0 = none ended it */
        uint64_t stop_ns;     /* the duration is over; UINT64_MAX = none was given */
        uint64_t cpu_ns;      /* that this process and its children had taken before */
        uint64_t waited_ns;   /* for a processor, before */
        int signal_fd, epoll_fd, fail_fd;
        int filter_fd;    /* of system calls; see system_calls_finish() */
        int priority;     /* of this thread before */
        bool merging;     /* `merge` is initialised */
        bool interrupted; /* a signal came */
        bool started;     /* the command was released */
        bool busy_noted, thinning_noted;
        bool write_failed;
};

static inline bool recorder_is_attaching(const struct recorder *r)
{
        return recorded_scope_is_attaching(r->options->scope);
}

/* Is something recorded that is already running? */
static inline bool recorder_joins(const struct recorder *r)
{
        return recorder_is_attaching(r) || r->options->delay_ns > 0;
}

/* Shows words to people while it records. */
static inline void recorder_note(const struct recorder *r, const char *words)
{
        if (r->options->on_note)
                r->options->on_note(r->options->context, words);
}

/*
 * recorder_prepare() - opens everything; the command is started, and waits to be released
 * Returns 0 or -errno; recorder_run() closes what is open, also after a failure.
 */
int recorder_prepare(struct recorder *r, struct trace_writer *writer, struct error *err);

/* The command begins to run, if there is one and it does not run yet.  Returns 0 or -errno. */
int recorder_let_go(struct recorder *r, struct error *err);

/*
 * sampler/recording/recorder_control.c - what the user asks of a recording while it runs
 *
 * Way of the data:  control_socket -> [recorder_control] -> event_set, zone_source, collector,
 *                   flight_recorder
 *
 * Requests are words: `status`, `pause`, `resume`, `stop`, `dump`, `mark TEXT`.  An answer begins with `ok`
 * or `error:`, or is the status: lines of a key, a blank and a value.  Used by the collector's thread.
 */

/*
 * Handles requests that have come.  A request that fails changes nothing, and its answer says why.  In the
 * delay, before anything is recorded, only the status and the end can be asked for.
 */
void recorder_control_cycle(struct recorder *r);

/*
 * To be called before each cycle of the flight recorder: a dump that begins in it says how long the pauses
 * were so far.
 */
void recorder_control_note_pauses(struct recorder *r, uint64_t now_ns);

/*
 * The recording is over: notes the pauses in the trace, answers a request that still waits, takes no more.
 */
void recorder_control_end(struct recorder *r, uint64_t now_ns);

#endif /* SAMPLER_RECORDING_RECORDER_STATE_H */
