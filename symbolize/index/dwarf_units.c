/* SPDX-License-Identifier: MIT */
#include "symbolize/index/dwarf_units.h"

#include "base/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define UNITS_MAX (1U << 24)

void dwarf_units_deinit(struct dwarf_units *units)
{
        free(units->units);
        *units = (struct dwarf_units){ .units = NULL };
}

const char *dwarf_section_text(const struct debug_sections *sections, enum debug_section section,
                               uint64_t offset)
{
        const struct debug_section_bytes *s = &sections->sections[section];

        if (!s->bytes || offset >= s->n_bytes)
                return NULL;
        /* Such a section usually ends with a NUL, so one look at its last byte is enough. */
        if (s->bytes[s->n_bytes - 1] != '\0' && !memchr(s->bytes + offset, '\0', s->n_bytes - (size_t)offset))
                return NULL;
        return (const char *)s->bytes + offset;
}

struct dwarf_value dwarf_value_read(struct dwarf_cursor *c, const struct dwarf_step *step,
                                    struct dwarf_encoding encoding)
{
        struct dwarf_value v = { .form = step->form };

        if (step->fixed_bytes != DWARF_STEP_VARIES) {
                if (step->fixed_bytes > 0)
                        v.number = dwarf_cursor_number(c, step->fixed_bytes);
                else
                        v.number = (uint64_t)step->implicit;
                return v;
        }
        switch (step->form) {
        case DW_FORM_udata:
        case DW_FORM_ref_udata:
        case DW_FORM_strx:
        case DW_FORM_addrx:
        case DW_FORM_rnglistx:
        case DW_FORM_GNU_addr_index:
        case DW_FORM_GNU_str_index:
                v.number = dwarf_cursor_uleb(c);
                break;
        case DW_FORM_sdata:
                v.number = (uint64_t)dwarf_cursor_sleb(c);
                break;
        case DW_FORM_string:
                v.text = dwarf_cursor_string(c);
                break;
        default:
                dwarf_form_skip(c, step->form, encoding);
                v.form = 0;
                break;
        }
        return v;
}

void dwarf_values_read(struct dwarf_cursor *c, const struct dwarf_abbrevs *abbrevs,
                       const struct dwarf_abbrev *abbrev, struct dwarf_encoding encoding,
                       struct dwarf_value *values, uint32_t *ret_seen)
{
        uint32_t seen = 0;

        for (uint32_t i = 0; i < abbrev->n_steps; i++) {
                const struct dwarf_step *step = &abbrevs->steps[abbrev->first_step + i];

                dwarf_cursor_skip(c, step->skip_bytes);
                if (step->wanted == DWARF_WANTED_NOTHING) {
                        dwarf_form_skip(c, step->form, encoding);
                        continue;
                }
                values[step->wanted] = dwarf_value_read(c, step, encoding);
                if (values[step->wanted].form != 0)
                        seen |= UINT32_C(1) << step->wanted;
        }
        dwarf_cursor_skip(c, abbrev->tail_bytes);
        *ret_seen = c->r.short_read ? 0 : seen;
}

bool dwarf_value_constant(const struct dwarf_value *v, uint64_t *ret_number)
{
        switch (v->form) {
        case DW_FORM_data1:
        case DW_FORM_data2:
        case DW_FORM_data4:
        case DW_FORM_data8:
        case DW_FORM_udata:
                break;
        case DW_FORM_sdata:
        case DW_FORM_implicit_const:
                if ((int64_t)v->number < 0)
                        return false;
                break;
        default:
                return false;
        }
        *ret_number = v->number;
        return true;
}

/* Reads number @index of the table at @base, whose numbers have @entry_bytes each. */
static bool read_table(const struct debug_sections *sections, enum debug_section section, uint64_t base,
                       uint64_t index, unsigned entry_bytes, uint64_t *ret_number)
{
        struct dwarf_cursor c;
        uint64_t offset;

        if (__builtin_mul_overflow(index, (uint64_t)entry_bytes, &offset) ||
            __builtin_add_overflow(offset, base, &offset))
                return false;
        c = dwarf_cursor_at(sections, section, offset);
        *ret_number = dwarf_cursor_number(&c, entry_bytes);
        return !c.r.short_read;
}

