/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_catalog.h - all events that this machine can be asked for
 *
 * Way of the data:  event_table, event_pmu, tracepoint, event_library -> [event_catalog] -> `hyprof list`
 */
#ifndef SAMPLER_EVENTS_EVENT_CATALOG_H
#define SAMPLER_EVENTS_EVENT_CATALOG_H

#include "base/error.h"
#include "sampler/events/event_spec.h"

#include <stddef.h>

#define EVENT_CATALOG_GROUP_BYTES 64

struct event_places;

/* In the order in which they are shown. */
enum event_catalog_kind {
        EVENT_CATALOG_HARDWARE, /* generic: the kernel translates them to events of the processor */
        EVENT_CATALOG_SOFTWARE,
        EVENT_CATALOG_CACHE,
        EVENT_CATALOG_PMU,        /* a unit of sysfs: the part after "NAME/" */
        EVENT_CATALOG_PMU_EVENT,  /* that sysfs names */
        EVENT_CATALOG_TRACEPOINT, /* of the kernel's code */
        EVENT_CATALOG_LIBRARY,    /* of this processor, by libpfm4 */
};

struct event_catalog_row {
        enum event_catalog_kind kind;
        char group[EVENT_CATALOG_GROUP_BYTES]; /* PMU or subsystem; "" = none */
        char name[EVENT_SPEC_NAME_BYTES];      /* as -e takes it */
        const char *alias;                     /* static, or NULL */
        int error; /* of opening it on this process: -errno; 0 = it opened, or was not tried */
};

struct event_catalog {
        struct event_catalog_row *rows; /* heap, owned; sorted by kind, group and name */
        size_t n_rows, capacity;
        struct error tracing; /* why there are no tracepoints; code 0 = there are some */
};

/*
 * event_catalog_read() - all events that the machine has
 * @places:  NULL = the machine's own
 * @word:    only events whose name contains it, in small or capital letters, or matches
 *           it, a glob; NULL = all
 * Opens each generic event once, to see whether it is there.  Some milliseconds.  Returns 0 or -ENOMEM.
 */
int event_catalog_read(struct event_catalog *catalog, const struct event_places *places, const char *word,
                       struct error *err);
void event_catalog_deinit(struct event_catalog *catalog);

#endif /* SAMPLER_EVENTS_EVENT_CATALOG_H */
