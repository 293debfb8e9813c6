/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/dwarf_abbrevs.h - the abbreviations of a unit, made ready for walking over its entries fast
 *
 * Way of the data:  debug_sections -> [dwarf_abbrevs] -> dwarf_units, code_walk
 *
 * The attributes of an abbreviation become steps: so many bytes to step over, then
 * one form that is either of unknown length or wanted.  Most entries are one step.
 */
#ifndef SYMBOLIZE_INDEX_DWARF_ABBREVS_H
#define SYMBOLIZE_INDEX_DWARF_ABBREVS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_sections;
struct dwarf_cursor;

/* The attributes that the index reads. */
enum dwarf_wanted {
        DWARF_WANTED_NOTHING,
        DWARF_WANTED_NAME,
        DWARF_WANTED_LINKAGE_NAME,
        DWARF_WANTED_ORIGIN, /* abstract origin or specification */
        DWARF_WANTED_LOW_PC,
        DWARF_WANTED_HIGH_PC,
        DWARF_WANTED_RANGES,
        DWARF_WANTED_CALL_FILE,
        DWARF_WANTED_CALL_LINE,
        DWARF_WANTED_CALL_COLUMN,
        DWARF_WANTED_DECL_FILE,
        DWARF_WANTED_DECL_LINE,
        /* Only units have them. */
        DWARF_WANTED_STMT_LIST,
        DWARF_WANTED_COMP_DIR,
        DWARF_WANTED_LANGUAGE,
        DWARF_WANTED_DWO_NAME,
        DWARF_WANTED_DWO_ID,
        DWARF_WANTED_STR_OFFSETS_BASE,
        DWARF_WANTED_ADDR_BASE,
        DWARF_WANTED_RNGLISTS_BASE,
        DWARF_WANTED_RANGES_BASE, /* of split units before DWARF 5 */
        DWARF_WANTED_COUNT
};

#define DWARF_STEP_VARIES UINT8_MAX

struct dwarf_step {
        uint32_t skip_bytes; /* before the form */
        uint16_t form;
        uint8_t wanted;      /* enum dwarf_wanted */
        uint8_t fixed_bytes; /* of the form; DWARF_STEP_VARIES if it is not fixed */
        int64_t implicit;    /* value of DW_FORM_implicit_const */
};

struct dwarf_abbrev {
        uint64_t code;
        uint32_t first_step, n_steps;
        uint32_t tail_bytes; /* to skip after the steps */
        uint16_t tag;
        uint8_t sibling_bytes; /* of a DW_AT_sibling in the tail: 4 or 8; 0 = there is none */
        bool has_children;
        uint32_t sibling_back; /* from its start to the end of the entry */
        bool has_code;         /* low_pc or ranges are among the steps */
};

/* How long forms are in a unit. */
struct dwarf_encoding {
        uint8_t version;
        uint8_t address_bytes;
        bool is_64;
};

struct dwarf_abbrevs {
        struct dwarf_abbrev *abbrevs; /* heap, by code */
        size_t n_abbrevs, abbrevs_capacity;
        struct dwarf_step *steps; /* heap */
        size_t n_steps, steps_capacity;
};

/*
 * dwarf_abbrevs_load() - the table at @offset
 * @n_max:  stop after so many abbreviations
 * Fills a zero-initialised table, or one that was used before, whose memory is kept.
 * Returns 0, -EBADMSG, -ENOMEM.
 */
int dwarf_abbrevs_load(struct dwarf_abbrevs *a, const struct debug_sections *sections, uint64_t offset,
                       struct dwarf_encoding encoding, size_t n_max);
void dwarf_abbrevs_deinit(struct dwarf_abbrevs *a);

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *a, uint64_t code);

/* NULL if no abbreviation has this code. */
static inline const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *a, uint64_t code)
{
        /* Compilers count from 1. */
        if (code - 1 < a->n_abbrevs && a->abbrevs[code - 1].code == code)
                return &a->abbrevs[code - 1];
        return dwarf_abbrevs_search(a, code);
}

/* How many bytes a form of fixed size has; -1 for other forms. */
int dwarf_form_bytes(uint64_t form, struct dwarf_encoding encoding);

/* Steps over the value of a form whose length varies. */
void dwarf_form_skip(struct dwarf_cursor *c, uint64_t form, struct dwarf_encoding encoding);

#endif /* SYMBOLIZE_INDEX_DWARF_ABBREVS_H */
