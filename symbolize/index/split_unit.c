/* SPDX-License-Identifier: MIT */
#include "symbolize/index/split_files.h"

#include "base/bytes.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/elf/byte_order.h"

#include <dwarf.h>
#include <string.h>

#define LENGTH_64BIT    UINT32_MAX /* an 8-byte length follows */
#define LENGTH_RESERVED UINT32_C(0xfffffff0)
#define ATTRIBUTES_MAX  64 /* of the first entry, that are looked at */

/* One unit of INFO. */
struct unit {
        size_t offset, n_bytes;  /* with its head */
        struct byte_reader rest; /* after the head */
        uint64_t abbrev_off;
        uint64_t dwo_id;
        size_t offset_bytes; /* 4 or 8 */
        uint16_t version;
        bool has_dwo_id;
};

static uint64_t take_number(struct byte_reader *r, size_t n_bytes, bool is_big_endian)
{
        const uint8_t *at = bytes_take(r, n_bytes);

        return at ? byte_order_read(at, n_bytes, is_big_endian) : 0;
}

/*
 * Reads the head of the next unit and steps over the unit.  Returns false at the end, or if no unit follows.
 */
static bool next_unit(struct byte_reader *info, const uint8_t *start, bool is_big, struct unit *ret_unit)
{
        struct unit unit = { .offset = (size_t)(info->at - start), .offset_bytes = 4 };
        uint64_t n_bytes = take_number(info, 4, is_big);
        const uint8_t *body;
        uint64_t type = 0;

        if (n_bytes == LENGTH_64BIT) {
                unit.offset_bytes = 8;
                n_bytes = take_number(info, 8, is_big);
        } else if (n_bytes >= LENGTH_RESERVED) {
                return false;
        }
        if (info->short_read || n_bytes > info->left)
                return false;
        body = bytes_take(info, n_bytes);
        unit.rest = byte_reader_of(body, n_bytes);
        unit.n_bytes = (size_t)(info->at - start) - unit.offset;
        unit.version = (uint16_t)take_number(&unit.rest, 2, is_big);
        if (unit.version >= 5) {
                type = take_number(&unit.rest, 1, is_big);
                (void)bytes_take(&unit.rest, 1);
        }
        unit.abbrev_off = take_number(&unit.rest, unit.offset_bytes, is_big);
        if (unit.version < 5)
                (void)bytes_take(&unit.rest, 1);
        if (type == DW_UT_split_compile) {
                unit.dwo_id = take_number(&unit.rest, 8, is_big);
                unit.has_dwo_id = !unit.rest.short_read;
        }
        *ret_unit = unit;
        return true;
}

/* Steps over a value.  False for a form that the first entry of a split unit does not have. */
static bool skip_value(struct byte_reader *r, uint64_t form, size_t offset_bytes)
{
        switch (form) {
        case DW_FORM_flag_present:
                return true;
        case DW_FORM_data1:
        case DW_FORM_flag:
                return bytes_take(r, 1);
        case DW_FORM_data2:
                return bytes_take(r, 2);
        case DW_FORM_data4:
                return bytes_take(r, 4);
        case DW_FORM_data8:
                return bytes_take(r, 8);
        case DW_FORM_strp:
        case DW_FORM_sec_offset:
                return bytes_take(r, offset_bytes);
        case DW_FORM_udata:
        case DW_FORM_sdata:
        case DW_FORM_GNU_str_index:
        case DW_FORM_GNU_addr_index:
                (void)bytes_varint(r);
                return !r->short_read;
        case DW_FORM_string: {
                const uint8_t *end = memchr(r->at, '\0', r->left);

                return end && bytes_take(r, (size_t)(end - r->at) + 1);
        }
        default:
                return false;
        }
}

/* Moves @r past the code, tag and flag of the abbreviation with this code.  False if the table lacks it. */
static bool find_abbreviation(struct byte_reader *r, uint64_t wanted)
{
        while (!r->short_read) {
                uint64_t code = bytes_varint(r);
                uint64_t name, form;

                if (code == 0)
                        return false;
                (void)bytes_varint(r);
                (void)bytes_u8(r);
                if (code == wanted)
                        return !r->short_read;
                do {
                        name = bytes_varint(r);
                        form = bytes_varint(r);
                } while ((name != 0 || form != 0) && !r->short_read);
        }
        return false;
}

static void read_gnu_id(const struct debug_sections *sections, struct unit *unit)
{
        const struct debug_section_bytes *abbrev = &sections->sections[DEBUG_SECTION_ABBREV];
        struct byte_reader names, values = unit->rest;
        uint64_t code = bytes_varint(&values);

        if (values.short_read || unit->abbrev_off >= abbrev->n_bytes)
                return;
        names = byte_reader_of(abbrev->bytes + unit->abbrev_off, abbrev->n_bytes - unit->abbrev_off);
        if (!find_abbreviation(&names, code))
                return;
        for (unsigned i = 0; i < ATTRIBUTES_MAX; i++) {
                uint64_t name = bytes_varint(&names), form = bytes_varint(&names);

                if (names.short_read || name == 0)
                        return;
                if (name == DW_AT_GNU_dwo_id && form == DW_FORM_data8) {
                        unit->dwo_id = take_number(&values, 8, sections->is_big_endian);
                        unit->has_dwo_id = !values.short_read;
                        return;
                }
                if (!skip_value(&values, form, unit->offset_bytes))
                        return;
        }
}

int split_unit_find(const struct debug_sections *sections, uint64_t dwo_id, size_t *ret_offset,
                    size_t *ret_bytes)
{
        const struct debug_section_bytes *section = &sections->sections[DEBUG_SECTION_INFO];
        struct byte_reader info = byte_reader_of(section->bytes, section->n_bytes);
        struct unit unit;

        while (info.left > 0 && next_unit(&info, section->bytes, sections->is_big_endian, &unit)) {
                if (unit.version == 4)
                        read_gnu_id(sections, &unit);
                if (unit.has_dwo_id && unit.dwo_id == dwo_id) {
                        *ret_offset = unit.offset;
                        *ret_bytes = unit.n_bytes;
                        return 1;
                }
        }
        return 0;
}
