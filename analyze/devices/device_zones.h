/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_zones.h - zones of devices, put together from events of the program and times of the
 * device
 *
 * Way of the data:  event_walk, device_clock -> [device_zones] -> device_stats, tracy_csv
 *
 * A program begins and ends zones as it hands work to a device, and gives each begin and end the number of a
 * query; the times come later, with these numbers, which are reused.  An end belongs to the last open zone
 * that the same thread began on this device.  A DEVICE_SPAN has everything at once, and so have values and
 * moments, which are placed by the same clocks.
 *
 * A filter's range of time is about the zones' own times: a zone counts, as a whole, if it begins in the
 * range, as zones of threads do, whenever the program handed it over.  Where the clock of a device was never
 * read, that moment decides.
 *
 * Memory: zones whose times have not come yet, DEVICE_ZONES_OPEN_MAX at most.  Zones beyond that are counted.
 */
#ifndef ANALYZE_DEVICES_DEVICE_ZONES_H
#define ANALYZE_DEVICES_DEVICE_ZONES_H

#include "analyze/trace/device_clock.h"
#include "analyze/walk/ordered_events.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct ordered_event;
struct trace_filter;
struct zone_paths;

#define DEVICE_ZONES_OPEN_MAX (UINT32_C(1) << 18)

struct device_zone {
        uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC_RAW, as far as the device's clock is known */
        uint64_t last_ns; /* where its last tick is: its end, or a nanosecond beside that by rounding */
        uint64_t said_ns; /* when the program handed it over */
        uint64_t key;     /* of a span: the program's number for what it belongs to */
        uint32_t space;   /* of a span, a string: what kind of number the key is; 0 = not said */
        uint32_t text;    /* of a span, a string: its arguments; 0 = none */
        uint32_t device, location;
        uint32_t lane;         /* of a span: of different lanes, zones may overlap; 0 for other zones */
        uint32_t thread, path; /* which handed it over, in which zones */
        uint32_t depth;        /* among zones of the same thread on the device; 0 = outermost, and spans */
        bool is_span; /* said at once, when it was over: `said_ns` is not when the work was handed over */
};

static inline bool device_zone_has_key(const struct device_zone *zone)
{
        return zone->key != 0 || zone->space != 0;
}

/* Returns 0, or -errno after error_set(), which ends the walk. */
typedef int device_zones_take_zone(void *context, const struct device_zone *zone, struct error *err);

/* A value or a moment. */
struct device_mark {
        uint64_t time_ns; /* CLOCK_MONOTONIC_RAW, as far as the device's clock is known */
        struct ordered_mark said;
};

typedef int device_zones_take_mark(void *context, const struct device_mark *mark, struct error *err);

/* A zone whose end or times have not come yet. */
struct open_device_zone {
        struct device_zone zone;
        uint32_t begin_query, end_query; /* ids of `queries` */
        uint64_t begin_ticks, end_ticks;
        uint32_t around; /* index + 1 of the zone around it, of the same thread on the device */
        uint32_t next_free;
        bool has_end, has_begin_time, has_end_time;
        bool is_lost; /* it never happened, or its query was used again first */
};

/* The owner of a time with a query. */
struct device_query {
        uint32_t zone; /* index + 1; 0 = nothing waits for it */
        bool is_end;
};

struct device_zones {
        struct device_clocks clocks;
        device_zones_take_zone *take;
        void *context;
        device_zones_take_mark *take_mark; /* set before device_zones_take(); NULL = not wanted */
        void *mark_context;
        const struct trace_filter *filter;   /* borrowed; NULL = all times; device_zones_take() sets it */
        device_zones_take_zone *take_wanted; /* if there is a filter: gets what passes, with its context */
        void *wanted_context;
        struct zone_paths *paths;      /* borrowed; see event_walk_request; set before device_zones_take() */
        struct open_device_zone *open; /* heap */
        size_t open_capacity;
        uint32_t n_open_slots, first_free; /* index + 1 */
        struct intern queues;              /* { device, thread } */
        uint32_t *innermost;               /* heap; by id of `queues` - 1: index + 1 */
        size_t innermost_capacity;
        struct intern queries;        /* { device, query } */
        struct device_query *waiting; /* heap; by id of `queries` - 1 */
        size_t waiting_capacity;
        uint64_t n_zones, n_spans;
        uint64_t n_never;     /* zones that the device says never happened */
        uint64_t n_untimed;   /* whose times or end did not come */
        uint64_t n_backwards; /* that ended before they began, left out */
        uint64_t n_alone;     /* ends without a beginning, times without a zone */
        uint64_t n_lost;      /* zones beyond a limit */
        uint64_t n_late;      /* see event_order */
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int device_zones_init(struct device_zones *z, const struct trace_dictionary *dictionary,
                      device_zones_take_zone *take, void *context);
void device_zones_deinit(struct device_zones *z);

/*
 * Events of the ops DEVICE_ZONE_* and DEVICE_TIME in the order of time, spans and marks in any.  Return 0,
 * -ENOMEM, what `take` returned.
 */
int device_zones_add(struct device_zones *z, const struct ordered_event *event, struct error *err);
int device_zones_add_span(struct device_zones *z, const struct ordered_span *span, struct error *err);
int device_zones_add_mark(struct device_zones *z, const struct ordered_mark *mark, struct error *err);
void device_zones_finish(struct device_zones *z);

/*
 * For a whole trace, also if @filter wants a range of time: zones may be handed over long after they ran.
 * After device_zones_init(), once.  Returns as device_zones_add(), or what loaded_trace_walk()
 * returns.
 */
int device_zones_take(struct device_zones *z, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct error *err);

#endif /* ANALYZE_DEVICES_DEVICE_ZONES_H */
