/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_source.h - context switches, waits and wake-ups from a small BPF program
 *
 * Way of the data:  kernel (raw_tp sched_switch, sched_waking) -> BPF ring -> [switch_source] -> kernel_side
 *
 * Half the cost of PERF_RECORD_SWITCH, and a tenth of that of samples at every switch.  The BPF program
 * (sampler/bpf/switch_events.bpf.c) decides only whose switches are wanted, and how often a stack is
 * copied: at most once a millisecond and thread.  Its clock is CLOCK_MONOTONIC; the results are
 * CLOCK_MONOTONIC_RAW, along lines between readings of both.
 * Where BPF is not allowed, perf's own records are used instead: see event_attr.h.
 *
 * Opened with privileges; everything after that needs none.  Used by the collector's thread.
 */
#ifndef SAMPLER_SWITCHES_SWITCH_SOURCE_H
#define SAMPLER_SWITCHES_SWITCH_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_list;
struct byte_buffer;
struct error;
struct perf_record;
struct recorder_pace;
struct switch_source;
struct syscall_key;
struct syscall_sum;

struct switch_source_options {
        bool stacks;         /* --off-cpu: user and kernel stack at switch-out, the waker's at wake-up */
        uint32_t copy_bytes; /* of the user's stack; 0 = none, but the kernel follows the frame pointers */
        size_t ring_bytes;   /* of all CPUs together, a power of two */
        bool syscalls;       /* sums of system calls, see syscall_sums.h, and stacks of some of them */
        bool idle;           /* the idle time of CPUs */
        int python_fd;       /* the map of Python's processes, see python_source.h; borrowed; -1 = none */
};

/*
 * switch_source_open() - load the program; nothing is recorded yet
 * Takes about 10 ms, most of it in the kernel, which looks through all its types.
 * Returns 0; -EPERM, -EACCES (not allowed), -ENOTSUP (this kernel, or built without), -errno; then perf has
 * to be used.
 */
int switch_source_open(const struct switch_source_options *options, struct switch_source **ret_source,
                       struct error *err);

/*
 * switch_source_begin() - hook the program in
 * @cgroup_fd:   only tasks in this cgroup or below; borrowed; -1 = as @everything says
 * @everything:  all tasks; else those of switch_source_add_process() and their children
 * @cpus:        events on other CPUs are left out
 * Returns 0 or -errno.
 */
int switch_source_begin(struct switch_source *s, int cgroup_fd, bool everything, const struct cpu_list *cpus,
                        struct error *err);

/*
 * Names the command's process, whose system calls before its execve(2) are not counted.  Returns 0 or
 * -errno.
 */
int switch_source_expect_program(struct switch_source *s, uint32_t pid);

/* NULL is fine, here and below. */
void switch_source_close(struct switch_source *s);

/*
 * A process whose switches are wanted, with its threads; children that it has after switch_source_begin()
 * are added by the BPF program.  Nothing happens where a cgroup decides.  Returns 0 or -errno.
 */
int switch_source_add_process(struct switch_source *s, uint32_t pid);

/* The map of the recorded processes; borrowed; -1 where a cgroup, or nothing, decides instead. */
int switch_source_processes(const struct switch_source *s);

/* To poll: readable when a part of the ring is full. -1 = none. */
int switch_source_fd(const struct switch_source *s);

/* Tells the pace how full the fullest ring is.  @s may be NULL. */
void switch_source_note_rings(const struct switch_source *s, struct recorder_pace *pace);

/*
 * switch_source_peek() - the oldest record up to @until_ns, in the order of time over all CPUs
 * @ret_record:  of kind SWITCH, WAKEUP, GIL, LATE, NUMBER or SYSCALL; borrowed until switch_source_consume()
 * Returns 1, or 0 if no record is left.
 */
int switch_source_peek(struct switch_source *s, uint64_t until_ns, const struct perf_record **ret_record);
void switch_source_consume(struct switch_source *s);

/*
 * switch_source_add_idle() - append for how long CPUs were idle after the last of the records
 * @from_ns, @until_ns:  the recording's time, CLOCK_MONOTONIC_RAW
 * "CPU=NS;" for each; a CPU that was not, or is not recorded, is left out.  A CPU without a single switch has
 * what /proc/stat says, in steps of 10 ms.  Nothing without `idle`.
 */
void switch_source_add_idle(struct switch_source *s, uint64_t from_ns, uint64_t until_ns,
                            struct byte_buffer *text);

/* Memory of the rings, which the kernel holds; 0 for NULL. */
size_t switch_source_count_bytes(const struct switch_source *s);

/* Counts records for which there was no room so far. */
uint64_t switch_source_count_lost(const struct switch_source *s);
/* The same for call stacks of long waits. */
uint64_t switch_source_count_lost_stacks(const struct switch_source *s);

/*
 * Takes the sum of a thread, or the sum of all threads without room, whose number is 0.  Returns 0, or
 * -errno to stop.
 */
typedef int switch_source_sum_taker(void *context, const struct syscall_key *key,
                                    const struct syscall_sum *sum);

/*
 * switch_source_read_syscalls() - gives all sums of system calls, as far as calls have returned
 * @ret_n_missed:  calls that are in no sum
 * Returns 0, -ENOMEM, -ENOTSUP (they were not wanted), -errno, or what @take returned.
 */
int switch_source_read_syscalls(const struct switch_source *s, switch_source_sum_taker *take, void *context,
                                uint64_t *ret_n_missed);

#endif /* SAMPLER_SWITCHES_SWITCH_SOURCE_H */
