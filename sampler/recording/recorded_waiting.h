/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/recorded_waiting.h - how waiting is recorded: through BPF where that is
 * allowed, else through perf
 *
 * Way of the data:  command line, recorded_scope -> [recorded_waiting] -> switch_source,
 *                   event_request -> kernel_side
 *
 *          without --off-cpu     with --off-cpu
 *   BPF    switches              switches with the stacks of threads that wait, and wake-ups with the stacks
 *                                of threads that wake others
 *   perf   PERF_RECORD_SWITCH    besides, samples of context-switches, where the kernel may be seen, and of
 *                                sched:sched_waking, where there is a tracefs
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_RECORDING_RECORDED_WAITING_H
#define SAMPLER_RECORDING_RECORDED_WAITING_H

#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct cpu_list;
struct event_request;
struct recorded_scope;
struct kernel_side;
struct switch_source;
struct trace_dictionary;

struct recorded_waiting_options {
        bool no_switches;
        bool off_cpu;        /* with stacks and wakers */
        bool syscalls;       /* system calls are counted as well, by BPF alone */
        bool idle;           /* and idle times of CPUs, likewise */
        bool sees_kernel;    /* perf events of the kernel are permitted */
        uint32_t copy_bytes; /* of a user's stack; 0 = callstacks are made by frame pointers */
        int python_fd;       /* as in struct switch_source_options */
};

struct recorded_waiting {
        struct recorded_waiting_options options;
        pthread_t loader;
        bool is_loading;                /* the thread owns `switches` and `no_bpf` until it ends */
        struct switch_source *switches; /* owned; NULL = perf's, or none */
        bool off_cpu;                   /* stacks and wakers were wanted */
        bool idle;                      /* idle times are recorded */
        bool by_perf;                   /* attr.context_switch is due */
        struct error no_bpf;            /* why BPF is not used; code 0 = it is, or is not wanted */
        struct error no_stacks;         /* why stacks of waits are missing, though wanted; likewise */
        struct error no_wakers;         /* the same for wakers */
};

/*
 * recorded_waiting_open() - begin to load the BPF program, in a thread of its own
 * No process may be forked until recorded_waiting_choose() or recorded_waiting_close() has returned.
 */
void recorded_waiting_open(struct recorded_waiting *w, const struct recorded_waiting_options *options);

/*
 * recorded_waiting_choose() - wait for the program, and choose the way; nothing begins yet
 * @request:  gets the events that perf has to sample for this, with roles of their own
 * Returns true if perf is to report switches: events that are open lack that.
 */
bool recorded_waiting_choose(struct recorded_waiting *w, struct event_request *request);

/*
 * Begins on @cpus, now that the scope's events are open.  @delayed: the command is started first.  Returns
 * 0 or -errno.
 */
int recorded_waiting_begin(struct recorded_waiting *w, struct recorded_scope *scope,
                           const struct cpu_list *cpus, bool delayed, struct error *err);

/* The named processes will be recorded in a moment: their switches are wanted from now on. */
void recorded_waiting_expect(struct recorded_waiting *w, const struct recorded_scope *scope);

/* Whatever runs already is known now. */
void recorded_waiting_follow(struct recorded_waiting *w, const struct recorded_scope *scope,
                             struct kernel_side *samples);

/*
 * Describes for how long CPUs were idle after their last recorded thread, in the recording's time; nothing
 * unless that is recorded.  Returns 0 or -errno of the table.
 */
int recorded_waiting_describe_idle(const struct recorded_waiting *w, uint64_t start_ns, uint64_t end_ns,
                                   struct trace_dictionary *dictionary);

/* Reports what was wanted, which parts are not BPF's, and why.  Returns 0 or -errno of the table. */
int recorded_waiting_describe(const struct recorded_waiting *w, struct trace_dictionary *dictionary);

void recorded_waiting_close(struct recorded_waiting *w);

#endif /* SAMPLER_RECORDING_RECORDED_WAITING_H */
