/* SPDX-License-Identifier: MIT */
/*
 * merge/merge_tables.h - the rows of several traces in one dictionary, with new ids
 *
 * Way of the data:  merge_input, merge_clock -> [merge_tables] -> trace_writer, merge_events
 *
 * Rows that are equal become one: texts, files with a build-id, frames in them, call stacks, places of zones.
 * Processes, threads and all that is theirs stay apart.  Losses are taken over, so they add up; totals of
 * events are added.  Owns everything in it but the inputs.  Not thread-safe.
 */
#ifndef MERGE_MERGE_TABLES_H
#define MERGE_MERGE_TABLES_H

#include "base/intern.h"
#include "format/trace_dictionary.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct merge_input;

struct merge_tables {
        struct trace_dictionary dictionary; /* the result's */
        struct trace_counter *counters;     /* heap; by sample event */
        size_t counters_capacity;
        uint8_t *named; /* heap; by frame: 1 = an input before the present one has its name */
        uint8_t *kept;  /* heap; by module: 1 = an input before the present one has its code */
        size_t named_capacity, kept_capacity;
        struct intern notices; /* struct trace_notice, each once */
};

void merge_tables_init(struct merge_tables *t);
void merge_tables_deinit(struct merge_tables *t);

/*
 * merge_tables_add_recordings() - adds the parts of all inputs as rows, and sets their ids
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int merge_tables_add_recordings(struct merge_tables *t, struct merge_input *inputs, size_t n_inputs,
                                struct error *err);

/* Adds all rows of an input but META; fills in its `ids`.  Returns 0, -ENOMEM, -EOVERFLOW. */
int merge_tables_add(struct merge_tables *t, struct merge_input *in, struct error *err);

/* After all inputs: the totals of events. */
int merge_tables_add_counters(struct merge_tables *t, struct error *err);

/* Adds a key to META. Returns 0, -ENOMEM, -EOVERFLOW, as the next two do. */
int merge_tables_add_meta(struct merge_tables *t, const char *key, struct text_view value);

/* Adds a notice unless the result has it.  @detail may be empty. */
int merge_tables_add_notice(struct merge_tables *t, uint32_t notice, struct text_view detail);

/*
 * merge_tables_label() - the string of an input with the label of its recording at its end: "worker@node1"
 * 0 stays 0.  A trace that was merged before has such names already: they stay as they are.
 */
int merge_tables_label(struct merge_tables *t, struct merge_input *in, uint64_t string, uint64_t *ret_string);

/* The same for words that are no string of the input; 0 for a trace that was merged before. */
int merge_tables_label_words(struct merge_tables *t, const struct merge_input *in, struct text_view words,
                             uint32_t *ret_string);

#endif /* MERGE_MERGE_TABLES_H */
