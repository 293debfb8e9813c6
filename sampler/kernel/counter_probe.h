/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/counter_probe.h - does a counter interrupt, or does it only count?
 *
 * Way of the data:  kernel -> [counter_probe] -> perf_access
 *
 * Some virtual machines and boards have counters that advance and never interrupt: sampled by one of these, a
 * recording has no samples, and nothing says why.
 */
#ifndef SAMPLER_KERNEL_COUNTER_PROBE_H
#define SAMPLER_KERNEL_COUNTER_PROBE_H

#include <stdint.h>

struct perf_event_attr;

/*
 * counter_probe_run() - let a counter run on this thread until its first interrupt stops it
 * @attr:    what to open, `disabled`, with a period
 * @period:  after so many counts the interrupt is due
 * Spins for milliseconds; without an interrupt three times for 50, since an emulated machine may be that late
 * or not be scheduled.  One spin takes 100 at most.
 * Returns 0 if it stopped, or did not count enough to be judged; -EIO if it counts on and
 * on; -errno of opening it.
 */
int counter_probe_run(const struct perf_event_attr *attr, uint64_t period);

#endif /* SAMPLER_KERNEL_COUNTER_PROBE_H */
