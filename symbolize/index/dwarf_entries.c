/* SPDX-License-Identifier: MIT */
#include "symbolize/index/dwarf_entries.h"

#include "base/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define HOPS_MAX 16 /* from an instance to what names it */

void dwarf_entries_deinit(struct dwarf_entries *e)
{
        free(e->codes);
        *e = (struct dwarf_entries){ .budget = 0 };
}

static enum dwarf_attribute attribute_of(uint64_t name)
{
        switch (name) {
        case DW_AT_name:
                return DWARF_ATTRIBUTE_NAME;
        case DW_AT_abstract_origin:
        case DW_AT_specification:
                return DWARF_ATTRIBUTE_ORIGIN;
        case DW_AT_low_pc:
                return DWARF_ATTRIBUTE_LOW_PC;
        case DW_AT_type:
                return DWARF_ATTRIBUTE_TYPE;
        case DW_AT_location:
                return DWARF_ATTRIBUTE_LOCATION;
        case DW_AT_const_value:
                return DWARF_ATTRIBUTE_CONST_VALUE;
        case DW_AT_frame_base:
                return DWARF_ATTRIBUTE_FRAME_BASE;
        case DW_AT_encoding:
                return DWARF_ATTRIBUTE_ENCODING;
        case DW_AT_byte_size:
                return DWARF_ATTRIBUTE_BYTE_SIZE;
        case DW_AT_data_member_location:
                return DWARF_ATTRIBUTE_MEMBER_LOCATION;
        case DW_AT_bit_size:
                return DWARF_ATTRIBUTE_BIT_SIZE;
        case DW_AT_declaration:
                return DWARF_ATTRIBUTE_DECLARATION;
        case DW_AT_calling_convention:
                return DWARF_ATTRIBUTE_CONVENTION;
        case DW_AT_loclists_base:
                return DWARF_ATTRIBUTE_LOCLISTS_BASE;
        case DW_AT_ranges:
                return DWARF_ATTRIBUTE_RANGES;
        case DW_AT_upper_bound:
                return DWARF_ATTRIBUTE_UPPER_BOUND;
        case DW_AT_count:
                return DWARF_ATTRIBUTE_N_ELEMENTS;
        default:
                return DWARF_ATTRIBUTE_COUNT;
        }
}

/* ---- abbreviations ------------------------------------------------------------------------------------ */

/* Steps over the attributes of an abbreviation.  Returns false at the end of the section or of the budget. */
static bool skip_attributes(struct dwarf_entries *e, struct dwarf_cursor *c)
{
        while (!dwarf_cursor_ended(c) && e->budget > 0) {
                uint64_t name = dwarf_cursor_uleb(c), form = dwarf_cursor_uleb(c);

                e->budget--;
                if (form == DW_FORM_implicit_const)
                        (void)dwarf_cursor_sleb(c);
                if (name == 0 && form == 0)
                        return !c->r.short_read;
        }
        return false;
}

/* Notes where each abbreviation of the unit is; a damaged one ends the table.  Returns 0 or -ENOMEM. */
static int load_codes(struct dwarf_entries *e, const struct dwarf_unit *unit)
{
        const struct debug_sections *sections = unit->file->sections;
        struct dwarf_cursor c = dwarf_cursor_at(sections, DEBUG_SECTION_ABBREV, unit->abbrev_offset);

        if (e->sections == sections && e->table == unit->abbrev_offset)
                return 0;
        e->sections = sections;
        e->table = unit->abbrev_offset;
        e->n_codes = 0;
        while (!dwarf_cursor_ended(&c)) {
                uint64_t code = dwarf_cursor_uleb(&c);
                uint64_t at = (uint64_t)(c.r.at - sections->sections[DEBUG_SECTION_ABBREV].bytes);

                if (code == 0)
                        return 0;
                (void)dwarf_cursor_uleb(&c); /* the tag */
                dwarf_cursor_skip(&c, 1);    /* whether it has children */
                if (!skip_attributes(e, &c))
                        return 0;
                if (array_reserve(&e->codes, &e->capacity, e->n_codes + 1, sizeof(*e->codes)) < 0)
                        return -ENOMEM;
                e->codes[e->n_codes++] = (struct dwarf_entry_code){ code, at };
        }
        return 0;
}

