/* SPDX-License-Identifier: MIT */
/*
 * hyprof/device.h - what a GPU, an accelerator or any other queue with a clock of its own did
 *
 * Way of the data:  program -> [device.h] -> libhyprof -> shared memory -> hyprof record
 *
 *      static struct hyprof_device queue = HYPROF_DEVICE("queue 0", 0, 0);
 *
 *      uint64_t before = hyprof_now_ns(), ticks = ticks_of_the_device();
 *      hyprof_device_calibrate_within(&queue, ticks, before, hyprof_now_ns());  // now and then
 *      hyprof_device_span(&queue, &location, begin, end, 0, key);   // at any time later, in any order
 *
 * Or in two steps, for devices that write time stamps somewhere: begin and end
 * a zone with the number of a query where the work is submitted, and tell with
 * hyprof_device_time() what time it was when the query has its result.
 *
 * All times are ticks of the device.  They are turned into the time of the recording by its calibrations: a
 * line between each two, and the line of the nearest two before the first and after the last.  With one
 * calibration, `period_ns` is the slope.  Those that say how long they took, by
 * hyprof_device_calibrate_within(), bound how far a time may be wrong.
 *
 * Cost while recording: one time stamp and 16 to 48 bytes an event.  The library keeps the addresses of
 * devices, locations and names, which are static, and copies the names of tracks.
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

enum hyprof_track_kind {
        HYPROF_TRACK_OTHER = 0,
        HYPROF_TRACK_CORE = 1,
        HYPROF_TRACK_PROCESSOR = 2, /* as of a core that has several */
        HYPROF_TRACK_STREAM = 3     /* or queue */
};

#define HYPROF_NO_LANE UINT32_MAX

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
HYPROF_API_ void hyprof_emit_device_bracket(struct hyprof_device *device, uint64_t ticks,
                                            uint64_t host_begin_ns, uint64_t host_end_ns);
HYPROF_API_ void hyprof_emit_device_track(struct hyprof_device *device, uint32_t lane, uint32_t parent_lane,
                                          const char *name, enum hyprof_track_kind kind);
HYPROF_API_ void hyprof_emit_device_keyed_span(struct hyprof_device *device, struct hyprof_location *location,
                                               uint64_t begin_ticks, uint64_t end_ticks, uint32_t lane,
                                               struct hyprof_location *space, uint64_t key);
HYPROF_API_ void hyprof_emit_device_value(struct hyprof_device *device, struct hyprof_location *plot,
                                          uint64_t ticks, uint32_t lane, uint32_t kind, uint64_t bits);
HYPROF_API_ void hyprof_emit_device_instant(struct hyprof_device *device, struct hyprof_location *location,
                                            uint64_t ticks, uint32_t lane, struct hyprof_location *space,
                                            uint64_t key);

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
 * hyprof_device_calibrate_within() - the same, with a bound
 * The device's clock was @ticks at some moment between @host_begin_ns and @host_end_ns, both as
 * hyprof_now_ns() returns them: read it before and after.
 */
static inline void hyprof_device_calibrate_within(struct hyprof_device *device, uint64_t ticks,
                                                  uint64_t host_begin_ns, uint64_t host_end_ns)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_bracket(device, ticks, host_begin_ns, host_end_ns);
}

/*
 * hyprof_device_track() - names a lane of a device, and says what it is a part of
 * @parent_lane:  a lane that was named before, of the core of a processor for instance; HYPROF_NO_LANE = none
 * @name:         ends in NUL; copied; NULL = called by its number
 * The first call for a lane counts.  Say it once in each recording, as after hyprof_is_recording().
 */
static inline void hyprof_device_track(struct hyprof_device *device, uint32_t lane, uint32_t parent_lane,
                                       const char *name, enum hyprof_track_kind kind)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_track(device, lane, parent_lane, name, kind);
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

/*
 * hyprof_device_keyed_span() - the same, with a key that says what kind of number it is
 * @space:  a static HYPROF_NAME("submission"); NULL = not said.  The zone of a thread with the same space and
 *          key is where the work comes from: hyprof_zone_key()
 */
/* NOLINTNEXTLINE(readability-function-size): all that a span consists of */
static inline void hyprof_device_keyed_span(struct hyprof_device *device, struct hyprof_location *location,
                                            uint64_t begin_ticks, uint64_t end_ticks, uint32_t lane,
                                            struct hyprof_location *space, uint64_t key)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_keyed_span(device, location, begin_ticks, end_ticks, lane, space, key);
}

/* Something happened on the device at @ticks.  @space, @key: as above; NULL and 0 = none */
static inline void hyprof_device_instant(struct hyprof_device *device, struct hyprof_location *location,
                                         uint64_t ticks, uint32_t lane, struct hyprof_location *space,
                                         uint64_t key)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_instant(device, location, ticks, lane, space, key);
}

/*
 * hyprof_device_value() - a counter or a metric of the device was @value at @ticks
 * @plot:  a static HYPROF_NAME("power"); hyprof_plot_config() says how to show it
 */
static inline void hyprof_device_value(struct hyprof_device *device, struct hyprof_location *plot,
                                       uint64_t ticks, uint32_t lane, double value)
{
        uint64_t bits;

        if (!HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                return;
        __builtin_memcpy(&bits, &value, sizeof(bits));
        hyprof_emit_device_value(device, plot, ticks, lane, 0, bits);
}

static inline void hyprof_device_value_int(struct hyprof_device *device, struct hyprof_location *plot,
                                           uint64_t ticks, uint32_t lane, int64_t value)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_)))
                hyprof_emit_device_value(device, plot, ticks, lane, 1, HYPROF_CAST_(uint64_t, value));
}

#ifdef __cplusplus
}
#endif

#endif /* HYPROF_DEVICE_H */
