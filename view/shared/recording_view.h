/* SPDX-License-Identifier: MIT */
/*
 * view/shared/recording_view.h - what was recorded, where, how well, and what else beside samples and zones
 *
 * Way of the data:  report -> [recording_view] -> overview_view -> view_document
 * Specification:    docs/use/view-json.md
 */
#ifndef VIEW_SHARED_RECORDING_VIEW_H
#define VIEW_SHARED_RECORDING_VIEW_H

#include <stdint.h>

struct report;
struct view_document;

/* recording_lines.c: the facts, and the lines that say the same to people. */
void recording_view_add_facts(struct view_document *d, const struct report *report);
/* recording_lines.c: for programs: the tables "sample_events" and "callstack_states". */
void recording_view_add_tables(struct view_document *d, const struct report *report);
/* recording_also.c: the table "also_recorded", and for people a line a kind. */
void recording_view_add_also(struct view_document *d, const struct report *report);
/* counters_view.c: what was counted by function and zone, and in all; nothing if no events were counted. */
void counters_view_add(struct view_document *d, const struct report *report, uint32_t limit);

#endif /* VIEW_SHARED_RECORDING_VIEW_H */
