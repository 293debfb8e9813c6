/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/process_filter.h - which processes' records are ours, when the kernel sends
 * those of every process
 *
 * Way of the data:  attachment, perf_record -> [process_filter] -> kernel_side
 *
 * Follows forks from the processes that were named.  A number that comes to mean
 * another process or thread is announced by a fork, so that what it meant before
 * ends there.  Records are shown to it in the order of time, all of them.
 * Used by the collector's thread.
 */
#ifndef SAMPLER_PROC_PROCESS_FILTER_H
#define SAMPLER_PROC_PROCESS_FILTER_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_record;

/* Numbers, of which some are members now; one that ever was keeps its place. */
struct number_set {
        struct intern numbers;
        bool *members; /* heap, owned; by the number's id - 1 */
        size_t capacity;
};

struct process_filter {
        bool everything;  /* but hyprof's own: -a, and where the kernel chooses */
        bool no_children; /* forks of processes are not followed; new threads are */
        struct number_set pids;
        struct number_set tids;  /* single threads */
        struct number_set hosts; /* their processes, whose mappings are wanted */
        struct number_set own;   /* hyprof's processes, never wanted */
        uint32_t unborn_pid;     /* the command, which is no program yet: until its execve(2); 0 = none */
        uint64_t n_foreign;      /* samples that were passed over */
};

void process_filter_init(struct process_filter *f);
void process_filter_deinit(struct process_filter *f);

/* Returns 0 or -ENOMEM. */
int process_filter_add_process(struct process_filter *f, uint32_t pid);
int process_filter_add_thread(struct process_filter *f, uint32_t pid, uint32_t tid);
/* One of hyprof's, with what it forks from now on. */
int process_filter_add_own(struct process_filter *f, uint32_t pid);

bool process_filter_is_own(const struct process_filter *f, uint32_t pid);

/* Is it recorded, as far as is known now? */
bool process_filter_has_process(const struct process_filter *f, uint32_t pid);
bool process_filter_has_thread(const struct process_filter *f, uint32_t pid, uint32_t tid);

/*
 * Is this record about something that is recorded?  Learns from forks.  Without memory a child is left out.
 */
bool process_filter_takes(struct process_filter *f, const struct perf_record *rec);

/*
 * process_filter_may_take() - is, or soon will be, this process recorded?
 * For records that are examined ahead of their turn, when the fork that makes a process one of ours may still
 * wait for its own: a process with one of ours among its ancestors is ours then, or soon will be.  Reads
 * /proc for those.
 */
bool process_filter_may_take(const struct process_filter *f, uint32_t pid);

#endif /* SAMPLER_PROC_PROCESS_FILTER_H */
