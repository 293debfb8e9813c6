/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/open_ranges.h - ranges that may end on another thread, and overlap
 *
 * Way of the data:  range start and end calls -> [open_ranges] -> spans of a device
 *
 * A zone of a thread cannot overlap another one, so these ranges are spans of a device whose clock is the
 * recording's own; each takes the first lane that is free.  Those that are open when the program ends, end
 * there.
 */
#ifndef INSTRUMENT_COMPAT_INJECT_OPEN_RANGES_H
#define INSTRUMENT_COMPAT_INJECT_OPEN_RANGES_H

#include "instrument/compat/inject/word_map.h"

#define OPEN_RANGES_LANES 4096 /* more ranges at once share the last lane */

struct open_ranges {
        struct hyprof_device device; /* static: HYPROF_DEVICE("NVTX ranges", 1, 0) */
        struct word_map open;
        struct inject_lock lanes_lock;
        uint64_t lanes[OPEN_RANGES_LANES / 64]; /* 1 = taken */
        uint64_t told;                /* atomic; recording and process that know the device's clock */
        struct hyprof_location space; /* static: HYPROF_NAME("ITT task"), of the keys below */
};

/*
 * Does nothing while no recorder is active.  An open range with the same key ends.
 * @zone_key:  joins the span with the zone that has this key in the space; 0 = none
 */
void open_ranges_start(struct open_ranges *r, struct word_key key, struct hyprof_location *location,
                       uint64_t zone_key);

void open_ranges_end(struct open_ranges *r, struct word_key key);

/* A whole one, in nanoseconds as hyprof_now_ns() gives them; begin 0 = it is not known, nothing is done. */
void open_ranges_add(struct open_ranges *r, struct hyprof_location *location, uint64_t begin_ns,
                     uint64_t end_ns);

/* Ends all that are open. */
void open_ranges_finish(struct open_ranges *r);

#endif /* INSTRUMENT_COMPAT_INJECT_OPEN_RANGES_H */
