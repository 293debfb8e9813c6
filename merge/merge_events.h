/* SPDX-License-Identifier: MIT */
/*
 * merge/merge_events.h - the events of several traces in one stream
 *
 * Way of the data:  merge_input (EVENTS chunks) -> [merge_events] -> trace_writer
 *
 * One chunk of each input is in memory at a time, cut into slices of a few milliseconds; the earliest of all
 * slices is written next.  So the threads of the result are a few milliseconds from each other, as in a trace
 * of one recorder, and memory grows with the number of inputs alone.  Not thread-safe.
 */
#ifndef MERGE_MERGE_EVENTS_H
#define MERGE_MERGE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct merge_input;
struct merge_tables;
struct trace_writer;

/* All borrowed. */
struct merge_inputs {
        struct merge_input *inputs;
        size_t n_inputs;
        struct error *damages; /* by input; set by merge_events_copy() */
};

struct merge_event_counts {
        uint64_t n_events;  /* written */
        uint64_t n_unknown; /* left out: of a newer version of the format */
        uint64_t last_ns;   /* of the latest event, on the result's timeline */
};

/*
 * merge_events_copy() - all events of all inputs, whose tables are in @tables
 * An input whose events are damaged ends there; its `damages` says how (code 0 = it is whole).
 * Returns 0, -ENOMEM, -errno of read(2) and write(2).
 */
int merge_events_copy(const struct merge_inputs *from, struct merge_tables *tables,
                      struct trace_writer *writer, struct merge_event_counts *ret_counts, struct error *err);

#endif /* MERGE_MERGE_EVENTS_H */
