/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/dwarf_units.h - the units of a file's debug information, and what their attributes mean
 *
 * Way of the data:  debug_sections -> [dwarf_units] -> dwarf_ranges, dwarf_lines, code_walk, code_index
 *
 * Only the first entry of each unit is read for the list.  DWARF 2 to 5, both
 * formats, split units.  Texts are borrowed from the sections.
 */
#ifndef SYMBOLIZE_INDEX_DWARF_UNITS_H
#define SYMBOLIZE_INDEX_DWARF_UNITS_H

#include "symbolize/index/dwarf_abbrevs.h"
#include "symbolize/index/dwarf_cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_NO_OFFSET UINT64_MAX

struct dwarf_unit;

/* One file with debug information. */
struct dwarf_units {
        const struct debug_sections *sections; /* borrowed */
        const struct dwarf_units *supplement;  /* of dwz; NULL = there is none; borrowed */
        struct dwarf_unit *units;              /* heap, ascending; type units are not among them */
        size_t n_units, units_capacity;
};

/* The value of an attribute as it is written; what it means depends on the form. */
struct dwarf_value {
        union {
                uint64_t number;
                const char *text; /* of DW_FORM_string */
        };
        uint16_t form; /* 0 = there is none */
};

/* The addresses of an entry, by two of its attributes or by a list. */
struct dwarf_extent {
        struct dwarf_value low_pc, high_pc, ranges;
};

struct dwarf_unit {
        const struct dwarf_units *file;
        const struct debug_sections
                *addresses;   /* has .debug_addr and .debug_ranges: of a split unit, another file's */
        uint64_t offset, end; /* in .debug_info; the end is that of the unit */
        uint64_t first_die;   /* in .debug_info */
        uint64_t abbrev_offset;
        uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
        uint64_t split_ranges_base; /* what becomes ranges_base in the split part, before DWARF 5 */
        uint64_t stmt_list;         /* DWARF_NO_OFFSET = it has no lines */
        uint64_t dwo_id;
        uint64_t low_pc; /* base of its ranges; 0 = it has none */
        struct dwarf_extent extent;
        const char *comp_dir; /* NULL = unknown */
        const char *dwo_name; /* NULL = it is not split */
        struct dwarf_encoding encoding;
        uint16_t language;
        uint8_t type; /* DW_UT_* */
};

/*
 * dwarf_units_load() - list the units of @units->sections
 * @units:  all but `sections` and `supplement` is zero
 * A damaged unit ends the list.  Returns 0 or -ENOMEM.
 */
int dwarf_units_load(struct dwarf_units *units);
void dwarf_units_deinit(struct dwarf_units *units);

/* The unit with this byte of .debug_info, or NULL. */
const struct dwarf_unit *dwarf_units_find(const struct dwarf_units *units, uint64_t offset);

/* The value of a step, read from @c. */
struct dwarf_value dwarf_value_read(struct dwarf_cursor *c, const struct dwarf_step *step,
                                    struct dwarf_encoding encoding);

/*
 * An entry's attributes: values[i] is for enum dwarf_wanted i if bit i of @ret_seen is set.
 * Moves past the entry.
 */
void dwarf_values_read(struct dwarf_cursor *c, const struct dwarf_abbrevs *abbrevs,
                       const struct dwarf_abbrev *abbrev, struct dwarf_encoding encoding,
                       struct dwarf_value *values, uint32_t *ret_seen);

/* Returns true, and the number, for a constant that is not negative. */
bool dwarf_value_constant(const struct dwarf_value *v, uint64_t *ret_number);

/* Returns NULL if @v is no text or leads out of its section. */
const char *dwarf_unit_text(const struct dwarf_unit *unit, const struct dwarf_value *v);

/* Returns false if @v is not an address, or refers to one that is not there. */
bool dwarf_unit_address(const struct dwarf_unit *unit, const struct dwarf_value *v, uint64_t *ret_address);

/* True for all ones, and one less: linkers write that for code which they discarded. */
bool dwarf_unit_is_nowhere(const struct dwarf_unit *unit, uint64_t address);

/* Address number @index of .debug_addr. */
bool dwarf_unit_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *ret_address);

/*
 * dwarf_unit_reference() - find the entry that @v refers to
 * @ret_file:  the file that has the entry
 * Returns its offset in the .debug_info there, or DWARF_NO_OFFSET.
 */
uint64_t dwarf_unit_reference(const struct dwarf_unit *unit, const struct dwarf_value *v,
                              const struct dwarf_units **ret_file);

/* NUL-terminated text in a section, or NULL. */
const char *dwarf_section_text(const struct debug_sections *sections, enum debug_section section,
                               uint64_t offset);

#endif /* SYMBOLIZE_INDEX_DWARF_UNITS_H */
