/* SPDX-License-Identifier: MIT */
/*
 * merge/merge_steps.h - the steps of a merge: clocks, what the recordings say about themselves, events; for
 * trace_merge.c
 *
 * Way of the data:  merge_input -> [merge_steps]: merge_tables -> trace_writer
 *
 * A file has the name of its step.  Not thread-safe.
 */
#ifndef MERGE_MERGE_STEPS_H
#define MERGE_MERGE_STEPS_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct merge_input;
struct merge_tables;
struct trace_writer;

/* ------------------------------------------------------------------ clocks */

/*
 * merge_clock_place() - how far the times of each trace are moved, and how sure that is
 *
 * Recordings of one boot share CLOCK_MONOTONIC_RAW, so their traces are placed exactly.  Others are placed by
 * the readings that their captures exchanged, see merge_exchange.h, if one machine captured them or recorded
 * the other: where these readings say that a clock has another rate, times are stretched.  The rest is placed
 * by CLOCK_REALTIME.  Its uncertainty is the error that both kernels state, plus the drift of CLOCK_REALTIME
 * from the monotonic clock during both recordings; if it is known and less, it is taken before the readings.
 *
 * Fills in `shift_ns` of all inputs, and offset, error, clock and CPUs of their parts, from META and
 * RECORDINGS.
 * Returns 0, or -EINVAL: a trace shares no boot with another one and does not state CLOCK_REALTIME.
 */
int merge_clock_place(struct merge_input *inputs, size_t n_inputs, struct error *err);

/* ------------------------------------------------------------------ META */

/*
 * Joins what several recordings state about themselves.  Words that differ are joined, numbers are added;
 * rows with keys of newer versions are taken over.
 */

/* Adds all keys but end_raw_ns, which states that every recording came to its end.  Returns 0 or -errno. */
int merge_meta_add(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs,
                   struct error *err);

/*
 * merge_meta_add_end() - adds the end of the latest recording, if all inputs state theirs and none is cut off
 * @is_whole:  no input is cut off
 */
int merge_meta_add_end(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs,
                       int is_whole, struct error *err);

/* ------------------------------------------------------------------ events */

/* All borrowed. */
struct merge_inputs {
        struct merge_input *inputs;
        size_t n_inputs;
        struct error *damages; /* by input; set by merge_events_copy() */
};

struct merge_event_counts {
        uint64_t n_events;  /* written */
        uint64_t n_unknown; /* left out, because they are of a newer version of the format */
        uint64_t last_ns;   /* of the latest event, on the result's timeline */
};

/*
 * merge_events_copy() - all events of all inputs, whose tables are in @tables, in one stream
 *
 * One chunk of each input is in memory at a time, cut into slices of a few milliseconds; the earliest of all
 * slices is written next.  So the threads of the result are a few milliseconds from each other, as in a trace
 * of one recorder, and memory grows with the number of inputs alone.
 *
 * An input whose events are damaged ends there; its `damages` says how (code 0 = it is whole).
 * Returns 0, -ENOMEM, -errno of read(2) and write(2).
 */
int merge_events_copy(const struct merge_inputs *from, struct merge_tables *tables,
                      struct trace_writer *writer, struct merge_event_counts *ret_counts, struct error *err);

#endif /* MERGE_MERGE_STEPS_H */
