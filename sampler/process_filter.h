/* SPDX-License-Identifier: MIT */
/*
 * sampler/process_filter.h - which processes' records are ours, when the kernel sends those of every process
 *
 * Way of the data:  attachment, perf_record -> [process_filter] -> sample_source
 *
 * Follows forks from the processes that were named.  Records are shown to it in the
 * order of time, all of them.  Used by the collector's thread.
 */
#ifndef SAMPLER_PROCESS_FILTER_H
#define SAMPLER_PROCESS_FILTER_H

#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_record;

struct process_filter {
        struct intern pids, tids; /* wanted now or once */
        bool everything;          /* -a */
        bool no_children;         /* forks of processes are not followed; new threads are */
        uint32_t own_pids[4];     /* hyprof's own and its helpers', never wanted; 0 = none */
        uint64_t n_foreign;       /* samples that were passed over */
};

void process_filter_init(struct process_filter *f);
void process_filter_deinit(struct process_filter *f);

/* Returns 0 or -ENOMEM. */
int process_filter_add_process(struct process_filter *f, uint32_t pid);
int process_filter_add_thread(struct process_filter *f, uint32_t tid);

/* Is this record about something that is recorded?  Learns from forks.  Without memory a child is left out. */
bool process_filter_takes(struct process_filter *f, const struct perf_record *rec);

#endif /* SAMPLER_PROCESS_FILTER_H */
