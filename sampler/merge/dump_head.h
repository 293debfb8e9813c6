/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/dump_head.h - the facts about each dump of a ring: when it begins, when it ends, and why it
 * was made
 *
 * Way of the data:  trace_dictionary, flight_recorder -> [dump_head] -> ring_dump -> file
 *
 * A few tables are never referred to, and describe the recording as a whole: each dump has rows
 * of its own there.
 */
#ifndef SAMPLER_MERGE_DUMP_HEAD_H
#define SAMPLER_MERGE_DUMP_HEAD_H

#include <stdbool.h>
#include <stdint.h>

struct ring_dump;
struct trace_dictionary;

struct dump_head {
        const char *keep;   /* how much the ring keeps, as it was asked for: "30s" */
        const char *cause;  /* why there is a dump */
        const char *pauses; /* detail of the notice PAUSED; "" = none, or the dictionary has the notice */
        uint64_t start_ns;  /* of the recording */
        uint64_t from_ns;   /* of the dump, not before that */
        uint64_t end_ns;
        uint64_t n_open; /* zones that were open at the beginning */
        bool is_cut;     /* there were events before the beginning */
        bool is_last;    /* the recording is over; its dictionary goes on with the rows of this dump */
};

/* True for these tables: their rows are not put into the ring. */
bool dump_head_has_table(uint32_t table);

/* How many rows of all other tables wait to be encoded. */
uint64_t dump_head_count_others(const struct trace_dictionary *dictionary);

/* From time to time, forgets rows that no dump will need any more. */
void dump_head_forget(struct trace_dictionary *dictionary);

/*
 * dump_head_add() - the rows for a dump
 * @dictionary:  of the recording; gets the strings, which are to be put into the ring afterwards
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int dump_head_add(const struct dump_head *head, struct trace_dictionary *dictionary, struct ring_dump *dump);

#endif /* SAMPLER_MERGE_DUMP_HEAD_H */
