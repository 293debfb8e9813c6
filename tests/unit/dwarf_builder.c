/* SPDX-License-Identifier: MIT */
#include "tests/unit/dwarf_builder.h"

#include <dwarf.h>
#include <string.h>

void dwarf_builder_deinit(struct dwarf_builder *b)
{
        for (size_t i = 0; i < DEBUG_SECTION_COUNT; i++)
                byte_buffer_deinit(&b->sections[i]);
}

static void put(const struct dwarf_builder *b, uint8_t *at, uint64_t value, unsigned n_bytes)
{
        for (unsigned i = 0; i < n_bytes; i++)
                at[b->is_big_endian ? n_bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

void dwarf_builder_add(struct dwarf_builder *b, enum debug_section s, uint64_t value, unsigned n_bytes)
{
        uint8_t bytes[8];

        put(b, bytes, value, n_bytes);
        byte_buffer_add(&b->sections[s], bytes, n_bytes);
}

void dwarf_builder_add_uleb(struct dwarf_builder *b, enum debug_section s, uint64_t value)
{
        byte_buffer_add_varint(&b->sections[s], value);
}

void dwarf_builder_add_text(struct dwarf_builder *b, enum debug_section s, const char *text)
{
        byte_buffer_add(&b->sections[s], text, strlen(text) + 1);
}

void dwarf_builder_add_offset(struct dwarf_builder *b, enum debug_section s, uint64_t value)
{
        dwarf_builder_add(b, s, value, b->is_64 ? 8 : 4);
}

void dwarf_builder_add_address(struct dwarf_builder *b, enum debug_section s, uint64_t value)
{
        dwarf_builder_add(b, s, value, b->address_bytes);
}

void dwarf_builder_add_list(struct dwarf_builder *b, enum debug_section s, const int *list)
{
        for (; *list >= 0; list++)
                dwarf_builder_add_uleb(b, s, (uint64_t)*list);
}

void dwarf_builder_begin(struct dwarf_builder *b, enum debug_section s)
{
        if (b->is_64)
                dwarf_builder_add(b, s, UINT32_MAX, 4);
        b->length_at = b->sections[s].used_bytes;
        dwarf_builder_add_offset(b, s, 0);
}

void dwarf_builder_end(struct dwarf_builder *b, enum debug_section s)
{
        unsigned n_bytes = b->is_64 ? 8 : 4;

        put(b, b->sections[s].data + b->length_at, b->sections[s].used_bytes - b->length_at - n_bytes,
            n_bytes);
}

void dwarf_builder_begin_unit(struct dwarf_builder *b, uint8_t type, uint64_t abbrev_offset)
{
        dwarf_builder_begin(b, DEBUG_SECTION_INFO);
        dwarf_builder_add(b, DEBUG_SECTION_INFO, b->version, 2);
        if (b->version >= 5) {
                dwarf_builder_add(b, DEBUG_SECTION_INFO, type, 1);
                dwarf_builder_add(b, DEBUG_SECTION_INFO, b->address_bytes, 1);
        }
        dwarf_builder_add_offset(b, DEBUG_SECTION_INFO, abbrev_offset);
        if (b->version < 5)
                dwarf_builder_add(b, DEBUG_SECTION_INFO, b->address_bytes, 1);
}

static void add_tables(struct dwarf_builder *b)
{
        static const int directories[] = { 1, DW_LNCT_path, DW_FORM_string, 1, -1 };
        static const int files[] = {
                2, DW_LNCT_path, DW_FORM_string, DW_LNCT_directory_index, DW_FORM_udata, 2, -1
        };

        if (b->version < 5) {
                dwarf_builder_add(b, DEBUG_SECTION_LINE, 0, 1); /* no directories */
                dwarf_builder_add_text(b, DEBUG_SECTION_LINE, "main.c");
                dwarf_builder_add(b, DEBUG_SECTION_LINE, 0, 3);
                dwarf_builder_add(b, DEBUG_SECTION_LINE, 0, 1);
                return;
        }
        dwarf_builder_add_list(b, DEBUG_SECTION_LINE, directories);
        dwarf_builder_add_text(b, DEBUG_SECTION_LINE, "/src");
        dwarf_builder_add_list(b, DEBUG_SECTION_LINE, files);
        for (int i = 0; i < 2; i++) {
                dwarf_builder_add_text(b, DEBUG_SECTION_LINE, "main.c");
                dwarf_builder_add_uleb(b, DEBUG_SECTION_LINE, 0);
        }
}

/* Each has a row of its own, which takes the place of the one before. */
static void add_made_files(struct dwarf_builder *b)
{
        static const int define[] = { 0, 11, DW_LNE_define_file, -1 };
        const enum debug_section s = DEBUG_SECTION_LINE;

        for (uint32_t i = 0; i < b->n_made_files; i++) {
                dwarf_builder_add_list(b, s, define);
                dwarf_builder_add_text(b, s, "made.c");
                dwarf_builder_add(b, s, 0, 3); /* directory, time, size */
                dwarf_builder_add(b, s, DW_LNS_set_file, 1);
                dwarf_builder_add_uleb(b, s, 2 + i);
                dwarf_builder_add(b, s, DW_LNS_copy, 1);
        }
}

void dwarf_builder_add_lines_at(struct dwarf_builder *b, uint64_t address)
{
        static const int lengths[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, -1 };
        /* A line 5; 16 bytes on line 42; 16 bytes on line 6, 36 back as signed LEB128. */
        static const int rows[] = { DW_LNS_advance_line,
                                    4,
                                    DW_LNS_copy,
                                    DW_LNS_advance_pc,
                                    16,
                                    DW_LNS_advance_line,
                                    37,
                                    DW_LNS_copy,
                                    DW_LNS_advance_pc,
                                    16,
                                    DW_LNS_advance_line,
                                    0x5c,
                                    DW_LNS_copy,
                                    -1 };
        const enum debug_section s = DEBUG_SECTION_LINE;
        size_t unit_at, header_at, n_bytes = b->is_64 ? 8 : 4;

        dwarf_builder_begin(b, s);
        unit_at = b->length_at;
        dwarf_builder_add(b, s, b->version, 2);
        if (b->version >= 5) {
                dwarf_builder_add(b, s, b->address_bytes, 1);
                dwarf_builder_add(b, s, 0, 1);
        }
        header_at = b->sections[s].used_bytes;
        dwarf_builder_add_offset(b, s, 0);
        dwarf_builder_add(b, s, 1, 1);
        if (b->version >= 4)
                dwarf_builder_add(b, s, 1, 1);
        dwarf_builder_add(b, s, 1, 1);
        dwarf_builder_add(b, s, (uint8_t)-3, 1);
        dwarf_builder_add(b, s, 12, 1);
        dwarf_builder_add(b, s, 13, 1);
        dwarf_builder_add_list(b, s, lengths);
        add_tables(b);
        put(b, b->sections[s].data + header_at, b->sections[s].used_bytes - header_at - n_bytes,
            (unsigned)n_bytes);
        dwarf_builder_add(b, s, 0, 1);
        dwarf_builder_add(b, s, b->address_bytes + 1U, 1);
        dwarf_builder_add(b, s, DW_LNE_set_address, 1);
        dwarf_builder_add_address(b, s, address);
        dwarf_builder_add_list(b, s, rows);
        add_made_files(b);
        dwarf_builder_add(b, s, DW_LNS_advance_pc, 1);
        dwarf_builder_add_uleb(b, s, 0xe0);
        dwarf_builder_add(b, s, 0, 1);
        dwarf_builder_add(b, s, 1, 1);
        dwarf_builder_add(b, s, DW_LNE_end_sequence, 1);
        b->length_at = unit_at;
        dwarf_builder_end(b, s);
}

void dwarf_builder_add_lines(struct dwarf_builder *b)
{
        dwarf_builder_add_lines_at(b, 0x1000);
}

const struct debug_sections *dwarf_builder_sections(struct dwarf_builder *b)
{
        b->built.is_big_endian = b->is_big_endian;
        for (size_t i = 0; i < DEBUG_SECTION_COUNT; i++)
                b->built.sections[i] = (struct debug_section_bytes){ .bytes = b->sections[i].data,
                                                                     .n_bytes = b->sections[i].used_bytes };
        return &b->built;
}
