/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/code_unit_builder.h - collects what a unit says and makes the block of a code_unit of it
 *
 * Way of the data:  code_walk (functions), dwarf_lines (rows) -> [code_unit_builder] -> code_unit
 *
 * Memory is kept from one unit to the next.
 */
#ifndef SYMBOLIZE_INDEX_CODE_UNIT_BUILDER_H
#define SYMBOLIZE_INDEX_CODE_UNIT_BUILDER_H

#include "symbolize/index/code_unit.h"
#include "symbolize/index/dwarf_lines.h"

struct code_names;

struct code_range {
        uint32_t start, end; /* relative to the unit's base; the end is after it */
        uint32_t node;
};

struct code_row {
        uint32_t start;
        uint64_t place; /* packed; 0 = the end of a sequence */
};

/* Rows in the order of the program, addresses ascending. */
struct code_sequence {
        uint32_t start;
        uint32_t order;
        size_t first_row, n_rows;
};

struct code_unit_builder {
        struct code_names *names; /* borrowed */
        uint64_t base_svma;       /* smallest address of the unit: lower ones, and those 4 GB above,
                                   * are left out */
        struct dwarf_lines lines; /* of the unit */
        uint32_t *file_places;    /* heap; for each file of `lines` its number in `files`, 0 = not used yet */
        size_t n_file_places, file_places_capacity;

        struct code_node *nodes; /* heap */
        size_t n_nodes, nodes_capacity;
        struct code_range *ranges; /* heap; outer ones before those in them */
        size_t n_ranges, ranges_capacity;
        struct code_range *sorted; /* heap; the same, by address */
        size_t sorted_capacity;
        struct code_row *rows; /* heap */
        size_t n_rows, rows_capacity;
        struct code_sequence *sequences; /* heap */
        size_t n_sequences, sequences_capacity;
        uint32_t *files; /* heap; ids of paths */
        size_t n_files, files_capacity;
        uint32_t *segment_starts, *segment_nodes; /* heap */
        size_t n_segments, starts_capacity, nodes_of_capacity;
        uint32_t *open; /* heap; ranges around the address that is looked at */
        size_t open_capacity;
};

void code_unit_builder_deinit(struct code_unit_builder *b);

/* Begins a unit, with nothing collected yet.  The caller sets `names` and `lines`. */
void code_unit_builder_start(struct code_unit_builder *b, uint64_t base_svma);

/*
 * @ret_node: of the new node; @parent is an earlier one or CODE_UNIT_NONE.  Returns 0, -ENOMEM, -EOVERFLOW.
 */
int code_unit_builder_add_node(struct code_unit_builder *b, const struct code_node *node, uint32_t *ret_node);

/*
 * Adds addresses of a node; those of its parent are added before.  Returns 0 (also when they are out of
 * reach) or -ENOMEM.
 */
int code_unit_builder_add_range(struct code_unit_builder *b, uint64_t low_svma, uint64_t high_svma,
                                uint32_t node);

/* The path of a file of `lines`; 0 = unknown.  Returns 0 or -ENOMEM. */
int code_unit_builder_find_path(struct code_unit_builder *b, uint64_t file, uint32_t *ret_path);

/* The packed place in a file of `lines`.  Returns 0 or -ENOMEM. */
int code_unit_builder_pack(struct code_unit_builder *b, uint64_t file, uint64_t line, uint64_t column,
                           uint64_t *ret_place);

/*
 * Runs the program in `lines`.  @bias: added to its addresses; sequences that begin below
 * @first_svma are left out.
 */
int code_unit_builder_add_rows(struct code_unit_builder *b, uint64_t bias, uint64_t first_svma);

/* The finished block; @ret_unit->bytes is heap that the caller owns.  0, -ENOMEM, -EOVERFLOW. */
int code_unit_builder_finish(struct code_unit_builder *b, struct code_unit *ret_unit);

#endif /* SYMBOLIZE_INDEX_CODE_UNIT_BUILDER_H */
