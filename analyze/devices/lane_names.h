/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/lane_names.h - what the lanes of devices are called, so that all who show them say the same
 *
 * Way of the data:  trace_dictionary (TRACKS) -> [lane_names] -> exports, timeline, devices_view
 *
 * A row of TRACKS gives a lane a name and a place below another: chip, core, processor.  A lane without a
 * name is called by its number.  Memory: 20 bytes for each row.
 */
#ifndef ANALYZE_DEVICES_LANE_NAMES_H
#define ANALYZE_DEVICES_LANE_NAMES_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct trace_dictionary;

#define LANE_NAMES_DEPTH_MAX 16  /* parts of a path; of longer ones the outermost are left out */
#define LANE_NAMES_PART_MAX  256 /* bytes of a part; longer ones are cut */

struct lane_names {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct intern keys;                        /* struct device_lane_key */
        uint32_t *tracks;                          /* heap; by id of `keys` - 1: the first row of TRACKS */
        size_t capacity;
};

/* Zero-initialised, it may be deinitialised.  Returns 0 or -ENOMEM; to be deinitialised in any case. */
int lane_names_init(struct lane_names *l, const struct trace_dictionary *dictionary);
void lane_names_deinit(struct lane_names *l);

/* The row of TRACKS about a lane; 0 = none. */
uint32_t lane_names_track(const struct lane_names *l, uint32_t device, uint32_t lane);

/*
 * Add to @b, whose `failed` tells a lack of memory:
 * lane_names_put_own()    "BRISC"; "lane 3" without a name; "BRISC (2)" for the second sub-lane of one
 * lane_names_put_path()   "core 1,2 / BRISC"; "lane 3" without a row
 * lane_names_put_whole()  "chip 0 / core 1,2 / BRISC (2)"; "gpu lane 3 (2)" without a row
 */
void lane_names_put_own(const struct lane_names *l, struct byte_buffer *b, uint32_t device, uint32_t lane,
                        uint32_t sublane);
void lane_names_put_path(const struct lane_names *l, struct byte_buffer *b, uint32_t device, uint32_t lane);
void lane_names_put_whole(const struct lane_names *l, struct byte_buffer *b, uint32_t device, uint32_t lane,
                          uint32_t sublane);

/*
 * lane_names_put_part() - the parts of lane_names_put_whole(), one by one: "chip 0", "core 1,2", "BRISC"
 * Returns whether there is a part of that index; it may be without a letter.
 */
bool lane_names_put_part(const struct lane_names *l, struct byte_buffer *b, uint32_t device, uint32_t lane,
                         size_t index);

#endif /* ANALYZE_DEVICES_LANE_NAMES_H */