static const char *find_indexed_text(const struct dwarf_unit *unit, uint64_t index)
{
        const struct debug_sections *s = unit->file->sections;
        uint64_t offset;

        if (!read_table(s, DEBUG_SECTION_STR_OFFSETS, unit->str_offsets_base, index,
                        unit->encoding.is_64 ? 8 : 4, &offset))
                return NULL;
        return dwarf_section_text(s, DEBUG_SECTION_STR, offset);
}

const char *dwarf_unit_text(const struct dwarf_unit *unit, const struct dwarf_value *v)
{
        const struct debug_sections *s = unit->file->sections;

        switch (v->form) {
        case DW_FORM_string:
                return v->text;
        case DW_FORM_strp:
                return dwarf_section_text(s, DEBUG_SECTION_STR, v->number);
        case DW_FORM_line_strp:
                return dwarf_section_text(s, DEBUG_SECTION_LINE_STR, v->number);
        case DW_FORM_GNU_strp_alt:
        case DW_FORM_strp_sup:
                if (!unit->file->supplement)
                        return NULL;
                return dwarf_section_text(unit->file->supplement->sections, DEBUG_SECTION_STR, v->number);
        case DW_FORM_strx:
        case DW_FORM_strx1:
        case DW_FORM_strx2:
        case DW_FORM_strx3:
        case DW_FORM_strx4:
        case DW_FORM_GNU_str_index:
                return find_indexed_text(unit, v->number);
        default:
                return NULL;
        }
}

bool dwarf_unit_is_nowhere(const struct dwarf_unit *unit, uint64_t address)
{
        return address >= (UINT64_MAX >> (64 - 8 * unit->encoding.address_bytes)) - 1;
}

bool dwarf_unit_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *ret_address)
{
        return read_table(unit->addresses, DEBUG_SECTION_ADDR, unit->addr_base, index,
                          unit->encoding.address_bytes, ret_address);
}

bool dwarf_unit_address(const struct dwarf_unit *unit, const struct dwarf_value *v, uint64_t *ret_address)
{
        switch (v->form) {
        case DW_FORM_addr:
                *ret_address = v->number;
                return true;
        case DW_FORM_addrx:
        case DW_FORM_addrx1:
        case DW_FORM_addrx2:
        case DW_FORM_addrx3:
        case DW_FORM_addrx4:
        case DW_FORM_GNU_addr_index:
                return dwarf_unit_indexed_address(unit, v->number, ret_address);
        default:
                return false;
        }
}

uint64_t dwarf_unit_reference(const struct dwarf_unit *unit, const struct dwarf_value *v,
                              const struct dwarf_units **ret_file)
{
        uint64_t offset;

        *ret_file = unit->file;
        switch (v->form) {
        case DW_FORM_ref1:
        case DW_FORM_ref2:
        case DW_FORM_ref4:
        case DW_FORM_ref8:
        case DW_FORM_ref_udata:
                if (__builtin_add_overflow(unit->offset, v->number, &offset) || offset >= unit->end)
                        return DWARF_NO_OFFSET;
                return offset;
        case DW_FORM_ref_addr:
                return v->number;
        case DW_FORM_GNU_ref_alt:
        case DW_FORM_ref_sup4:
        case DW_FORM_ref_sup8:
                *ret_file = unit->file->supplement;
                return *ret_file ? v->number : DWARF_NO_OFFSET;
        default:
                return DWARF_NO_OFFSET;
        }
}

/* A number of the unit's first entry, @otherwise if it is not there. */
static uint64_t pick_number(const struct dwarf_value *values, uint32_t seen, enum dwarf_wanted wanted,
                            uint64_t otherwise)
{
        return (seen & UINT32_C(1) << wanted) ? values[wanted].number : otherwise;
}

