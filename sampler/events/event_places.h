/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_places.h - where this machine says which events it has
 *
 * Way of the data:  sysfs, tracefs, libpfm4 -> [event_places] -> event_pmu, tracepoint, event_library
 *
 * All zero stands for the real places; a test names folders of its own.
 */
#ifndef SAMPLER_EVENTS_EVENT_PLACES_H
#define SAMPLER_EVENTS_EVENT_PLACES_H

#include <stdbool.h>

#define EVENT_PLACES_DEVICES "/sys/bus/event_source/devices"

struct event_places {
        const char *devices;  /* borrowed: the folder of the PMUs; NULL = EVENT_PLACES_DEVICES */
        const char *tracing;  /* borrowed: of tracefs; NULL = where it is usually mounted */
        bool without_library; /* libpfm4 is not asked */
};

#endif /* SAMPLER_EVENTS_EVENT_PLACES_H */
