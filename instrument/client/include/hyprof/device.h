/* SPDX-License-Identifier: MIT */
/*
 * hyprof/device.h - what a GPU, an accelerator or any other queue with a clock of its own did
 *
 * Way of the data:  program -> [device.h] -> libhyprof -> shared memory -> hyprof record
 *
 *      static struct hyprof_device queue = HYPROF_DEVICE("queue 0", 0, 0);
 *
 *      hyprof_device_calibrate(&queue, ticks_of_the_device(), 0);   // now and then
 *      hyprof_device_span(&queue, &location, begin, end, 0, key);   // at any time later, in any order
 *
 * Or in two steps, for devices that write time stamps somewhere: begin and end
 * a zone with the number of a query where the work is submitted, and tell with
 * hyprof_device_time() what time it was when the query has its result.
 *
 * All times are ticks of the device.  They are turned into the time of the recording by its calibrations: a
 * line between each two, and the line of the nearest two before the first and after the last.  With one
 * calibration, `period_ns` is the slope.
 *
 * Cost while recording: one time stamp and 16 to 40 bytes an event.
 *
 * Included by <hyprof/hyprof.h>.
 */
#ifndef HYPROF_DEVICE_H
#define HYPROF_DEVICE_H

#include "location.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hyprof_device {
        struct hyprof_location location; /* its name */
        double period_ns;                /* of a tick; 0 = found from two calibrations */
        uint32_t kind;                   /* free to choose; shown, not interpreted */
        uint32_t reserved;
};

/* Initialiser; for a device in other memory, hyprof_device_init(). */
/* clang-format off */
#define HYPROF_DEVICE(name, period_ns, kind) { HYPROF_NAME(name), (period_ns), (kind), 0 }
/* clang-format on */

/* The slow halves of the functions below; call those instead. */
HYPROF_API_ void hyprof_emit_device_calibration(struct hyprof_device *device, uint64_t ticks,
                                                uint64_t host_ns);
HYPROF_API_ void hyprof_emit_device_zone_begin(struct hyprof_device *device, struct hyprof_location *location,
                                               uint64_t query, uint32_t depth);
HYPROF_API_ void hyprof_emit_device_zone_end(struct hyprof_device *device, uint64_t query);
HYPROF_API_ void hyprof_emit_device_time(struct hyprof_device *device, uint64_t query, uint64_t ticks);
HYPROF_API_ void hyprof_emit_device_span(struct hyprof_device *device, struct hyprof_location *location,
                                         uint64_t begin_ticks, uint64_t end_ticks, uint32_t lane,
                                         uint32_t key);

/* @name: ends in NUL and lives as long as the device. */
static inline void hyprof_device_init(struct hyprof_device *device, const char *name, double period_ns,
                                      uint32_t kind)
{
        const struct hyprof_device fresh = HYPROF_DEVICE(name, period_ns, kind);

        *device = fresh;
}

/* The device's clock and the host's at one moment; @host_ns: as hyprof_now_ns() returns it, 0 = now. */
static inline void hyprof_device_calibrate(struct hyprof_device *device, uint64_t ticks, uint64_t host_ns)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_calibration(device, ticks, host_ns);
}

/*
 * Work is submitted: its zone begins at the time that @query gives.  No other open query of the device has
 * this number.
 */
static inline void hyprof_device_zone_begin(struct hyprof_device *device, struct hyprof_location *location,
                                            uint64_t query)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_zone_begin(device, location, query, 0);
}

/*
 * Ends the zone that this thread began last on this device and has not ended yet, at the time that @query
 * gives.
 */
static inline void hyprof_device_zone_end(struct hyprof_device *device, uint64_t query)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_zone_end(device, query);
}

/* The result of a query.  0 ticks = it never happened: the zone is left out. */
static inline void hyprof_device_time(struct hyprof_device *device, uint64_t query, uint64_t ticks)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_time(device, query, ticks);
}

/*
 * hyprof_device_span() - a whole zone of the device
 * @lane:  zones of different lanes may overlap: a core, a processor, a stream
 * @key:   the program's number for what the zone belongs to, to find it again; 0 = none
 */
static inline void hyprof_device_span(struct hyprof_device *device, struct hyprof_location *location,
                                      uint64_t begin_ticks, uint64_t end_ticks, uint32_t lane, uint32_t key)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_span(device, location, begin_ticks, end_ticks, lane, key);
}

#ifdef __cplusplus
}
#endif

#endif /* HYPROF_DEVICE_H */