static bool find_code(struct dwarf_entries *e, uint64_t code, uint64_t *ret_offset)
{
        /* Compilers count from 1. */
        if (code - 1 < e->n_codes && e->codes[code - 1].code == code) {
                *ret_offset = e->codes[code - 1].offset;
                return true;
        }
        for (size_t i = 0; i < e->n_codes && e->budget > 0; i++, e->budget--) {
                if (e->codes[i].code != code)
                        continue;
                *ret_offset = e->codes[i].offset;
                return true;
        }
        return false;
}

/* ---- entries ------------------------------------------------------------------------------------------ */

static struct dwarf_entry_value read_block(struct dwarf_cursor *c, uint64_t form, uint64_t n_bytes)
{
        const uint8_t *bytes = n_bytes <= c->r.left ? bytes_take(&c->r, (size_t)n_bytes) : NULL;

        if (!bytes)
                c->r.short_read = true;
        return (struct dwarf_entry_value){ { .text = (const char *)bytes, .form = (uint16_t)form },
                                           bytes ? (size_t)n_bytes : 0 };
}

static struct dwarf_entry_value read_value(struct dwarf_cursor *c, uint64_t form, int64_t implicit,
                                           struct dwarf_encoding encoding)
{
        int n_bytes = dwarf_form_bytes(form, encoding);
        struct dwarf_step step = { .form = (uint16_t)form, .implicit = implicit };

        switch (form) {
        case DW_FORM_exprloc:
        case DW_FORM_block:
                return read_block(c, form, dwarf_cursor_uleb(c));
        case DW_FORM_block1:
                return read_block(c, form, bytes_u8(&c->r));
        case DW_FORM_block2:
                return read_block(c, form, dwarf_cursor_u16(c));
        case DW_FORM_block4:
                return read_block(c, form, dwarf_cursor_u32(c));
        case DW_FORM_loclistx:
                return (struct dwarf_entry_value){ { .number = dwarf_cursor_uleb(c), .form = (uint16_t)form },
                                                   0 };
        default:
                break;
        }
        if (form > UINT16_MAX || n_bytes > 8) {
                dwarf_form_skip(c, form, encoding);
                return (struct dwarf_entry_value){ { .form = 0 }, 0 };
        }
        step.fixed_bytes = n_bytes < 0 ? DWARF_STEP_VARIES : (uint8_t)n_bytes;
        return (struct dwarf_entry_value){ dwarf_value_read(c, &step, encoding), 0 };
}

/* A flag that is present has no bytes, and a number of 0. */
static void keep(struct dwarf_entry *entry, enum dwarf_attribute which, struct dwarf_entry_value value)
{
        if (which == DWARF_ATTRIBUTE_COUNT || dwarf_entry_has(entry, which))
                return;
        if (value.value.form == DW_FORM_flag && value.value.number == 0)
                return;
        entry->values[which] = value;
}

int dwarf_entries_read(struct dwarf_entries *e, const struct dwarf_unit *unit, uint64_t offset,
                       struct dwarf_entry *ret_entry)
{
        const struct debug_sections *sections = unit->file->sections;
        struct dwarf_cursor c = dwarf_cursor_at(sections, DEBUG_SECTION_INFO, offset), abbrev;
        uint64_t code, at;
        int r = load_codes(e, unit);

