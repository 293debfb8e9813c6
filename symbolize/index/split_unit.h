/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/split_unit.h - finds the unit of one id in a .dwo
 *
 * Way of the data:  debug_sections of a .dwo -> [split_unit] -> split_files
 *
 * DWARF 5 has the id in the head of the unit, GNU's DWARF 4 in its first entry.
 */
#ifndef SYMBOLIZE_INDEX_SPLIT_UNIT_H
#define SYMBOLIZE_INDEX_SPLIT_UNIT_H

#include <stddef.h>
#include <stdint.h>

struct debug_sections;

/* Bytes of the unit in INFO.  Returns 1, or 0 if it is not there. */
int split_unit_find(const struct debug_sections *sections, uint64_t dwo_id, size_t *ret_offset,
                    size_t *ret_bytes);

#endif /* SYMBOLIZE_INDEX_SPLIT_UNIT_H */
