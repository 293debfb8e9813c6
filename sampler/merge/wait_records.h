/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/wait_records.h - records of threads that wait and are woken -> pending events of theirs
 *
 * Way of the data:  kernel_side -> [wait_records] -> pending events of threads
 *
 * The part of kernel_side that is about context switches.  Each returns 0 or -ENOMEM.
 */
#ifndef SAMPLER_MERGE_WAIT_RECORDS_H
#define SAMPLER_MERGE_WAIT_RECORDS_H

struct event_spec;
struct perf_record;
struct kernel_side;

/* A sample of perf's context-switches: the switch itself comes next. */
int wait_records_take_sample(struct kernel_side *s, const struct perf_record *rec);

int wait_records_take_switch(struct kernel_side *s, const struct perf_record *rec);

int wait_records_take_gil(struct kernel_side *s, const struct perf_record *rec);

/* Its switch came before. */
int wait_records_take_late(struct kernel_side *s, const struct perf_record *rec);

/* The record becomes an event of the woken thread. */
int wait_records_take_wakeup(struct kernel_side *s, const struct perf_record *rec);

/* A sample of sched:sched_waking is the waker's. */
int wait_records_take_waker(struct kernel_side *s, const struct event_spec *spec,
                            const struct perf_record *rec);

#endif /* SAMPLER_MERGE_WAIT_RECORDS_H */
