/* SPDX-License-Identifier: MIT */
#include "symbolize/index/dwarf_ranges.h"

#include <dwarf.h>

/* The list of a DWARF 5 unit: at an offset, or by its number in a table of offsets. */
static struct dwarf_cursor find_rnglist(const struct dwarf_unit *unit, const struct dwarf_value *v)
{
        const struct debug_sections *s = unit->file->sections;
        unsigned entry_bytes = unit->encoding.is_64 ? 8 : 4;
        struct dwarf_cursor c;
        uint64_t offset = v->number;

        if (v->form == DW_FORM_rnglistx) {
                if (__builtin_mul_overflow(v->number, (uint64_t)entry_bytes, &offset) ||
                    __builtin_add_overflow(offset, unit->rnglists_base, &offset))
                        offset = DWARF_NO_OFFSET;
                c = dwarf_cursor_at(s, DEBUG_SECTION_RNGLISTS, offset);
                offset = dwarf_cursor_offset(&c, unit->encoding.is_64);
                if (c.r.short_read || __builtin_add_overflow(offset, unit->rnglists_base, &offset))
                        offset = DWARF_NO_OFFSET;
        }
        return dwarf_cursor_at(s, DEBUG_SECTION_RNGLISTS, offset);
}

static struct dwarf_cursor find_list(const struct dwarf_unit *unit, const struct dwarf_value *v)
{
        uint64_t offset;

        if (unit->encoding.version >= 5)
                return find_rnglist(unit, v);
        if (__builtin_add_overflow(v->number, unit->ranges_base, &offset))
                offset = DWARF_NO_OFFSET;
        return dwarf_cursor_at(unit->addresses, DEBUG_SECTION_RANGES, offset);
}

/* NOLINTBEGIN(readability-non-const-parameter): @budget is counted down by the calls that follow */
void dwarf_ranges_init(struct dwarf_ranges *ranges, const struct dwarf_unit *unit,
                       const struct dwarf_extent *extent, uint64_t *budget)
{
        uint64_t length;

        *ranges = (struct dwarf_ranges){ .unit = unit, .budget = budget, .base = unit->low_pc };
        if (extent->ranges.form != 0) {
                ranges->has_list = true;
                ranges->list = find_list(unit, &extent->ranges);
                return;
        }
        if (!dwarf_unit_address(unit, &extent->low_pc, &ranges->low)) {
                ranges->is_ended = true;
                return;
        }
        if (dwarf_unit_address(unit, &extent->high_pc, &ranges->high))
                return;
        if (!dwarf_value_constant(&extent->high_pc, &length) ||
            __builtin_add_overflow(ranges->low, length, &ranges->high))
                ranges->is_ended = true;
}
/* NOLINTEND(readability-non-const-parameter) */

enum entry { ENTRY_END, ENTRY_RANGE, ENTRY_OTHER };

/* Entries of .debug_ranges: two addresses; both 0 is the end, a first one of all ones is a new base. */
static enum entry read_old_entry(struct dwarf_ranges *ranges, uint64_t *ret_low, uint64_t *ret_high)
{
        unsigned n_bytes = ranges->unit->encoding.address_bytes;
        uint64_t all_ones = UINT64_MAX >> (64 - 8 * n_bytes);
        uint64_t low = dwarf_cursor_number(&ranges->list, n_bytes);
        uint64_t high = dwarf_cursor_number(&ranges->list, n_bytes);

        if (ranges->list.r.short_read || (low == 0 && high == 0))
                return ENTRY_END;
        if (low == all_ones) {
                ranges->base = high;
                return ENTRY_OTHER;
        }
        *ret_low = ranges->base + low;
        *ret_high = ranges->base + high;
        return ENTRY_RANGE;
}

static enum entry read_entry(struct dwarf_ranges *ranges, uint64_t *ret_low, uint64_t *ret_high)
{
        const struct dwarf_unit *unit = ranges->unit;
        struct dwarf_cursor *c = &ranges->list;
        uint64_t first, second;
        bool is_good = true;

        switch (bytes_u8(&c->r)) {
        case DW_RLE_base_addressx:
                is_good = dwarf_unit_indexed_address(unit, dwarf_cursor_uleb(c), &ranges->base);
                return is_good ? ENTRY_OTHER : ENTRY_END;
        case DW_RLE_startx_endx:
                first = dwarf_cursor_uleb(c);
                second = dwarf_cursor_uleb(c);
                is_good = dwarf_unit_indexed_address(unit, first, ret_low) &&
                          dwarf_unit_indexed_address(unit, second, ret_high);
                break;
        case DW_RLE_startx_length:
                first = dwarf_cursor_uleb(c);
                second = dwarf_cursor_uleb(c);
                is_good = dwarf_unit_indexed_address(unit, first, ret_low) &&
                          !__builtin_add_overflow(*ret_low, second, ret_high);
                break;
        case DW_RLE_offset_pair:
                *ret_low = ranges->base + dwarf_cursor_uleb(c);
                *ret_high = ranges->base + dwarf_cursor_uleb(c);
                break;
        case DW_RLE_base_address:
                ranges->base = dwarf_cursor_number(c, unit->encoding.address_bytes);
                return ENTRY_OTHER;
        case DW_RLE_start_end:
                *ret_low = dwarf_cursor_number(c, unit->encoding.address_bytes);
                *ret_high = dwarf_cursor_number(c, unit->encoding.address_bytes);
                break;
        case DW_RLE_start_length:
                *ret_low = dwarf_cursor_number(c, unit->encoding.address_bytes);
                *ret_high = *ret_low + dwarf_cursor_uleb(c);
                break;
        default:
                return ENTRY_END;
        }
        return is_good ? ENTRY_RANGE : ENTRY_OTHER;
}

int dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *ret_low, uint64_t *ret_high)
{
        uint64_t low = 0, high = 0;

        if (ranges->is_ended)
                return 0;
        if (!ranges->has_list) {
                ranges->is_ended = true;
                *ret_low = ranges->low;
                *ret_high = ranges->high;
                return ranges->low < ranges->high;
        }
        while (*ranges->budget > 0) {
                bool is_new = ranges->unit->encoding.version >= 5;
                enum entry entry = is_new ? read_entry(ranges, &low, &high)
                                          : read_old_entry(ranges, &low, &high);

                --*ranges->budget;
                if (entry == ENTRY_END || ranges->list.r.short_read)
                        break;
                if (entry == ENTRY_RANGE && low < high) {
                        *ret_low = low;
                        *ret_high = high;
                        return 1;
                }
        }
        ranges->is_ended = true;
        return 0;
}