static const char *pick_text(const struct dwarf_unit *unit, const struct dwarf_value *values, uint32_t seen,
                             enum dwarf_wanted wanted)
{
        return (seen & UINT32_C(1) << wanted) ? dwarf_unit_text(unit, &values[wanted]) : NULL;
}

static void fill_unit(struct dwarf_unit *unit, const struct dwarf_value *values, uint32_t seen)
{
        /*
         * The default beginning of tables: after their header or, before DWARF 5, at the start of the
         * section.
         */
        uint64_t header = unit->encoding.version < 5 ? 0 : unit->encoding.is_64 ? 16 : 8;
        uint64_t lists_header = unit->encoding.is_64 ? 20 : 12;

        unit->str_offsets_base = pick_number(values, seen, DWARF_WANTED_STR_OFFSETS_BASE, header);
        unit->addr_base = pick_number(values, seen, DWARF_WANTED_ADDR_BASE, header);
        unit->rnglists_base = pick_number(values, seen, DWARF_WANTED_RNGLISTS_BASE, lists_header);
        unit->split_ranges_base = pick_number(values, seen, DWARF_WANTED_RANGES_BASE, 0);
        unit->stmt_list = pick_number(values, seen, DWARF_WANTED_STMT_LIST, DWARF_NO_OFFSET);
        unit->language = (uint16_t)pick_number(values, seen, DWARF_WANTED_LANGUAGE, 0);
        unit->dwo_id = pick_number(values, seen, DWARF_WANTED_DWO_ID, unit->dwo_id);
        unit->comp_dir = pick_text(unit, values, seen, DWARF_WANTED_COMP_DIR);
        unit->dwo_name = pick_text(unit, values, seen, DWARF_WANTED_DWO_NAME);
        if (seen & UINT32_C(1) << DWARF_WANTED_LOW_PC)
                unit->extent.low_pc = values[DWARF_WANTED_LOW_PC];
        if (seen & UINT32_C(1) << DWARF_WANTED_HIGH_PC)
                unit->extent.high_pc = values[DWARF_WANTED_HIGH_PC];
        if (seen & UINT32_C(1) << DWARF_WANTED_RANGES)
                unit->extent.ranges = values[DWARF_WANTED_RANGES];
        if (!dwarf_unit_address(unit, &unit->extent.low_pc, &unit->low_pc))
                unit->low_pc = 0;
}

/* The abbreviation tables that were read last: dwz lets units share one. */
struct unit_reader {
        struct dwarf_abbrevs first; /* the first abbreviation of a unit's table */
        struct dwarf_abbrevs whole; /* all of the table at whole_offset */
        uint64_t whole_offset;
        struct dwarf_encoding whole_encoding;
        /* bytes of tables still to be read; units that share a large table would cost their product */
        uint64_t bytes_left;
};

static const struct dwarf_abbrev *find_abbrev(struct unit_reader *r, const struct dwarf_unit *unit,
                                              uint64_t code, const struct dwarf_abbrevs **ret_table)
{
        const struct debug_sections *s = unit->file->sections;
        const struct dwarf_abbrev *found = NULL;

        if (dwarf_abbrevs_load(&r->first, s, unit->abbrev_offset, unit->encoding, 1) == 0)
                found = dwarf_abbrevs_find(&r->first, code);
        *ret_table = &r->first;
        if (found)
                return found;
        if (r->whole_offset != unit->abbrev_offset ||
            memcmp(&r->whole_encoding, &unit->encoding, sizeof(unit->encoding)) != 0) {
                uint64_t n_bytes;

                if (r->bytes_left == 0)
                        return NULL;
                r->whole_offset = unit->abbrev_offset;
                r->whole_encoding = unit->encoding;
                if (dwarf_abbrevs_load(&r->whole, s, unit->abbrev_offset, unit->encoding, SIZE_MAX) < 0)
                        r->whole.n_abbrevs = 0;
                /* No entry and no attribute takes less. */
                n_bytes = 4 * r->whole.n_abbrevs + 2 * r->whole.n_steps + 1;
                r->bytes_left -= n_bytes < r->bytes_left ? n_bytes : r->bytes_left;
        }
        *ret_table = &r->whole;
        return dwarf_abbrevs_find(&r->whole, code);
}

