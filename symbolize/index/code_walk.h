/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/code_walk.h - one pass over the entries of a unit, for the functions and
 * inlined calls among them
 *
 * Way of the data:  dwarf_units -> [code_walk] -> code_unit_builder
 *
 * Entries without code are skipped whole where the file gives their length.
 */
#ifndef SYMBOLIZE_INDEX_CODE_WALK_H
#define SYMBOLIZE_INDEX_CODE_WALK_H

#include "symbolize/index/code_unit_builder.h"
#include "symbolize/index/dwarf_origins.h"

/* Names of entries of functions that were found already. */
struct code_origin {
        uint64_t offset;                /* in .debug_info */
        const struct dwarf_units *file; /* NULL = empty slot */
        uint32_t name;
};

/* The files of another unit than the one that is walked. */
struct code_other_lines {
        const struct debug_sections *sections; /* NULL = none is loaded */
        uint64_t offset;                       /* of the unit */
        struct dwarf_lines lines;              /* without any files if they could not be read */
};

#define CODE_OTHER_LINES 8

/* State that stays from one unit to the next: memory, and the limits for hostile files. */
struct code_walker {
        struct dwarf_abbrevs abbrevs; /* of the unit */
        struct dwarf_origins origins;
        struct code_origin *known; /* heap; hash table */
        size_t n_known, n_slots;
        struct code_other_lines others[CODE_OTHER_LINES]; /* by the unit's offset */
        uint32_t run;                                     /* number of the unit that is walked, from 1 on */
        uint64_t range_budget, line_budget,
                abbrev_budget;      /* entries of lists, bytes of programs, abbreviations */
        uint64_t other_line_budget; /* bytes of programs of other units */
};

void code_walker_deinit(struct code_walker *walker);

/*
 * code_walker_run() - fill @b, which has been started and has its lines loaded, with the functions of @unit
 * @bias:        added to addresses
 * @first_svma:  functions that begin below it are not in the module: linkers leave entries of discarded
 *               functions in, at 0
 * Damaged entries end the walk.  Returns 0, -ENOMEM, -EOVERFLOW.
 */
int code_walker_run(struct code_walker *walker, const struct dwarf_unit *unit, uint64_t bias,
                    uint64_t first_svma, struct code_unit_builder *b);

#endif /* SYMBOLIZE_INDEX_CODE_WALK_H */
