/* SPDX-License-Identifier: MIT */
/*
 * export/shared/device_tracks.h - zones of devices by their begin, outermost first, for
 * formats that draw them
 *
 * Way of the data:  device_zones -> [device_tracks] -> export_firefox, export_chrome
 *
 * A zone is known when its times have come, which is late and in any order.  DEVICE_TRACKS_ZONES_MAX are
 * kept, and the older half is handed out when they are that many; even later ones are handed out of order.  A
 * pass through the trace of its own.  Memory: these zones.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_DEVICE_TRACKS_H
#define EXPORT_SHARED_DEVICE_TRACKS_H

#include "analyze/stats/device_zones.h"

#include <stddef.h>
#include <stdint.h>

#define DEVICE_TRACKS_ZONES_MAX 65536

struct device_tracks {
        struct device_zones zones;
        device_zones_take_zone *take;
        void *context;
        struct device_zone *kept; /* heap */
        size_t n_kept;
        uint64_t n_handed;
        uint64_t n_unplaced; /* of devices whose clock was never read: their times are unknown */
};

/*
 * device_tracks_take() - go through the trace, if it has devices at all
 * @take:  as of device_zones
 * Returns as device_zones_take().  To be deinitialised in any case.
 */
int device_tracks_take(struct device_tracks *t, struct loaded_trace *trace, const struct trace_filter *filter,
                       device_zones_take_zone *take, void *context, struct error *err);
void device_tracks_deinit(struct device_tracks *t);

/* How many zones were not handed out. */
uint64_t device_tracks_left_out(const struct device_tracks *t);

#endif /* EXPORT_SHARED_DEVICE_TRACKS_H */
