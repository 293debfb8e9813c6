/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/dwarf_origins.h - the names of functions that other entries refer to
 *
 * Way of the data:  dwarf_units -> [dwarf_origins] -> code_walk
 *
 * An instance of a function refers to its abstract entry, that to a
 * declaration, in the same unit or in another one, in the same file or in
 * the one that dwz made.
 */
#ifndef SYMBOLIZE_INDEX_DWARF_ORIGINS_H
#define SYMBOLIZE_INDEX_DWARF_ORIGINS_H

#include "symbolize/index/dwarf_units.h"

#define DWARF_ORIGINS_TABLES 64 /* of abbreviations that are kept */

/* A table of another unit than the one that is walked. */
struct dwarf_origin_table {
        struct dwarf_abbrevs abbrevs;
        const struct debug_sections *sections; /* NULL = unused */
        uint64_t offset;
        struct dwarf_encoding encoding;
        bool is_broken;
};

struct dwarf_origins {
        struct dwarf_origin_table tables[DWARF_ORIGINS_TABLES]; /* by their offset */
        uint64_t budget_bytes; /* of tables that may still be read: hostile units take turns with them */
};

void dwarf_origins_deinit(struct dwarf_origins *origins);

/*
 * dwarf_origins_find_name() - the name of the entry at @offset
 * @unit, @abbrevs:  that are walked now, and with them the usual case; entries of other
 *                   units are found as well
 * Returns the linkage name, of the entry or one that it refers to, else the plain name, else NULL.
 */
const char *dwarf_origins_find_name(struct dwarf_origins *origins, const struct dwarf_unit *unit,
                                    const struct dwarf_abbrevs *abbrevs, const struct dwarf_units *file,
                                    uint64_t offset);

#endif /* SYMBOLIZE_INDEX_DWARF_ORIGINS_H */
