/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/ready_owners.h - who had the CPU while threads were ready to run
 *
 * Way of the data:  ready_times, trace_walk, cpu_lanes, throttled_times -> [ready_owners] ->
 *                   why_cpu_owners, report_owners
 *
 * Switches show which recorded threads had the CPU. The time that none of them had counts as throttled, as
 * far as the control group counted throttled time in the same span; the owner of the rest is not known.  This
 * takes one more pass through the trace.  Not thread-safe.
 */
#ifndef ANALYZE_WAITS_READY_OWNERS_H
#define ANALYZE_WAITS_READY_OWNERS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct ready_times;

#define READY_OWNER_ROWS_MAX (UINT32_C(1) << 20)
/*
 * The most pairs of a ready time and a stretch of a CPU that are examined; beyond that, owners are
 * unknown.
 */
#define READY_OWNER_STEPS_MAX (UINT64_C(1) << 28)

enum ready_owner_kind {
        READY_OWNER_OWN,     /* a thread of the same process */
        READY_OWNER_PROGRAM, /* a thread of another process that was recorded */
        READY_OWNER_QUOTA,   /* no one: the control group was throttled */
        READY_OWNER_STOPPED, /* not an owner: a signal or a debugger stopped the thread; added by callers */
        READY_OWNER_OTHERS,  /* not known: no recorded thread */
        READY_OWNER_KINDS,
};

/* Compared as bytes. */
struct ready_owner_key {
        uint32_t tag, cpu; /* of the ready times */
        uint32_t kind;     /* enum ready_owner_kind */
        uint32_t thread;   /* of OWN and PROGRAM */
};

struct ready_owners {
        struct intern keys; /* struct ready_owner_key */
        double *ns;         /* heap; of the key with id i at i - 1 */
        size_t capacity;
};

/*
 * ready_owners_take() - walk through the trace
 * @times:  sorted by this call
 * Returns 0 or what loaded_trace_walk() returns; to be deinitialised in any case.
 */
int ready_owners_take(struct ready_owners *o, struct loaded_trace *trace, struct ready_times *times,
                      struct error *err);
void ready_owners_deinit(struct ready_owners *o);

#endif /* ANALYZE_WAITS_READY_OWNERS_H */
