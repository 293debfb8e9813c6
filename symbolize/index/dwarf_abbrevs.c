/* SPDX-License-Identifier: MIT */
#include "symbolize/index/dwarf_abbrevs.h"

#include "base/array.h"
#include "symbolize/index/dwarf_cursor.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define ABBREVS_MAX    (1U << 20) /* of one unit */
#define ATTRIBUTES_MAX 256        /* of one abbreviation; compilers make up to 30 */
#define INDIRECT_MAX   4          /* forms that name the form */

void dwarf_abbrevs_deinit(struct dwarf_abbrevs *a)
{
        free(a->abbrevs);
        free(a->steps);
        *a = (struct dwarf_abbrevs){ .abbrevs = NULL };
}

int dwarf_form_bytes(uint64_t form, struct dwarf_encoding encoding)
{
        switch (form) {
        case DW_FORM_flag_present:
        case DW_FORM_implicit_const:
                return 0;
        case DW_FORM_data1:
        case DW_FORM_ref1:
        case DW_FORM_flag:
        case DW_FORM_strx1:
        case DW_FORM_addrx1:
                return 1;
        case DW_FORM_data2:
        case DW_FORM_ref2:
        case DW_FORM_strx2:
        case DW_FORM_addrx2:
                return 2;
        case DW_FORM_strx3:
        case DW_FORM_addrx3:
                return 3;
        case DW_FORM_data4:
        case DW_FORM_ref4:
        case DW_FORM_strx4:
        case DW_FORM_addrx4:
        case DW_FORM_ref_sup4:
                return 4;
        case DW_FORM_data8:
        case DW_FORM_ref8:
        case DW_FORM_ref_sig8:
        case DW_FORM_ref_sup8:
                return 8;
        case DW_FORM_data16:
                return 16;
        case DW_FORM_addr:
                return encoding.address_bytes;
        case DW_FORM_ref_addr:
                if (encoding.version <= 2)
                        return encoding.address_bytes;
                return encoding.is_64 ? 8 : 4;
        case DW_FORM_strp:
        case DW_FORM_line_strp:
        case DW_FORM_sec_offset:
        case DW_FORM_strp_sup:
        case DW_FORM_GNU_ref_alt:
        case DW_FORM_GNU_strp_alt:
                return encoding.is_64 ? 8 : 4;
        default:
                return -1;
        }
}

void dwarf_form_skip(struct dwarf_cursor *c, uint64_t form, struct dwarf_encoding encoding)
{
        for (unsigned i = 0; form == DW_FORM_indirect && i < INDIRECT_MAX; i++)
                form = dwarf_cursor_uleb(c);
        switch (form) {
        case DW_FORM_string:
                (void)dwarf_cursor_string(c);
                return;
        case DW_FORM_block1:
                dwarf_cursor_skip(c, bytes_u8(&c->r));
                return;
        case DW_FORM_block2:
                dwarf_cursor_skip(c, dwarf_cursor_u16(c));
                return;
        case DW_FORM_block4:
                dwarf_cursor_skip(c, dwarf_cursor_u32(c));
                return;
        case DW_FORM_block:
        case DW_FORM_exprloc:
                dwarf_cursor_skip(c, dwarf_cursor_uleb(c));
                return;
        case DW_FORM_sdata:
                (void)dwarf_cursor_sleb(c);
                return;
        case DW_FORM_udata:
        case DW_FORM_ref_udata:
        case DW_FORM_strx:
        case DW_FORM_addrx:
        case DW_FORM_loclistx:
        case DW_FORM_rnglistx:
        case DW_FORM_GNU_addr_index:
        case DW_FORM_GNU_str_index:
                (void)dwarf_cursor_uleb(c);
                return;
        default:
                break;
        }
        if (dwarf_form_bytes(form, encoding) >= 0)
                dwarf_cursor_skip(c, (uint64_t)dwarf_form_bytes(form, encoding));
        else
                c->r.short_read = true; /* of unknown length */
}

