/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_fibers.h - samples of threads that ran fibers -> instances of those fibers' zones
 *
 * Way of the data:  trace_walk, why_instances -> [why_fibers] -> why_instances
 *
 * A fiber has zones and no samples; these are in the streams of the threads that it ran on, which come before
 * it or after.  So they are put into the instances when these are known, in a pass of its own.  Memory:
 * WHY_FIBERS_SAMPLES_MAX samples; more are counted.
 */
#ifndef ANALYZE_WHY_WHY_FIBERS_H
#define ANALYZE_WHY_WHY_FIBERS_H

#include <stdint.h>

#define WHY_FIBERS_SAMPLES_MAX (UINT32_C(1) << 20)

struct error;
struct loaded_trace;
struct trace_filter;
struct why_instances;

/*
 * why_fibers_take() - nothing is done if no instance is a fiber's
 * @event:  whose samples count; those of others become counters
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int why_fibers_take(struct why_instances *instances, struct loaded_trace *trace,
                    const struct trace_filter *filter, uint32_t event, struct error *err);

#endif /* ANALYZE_WHY_WHY_FIBERS_H */
