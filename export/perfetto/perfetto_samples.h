/* SPDX-License-Identifier: MIT */
/*
 * export/perfetto/perfetto_samples.h - samples, waits and allocations as Perfetto shows them:
 * callstacks with a weight
 *
 * Way of the data:  export_perfetto -> [perfetto_samples] -> perfetto_callstacks, perfetto_packets
 */
#ifndef EXPORT_PERFETTO_PERFETTO_SAMPLES_H
#define EXPORT_PERFETTO_PERFETTO_SAMPLES_H

#include "export/perfetto/perfetto_callstacks.h"
#include "export/shared/export_frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfetto_packets;
struct trace_dictionary;
struct zone_paths;

enum perfetto_sample_kind { PERFETTO_SAMPLE_EVENT, PERFETTO_SAMPLE_OFF_CPU, PERFETTO_SAMPLE_ALLOCATION };

struct perfetto_sample {
        uint64_t time_ns;
        uint64_t weight; /* in the unit of the event; ns; bytes */
        uint64_t cpu;    /* if has_cpu */
        uint32_t thread;
        uint32_t stack;
        uint32_t path;  /* of zones that are frames; else 0 */
        uint32_t event; /* sample event, of PERFETTO_SAMPLE_EVENT */
        enum perfetto_sample_kind kind;
        bool has_cpu;
};

struct perfetto_samples {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct perfetto_packets *packets;          /* borrowed */
        struct export_frames frames;
        struct perfetto_callstacks callstacks;
        uint32_t event;       /* whose samples are PerfSamples */
        uint64_t *cpu_counts; /* heap; by CPU: what the event came to */
        size_t n_cpus, cpus_capacity;
};

/* Returns 0, -ENOMEM, -EOVERFLOW; to be deinitialised in any case.  Borrows all of its arguments. */
int perfetto_samples_init(struct perfetto_samples *s, const struct trace_dictionary *dictionary,
                          struct perfetto_packets *packets, const struct zone_paths *paths);
void perfetto_samples_deinit(struct perfetto_samples *s);

/* Begins the sequence; once.  @event: the one that Perfetto's profiler counts; 0 = none. */
int perfetto_samples_start(struct perfetto_samples *s, uint32_t event);

/* Returns 0, -ENOMEM, -EOVERFLOW, or what went wrong with the output. */
int perfetto_samples_put(struct perfetto_samples *s, const struct perfetto_sample *sample);

#endif /* EXPORT_PERFETTO_PERFETTO_SAMPLES_H */
