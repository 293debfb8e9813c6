/* SPDX-License-Identifier: MIT */
/*
 * The index begins with four numbers of 4 bytes: version, columns, units, slots.  A hash table follows,
 * with an id of 8 bytes in each slot, then a table of the same shape with a row number of 4 bytes in each
 * slot, the names of the columns, and two tables of rows: offsets and sizes.  A row is one unit, a column
 * one section.
 */
#include "symbolize/debug/dwp_index.h"

#include "symbolize/debug/debug_sections.h"
#include "symbolize/elf/byte_order.h"

#include <string.h>

#define HEAD_BYTES  16
#define COLUMNS_MAX 16 /* DWARF names eight sections */
#define VERSION_GNU 2
#define VERSION_5   5
#define COLUMN_INFO 1

/* The index, its sizes checked. */
struct index {
        const uint8_t *bytes;
        bool is_big_endian;
        uint16_t version;
        uint32_t n_columns, n_units, n_slots;
        uint64_t rows_off, columns_off, offsets_off, sizes_off; /* bytes from its start */
};

static uint32_t read_u32(const struct index *index, uint64_t offset)
{
        return (uint32_t)byte_order_read(index->bytes + offset, 4, index->is_big_endian);
}

static bool read_head(struct index *index, const struct debug_sections *whole)
{
        const struct debug_section_bytes *section = &whole->sections[DEBUG_SECTION_CU_INDEX];
        uint64_t row_bytes;

        *index = (struct index){ .bytes = section->bytes, .is_big_endian = whole->is_big_endian };
        if (!section->bytes || section->n_bytes < HEAD_BYTES)
                return false;
        /* The version has two bytes and a gap of two in version 5, and four bytes in version 2. */
        index->version = (uint16_t)byte_order_read(index->bytes, 2, index->is_big_endian);
        if (index->version != VERSION_5)
                index->version = (uint16_t)read_u32(index, 0);
        index->n_columns = read_u32(index, 4);
        index->n_units = read_u32(index, 8);
        index->n_slots = read_u32(index, 12);
        if ((index->version != VERSION_GNU && index->version != VERSION_5) || index->n_columns == 0 ||
            index->n_columns > COLUMNS_MAX || index->n_slots == 0 ||
            (index->n_slots & (index->n_slots - 1)) != 0)
                return false;
        row_bytes = 4 * (uint64_t)index->n_columns;
        index->rows_off = HEAD_BYTES + 8 * (uint64_t)index->n_slots;
        index->columns_off = index->rows_off + 4 * (uint64_t)index->n_slots;
        index->offsets_off = index->columns_off + row_bytes;
        index->sizes_off = index->offsets_off + row_bytes * index->n_units;
        return index->sizes_off + row_bytes * index->n_units <= section->n_bytes;
}

/* The row of the unit, counted from 1; 0 = it has none. */
static uint32_t find_row(const struct index *index, uint64_t dwo_id)
{
        uint32_t mask = index->n_slots - 1;
        uint32_t slot = (uint32_t)dwo_id & mask;
        uint32_t step = ((uint32_t)(dwo_id >> 32) & mask) | 1;

        for (uint32_t i = 0; i < index->n_slots; i++) {
                uint32_t row = read_u32(index, index->rows_off + 4 * (uint64_t)slot);

                if (row == 0)
                        return 0;
                if (byte_order_read(index->bytes + HEAD_BYTES + 8 * (uint64_t)slot, 8,
                                    index->is_big_endian) == dwo_id)
                        return row <= index->n_units ? row : 0;
                slot = (slot + step) & mask;
        }
        return 0;
}

/* The section that a column is of; DEBUG_SECTION_COUNT for columns that are not read here. */
static enum debug_section find_section(const struct index *index, uint32_t column)
{
        switch (column) {
        case COLUMN_INFO:
                return DEBUG_SECTION_INFO;
        case 2:
                return index->version == VERSION_GNU ? DEBUG_SECTION_TYPES : DEBUG_SECTION_COUNT;
        case 3:
                return DEBUG_SECTION_ABBREV;
        case 4:
                return DEBUG_SECTION_LINE;
        case 6:
                return DEBUG_SECTION_STR_OFFSETS;
        case 8:
                return index->version == VERSION_5 ? DEBUG_SECTION_RNGLISTS : DEBUG_SECTION_COUNT;
        default:
                return DEBUG_SECTION_COUNT;
        }
}

int dwp_index_find(const struct debug_sections *whole, uint64_t dwo_id, struct debug_sections *ret_unit)
{
        struct debug_sections unit = *whole;
        bool has_info = false;
        struct index index;
        uint32_t row;

        if (!read_head(&index, whole))
                return 0;
        row = find_row(&index, dwo_id);
        if (row == 0)
                return 0;
        for (unsigned i = 0; i < DEBUG_SECTION_COUNT; i++)
                unit.sections[i].unpacked = NULL;
        for (uint32_t i = 0; i < index.n_columns; i++) {
                enum debug_section place = find_section(
                        &index, read_u32(&index, index.columns_off + 4 * (uint64_t)i));
                uint64_t cell = 4 * ((uint64_t)(row - 1) * index.n_columns + i);
                uint32_t offset = read_u32(&index, index.offsets_off + cell);
                uint32_t n_bytes = read_u32(&index, index.sizes_off + cell);
                struct debug_section_bytes *section;

                if (place == DEBUG_SECTION_COUNT)
                        continue;
                section = &unit.sections[place];
                /*
                 * Cut from the whole section: otherwise a column that is listed twice would cut a part out
                 * of a part.
                 */
                if (offset > whole->sections[place].n_bytes ||
                    n_bytes > whole->sections[place].n_bytes - offset)
                        return 0;
                section->bytes = n_bytes > 0 ? whole->sections[place].bytes + offset : NULL;
                section->n_bytes = n_bytes;
                has_info = has_info || (place == DEBUG_SECTION_INFO && n_bytes > 0);
        }
        if (!has_info)
                return 0;
        *ret_unit = unit;
        return 1;
}
