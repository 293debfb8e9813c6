/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/thread_priority.h - gives the collector priority over the programs that it records
 *
 * Way of the data:  recorder -> [thread_priority] -> the kernel's scheduler
 *
 * A busy machine must not keep the collector from its work: data that it cannot fetch in time is lost, and
 * it needs little time.  Changes that are not permitted are left out.  All functions are about the calling
 * thread; threads that it starts begin with the priority that it has at that moment.
 */
#ifndef SAMPLER_RIGHTS_THREAD_PRIORITY_H
#define SAMPLER_RIGHTS_THREAD_PRIORITY_H

#include <stdint.h>

/* As of nice(1), for thread_priority_restore(). */
int thread_priority_get(void);

void thread_priority_raise(void);

/*
 * thread_priority_put_first() - puts the thread before all but real-time threads (SCHED_FIFO, priority 1)
 * For a thread that limits its own work.  Where that is not permitted it does thread_priority_raise().
 */
void thread_priority_put_first(void);
void thread_priority_restore(int before);

/*
 * thread_priority_set_real_time() - SCHED_FIFO with @priority for the thread @tid of this process; 0 = the
 * calling one.  Returns 0 or -errno.
 */
int thread_priority_set_real_time(int tid, int priority);

/* Puts the thread back into the ordinary class, with the nice value that it has. */
void thread_priority_end_real_time(int tid);

/* How long the calling thread was ready to run so far and had no processor; 0 = not known. */
uint64_t thread_priority_waited_ns(void);

#endif /* SAMPLER_RIGHTS_THREAD_PRIORITY_H */
