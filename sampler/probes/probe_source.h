/* SPDX-License-Identifier: MIT */
/*
 * sampler/probes/probe_source.h - begins and ends of functions, from a small BPF program at uprobes and
 * tracepoints
 *
 * Way of the data:  probe_plan -> [probe_source] -> kernel (uprobes, tracepoints)
 *                   function_probes.bpf -> BPF ring -> [probe_source] -> kernel_side
 *
 * A uprobe belongs to a file: every program that maps it stops there, also those that are not recorded.
 * Their hits cost a little and are counted.  Opened with privileges; everything after that needs none.  Used
 * by the collector's thread.
 */
#ifndef SAMPLER_PROBES_PROBE_SOURCE_H
#define SAMPLER_PROBES_PROBE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct perf_record;
struct probe_plan;
struct probe_source;

struct probe_source_options {
        struct probe_plan *plan; /* borrowed: stays the caller's */
        int cgroup_fd;           /* only tasks in this cgroup or below; borrowed; -1 = */
        int processes_fd;        /* only these, a map of switch_source's; borrowed; -1 = all */
        uint64_t rate_max;       /* calls a second of one function; beyond that it is switched off */
};

/* Hits of the probes. */
struct probe_counts {
        uint64_t n_hits;   /* of recorded programs */
        uint64_t n_others; /* of other programs */
        uint64_t n_lost;   /* records for which there was no room */
        uint64_t n_full;   /* begins with keys for which the table of open ones had no room */
        uint64_t hit_ns;   /* what one costs here, as measured on hyprof itself before; 0 = not known */
        uint64_t n_points; /* hits of tracepoints, which are not among those above, and what one costs */
        uint64_t point_ns;
        uint64_t n_begins, n_ends; /* of tracepoints with keys: without an end, and without a begin */
};

/*
 * probe_source_open() - load the program and set the probes
 * Takes about a tenth of a millisecond a probe.  A function that the kernel refuses is left out, with a note
 * in the plan.  Returns 0; -ENOTSUP (this kernel, no rights, or built without BPF), -ENOENT if no function is
 * left, -errno.
 */
int probe_source_open(const struct probe_source_options *options, struct probe_source **ret_source,
                      struct error *err);

/* NULL is fine, here and below. */
void probe_source_close(struct probe_source *s);

/* To poll: readable when a part of the ring is full. -1 = none. */
int probe_source_fd(const struct probe_source *s);

/*
 * probe_source_peek() - the oldest record up to @until_ns
 * @ret_record:  of kind PROBE; borrowed until probe_source_consume()
 * Records of several CPUs may step back by some microseconds.  Returns 1, or 0 if no record is left.
 */
int probe_source_peek(struct probe_source *s, uint64_t until_ns, const struct perf_record **ret_record);
void probe_source_consume(struct probe_source *s);

/* The functions' calls are no longer wanted: the last records are in the ring. */
void probe_source_stop(struct probe_source *s);

void probe_source_count(const struct probe_source *s, struct probe_counts *ret_counts);

/* Memory of the ring, which the kernel holds. */
size_t probe_source_count_bytes(const struct probe_source *s);

#endif /* SAMPLER_PROBES_PROBE_SOURCE_H */
