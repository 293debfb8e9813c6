/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/dwarf_entries.h - single entries of debug information: functions, parameters, types
 *
 * Way of the data:  dwarf_units -> [dwarf_entries] -> function_arguments
 *
 * The index of code steps over parameters and types as fast as it can; here they are read one by one, by the
 * table of abbreviations as it lies in the file.  Hostile entries may refer to each other in circles or in
 * long chains: every attribute that is read counts against one budget.
 */
#ifndef SYMBOLIZE_INDEX_DWARF_ENTRIES_H
#define SYMBOLIZE_INDEX_DWARF_ENTRIES_H

#include "symbolize/index/dwarf_units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_ENTRIES_BUDGET (UINT64_C(1) << 27) /* attributes, and abbreviations of tables */

/* The attributes that are kept. */
enum dwarf_attribute {
        DWARF_ATTRIBUTE_NAME,
        DWARF_ATTRIBUTE_ORIGIN, /* abstract origin or specification */
        DWARF_ATTRIBUTE_LOW_PC,
        DWARF_ATTRIBUTE_TYPE,
        DWARF_ATTRIBUTE_LOCATION,
        DWARF_ATTRIBUTE_CONST_VALUE,
        DWARF_ATTRIBUTE_FRAME_BASE,
        DWARF_ATTRIBUTE_ENCODING,
        DWARF_ATTRIBUTE_BYTE_SIZE,
        DWARF_ATTRIBUTE_MEMBER_LOCATION,
        DWARF_ATTRIBUTE_BIT_SIZE,
        DWARF_ATTRIBUTE_DECLARATION,
        DWARF_ATTRIBUTE_CONVENTION,
        DWARF_ATTRIBUTE_LOCLISTS_BASE,
        DWARF_ATTRIBUTE_RANGES,
        DWARF_ATTRIBUTE_UPPER_BOUND,
        DWARF_ATTRIBUTE_N_ELEMENTS,
        DWARF_ATTRIBUTE_COUNT
};

struct dwarf_entry_value {
        struct dwarf_value value; /* form 0 = there is none */
        size_t n_bytes;           /* of a block or an expression, whose bytes are value.text */
};

struct dwarf_entry {
        const struct dwarf_unit *unit;
        uint64_t offset; /* in .debug_info */
        uint64_t next;   /* where its first child or the entry after it begins */
        uint16_t tag;
        bool has_children;
        struct dwarf_entry_value values[DWARF_ATTRIBUTE_COUNT];
};

/* Where in the table an abbreviation is described. */
struct dwarf_entry_code {
        uint64_t code, offset;
};

/* All zero but the budget is valid. */
struct dwarf_entries {
        uint64_t budget;
        const struct debug_sections *sections; /* of the table below; NULL = none was read */
        uint64_t table;                        /* its offset */
        struct dwarf_entry_code *codes;        /* heap */
        size_t n_codes, capacity;
};

void dwarf_entries_deinit(struct dwarf_entries *e);

/*
 * dwarf_entries_read() - the entry at @offset of .debug_info
 * Returns 1; 0 for the end of a list of children, with `next` alone; -EBADMSG, -ENOMEM.
 */
int dwarf_entries_read(struct dwarf_entries *e, const struct dwarf_unit *unit, uint64_t offset,
                       struct dwarf_entry *ret_entry);

/* The entry that a reference names.  Returns 1, 0 if there is none, -EBADMSG, -ENOMEM. */
int dwarf_entries_follow(struct dwarf_entries *e, const struct dwarf_entry *from, enum dwarf_attribute which,
                         struct dwarf_entry *ret_entry);

/*
 * dwarf_entries_next_child() - the children of @parent, one after the other
 * @child:  the last one; a `tag` of 0 = begin with the first
 * Returns 1, 0 at the end, -EBADMSG, -ENOMEM.
 */
int dwarf_entries_next_child(struct dwarf_entries *e, const struct dwarf_entry *parent,
                             struct dwarf_entry *child);

/* The name of the entry, or of what it is an instance of; NULL = none. */
const char *dwarf_entries_name(struct dwarf_entries *e, const struct dwarf_entry *entry);

/* Returns whether the entry says this attribute as a constant. */
bool dwarf_entry_number(const struct dwarf_entry *entry, enum dwarf_attribute which, int64_t *ret_number);

static inline bool dwarf_entry_has(const struct dwarf_entry *entry, enum dwarf_attribute which)
{
        return entry->values[which].value.form != 0;
}

#endif /* SYMBOLIZE_INDEX_DWARF_ENTRIES_H */
