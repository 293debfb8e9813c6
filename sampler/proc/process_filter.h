/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/process_filter.h - which processes' records are ours, when the kernel sends
 * those of every process
 *
 * Way of the data:  attachment, perf_record -> [process_filter] -> kernel_side
 *
 * Follows forks from the processes that were named.  The kernel announces a number that it uses again by a
 * fork, and the number's earlier meaning ends there.  The caller passes all records, in the order of time.
 * Used by the collector's thread.
 */
#ifndef SAMPLER_PROC_PROCESS_FILTER_H
#define SAMPLER_PROC_PROCESS_FILTER_H

#include "base/number_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_record;

struct process_filter {
        bool everything;  /* all but hyprof's own: -a, and where the kernel chooses */
        bool no_children; /* child processes are not followed, but new threads are */
        struct number_bitmap pids;
        struct number_bitmap tids;  /* single threads */
        struct number_bitmap hosts; /* their processes, whose mappings are wanted */
        struct number_bitmap own;   /* hyprof's processes, never wanted */
        uint32_t unborn_pid;        /* the command until its execve(2); 0 = there is none */
        uint64_t n_foreign;         /* samples that were passed over */
};

void process_filter_init(struct process_filter *f);
void process_filter_deinit(struct process_filter *f);

/* Returns 0 or -ENOMEM. */
int process_filter_add_process(struct process_filter *f, uint32_t pid);
int process_filter_add_thread(struct process_filter *f, uint32_t pid, uint32_t tid);
/* Adds a process of hyprof's own, with the children that it forks from now on. */
int process_filter_add_own(struct process_filter *f, uint32_t pid);

bool process_filter_is_own(const struct process_filter *f, uint32_t pid);

/* Is the process recorded, as far as is known now? */
bool process_filter_has_process(const struct process_filter *f, uint32_t pid);
bool process_filter_has_thread(const struct process_filter *f, uint32_t pid, uint32_t tid);

/*
 * Is this record about a recorded process or thread?  Learns from forks.  Without memory a child is left
 * out.
 */
bool process_filter_takes(struct process_filter *f, const struct perf_record *rec);

/*
 * process_filter_may_take() - is, or soon will be, this process recorded?
 * For records that are examined ahead of their turn, when the fork that brought their process into the
 * recording may still wait for its own turn: a process with a recorded ancestor is recorded then, or soon
 * will be.  Reads /proc for those.
 */
bool process_filter_may_take(const struct process_filter *f, uint32_t pid);

#endif /* SAMPLER_PROC_PROCESS_FILTER_H */
