/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/written_rows.h - rows of processes that have ended are forgotten once they are written
 *
 * Way of the data:  collector (tables were written) -> [written_rows] -> trace_dictionary
 *
 * A program that is executed is a row of PROCESSES, one of THREADS and some of MAPPINGS, which are needed no
 * more when it has ended.  So a recording of a million programs takes the memory of those that live.
 */
#ifndef SAMPLER_MERGE_WRITTEN_ROWS_H
#define SAMPLER_MERGE_WRITTEN_ROWS_H

#include <stdint.h>

struct recording;

/* Zero-initialised: nothing was forgotten. */
struct written_rows {
        uint32_t n_mappings; /* that were kept the last time */
};

/*
 * written_rows_forget() - forget what is written and needed no more
 * Kept are the mappings of processes that live, those of processes with images of code in memory, and of each
 * module one in each place and length: names are found with them at the end.  System calls that are counted
 * keep processes and threads, whose sums come at the end.
 */
void written_rows_forget(struct written_rows *w, const struct recording *recording);

#endif /* SAMPLER_MERGE_WRITTEN_ROWS_H */
