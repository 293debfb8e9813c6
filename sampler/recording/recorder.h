/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/recorder.h - one recording, from the command's start, or from when it
 * attaches, to the last event
 *
 * Way of the data:  command, attachment, event_set -> [recorder] drives merge ->
 *                   writer_thread -> trace_writer
 *
 * Threads: the caller's thread becomes the collector, which owns everything
 * here; the writer thread owns the trace_writer meanwhile.
 */
#ifndef SAMPLER_RECORDING_RECORDER_H
#define SAMPLER_RECORDING_RECORDER_H

#include "sampler/events/event_request.h"
#include "sampler/events/event_scope.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/merge/flight_recorder.h"
#include "sampler/recording/command.h"
#include "sampler/rights/perf_access.h"
#include "sampler/zones/spare_memory.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct probe_wish;
struct table_store;
struct trace_dictionary;
struct trace_writer;

/* The progress of a recording, to be shown in a line. */
struct recorder_progress {
        uint64_t elapsed_ns;
        uint64_t n_samples;
        uint64_t n_zones;
        uint64_t n_others; /* events of programs that are not about zones */
        uint64_t n_lost;
        uint64_t n_kernel_full; /* of these, the ones lost for want of room in the kernel's rings, */
        uint64_t n_too_deep;    /* and because zones were nested too deep */
        uint64_t waited_ns;     /* while the collector was ready and had no processor; final, 0 = not known */
        bool is_guarded;        /* the collector could get priority over programs of a real-time class */
        struct spare_need client_need; /* the --client-ring that would have held all events of programs */
        uint64_t file_bytes;
};

struct recorder_options {
        char **argv; /* the command, NULL-terminated; NULL = none: the scope names running processes */
        const char *const *environment;     /* for the command: NULL-terminated pairs, borrowed; or NULL */
        const struct event_request *events; /* n_specs 0: cycles, or cpu-clock where there is no counter */
        const struct event_scope_request
                *scope; /* the recorded processes instead of the command, if any are named */
        struct unwind_request unwinder;
        uint64_t duration_ns; /* the longest duration; 0 = until the end */
        uint64_t delay_ns;    /* recording begins this long after the start */
        uint64_t bytes_max;   /* the recording ends when the file has so many; 0 = without limit */
        uint32_t families;    /* CLIENT_ABI_FAMILY_*, and which with callstacks, as in the control word */
        /* bytes of events that a program may hold unread, see spare_memory.h; 0 = the default */
        uint64_t client_ring_bytes;
        /* when root: the user that the builder of unwind tables becomes; 0 = stays, without capabilities */
        uint32_t run_as_uid;
        uint32_t run_as_gid;
        struct table_store *table_store;   /* borrowed; NULL = unwind tables are not kept */
        struct code_keeper_options keeper; /* mode, limit, folder and spool; the recorder fills in the rest */
        const struct flight_options
                *flight;         /* only the end is kept; NULL = all goes into the trace at once */
        int file_opener_pid;     /* opens files for `flight`, and is not to be recorded; 0 = none */
        const sigset_t *signals; /* what recorder_hold_signals() gave; NULL = it was not called */
        /* functions and static probes that become zones; how many calls of one in a second switch it off */
        const struct probe_wish *probes;
        size_t n_probes;
        uint64_t zone_function_rate;
        bool off_cpu; /* record the call stacks of threads that wait, and of their wakers */
        bool no_switches;
        bool syscalls; /* system calls are counted: not without switches, nor without BPF */
        bool idle;     /* and idle times of CPUs, if there is BPF */
        enum python_mode python;
        bool command_as_root;   /* after privileges_become_user() with the same */
        const char *trace_name; /* for `hyprof ctl status`; NULL = the trace has none */
        void (*on_progress)(void *context,
                            const struct recorder_progress *progress); /* five times a second; or NULL */
        /* receives notes that the user should read at once; or NULL */
        void (*on_note)(void *context, const char *words);
        void (*on_busy)(void *context, const char *words); /* another recorder has the zones; or NULL */
        void *context;
};

struct recorder_result {
        struct recorder_progress progress; /* final; file_bytes without data that is written
                                            * after the recording */
        int wait_status;                   /* of the command as of waitpid(2); valid if `ended` */
        bool ended;                        /* the command has ended */
        bool exec_failed;  /* the command could not be executed: there was nothing to record */
        bool stopped;      /* ended by a signal, its duration or the file's size, before the
                            * recorded processes ended */
        bool is_full;      /* by the file's size */
        bool writer_stuck; /* a thread still waits in write(2): writer and file are not to be touched */
        int command_pid;   /* for recorder_wait(), while it runs on */
        struct command_urge urge;
        int stop_fd; /* a signalfd, for the work after the recording; owned by the caller */
        /* processor time of the recording itself, with its helpers, without its preparations */
        uint64_t own_cpu_ns;
        struct perf_access access; /* the access that was found; for advice after a failure */
        struct flight_totals flight;
        char event_names[128]; /* the sampled events: "cpu-clock, each sched:sched_switch" */
        bool has_rate;         /* at least one of these events is sampled at a rate */
};

/*
 * recorder_hold_signals() - block SIGPIPE and SIGXFSZ, so that a failed write returns an error from the first
 * byte on
 * @ending:      block SIGINT, SIGTERM, SIGHUP and SIGQUIT until recorder_run() as well.  A trace that
 *               replaces an earlier one is then not left half made: the run ends before the command begins.
 * @ret_before:  the signals that were blocked before; the command gets these
 */
void recorder_hold_signals(bool ending, sigset_t *ret_before);

/*
 * recorder_run() - start the command and record it until it ends, a signal comes or the time is over
 * With processes that run already: those are recorded instead, until all that were named have ended; the
 * command, if there is one, only says how long.
 * @writer:      the trace; on return everything recorded was put, the index was not
 * @dictionary:  empty; on return all tables of the trace; rows were put as far as events refer to them
 * @ret_result:  filled also on failure, as far as it goes
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked from here on.  Once everything is open, the process gives
 * up what rights it can (privileges_narrow()).  Returns 0, or -errno; a failed write does not end the
 * command: it runs on, unrecorded, and is waited for.
 */
int recorder_run(const struct recorder_options *options, struct trace_writer *writer,
                 struct trace_dictionary *dictionary, struct recorder_result *ret_result, struct error *err);

/* Waits for a command that outlived its recording; signals to us are handed on to it: see command_wait(). */
void recorder_wait(struct recorder_result *result);

#endif /* SAMPLER_RECORDING_RECORDER_H */
