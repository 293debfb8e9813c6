/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/thread_priority.h - the collector comes before what it records
 *
 * Way of the data:  recorder -> [thread_priority] -> the kernel's scheduler
 *
 * A busy machine must not keep the collector from its work: what it cannot fetch in time is lost, and what it
 * needs is little.  Changes that are not permitted are left out.  All functions are about the calling thread;
 * those that it starts begin as it is at that moment.
 */
#ifndef SAMPLER_KERNEL_THREAD_PRIORITY_H
#define SAMPLER_KERNEL_THREAD_PRIORITY_H

/* As of nice(1), for thread_priority_restore(). */
int thread_priority_get(void);

void thread_priority_raise(void);

/*
 * thread_priority_put_first() - before all threads but those of real time, at once (SCHED_FIFO
 * with priority 1), for a
 * thread that limits its own work; where that is not permitted, thread_priority_raise()
 */
void thread_priority_put_first(void);
void thread_priority_restore(int before);

#endif /* SAMPLER_KERNEL_THREAD_PRIORITY_H */
