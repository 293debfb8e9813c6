/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/dwarf_builder.h - sections of debug information, byte by byte, in any
 * version, format and byte order
 */
#ifndef TESTS_DWARF_BUILDER_H
#define TESTS_DWARF_BUILDER_H

#include "base/byte_buffer.h"
#include "symbolize/debug/debug_sections.h"

#include <stdbool.h>
#include <stdint.h>

struct dwarf_builder {
        uint8_t version, address_bytes;
        bool is_64, is_big_endian;
        uint32_t n_made_files; /* that the line program defines on its way */
        struct byte_buffer sections[DEBUG_SECTION_COUNT];
        size_t length_at; /* of the length that dwarf_builder_end() fills in */
        struct debug_sections built;
};

void dwarf_builder_deinit(struct dwarf_builder *b);

/* A number of 1, 2, 3, 4 or 8 bytes. */
void dwarf_builder_add(struct dwarf_builder *b, enum debug_section s, uint64_t value, unsigned n_bytes);
void dwarf_builder_add_uleb(struct dwarf_builder *b, enum debug_section s, uint64_t value);
void dwarf_builder_add_text(struct dwarf_builder *b, enum debug_section s, const char *text);
/* In the builder's format and address size. */
void dwarf_builder_add_offset(struct dwarf_builder *b, enum debug_section s, uint64_t value);
void dwarf_builder_add_address(struct dwarf_builder *b, enum debug_section s, uint64_t value);
/* Bytes that are numbers already; the list ends with -1. */
void dwarf_builder_add_list(struct dwarf_builder *b, enum debug_section s, const int *list);

/* A length, filled in by the end. */
void dwarf_builder_begin(struct dwarf_builder *b, enum debug_section s);
void dwarf_builder_end(struct dwarf_builder *b, enum debug_section s);
/* Header of a unit of @type (DW_UT_*), begun. */
void dwarf_builder_begin_unit(struct dwarf_builder *b, uint8_t type, uint64_t abbrev_offset);

/*
 * Line program of main.c in /src: at @address line 5, 0x10 further line 42, 0x20 line 6 (of the last made.c,
 * if some are made), it ends at 0x100.
 */
void dwarf_builder_add_lines_at(struct dwarf_builder *b, uint64_t address);
/* At 0x1000. */
void dwarf_builder_add_lines(struct dwarf_builder *b);

/* The sections as they are now, borrowed. */
const struct debug_sections *dwarf_builder_sections(struct dwarf_builder *b);

#endif /* TESTS_DWARF_BUILDER_H */