/*
 * Reads a unit's header; @c is cut to the unit.  Returns false for a unit that is not understood, which is
 * stepped over.
 */
static bool read_header(struct dwarf_cursor *c, struct dwarf_unit *unit)
{
        struct dwarf_encoding *e = &unit->encoding;
        uint16_t version = dwarf_cursor_u16(c);

        if (version < 2 || version > 5)
                return false;
        e->version = (uint8_t)version;
        unit->type = DW_UT_compile;
        if (version >= 5) {
                unit->type = bytes_u8(&c->r);
                e->address_bytes = bytes_u8(&c->r);
                unit->abbrev_offset = dwarf_cursor_offset(c, e->is_64);
                if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
                        unit->dwo_id = dwarf_cursor_u64(c);
        } else {
                unit->abbrev_offset = dwarf_cursor_offset(c, e->is_64);
                e->address_bytes = bytes_u8(&c->r);
        }
        if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
                return false;
        return !c->r.short_read && (e->address_bytes == 2 || e->address_bytes == 4 || e->address_bytes == 8);
}

static void read_first_die(struct dwarf_cursor c, struct unit_reader *reader, struct dwarf_unit *unit)
{
        struct dwarf_value values[DWARF_WANTED_COUNT];
        const struct dwarf_abbrevs *table;
        const struct dwarf_abbrev *abbrev;
        uint32_t seen = 0;
        uint64_t code = dwarf_cursor_uleb(&c);

        abbrev = code == 0 ? NULL : find_abbrev(reader, unit, code, &table);
        if (abbrev)
                dwarf_values_read(&c, table, abbrev, unit->encoding, values, &seen);
        fill_unit(unit, values, seen);
}

int dwarf_units_load(struct dwarf_units *units)
{
        const struct debug_section_bytes *info = &units->sections->sections[DEBUG_SECTION_INFO];
        struct unit_reader reader = { .whole_offset = DWARF_NO_OFFSET };
        uint64_t offset = 0;
        int r = 0;

        reader.bytes_left = units->sections->sections[DEBUG_SECTION_ABBREV].n_bytes * UINT64_C(8) +
                            (1U << 20);
        while (offset < info->n_bytes && units->n_units < UNITS_MAX) {
                struct dwarf_cursor c = dwarf_cursor_at(units->sections, DEBUG_SECTION_INFO, offset);
                struct dwarf_unit unit = { .file = units, .addresses = units->sections, .offset = offset };

                if (!dwarf_cursor_enter(&c, &unit.encoding.is_64))
                        break;
                unit.end = offset = (uint64_t)(c.r.at - info->bytes) + c.r.left;
                if (!read_header(&c, &unit))
                        continue;
                unit.first_die = (uint64_t)(c.r.at - info->bytes);
                read_first_die(c, &reader, &unit);
                r = array_reserve(&units->units, &units->units_capacity, units->n_units + 1,
                                  sizeof(*units->units));
                if (r < 0)
                        break;
                units->units[units->n_units++] = unit;
        }
        dwarf_abbrevs_deinit(&reader.first);
        dwarf_abbrevs_deinit(&reader.whole);
        return r;
}

const struct dwarf_unit *dwarf_units_find(const struct dwarf_units *units, uint64_t offset)
{
        size_t low = 0, high = units->n_units;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (units->units[middle].offset <= offset)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0 || offset < units->units[low - 1].first_die || offset >= units->units[low - 1].end)
                return NULL;
        return &units->units[low - 1];
}
