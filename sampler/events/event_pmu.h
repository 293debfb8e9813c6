/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_pmu.h - a unit that counts, as sysfs describes it: its number, its terms, its
 * named events, its CPUs
 *
 * Way of the data:  /sys/bus/event_source/devices/NAME -> [event_pmu] -> event_spec, `hyprof list`
 *
 *   type               perf_event_attr.type
 *   format/TERM        "config:0-7,32-35": where the bits of a term's value go
 *   events/EVENT       "event=0x3c,umask=0x01": the terms of an event with a name
 *   cpus, cpumask      "0-15": where it counts; the first for a kind of core, the other for what CPUs share
 */
#ifndef SAMPLER_EVENTS_EVENT_PMU_H
#define SAMPLER_EVENTS_EVENT_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_PMU_NAME_BYTES 64

struct error;
struct event_places;
struct event_spec;

struct event_pmu {
        char name[EVENT_PMU_NAME_BYTES];
        int dir_fd; /* owned */
        uint32_t type;
        bool is_core; /* its events are those of a kind of core, of which the machine may have several */
};

/*
 * event_pmu_open() - the PMU with that name
 * Returns 0, -ENOENT if it does not exist (no words), -EBADMSG, -errno.
 */
int event_pmu_open(struct event_pmu *pmu, const struct event_places *places, const char *name, size_t n_bytes,
                   struct error *err);

void event_pmu_close(struct event_pmu *pmu);

/*
 * event_pmu_apply() - put terms into an event: "event=0x3c,umask=1", "cycles-ct", "config1=7", "tsc"
 * @spec:  type and CPUs become those of the PMU; undefined after a failure
 * Returns 0, -EINVAL with the error in words, -errno.
 */
int event_pmu_apply(const struct event_pmu *pmu, const char *terms, size_t n_bytes, struct event_spec *spec,
                    struct error *err);

/* Whether an event with that name is there. */
bool event_pmu_has_event(const struct event_pmu *pmu, const char *name, size_t n_bytes);

/* Takes a PMU, or the name of an event of one; returns 0, or -errno to stop. */
typedef int event_pmu_taker(void *context, const struct event_pmu *pmu, const char *event);

/* All PMUs, sorted by name; @event is NULL.  Returns 0, or what @take returned. */
int event_pmu_visit(const struct event_places *places, event_pmu_taker *take, void *context);

/* The names of a PMU's events, sorted.  Returns as event_pmu_visit(). */
int event_pmu_visit_events(const struct event_pmu *pmu, event_pmu_taker *take, void *context);

#endif /* SAMPLER_EVENTS_EVENT_PMU_H */
