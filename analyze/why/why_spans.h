/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_spans.h - instances that are zones of devices: since when they waited, and for what
 *
 * Way of the data:  device_works, host_times -> [why_spans] -> why_durations, why_instances -> why
 *
 * An instance lasts from the begin of its zone of a thread, which it has by its key; else from when the
 * program handed it over, if that is known; else from its own begin; until its end.  The time before its
 * begin is divided:
 *
 *      behind earlier work   zones of its lane lasted that ended before it began; each moment counts for the
 *                            one that began last
 *      the host was late     the lane was idle, and the zone of the thread had not ended: the work was
 *                            perhaps not handed over yet; by the innermost zone of that thread
 *      handed over           the lane was idle nevertheless
 *
 * Memory: that of device_works, since any work may be the earlier one.  Three passes.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_SPANS_H
#define ANALYZE_WHY_WHY_SPANS_H

#include "analyze/devices/device_works.h"
#include "analyze/devices/lane_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_dictionary;
struct trace_filter;
struct why_collector;
struct why_durations;
struct zone_pattern;

#define WHY_SPANS_BEHIND_MAX 4096 /* times of earlier work that are looked at for one instance */
#define WHY_SPANS_IDLE_MAX   (UINT32_C(1) << 20) /* idle times of lanes, of all instances */

struct why_spans {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct lane_names names;
        struct device_works works;
        uint32_t *instances; /* heap: indices of works, in their order */
        size_t n_instances, capacity;
        uint64_t n_hosts;    /* instances that have a zone of a thread */
        uint64_t n_said;     /* instances that last from when they were handed over */
        uint64_t n_early;    /* instances that begin before their zone of a thread: a clock is wrong */
        uint64_t n_unplaced; /* instances on devices whose clock was never read */
};

/* Whether an instance lasts from the begin of its zone of a thread. */
static inline bool why_spans_has_host(const struct device_work *work)
{
        return work->host != 0 && work->asked_ns <= work->begin_ns;
}

/* Since when an instance lasts. */
static inline uint64_t why_spans_from_ns(const struct device_work *work)
{
        return work->asked_ns < work->begin_ns ? work->asked_ns : work->begin_ns;
}

/*
 * why_spans_take() - all zones of devices, of which those are instances that @pattern names and @filter wants
 * Nesting is not looked at: the last name of the pattern counts.
 * @filter:  NULL = everything
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns; to be deinitialised in any case.
 */
int why_spans_take(struct why_spans *s, struct loaded_trace *trace, const struct trace_filter *filter,
                   const struct zone_pattern *pattern, struct error *err);
void why_spans_deinit(struct why_spans *s);

/* Adds the durations of the instances.  Returns 0 or -ENOMEM. */
int why_spans_measure(const struct why_spans *s, struct why_durations *durations);

/*
 * why_spans_collect() - divide the instances into slow and other ones, by the bounds of @c, and their time
 * @c:  with bounds; gets the instances, what they have in common, and their numbers
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int why_spans_collect(const struct why_spans *s, struct loaded_trace *trace, struct why_collector *c,
                      struct error *err);

#endif /* ANALYZE_WHY_WHY_SPANS_H */
