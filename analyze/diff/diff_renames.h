/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_renames.h - which of the new functions and zones are old ones under another name
 *
 * Way of the data:  diff_item -> [diff_renames] -> diff_comparison
 *
 * A function that is gone and a new one are the same if, in this order,
 *
 *      - they have the same name, in another module or file ("moved");
 *      - they are in the same module, are called by the same function (zones: are in the same file and
 *        function), cost the same to 15 %, and share half of the longer name.
 *
 * A partner must be the only one that fits.  Only the heaviest of each side are looked at.
 */
#ifndef ANALYZE_DIFF_DIFF_RENAMES_H
#define ANALYZE_DIFF_DIFF_RENAMES_H

#include "analyze/diff/diff_item.h"

#include <stddef.h>

#define DIFF_RENAMES_MAX 64 /* of each side */

/*
 * diff_renames_find() - put pairs into one item each
 * The gone item of a pair gets the key, the numbers and the share of the new one; the new
 * one is left with no keys.
 */
void diff_renames_find(const struct diff_names *names, struct diff_item *items, size_t n_items);

#endif /* ANALYZE_DIFF_DIFF_RENAMES_H */
