/* SPDX-License-Identifier: MIT */
/*
 * export/pprof_samples.h - the samples of a pprof profile: what fell into one callstack, thread and zone path
 *
 * Way of the data:  trace_walk -> [pprof_samples] -> export_pprof
 *
 * pprof has no times, so events that say the same are added up.  Memory: 56 bytes and a hash slot
 * for each distinct combination.  Not thread-safe.
 */
#ifndef EXPORT_PPROF_SAMPLES_H
#define EXPORT_PPROF_SAMPLES_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

/* The numbers of each sample, in their order in the file. */
enum pprof_value {
        PPROF_SAMPLES,     /* how many */
        PPROF_WEIGHT,      /* of them, in the event's unit */
        PPROF_OFF_CPU_NS,  /* waits, not preemptions */
        PPROF_ALLOCATIONS, /* how many */
        PPROF_ALLOCATED_BYTES,
        PPROF_VALUES,
};

/* Ids of the trace's tables, and of trace_walk.paths; compared as bytes. */
struct pprof_key {
        uint32_t thread;
        uint32_t path;
        uint32_t stack;
};

struct pprof_sums {
        uint64_t values[PPROF_VALUES];
};

struct pprof_samples {
        struct intern keys;      /* struct pprof_key */
        struct pprof_sums *sums; /* heap; of the key with id i at i - 1 */
        size_t capacity;
};

void pprof_samples_init(struct pprof_samples *s);
void pprof_samples_deinit(struct pprof_samples *s);

/* The sums of a key, to be added to; valid until the next call.  Returns 0, -ENOMEM, -EOVERFLOW. */
int pprof_samples_find(struct pprof_samples *s, const struct pprof_key *key, struct pprof_sums **ret_sums);

#endif /* EXPORT_PPROF_SAMPLES_H */
