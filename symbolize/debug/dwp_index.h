/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/dwp_index.h - where a .dwp has the parts of one unit
 *
 * Way of the data:  .debug_cu_index of a .dwp -> [dwp_index] -> split_files
 *
 * Version 2, GNU's for DWARF 4, and version 5.  The bytes are not trusted.
 */
#ifndef SYMBOLIZE_DEBUG_DWP_INDEX_H
#define SYMBOLIZE_DEBUG_DWP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_sections;

/*
 * dwp_index_find() - the sections of the unit @dwo_id
 * @whole:     of the .dwp, with its index
 * @ret_unit:  @whole with INFO, ABBREV, LINE, STR_OFFSETS and RNGLISTS cut to what belongs to
 *             the unit; it owns nothing
 * Returns 1, or 0 if the unit is not in it, or the index is damaged.
 */
int dwp_index_find(const struct debug_sections *whole, uint64_t dwo_id, struct debug_sections *ret_unit);

#endif /* SYMBOLIZE_DEBUG_DWP_INDEX_H */
