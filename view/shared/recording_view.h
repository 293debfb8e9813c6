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

struct answer_part;
struct report;
struct view_document;

/* recording_lines.c: the facts, and the lines that say the same to people. */
void recording_view_add_facts(struct view_document *d, const struct report *report);
extern const struct answer_part recording_view_facts_part;
/* How many CPUs ran the threads shown, on average; 0 = not known. */
double recording_view_cpus_used(const struct report *report);
/* The part of the CPUs' time in which no shown thread ran; 0 = not known. */
double recording_view_idle_share(const struct report *report);
/* recording_lines.c: for programs: the tables "sample_events", "callstack_states" and "recordings". */
void recording_view_add_tables(struct view_document *d, const struct report *report);
extern const struct answer_part recording_view_events_part, recording_view_states_part,
        recording_view_recordings_part;
/* recording_also.c: the table "also_recorded", and for people a line a kind. */
void recording_view_add_also(struct view_document *d, const struct report *report);
extern const struct answer_part recording_view_also_facts_part, recording_view_also_part;
/* counters_view.c: what was counted by function and zone, and in all; nothing if no events were counted. */
void counters_view_add(struct view_document *d, const struct report *report, uint32_t limit);
extern const struct answer_part counters_view_functions_part, counters_view_zones_part,
        counters_view_ratios_part, counters_view_totals_part;

#endif /* VIEW_SHARED_RECORDING_VIEW_H */
