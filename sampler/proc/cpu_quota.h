/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/cpu_quota.h - for how long the CPU quota of its control groups throttled a process, and when
 *
 * Way of the data:  /proc/PID/cgroup, cpu.stat -> [cpu_quota] -> recorder -> META cpu_throttled, NOTICES
 *
 * Reads the process's group and all those above it that can be seen, of cgroup v2 or of the hierarchy of v1
 * that has the CPUs: a container's quota is above the groups inside of it.  Memory is bounded: there is a
 * span for each reading in which something was throttled, and two of them become one when there are too
 * many.  A few system calls a reading; without a quota, one a second.
 */
#ifndef SAMPLER_PROC_CPU_QUOTA_H
#define SAMPLER_PROC_CPU_QUOTA_H

#include "sampler/proc/cgroup_folder.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

#define CPU_QUOTA_SPANS_MAX 1024

/* Sums of cpu.stat; 0 where there is no quota. */
struct cpu_quota_stat {
        uint64_t n_periods, n_throttled;
        uint64_t throttled_ns; /* of all CPUs together */
};

/* The CPU time that a group may have in each period; 0 and 0 = as much as it wants. */
struct cpu_quota_limit {
        uint64_t quota_us, period_us;
};

struct cpu_quota_span {
        uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC_RAW: of the reading before, and of this one */
        uint64_t throttled_ns;
};

struct cpu_quota {
        struct cgroup_mount mount;
        bool has_mount;
        char folder[PATH_MAX]; /* of the process; "" = not known yet */
        uint64_t begin_ns, read_ns;
        struct cpu_quota_limit limit; /* the tightest of all groups that was ever read */
        struct cpu_quota_stat last;   /* at the last reading */
        struct cpu_quota_stat total;  /* since the beginning */
        struct cpu_quota_span spans[CPU_QUOTA_SPANS_MAX];
        size_t n_spans;
};

/* @now_ns: CLOCK_MONOTONIC_RAW, as everywhere here.  A machine without such groups is no error. */
void cpu_quota_begin(struct cpu_quota *q, uint32_t pid, uint64_t now_ns);

/* Reads again if it is time for that, or if it @is_last.  A process that has ended keeps its group. */
void cpu_quota_read(struct cpu_quota *q, uint32_t pid, uint64_t now_ns, bool is_last);

/* "BEGIN+LENGTH=THROTTLED;" for each span, in microseconds; appends nothing without any. */
void cpu_quota_list(const struct cpu_quota *q, struct byte_buffer *out);

/* Takes the limit of a group if it is tighter: "QUOTA PERIOD" as in cpu.max; "max" or "-1" is none. */
void cpu_quota_take_limit(struct cpu_quota_limit *limit, const char *text);

/* Adds a cpu.stat up, of either version. */
void cpu_quota_add_stat(struct cpu_quota_stat *sum, const char *text);

#endif /* SAMPLER_PROC_CPU_QUOTA_H */
