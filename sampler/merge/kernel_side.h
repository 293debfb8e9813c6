/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/kernel_side.h - the kernel's side of the merge
 *
 * Way of the data:  perf_ring -> perf_record, switch_source -> [kernel_side] -> process_table,
 *                   pending events of threads
 *
 * Takes records of all rings and of BPF in the order of time, up to a watermark, and
 * applies each: maps, names, forks and exits change the process table; samples
 * are unwound at once, with the address space as it was at their time; samples,
 * switches, wake-ups, names and exits become pending events of their thread.
 * Counters that were read with a sample become samples of their own, of the same place.
 */
#ifndef SAMPLER_MERGE_KERNEL_SIDE_H
#define SAMPLER_MERGE_KERNEL_SIDE_H

#include "sampler/events/group_counts.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/kernel/syscall_names.h"
#include "sampler/merge/perf_rings.h"
#include "sampler/merge/sample_thinning.h"
#include "sampler/stacks/stack_builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_images;
struct error;
struct file_versions;
struct process_filter;
struct process_track;
struct recording;
struct running_process;
struct thread_track;

/*
 * Frames of the trace that stand for system calls.
 * The kernel's own functions at the place of a tracepoint are always the same ones, and say nothing of the
 * call.  In their place the innermost frame is the call itself: "sys_write" of the module "[syscalls]".
 * Zero-initialised: nothing is known yet.
 */
struct syscall_frames {
        uint32_t module;
        uint32_t frames[SYSCALL_NUMBERS];    /* by number, SYSCALL_32_BIT included; 0 = not made yet */
        uint32_t locations[SYSCALL_NUMBERS]; /* the same: of zones, with --zone-syscalls */
};

struct kernel_side {
        const struct recording *recording; /* borrowed */
        uint64_t bpf_follows_ns;           /* of forks after this BPF knows itself */
        struct code_images *images;        /* heap, owned */
        uint64_t images_ns;                /* frames of later records are of images that are put in now */
        struct file_versions *versions;    /* heap, owned */
        struct stack_builder stacks;
        struct syscall_frames syscalls;
        struct group_counts counts;
        struct sample_thinning thinning;
        struct perf_rings rings;
        uint32_t
                *on_cpus; /* heap, owned: by CPU, the thread that came onto it last, by number; 0 = unknown */
        size_t n_on_cpus;
        struct call_chain chain; /* scratch */
        size_t kept_bytes;       /* of copies that are pending */
        /* in the last run callstacks were cut: the sooner it is looked, the more can be completed */
        bool has_cuts;
        unsigned n_untimed;       /* samples, of which each so-many-th is timed */
        uint64_t reached_ns;      /* the last run took every record up to here */
        uint32_t command_pid;     /* its end is the recording's; 0 = no command */
        bool command_has_program; /* its execve(2) has succeeded */
        uint64_t command_exit_ns; /* the latest end of its threads; 0 = none so far */
        uint64_t others_ns;       /* the latest record of another process */
        uint64_t n_samples, n_switches;
        uint64_t n_out_of_reach;    /* programs that the kernel hides from us */
        uint32_t out_of_reach_name; /* of the first one's thread, id in TEXTS */
        uint64_t n_lost_records; /* as PERF_RECORD_LOST says; the collector counts them as KERNEL_RING_FULL */
};

/* Borrows @recording, in which all but its stacks is there already.  Returns 0 or -ENOMEM. */
int kernel_side_init(struct kernel_side *s, const struct recording *recording);
void kernel_side_deinit(struct kernel_side *s);

/* A code_regions_before_change; @source: a struct kernel_side. */
int kernel_side_before_change(void *source, struct process_track *process, uint64_t start_avma,
                              uint64_t end_avma);

/* Applies one record that is in no ring: the state before the first one.  Returns 0 or -ENOMEM. */
int kernel_side_take(struct kernel_side *s, const struct perf_record *rec);

/*
 * kernel_side_run() - apply every record up to @until_ns, inclusively; UINT64_MAX = all there are
 * Ends earlier when its time is over: `reached_ns` says how far it got.
 * Returns 0, -ENOMEM, or -EBADMSG if a ring is corrupt.
 */
int kernel_side_run(struct kernel_side *s, uint64_t until_ns, struct error *err);

/*
 * Waits for the unwind tables that samples lack, at most @limit_ns, and then no
 * longer.  Returns 0 or -ENOMEM.
 */
int kernel_side_finish(struct kernel_side *s, uint64_t limit_ns, struct error *err);

/*
 * sampler/merge/ahead_of_turn.c - what cannot wait for the turn of its record
 *
 * Way of the data:  perf_ring -> [ahead_of_turn] -> zone_source (whose region), code_keeper, code_tables
 *
 * A program may end a moment after it began: its region and its files must be opened now or never.
 */

/*
 * kernel_side_scan() - the next process that mapped a client region, ahead of its turn
 * The files in which code is are kept, and their unwind tables are asked for, on the way.
 * Returns 1 with its PID, 0 if there is no such process, -EBADMSG, -ENOMEM.
 */
int kernel_side_scan(struct kernel_side *s, uint32_t *ret_pid, struct error *err);

/* Whether tables are made at once: see recorder_pace_tables_may_wait(). */
void kernel_side_set_table_deadline(struct kernel_side *s);

/*
 * sampler/merge/process_intake.c - a process that runs already, as the records that the kernel would
 * have sent when it began
 *
 * Way of the data:  running_process, process_maps -> [process_intake] -> kernel_side
 *
 * Used by the collector's thread.
 */

/*
 * process_intake_add() - make the process, its threads with their names, and its mappings known
 * @filter:          of the threads; NULL = all
 * @samples:         takes them like records of the kernel, all of the time @time_ns
 * @ret_has_region:  the process has mapped a client region
 * Whatever has ended meanwhile is left out.  Returns 0 or -ENOMEM.
 */
int process_intake_add(const struct running_process *process, const struct process_filter *filter,
                       struct kernel_side *samples, uint64_t time_ns, bool *ret_has_region);

#endif /* SAMPLER_MERGE_KERNEL_SIDE_H */
