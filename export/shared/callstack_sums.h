/* SPDX-License-Identifier: MIT */
/*
 * export/shared/callstack_sums.h - what fell into one callstack, thread and zone path,
 * for formats without times
 *
 * Way of the data:  loaded_trace -> trace_walk -> [callstack_sums] -> export_pprof, export_callgrind
 *
 * Memory: 64 bytes and a hash slot for each distinct combination.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_CALLSTACK_SUMS_H
#define EXPORT_SHARED_CALLSTACK_SUMS_H

#include "analyze/samples/python_stacks.h"
#include "analyze/walk/trace_walk.h"
#include "base/intern.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"
#include "export/shared/process_names.h"

#include <stddef.h>
#include <stdint.h>

enum callstack_value {
        CALLSTACK_SAMPLES,     /* how many, of the event */
        CALLSTACK_WEIGHT,      /* of them, in the event's unit */
        CALLSTACK_OFF_CPU_NS,  /* waits, not preemptions */
        CALLSTACK_ALLOCATIONS, /* how many */
        CALLSTACK_ALLOCATED_BYTES,
        CALLSTACK_WALL_NS, /* of the samples, divided by the threads: callstack_sums_add_wall() */
        CALLSTACK_VALUES,
};

/* Ids of the trace's tables, and of walk.paths; compared as bytes. */
struct callstack_key {
        uint32_t thread;
        uint32_t path;
        uint32_t stack;
};

struct callstack_sum {
        uint64_t values[CALLSTACK_VALUES];
};

struct callstack_sums {
        const struct export_options *options; /* borrowed */
        struct trace_walk walk;
        struct intern keys;         /* struct callstack_key */
        struct callstack_sum *sums; /* heap; of the key with id i at i - 1 */
        size_t capacity;
        struct callstack_sum all;
        struct process_names names;
        struct event_callstack callstack;
        struct python_stacks python;
        struct export_totals totals; /* with all events that such sums have no place for */
};

/*
 * callstack_sums_read() - walk through the trace
 * Borrows its arguments.  Returns 0, -ENOMEM, -EOVERFLOW, what loaded_trace_walk() returns; to be
 * deinitialised in any case.
 */
int callstack_sums_read(struct callstack_sums *s, struct loaded_trace *trace,
                        const struct export_options *options, struct error *err);
/*
 * callstack_sums_add_wall() - walk through the trace once more, for the wall times of wall_shares.h
 * After callstack_sums_read().  Returns as that, or -ENODATA with words if the trace has no context switches.
 */
int callstack_sums_add_wall(struct callstack_sums *s, struct loaded_trace *trace, struct error *err);
void callstack_sums_deinit(struct callstack_sums *s);

/*
 * Returns the `folds` for export_frames: by the rule of python_stacks.h, applied to the samples or, if there
 * are none, to the waits; NULL = call stacks are whole.
 */
static inline const struct python_stacks *callstack_sums_folds(const struct callstack_sums *s)
{
        return s->totals.is_folded ? &s->python : NULL;
}

/* Ids are 1 .. this. */
static inline uint32_t callstack_sums_count(const struct callstack_sums *s)
{
        return s->keys.n_items;
}

static inline const struct callstack_key *callstack_sums_key(const struct callstack_sums *s, uint32_t id)
{
        return intern_get(&s->keys, id, NULL);
}

#endif /* EXPORT_SHARED_CALLSTACK_SUMS_H */
