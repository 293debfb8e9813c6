/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/dwarf_origins.h - the names and declarations of functions that other entries refer to
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
        uint64_t budget_bytes;   /* of tables to be read yet: hostile units may alternate between them */
        uint64_t closure_budget; /* of dwarf_closure_find() */
};

void dwarf_origins_deinit(struct dwarf_origins *origins);

/* The facts that an entry states about its function, itself or by what it refers to. */
struct dwarf_origin {
        const char *name;                   /* the linkage name, else the plain name, else NULL */
        bool is_linkage;                    /* `name` is a linkage name */
        const struct dwarf_unit *file_unit; /* in whose files `file` is a number; NULL = no file is known */
        uint64_t file, line;                /* of the declaration; a line of 0 = unknown */
        uint64_t column;                    /* of a lambda; 0 = unknown, or of anything else */
};

/* Fills the gaps of @origin from an entry of @unit; a linkage name replaces a plain one. */
void dwarf_origin_take(struct dwarf_origin *origin, const struct dwarf_unit *unit,
                       const struct dwarf_value *values, uint32_t seen);

/* Takes the declaration of a lambda's function, which is missing in the entry at @offset. */
void dwarf_origin_declare_closure(struct dwarf_origins *origins, struct dwarf_origin *origin,
                                  const struct dwarf_unit *unit, uint64_t offset);

/*
 * dwarf_origins_find() - the facts that the entry at @offset states
 * @unit, @abbrevs:  that are walked now, and with them the usual case; entries of other
 *                   units are found as well
 * @ret_origin:      always filled
 */
void dwarf_origins_find(struct dwarf_origins *origins, const struct dwarf_unit *unit,
                        const struct dwarf_abbrevs *abbrevs, const struct dwarf_units *file, uint64_t offset,
                        struct dwarf_origin *ret_origin);

#endif /* SYMBOLIZE_INDEX_DWARF_ORIGINS_H */
