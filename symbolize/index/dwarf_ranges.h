/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/dwarf_ranges.h - the addresses that an entry covers
 *
 * Way of the data:  dwarf_units -> [dwarf_ranges] -> code_walk, code_index
 *
 * From low_pc and high_pc, or from a list in .debug_ranges or .debug_rnglists.
 */
#ifndef SYMBOLIZE_INDEX_DWARF_RANGES_H
#define SYMBOLIZE_INDEX_DWARF_RANGES_H

#include "symbolize/index/dwarf_units.h"

struct dwarf_ranges {
        const struct dwarf_unit *unit;
        struct dwarf_cursor list;
        uint64_t base;      /* what offsets in the list are relative to */
        uint64_t *budget;   /* entries of lists that may still be read, of the whole module */
        uint64_t low, high; /* the only range, if there is no list */
        bool has_list, is_ended;
};

/* @budget: counted down, borrowed; entries may share a list, so that a small file stands for many ranges. */
void dwarf_ranges_init(struct dwarf_ranges *ranges, const struct dwarf_unit *unit,
                       const struct dwarf_extent *extent, uint64_t *budget);

/* The next range that is not empty, as the file states it.  Returns 1, or 0 at the end. */
int dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *ret_low, uint64_t *ret_high);

#endif /* SYMBOLIZE_INDEX_DWARF_RANGES_H */
