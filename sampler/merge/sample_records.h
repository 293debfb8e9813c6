/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/sample_records.h - records of samples -> pending events of threads
 *
 * Way of the data:  kernel_side, python_frames, stack_unwinder -> [sample_records] -> pending events of
 *                   threads
 *
 * The part of kernel_side that is about samples.
 */
#ifndef SAMPLER_MERGE_SAMPLE_RECORDS_H
#define SAMPLER_MERGE_SAMPLE_RECORDS_H

struct kernel_side;
struct perf_record;

/* A sample, with the counters that were read with it.  Returns 0 or -ENOMEM. */
int sample_records_take(struct kernel_side *s, const struct perf_record *rec);

/* The same for one of the system calls that BPF counts: a sample of `syscall_event`. */
int sample_records_take_syscall(struct kernel_side *s, const struct perf_record *rec);

#endif /* SAMPLER_MERGE_SAMPLE_RECORDS_H */