static enum dwarf_wanted wanted_of_function(uint64_t name)
{
        switch (name) {
        case DW_AT_name:
                return DWARF_WANTED_NAME;
        case DW_AT_linkage_name:
        case DW_AT_MIPS_linkage_name:
                return DWARF_WANTED_LINKAGE_NAME;
        case DW_AT_abstract_origin:
        case DW_AT_specification:
                return DWARF_WANTED_ORIGIN;
        case DW_AT_low_pc:
                return DWARF_WANTED_LOW_PC;
        case DW_AT_high_pc:
                return DWARF_WANTED_HIGH_PC;
        case DW_AT_ranges:
                return DWARF_WANTED_RANGES;
        case DW_AT_call_file:
                return DWARF_WANTED_CALL_FILE;
        case DW_AT_call_line:
                return DWARF_WANTED_CALL_LINE;
        case DW_AT_call_column:
                return DWARF_WANTED_CALL_COLUMN;
        case DW_AT_decl_file:
                return DWARF_WANTED_DECL_FILE;
        case DW_AT_decl_line:
                return DWARF_WANTED_DECL_LINE;
        default:
                return DWARF_WANTED_NOTHING;
        }
}

static enum dwarf_wanted wanted_of_unit(uint64_t name)
{
        switch (name) {
        case DW_AT_low_pc:
                return DWARF_WANTED_LOW_PC;
        case DW_AT_high_pc:
                return DWARF_WANTED_HIGH_PC;
        case DW_AT_ranges:
                return DWARF_WANTED_RANGES;
        case DW_AT_stmt_list:
                return DWARF_WANTED_STMT_LIST;
        case DW_AT_comp_dir:
                return DWARF_WANTED_COMP_DIR;
        case DW_AT_language:
                return DWARF_WANTED_LANGUAGE;
        case DW_AT_dwo_name:
        case DW_AT_GNU_dwo_name:
                return DWARF_WANTED_DWO_NAME;
        case DW_AT_GNU_dwo_id:
                return DWARF_WANTED_DWO_ID;
        case DW_AT_str_offsets_base:
                return DWARF_WANTED_STR_OFFSETS_BASE;
        case DW_AT_addr_base:
        case DW_AT_GNU_addr_base:
                return DWARF_WANTED_ADDR_BASE;
        case DW_AT_rnglists_base:
                return DWARF_WANTED_RNGLISTS_BASE;
        case DW_AT_GNU_ranges_base:
                return DWARF_WANTED_RANGES_BASE;
        default:
                return DWARF_WANTED_NOTHING;
        }
}

static enum dwarf_wanted wanted_of(uint16_t tag, uint64_t name)
{
        switch (tag) {
        case DW_TAG_subprogram:
        case DW_TAG_inlined_subroutine:
                return wanted_of_function(name);
        case DW_TAG_compile_unit:
        case DW_TAG_partial_unit:
        case DW_TAG_skeleton_unit:
                return wanted_of_unit(name);
        default:
                return DWARF_WANTED_NOTHING;
        }
}

/* The skipped bytes between the last attribute so far and the next step. */
struct compiler {
        struct dwarf_abbrevs *table;
        struct dwarf_abbrev *abbrev;
        struct dwarf_encoding encoding;
        uint32_t skip_bytes;
        uint32_t sibling_at; /* in skip_bytes */
        uint32_t seen;       /* bits of enum dwarf_wanted; an attribute counts once */
};

static int add_step(struct compiler *c, const struct dwarf_step *step)
{
        struct dwarf_abbrevs *a = c->table;

        if (array_reserve(&a->steps, &a->steps_capacity, a->n_steps + 1, sizeof(*a->steps)) < 0)
                return -ENOMEM;
        a->steps[a->n_steps++] = *step;
        c->abbrev->n_steps++;
        c->skip_bytes = 0;
        c->abbrev->sibling_bytes = 0; /* it was before this step */
        return 0;
}

