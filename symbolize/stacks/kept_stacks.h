/* SPDX-License-Identifier: MIT */
/*
 * symbolize/stacks/kept_stacks.h - a trace with copies of stacks -> the same with their call stacks finished
 *
 * Way of the data:  trace_reader -> [kept_stacks] (stack_finisher) -> trace_writer, for `hyprof symbolize`
 *
 * `record --keep-stacks` keeps copies of stacks whose code has no unwind tables there.  Here the tables are
 * looked for once more, among the files of the search.  Copies of call stacks that are finished are left out;
 * all else stays as it was, and so do the samples that could not be finished, with their copies.
 */
#ifndef SYMBOLIZE_STACKS_KEPT_STACKS_H
#define SYMBOLIZE_STACKS_KEPT_STACKS_H

#include "base/confinement.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct image_finder;
struct trace_dictionary;
struct trace_reader;
struct trace_writer;

struct kept_stacks_totals {
        uint64_t n_finished;
        uint64_t n_left;      /* call stacks that lack a table still, with a copy */
        uint32_t left_module; /* id in MODULES: where most of these end; 0 = not known */
};

/* Whether the trace was recorded with copies; the dictionary has all its tables. */
bool kept_stacks_are_there(const struct trace_dictionary *dictionary);

/*
 * kept_stacks_finish() - copies all chunks but the index, with finished call stacks
 * @reader:  after trace_reader_read_tables(), at any place; afterwards at its end
 * @finder:  finds files with tables; its dictionary is the reader's
 * @user:    what the processes become that read these files, if this one is root
 * All rows of the dictionary are written then.
 * Returns 0, -ENOMEM, or -errno of reading and writing.
 */
int kept_stacks_finish(struct trace_reader *reader, struct trace_writer *writer,
                       const struct image_finder *finder, struct confinement_user user,
                       struct kept_stacks_totals *ret_totals, struct error *err);

#endif /* SYMBOLIZE_STACKS_KEPT_STACKS_H */
