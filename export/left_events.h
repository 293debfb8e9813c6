/* SPDX-License-Identifier: MIT */
/*
 * export/left_events.h - what a format has no place for, counted
 *
 * Way of the data:  trace_walk -> [left_events] -> export_totals -> cli
 */
#ifndef EXPORT_LEFT_EVENTS_H
#define EXPORT_LEFT_EVENTS_H

#include "export/export_format.h"

struct trace_walk;

/* Adds the events of one kind that passed the filter: MESSAGES, PLOTS, FRAMES, MEMORY, LOCKS, DEVICES, ZONES, WAITS. */
void left_events_count(struct export_totals *totals, const struct trace_walk *walk,
                       enum export_left_out kind);

#endif /* EXPORT_LEFT_EVENTS_H */
