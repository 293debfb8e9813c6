/* SPDX-License-Identifier: MIT */
/*
 * view/events/device_gaps_view.h - the tables of `report --devices` about idle devices and lanes, and what
 * the host did meanwhile; with the names that these share with its other tables
 *
 * Way of the data:  device_lines -> [device_gaps_view] -> devices_view
 */
#ifndef VIEW_EVENTS_DEVICE_GAPS_VIEW_H
#define VIEW_EVENTS_DEVICE_GAPS_VIEW_H

#include "base/text_view.h"
#include "view/document/view_column.h"

#include <stdint.h>

struct answer_part;
struct device_stats;
struct event_names;

extern const struct answer_part device_gaps_part, device_idle_part, device_lane_gaps_part,
        device_lane_idle_part;

/* Adds the tables, if there are gaps; those of lanes for devices with several ones. */
void device_gaps_view_add(struct event_names *n, const struct device_stats *s);
void device_gaps_view_warn(struct event_names *n, const struct device_stats *s);

struct text_view device_gaps_view_device(const struct event_names *n, uint32_t device);

/* With those above it: "core 1,2 / BRISC".  @id: of device_stats.lane_keys. */
struct view_value device_gaps_view_lane(const struct event_names *n, const struct device_stats *s,
                                        uint32_t id);

/* A zone of a thread; unknown = it was in none. */
struct view_value device_gaps_view_zone(const struct event_names *n, uint32_t location);
struct view_value device_gaps_view_handle(uint32_t location);

#endif /* VIEW_EVENTS_DEVICE_GAPS_VIEW_H */