        *ret_entry = (struct dwarf_entry){ .unit = unit, .offset = offset };
        if (r < 0)
                return r;
        if (offset < unit->first_die || offset >= unit->end || e->budget == 0)
                return -EBADMSG;
        if (c.r.left > unit->end - offset)
                c.r.left = (size_t)(unit->end - offset);
        code = dwarf_cursor_uleb(&c);
        ret_entry->next = (uint64_t)(c.r.at - sections->sections[DEBUG_SECTION_INFO].bytes);
        e->budget--;
        if (code == 0)
                return c.r.short_read ? -EBADMSG : 0;
        if (!find_code(e, code, &at))
                return -EBADMSG;
        abbrev = dwarf_cursor_at(sections, DEBUG_SECTION_ABBREV, at);
        ret_entry->tag = (uint16_t)dwarf_cursor_uleb(&abbrev);
        ret_entry->has_children = bytes_u8(&abbrev.r) != 0;
        while (!dwarf_cursor_ended(&abbrev) && e->budget > 0) {
                uint64_t name = dwarf_cursor_uleb(&abbrev), form = dwarf_cursor_uleb(&abbrev);
                int64_t implicit = form == DW_FORM_implicit_const ? dwarf_cursor_sleb(&abbrev) : 0;

                e->budget--;
                if (name == 0 && form == 0)
                        break;
                keep(ret_entry, attribute_of(name), read_value(&c, form, implicit, unit->encoding));
        }
        ret_entry->next = (uint64_t)(c.r.at - sections->sections[DEBUG_SECTION_INFO].bytes);
        return c.r.short_read || abbrev.r.short_read || ret_entry->tag == 0 ? -EBADMSG : 1;
}

int dwarf_entries_follow(struct dwarf_entries *e, const struct dwarf_entry *from, enum dwarf_attribute which,
                         struct dwarf_entry *ret_entry)
{
        const struct dwarf_units *file = NULL;
        const struct dwarf_unit *unit;
        uint64_t offset;
        int r;

        if (!dwarf_entry_has(from, which))
                return 0;
        offset = dwarf_unit_reference(from->unit, &from->values[which].value, &file);
        unit = offset == DWARF_NO_OFFSET || !file ? NULL : dwarf_units_find(file, offset);
        r = unit ? dwarf_entries_read(e, unit, offset, ret_entry) : -EBADMSG;
        return r == 0 ? -EBADMSG : r;
}

int dwarf_entries_next_child(struct dwarf_entries *e, const struct dwarf_entry *parent,
                             struct dwarf_entry *child)
{
        uint64_t offset = child->tag == 0 ? parent->next : child->next;
        uint64_t depth = child->tag != 0 && child->has_children;
        int r;

        if (!parent->has_children)
                return 0;
        for (;;) {
                bool is_child = depth == 0;

                r = dwarf_entries_read(e, parent->unit, offset, child);
                if (r < 0 || is_child)
                        return r;
                offset = child->next;
                depth += r == 1 && child->has_children;
                depth -= r == 0;
        }
}

const char *dwarf_entries_name(struct dwarf_entries *e, const struct dwarf_entry *entry)
{
        struct dwarf_entry at = *entry, next;

        for (int i = 0; i < HOPS_MAX; i++) {
                if (dwarf_entry_has(&at, DWARF_ATTRIBUTE_NAME))
                        return dwarf_unit_text(at.unit, &at.values[DWARF_ATTRIBUTE_NAME].value);
                if (dwarf_entries_follow(e, &at, DWARF_ATTRIBUTE_ORIGIN, &next) != 1)
                        return NULL;
                at = next;
        }
        return NULL;
}

bool dwarf_entry_number(const struct dwarf_entry *entry, enum dwarf_attribute which, int64_t *ret_number)
{
        const struct dwarf_value *v = &entry->values[which].value;

        switch (v->form) {
        case DW_FORM_data1:
        case DW_FORM_data2:
        case DW_FORM_data4:
        case DW_FORM_data8:
        case DW_FORM_udata:
        case DW_FORM_sdata:
        case DW_FORM_implicit_const:
                *ret_number = (int64_t)v->number;
                return true;
        default:
                return false;
        }
}