static int add_attribute(struct compiler *c, uint64_t name, uint64_t form, int64_t implicit)
{
        enum dwarf_wanted wanted = wanted_of(c->abbrev->tag, name);
        int n_bytes = dwarf_form_bytes(form, c->encoding);

        if ((c->seen & UINT32_C(1) << wanted) != 0 || n_bytes > 8)
                wanted = DWARF_WANTED_NOTHING;
        c->seen |= UINT32_C(1) << wanted;
        if (wanted == DWARF_WANTED_LOW_PC || wanted == DWARF_WANTED_RANGES)
                c->abbrev->has_code = true;
        if (wanted != DWARF_WANTED_NOTHING || n_bytes < 0)
                return form > UINT16_MAX
                               ? -EBADMSG
                               : add_step(c,
                                          &(struct dwarf_step){ .skip_bytes = c->skip_bytes,
                                                                .form = (uint16_t)form,
                                                                .wanted = (uint8_t)wanted,
                                                                .fixed_bytes = n_bytes < 0 ? DWARF_STEP_VARIES
                                                                                           : (uint8_t)n_bytes,
                                                                .implicit = implicit });
        if (name == DW_AT_sibling && (form == DW_FORM_ref4 || form == DW_FORM_ref8)) {
                c->abbrev->sibling_bytes = (uint8_t)n_bytes;
                c->sibling_at = c->skip_bytes;
        }
        c->skip_bytes += (uint32_t)n_bytes;
        return 0;
}

static int load_attributes(struct dwarf_cursor *cursor, struct compiler *c)
{
        for (size_t i = 0; i < ATTRIBUTES_MAX; i++) {
                uint64_t name = dwarf_cursor_uleb(cursor), form = dwarf_cursor_uleb(cursor);
                int64_t implicit = form == DW_FORM_implicit_const ? dwarf_cursor_sleb(cursor) : 0;
                int r;

                if (cursor->r.short_read)
                        return -EBADMSG;
                if (name == 0 && form == 0) {
                        c->abbrev->tail_bytes = c->skip_bytes;
                        if (c->abbrev->sibling_bytes > 0)
                                c->abbrev->sibling_back = c->skip_bytes - c->sibling_at;
                        return 0;
                }
                r = add_attribute(c, name, form, implicit);
                if (r < 0)
                        return r;
        }
        return -EBADMSG;
}

static int compare_codes(const void *a, const void *b)
{
        const struct dwarf_abbrev *x = a, *y = b;

        return x->code < y->code ? -1 : x->code > y->code;
}

int dwarf_abbrevs_load(struct dwarf_abbrevs *a, const struct debug_sections *sections, uint64_t offset,
                       struct dwarf_encoding encoding, size_t n_max)
{
        struct dwarf_cursor cursor = dwarf_cursor_at(sections, DEBUG_SECTION_ABBREV, offset);
        bool is_ascending = true;

        a->n_abbrevs = a->n_steps = 0;
        if (n_max > ABBREVS_MAX)
                n_max = ABBREVS_MAX;
        while (a->n_abbrevs < n_max && !dwarf_cursor_ended(&cursor)) {
                struct compiler c = { .table = a, .encoding = encoding };
                uint64_t code = dwarf_cursor_uleb(&cursor), tag;
                int r;

                if (code == 0)
                        break;
                if (array_reserve(&a->abbrevs, &a->abbrevs_capacity, a->n_abbrevs + 1, sizeof(*a->abbrevs)) <
                    0)
                        return -ENOMEM;
                c.abbrev = &a->abbrevs[a->n_abbrevs];
                tag = dwarf_cursor_uleb(&cursor);
                *c.abbrev = (struct dwarf_abbrev){ .code = code,
                                                   .first_step = (uint32_t)a->n_steps,
                                                   .tag = tag <= UINT16_MAX ? (uint16_t)tag : 0,
                                                   .has_children = bytes_u8(&cursor.r) != 0 };
                r = load_attributes(&cursor, &c);
                if (r < 0)
                        return r;
                if (a->n_abbrevs > 0 && c.abbrev[-1].code >= code)
                        is_ascending = false;
                a->n_abbrevs++;
        }
        if (!is_ascending)
                qsort(a->abbrevs, a->n_abbrevs, sizeof(*a->abbrevs), compare_codes);
        return 0;
}

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *a, uint64_t code)
{
        const struct dwarf_abbrev wanted = { .code = code };

        return a->n_abbrevs ? bsearch(&wanted, a->abbrevs, a->n_abbrevs, sizeof(*a->abbrevs), compare_codes)
                            : NULL;
}
