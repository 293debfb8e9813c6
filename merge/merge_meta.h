/* SPDX-License-Identifier: MIT */
/*
 * merge/merge_meta.h - what several recordings say about themselves, as one
 *
 * Way of the data:  merge_input (META) -> [merge_meta] -> merge_tables
 *
 * Words that differ are joined, numbers are added; rows with keys of newer versions are taken over.
 */
#ifndef MERGE_MERGE_META_H
#define MERGE_MERGE_META_H

#include <stddef.h>

struct error;
struct merge_input;
struct merge_tables;

/* All keys but end_raw_ns, which says that every recording came to its end.  Returns 0 or -errno. */
int merge_meta_add(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs,
                   struct error *err);

/*
 * merge_meta_add_end() - the end of the latest recording, if all inputs state theirs and none is cut off
 * @is_whole:  none is
 */
int merge_meta_add_end(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs,
                       int is_whole, struct error *err);

#endif /* MERGE_MERGE_META_H */
