/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/host_times.h - in which zones threads were during given times, such as those in which a
 * device or a lane of one was idle
 *
 * Way of the data:  trace_walk -> [host_times] -> device_lines, why_spans
 *
 * A moment belongs to the innermost zone of the thread, or to none.  Times may overlap, also those of one
 * thread.  Memory: 24 bytes a time; for each one that lasts at the moment of the pass, 16 bytes a zone of
 * HOST_TIMES_ZONES_MAX at most.  An event costs the same however many times last: these get what was added
 * up when one of them begins or ends.  Not thread-safe.
 */
#ifndef ANALYZE_DEVICES_HOST_TIMES_H
#define ANALYZE_DEVICES_HOST_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;

#define HOST_TIMES_ZONES_MAX 256

struct host_time {
        uint64_t begin_ns, end_ns;
        uint32_t thread;
        uint32_t owner; /* the caller's number for it */
};

/* Zero-initialised is valid: no times. */
struct host_times {
        struct host_time *items; /* heap; after host_times_take(): by thread and begin */
        size_t n_items, capacity;
};

/* A time without length, or of no thread, is left out.  Returns 0 or -ENOMEM. */
int host_times_add(struct host_times *h, const struct host_time *time);
void host_times_deinit(struct host_times *h);

/*
 * Gets a part of a time: @ns in the zone @location, 0 = in none, which comes last.  Each zone comes once, but
 * again after every HOST_TIMES_ZONES_MAX zones of one time.  Returns 0 or -ENOMEM.
 */
typedef int host_times_take_part(void *context, uint32_t owner, uint32_t location, uint64_t ns);

/*
 * host_times_take() - go through the trace, if there are times; the parts of one add up to its length
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int host_times_take(struct host_times *h, struct loaded_trace *trace, host_times_take_part *take,
                    void *context, struct error *err);

#endif /* ANALYZE_DEVICES_HOST_TIMES_H */
