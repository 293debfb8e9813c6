/* SPDX-License-Identifier: MIT */
#include "sampler/probes/entry_place.h"

#include "sampler/bpf/probe_layout.h"

#include <dwarf.h>
#include <errno.h>

#define HOPS_MAX           32 /* names of types for one type */
#define REGISTERS          6  /* that hold arguments */
#define FLOATING_REGISTERS 8
#define STACK_POINTER      4  /* as instructions number it */
#define SMALL_BYTES        16 /* structures up to this size may be in registers */
#define FIRST_FLOATING     17 /* DWARF's number of xmm0 */
#define LAST_FLOATING      32
#define N_CORE_REGISTERS   16
#define OFFSET_MAX         (INT64_C(1) << 30) /* from a register */

/* Languages with codes newer than <dwarf.h> of some libdw. */
#define LANGUAGE_CPP_17 0x2a
#define LANGUAGE_CPP_20 0x2b
#define LANGUAGE_C_17   0x2c

static const char elsewhere[] = "was optimised out at its entry";
static const char floating[] = "is in a floating-point register, which a probe cannot read";
static const char unknown_form[] = "is described in a form that hyprof does not read";
static const char damaged[] = "has debug information that cannot be read";

/* The numbers that instructions have for DWARF's. */
static const uint8_t cores[N_CORE_REGISTERS] = { 0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
static const uint8_t of_arguments[REGISTERS] = { 7, 6, 2, 1, 8, 9 };

int entry_place_type(struct dwarf_entries *e, const struct dwarf_entry *of, struct dwarf_entry *ret_type)
{
        struct dwarf_entry at = *of, next;

        for (int i = 0; i < HOPS_MAX; i++) {
                int r = dwarf_entries_follow(e, &at, DWARF_ATTRIBUTE_TYPE, &next);

                if (r == 0 && dwarf_entry_has(&at, DWARF_ATTRIBUTE_ORIGIN)) {
                        r = dwarf_entries_follow(e, &at, DWARF_ATTRIBUTE_ORIGIN, &next);
                        if (r == 1) {
                                at = next;
                                continue;
                        }
                }
                if (r != 1)
                        return r;
                switch (next.tag) {
                case DW_TAG_typedef:
                case DW_TAG_const_type:
                case DW_TAG_volatile_type:
                case DW_TAG_restrict_type:
                case DW_TAG_atomic_type:
                        at = next;
                        continue;
                default:
                        *ret_type = next;
                        return 1;
                }
        }
        return -EBADMSG;
}

/* ---- the calling convention --------------------------------------------------------------------------- */

enum passing { PASSED_INTEGER, PASSED_FLOATING, PASSED_STACK, PASSED_UNKNOWN };

static bool is_structure(const struct dwarf_entry *type)
{
        return type->tag == DW_TAG_structure_type || type->tag == DW_TAG_class_type ||
               type->tag == DW_TAG_union_type;
}

/* Passed and returned through its address: C++ says so where it has a constructor of copies. */
static bool is_by_reference(const struct dwarf_entry *type)
{
        int64_t convention = 0;

        return dwarf_entry_number(type, DWARF_ATTRIBUTE_CONVENTION, &convention) &&
               convention == DW_CC_pass_by_reference;
}

static bool is_c(uint16_t language)
{
        switch (language) {
        case DW_LANG_C:
        case DW_LANG_C89:
        case DW_LANG_C99:
        case DW_LANG_C11:
        case LANGUAGE_C_17:
                return true;
        default:
                return false;
        }
}

/* Through its address, on the stack, or in a way that cannot be told: gcc does not say it of those of C++. */
static enum passing passing_of_structure(const struct dwarf_entry *type, uint16_t language, int64_t n_bytes)
{
        if (is_by_reference(type))
                return PASSED_INTEGER;
        if (n_bytes > SMALL_BYTES && (is_c(language) || dwarf_entry_has(type, DWARF_ATTRIBUTE_CONVENTION)))
                return PASSED_STACK;
        return PASSED_UNKNOWN;
}

static enum passing passing_of(struct dwarf_entries *e, const struct dwarf_entry *parameter)
{
        struct dwarf_entry type = { .tag = 0 };
        int64_t n_bytes = 0, encoding = 0;

        if (entry_place_type(e, parameter, &type) != 1)
                return PASSED_UNKNOWN;
        (void)dwarf_entry_number(&type, DWARF_ATTRIBUTE_BYTE_SIZE, &n_bytes);
        if (type.tag == DW_TAG_pointer_type || type.tag == DW_TAG_reference_type ||
            type.tag == DW_TAG_rvalue_reference_type)
                return PASSED_INTEGER;
        if (is_structure(&type))
                return passing_of_structure(&type, parameter->unit->language, n_bytes);
        if (n_bytes < 1 || n_bytes > 8)
                return PASSED_UNKNOWN;
        if (type.tag == DW_TAG_enumeration_type)
                return PASSED_INTEGER;
        if (type.tag != DW_TAG_base_type || !dwarf_entry_number(&type, DWARF_ATTRIBUTE_ENCODING, &encoding))
                return PASSED_UNKNOWN;
        switch (encoding) {
        case DW_ATE_boolean:
        case DW_ATE_signed:
        case DW_ATE_signed_char:
        case DW_ATE_unsigned:
        case DW_ATE_unsigned_char:
        case DW_ATE_UTF:
                return PASSED_INTEGER;
        case DW_ATE_float:
                return PASSED_FLOATING;
        default:
                return PASSED_UNKNOWN;
        }
}

/* Is the first register the address of where the result goes?  -1 = it cannot be told. */
static int has_hidden(struct dwarf_entries *e, const struct dwarf_entry *function)
{
        int64_t n_bytes = 0, convention = 0;
        struct dwarf_entry type = { .tag = 0 };
        int r = entry_place_type(e, function, &type);

        if (r < 0)
                return -1;
        if (r == 0 || !is_structure(&type))
                return 0;
        if (!dwarf_entry_number(&type, DWARF_ATTRIBUTE_BYTE_SIZE, &n_bytes))
                return -1;
        if (n_bytes > SMALL_BYTES || is_by_reference(&type))
                return 1;
        if (dwarf_entry_number(&type, DWARF_ATTRIBUTE_CONVENTION, &convention))
                return 0;
        return is_c(function->unit->language) ? 0 : -1;
}

/* Other languages have conventions of their own. */
static bool is_c_or_cpp(uint16_t language)
{
        switch (language) {
        case DW_LANG_C_plus_plus:
        case DW_LANG_C_plus_plus_03:
        case DW_LANG_C_plus_plus_11:
        case DW_LANG_C_plus_plus_14:
        case LANGUAGE_CPP_17:
        case LANGUAGE_CPP_20:
        case DW_LANG_ObjC:
        case DW_LANG_ObjC_plus_plus:
                return true;
        default:
                return is_c(language);
        }
}

/* Has the function the usual registers?  A compiler may change one that only its own code calls. */
static const char *check_convention(struct dwarf_entries *e, const struct dwarf_entry *function)
{
        struct dwarf_entry child = { .tag = 0 };
        int64_t convention = DW_CC_normal;

        if (!is_c_or_cpp(function->unit->language))
                return "is in a frame that its function makes later";
        (void)dwarf_entry_number(function, DWARF_ATTRIBUTE_CONVENTION, &convention);
        if (convention != DW_CC_normal)
                return "belongs to a function with a calling convention of its own";
        while (dwarf_entries_next_child(e, function, &child) == 1) {
                if (child.tag == DW_TAG_formal_parameter &&
                    (!dwarf_entry_has(&child, DWARF_ATTRIBUTE_LOCATION) ||
                     dwarf_entry_has(&child, DWARF_ATTRIBUTE_CONST_VALUE)))
                        return "belongs to a function without some of its parameters: its register cannot be "
                               "told";
                if (child.tag == DW_TAG_lexical_block || child.tag == DW_TAG_inlined_subroutine)
                        break; /* no parameters follow */
        }
        return NULL;
}

/* Where an argument of class INTEGER is, by the arguments before it. */
static const char *find_by_convention(struct dwarf_entries *e, const struct dwarf_entry *function,
                                      const struct dwarf_entry *parameter, struct probe_arg *arg)
{
        struct dwarf_entry child = { .tag = 0 };
        int n_integers = has_hidden(e, function), n_floating = 0;
        bool has_structures = false; /* on the stack, before it */
        const char *why = check_convention(e, function);

        if (why)
                return why;
        if (n_integers < 0)
                return "comes after a structure that is returned: its register cannot be told";
        while (dwarf_entries_next_child(e, function, &child) == 1) {
                enum passing passing;

                if (child.tag == DW_TAG_GNU_formal_parameter_pack)
                        return "comes after a pack of parameters: its register cannot be told";
                if (child.tag != DW_TAG_formal_parameter)
                        continue;
                passing = passing_of(e, &child);
                if (child.offset == parameter->offset) {
                        if (passing == PASSED_FLOATING)
                                return floating;
                        if (passing != PASSED_INTEGER)
                                return "is a structure that is passed by value";
                        if (n_integers >= REGISTERS) {
                                if (has_structures || n_floating > FLOATING_REGISTERS)
                                        return "is on the stack, at a place that cannot be told";
                                arg->kind = PROBE_ARG_MEMORY;
                                arg->reg = STACK_POINTER;
                                arg->offset = 8 + 8 * (n_integers - REGISTERS);
                                return NULL;
                        }
                        arg->kind = PROBE_ARG_REGISTER;
                        arg->reg = of_arguments[n_integers];
                        return NULL;
                }
                if (passing == PASSED_UNKNOWN)
                        return "comes after a structure that is passed by value: its register cannot be told";
                n_integers += passing == PASSED_INTEGER;
                n_floating += passing == PASSED_FLOATING;
                has_structures |= passing == PASSED_STACK;
        }
        return damaged;
}

/* ---- expressions -------------------------------------------------------------------------------------- */

/* An expression that makes a number, and is followed by that it is the value. */
static bool read_constant(struct dwarf_cursor *c, uint8_t op, int64_t *ret_value)
{
        if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
                *ret_value = op - DW_OP_lit0;
                return true;
        }
        switch (op) {
        case DW_OP_const1u:
                *ret_value = bytes_u8(&c->r);
                break;
        case DW_OP_const1s:
                *ret_value = bytes_u8(&c->r);
                *ret_value -= *ret_value > INT8_MAX ? UINT8_MAX + 1 : 0;
                break;
        case DW_OP_const2u:
                *ret_value = dwarf_cursor_u16(c);
                break;
        case DW_OP_const2s:
                *ret_value = (int16_t)dwarf_cursor_u16(c);
                break;
        case DW_OP_const4u:
                *ret_value = dwarf_cursor_u32(c);
                break;
        case DW_OP_const4s:
                *ret_value = (int32_t)dwarf_cursor_u32(c);
                break;
        case DW_OP_const8u:
        case DW_OP_const8s:
                *ret_value = (int64_t)dwarf_cursor_u64(c);
                break;
        case DW_OP_constu:
                *ret_value = (int64_t)dwarf_cursor_uleb(c);
                break;
        case DW_OP_consts:
                *ret_value = dwarf_cursor_sleb(c);
                break;
        default:
                return false;
        }
        return true;
}

/* Only registers of arguments have one at the entry, whatever holds it later. */
static const char *set_register(uint64_t number, struct probe_arg *arg)
{
        if (number >= FIRST_FLOATING && number <= LAST_FLOATING)
                return floating;
        if (number >= N_CORE_REGISTERS)
                return unknown_form;
        for (int i = 0; i < REGISTERS; i++) {
                if (of_arguments[i] != cores[number])
                        continue;
                arg->kind = PROBE_ARG_REGISTER;
                arg->reg = cores[number];
                return NULL;
        }
        return elsewhere;
}

/* A register for the whole function: without -fvar-tracking one that may have the argument only later. */
static const char *set_lasting_register(struct dwarf_entries *e, const struct dwarf_entry *function,
                                        const struct dwarf_entry *parameter, uint64_t number,
                                        struct probe_arg *arg)
{
        struct probe_arg usual = { .kind = PROBE_ARG_UNKNOWN };
        const char *why = set_register(number, arg);

        if (why || find_by_convention(e, function, parameter, &usual))
                return why;
        return usual.kind == arg->kind && usual.reg == arg->reg
                       ? NULL
                       : "is in another register than the calling convention says";
}

/* In the frame of the caller it is there already, in the function's own not yet. */
static const char *find_in_frame(struct dwarf_entries *e, const struct dwarf_entry *function,
                                 const struct dwarf_entry *parameter, int64_t offset, struct probe_arg *arg)
{
        const struct dwarf_entry_value *base = &function->values[DWARF_ATTRIBUTE_FRAME_BASE];
        struct probe_arg usual = { .kind = PROBE_ARG_UNKNOWN };

        if (base->n_bytes == 1 && (uint8_t)base->value.text[0] == DW_OP_call_frame_cfa && offset >= 0) {
                if (offset > OFFSET_MAX)
                        return damaged;
                /* functions of Windows have room there for what is still in registers */
                if (!find_by_convention(e, function, parameter, &usual) && usual.kind == PROBE_ARG_REGISTER)
                        return "is in the frame of the caller only later";
                arg->kind = PROBE_ARG_MEMORY;
                arg->reg = STACK_POINTER;
                arg->offset = offset + 8; /* the return address */
                return NULL;
        }
        return find_by_convention(e, function, parameter, arg);
}

static const char *read_relative(struct dwarf_cursor *c, uint8_t op, struct probe_arg *arg)
{
        uint8_t number = op - DW_OP_breg0;

        if (number >= N_CORE_REGISTERS)
                return unknown_form;
        arg->reg = cores[number];
        arg->offset = dwarf_cursor_sleb(c);
        if (arg->offset > OFFSET_MAX || arg->offset < -OFFSET_MAX)
                return damaged;
        arg->kind = PROBE_ARG_MEMORY;
        if (c->r.left == 1 && c->r.at[0] == DW_OP_stack_value) {
                (void)bytes_u8(&c->r);
                arg->kind = PROBE_ARG_SUM;
        }
        return NULL;
}

/* clang says of a bool that it is the lowest bit of a register, which is 0 or 1 in its lowest byte. */
static bool is_bit(struct dwarf_entries *e, const struct dwarf_entry *parameter, struct dwarf_cursor c)
{
        struct dwarf_entry type = { .tag = 0 };
        int64_t encoding = 0;

        if (entry_place_type(e, parameter, &type) != 1 ||
            !dwarf_entry_number(&type, DWARF_ATTRIBUTE_ENCODING, &encoding) || encoding != DW_ATE_boolean)
                return false;
        while (!dwarf_cursor_ended(&c)) {
                switch (bytes_u8(&c.r)) {
                case DW_OP_constu:
                case DW_OP_convert:
                        (void)dwarf_cursor_uleb(&c);
                        break;
                case DW_OP_and:
                        break;
                case DW_OP_stack_value:
                        return c.r.left == 0 && !c.r.short_read;
                default:
                        return false;
                }
        }
        return false;
}

/* The value at the entry is the value, here.  Returns false for another expression with one in it. */
static bool enter_entry_value(struct dwarf_cursor *c)
{
        uint64_t n_bytes;

        if (c->r.at[0] != DW_OP_entry_value && c->r.at[0] != DW_OP_GNU_entry_value)
                return true;
        (void)bytes_u8(&c->r);
        n_bytes = dwarf_cursor_uleb(c);
        if (c->r.left == 0 || n_bytes != c->r.left - 1 || c->r.at[n_bytes] != DW_OP_stack_value)
                return false;
        c->r.left = (size_t)n_bytes;
        return true;
}

/* The place that an expression means at the entry.  @is_listed: the list says that it counts there. */
static const char *read_expression(struct dwarf_entries *e, const struct dwarf_entry *function,
                                   const struct dwarf_entry *parameter, struct dwarf_cursor c, bool is_listed,
                                   struct probe_arg *arg)
{
        const char *why = NULL;
        int64_t constant = 0;
        uint8_t op;

        if (c.r.left == 0)
                return elsewhere;
        if (!enter_entry_value(&c))
                return unknown_form;
        op = bytes_u8(&c.r);
        if (op >= DW_OP_reg0 && op <= DW_OP_reg31)
                why = is_listed ? set_register(op - DW_OP_reg0, arg)
                                : set_lasting_register(e, function, parameter, op - DW_OP_reg0, arg);
        else if (op == DW_OP_regx)
                why = set_register(dwarf_cursor_uleb(&c), arg);
        else if (op == DW_OP_fbreg)
                why = find_in_frame(e, function, parameter, dwarf_cursor_sleb(&c), arg);
        else if (op >= DW_OP_breg0 && op <= DW_OP_breg31 && is_listed)
                why = read_relative(&c, op, arg);
        else if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
                return find_by_convention(e, function, parameter, arg);
        else if (op == DW_OP_call_frame_cfa && c.r.left == 0)
                why = find_in_frame(e, function, parameter, 0, arg);
        else if (op == DW_OP_implicit_pointer || op == DW_OP_GNU_implicit_pointer ||
                 op == DW_OP_GNU_parameter_ref)
                return elsewhere;
        else if (read_constant(&c, op, &constant) && c.r.left == 1 && bytes_u8(&c.r) == DW_OP_stack_value)
                *arg = (struct probe_arg){ .kind = PROBE_ARG_CONSTANT, .offset = constant };
        else
                return unknown_form;
        if (!why && arg->kind == PROBE_ARG_MEMORY && arg->offset == 0 && c.r.left > 0 &&
            is_bit(e, parameter, c))
                return set_register((uint64_t)(op - DW_OP_breg0), arg);
        return why ? why : c.r.short_read || c.r.left > 0 ? unknown_form : NULL;
}

/* ---- lists of locations ------------------------------------------------------------------------------- */

/* The list of a unit of DWARF 5, or of an older one. */
static struct dwarf_cursor find_list(struct dwarf_entries *e, const struct dwarf_unit *unit,
                                     const struct dwarf_value *v)
{
        const struct debug_sections *s = unit->file->sections;
        struct dwarf_cursor none = { .r = { .short_read = true } }, c;
        int64_t base = unit->encoding.is_64 ? 20 : 12;
        uint64_t at = 0;
        struct dwarf_entry top = { .tag = 0 };

        if (unit->encoding.version < 5)
                return dwarf_cursor_at(s, DEBUG_SECTION_LOC, v->number);
        if (v->form != DW_FORM_loclistx)
                return dwarf_cursor_at(s, DEBUG_SECTION_LOCLISTS, v->number);
        if (dwarf_entries_read(e, unit, unit->first_die, &top) != 1)
                return none;
        if (dwarf_entry_has(&top, DWARF_ATTRIBUTE_LOCLISTS_BASE))
                base = (int64_t)top.values[DWARF_ATTRIBUTE_LOCLISTS_BASE].value.number;
        if (__builtin_mul_overflow(v->number, unit->encoding.is_64 ? UINT64_C(8) : UINT64_C(4), &at) ||
            __builtin_add_overflow(at, (uint64_t)base, &at))
                return none;
        c = dwarf_cursor_at(s, DEBUG_SECTION_LOCLISTS, at);
        at = dwarf_cursor_offset(&c, unit->encoding.is_64);
        return c.r.short_read ? none : dwarf_cursor_at(s, DEBUG_SECTION_LOCLISTS, at + (uint64_t)base);
}

/* One step in a list: the range to which its expression belongs. */
struct step {
        uint64_t low, high;
        bool has_expression, is_end;
};

static struct step read_step(const struct dwarf_unit *unit, struct dwarf_cursor *c, uint64_t *base)
{
        unsigned n_bytes = unit->encoding.address_bytes;
        struct step s = { .has_expression = true };
        bool is_good = true;

        switch (bytes_u8(&c->r)) {
        case DW_LLE_base_addressx:
                is_good = dwarf_unit_indexed_address(unit, dwarf_cursor_uleb(c), base);
                s.has_expression = false;
                break;
        case DW_LLE_startx_endx:
                is_good = dwarf_unit_indexed_address(unit, dwarf_cursor_uleb(c), &s.low);
                is_good &= dwarf_unit_indexed_address(unit, dwarf_cursor_uleb(c), &s.high);
                break;
        case DW_LLE_startx_length:
                is_good = dwarf_unit_indexed_address(unit, dwarf_cursor_uleb(c), &s.low);
                s.high = s.low + dwarf_cursor_uleb(c);
                break;
        case DW_LLE_offset_pair:
                s.low = *base + dwarf_cursor_uleb(c);
                s.high = *base + dwarf_cursor_uleb(c);
                break;
        case DW_LLE_default_location:
                s.high = UINT64_MAX;
                break;
        case DW_LLE_base_address:
                *base = dwarf_cursor_number(c, n_bytes);
                s.has_expression = false;
                break;
        case DW_LLE_start_end:
                s.low = dwarf_cursor_number(c, n_bytes);
                s.high = dwarf_cursor_number(c, n_bytes);
                break;
        case DW_LLE_start_length:
                s.low = dwarf_cursor_number(c, n_bytes);
                s.high = s.low + dwarf_cursor_uleb(c);
                break;
        case DW_LLE_GNU_view_pair:
                (void)dwarf_cursor_uleb(c);
                (void)dwarf_cursor_uleb(c);
                s.has_expression = false;
                break;
        default:
                s.is_end = true;
                break;
        }
        s.is_end |= !is_good;
        return s;
}

/* Before DWARF 5: two addresses; both 0 is the end, a first one of all ones is a new base. */
static struct step read_old_step(const struct dwarf_unit *unit, struct dwarf_cursor *c, uint64_t *base)
{
        unsigned n_bytes = unit->encoding.address_bytes;
        uint64_t low = dwarf_cursor_number(c, n_bytes), high = dwarf_cursor_number(c, n_bytes);
        struct step s = { .low = *base + low, .high = *base + high, .has_expression = true };

        if (low == UINT64_MAX >> (64 - 8 * n_bytes)) {
                *base = high;
                s.has_expression = false;
        } else if (low == 0 && high == 0) {
                s.is_end = true;
        }
        return s;
}

static const char *read_list(struct dwarf_entries *e, const struct dwarf_entry *function,
                             const struct dwarf_entry *parameter, uint64_t pc, struct probe_arg *arg)
{
        const struct dwarf_unit *unit = parameter->unit;
        struct dwarf_cursor c = find_list(e, unit, &parameter->values[DWARF_ATTRIBUTE_LOCATION].value);
        bool is_new = unit->encoding.version >= 5;
        uint64_t base = unit->low_pc;

        while (!dwarf_cursor_ended(&c) && e->budget > 0) {
                struct step s = is_new ? read_step(unit, &c, &base) : read_old_step(unit, &c, &base);
                struct dwarf_cursor expression;
                uint64_t n_bytes;

                e->budget--;
                if (s.is_end)
                        return elsewhere;
                if (!s.has_expression)
                        continue;
                n_bytes = is_new ? dwarf_cursor_uleb(&c) : dwarf_cursor_u16(&c);
                expression = c;
                dwarf_cursor_skip(&c, n_bytes);
                if (c.r.short_read)
                        break;
                if (pc < s.low || pc >= s.high)
                        continue;
                expression.r.left = (size_t)n_bytes;
                return read_expression(e, function, parameter, expression, true, arg);
        }
        return damaged;
}

/* ---- parameters --------------------------------------------------------------------------------------- */

static struct dwarf_cursor bytes_of(const struct dwarf_entry *entry, const struct dwarf_entry_value *v)
{
        return (struct dwarf_cursor){ .r = byte_reader_of(v->value.text, v->n_bytes),
                                      .is_big_endian = entry->unit->file->sections->is_big_endian };
}

static const char *read_const_value(const struct dwarf_entry *parameter, struct probe_arg *arg)
{
        const struct dwarf_entry_value *v = &parameter->values[DWARF_ATTRIBUTE_CONST_VALUE];

        int64_t constant = 0;

        arg->kind = PROBE_ARG_CONSTANT;
        if (dwarf_entry_number(parameter, DWARF_ATTRIBUTE_CONST_VALUE, &constant)) {
                arg->offset = constant;
                return NULL;
        }
        if (v->n_bytes == 1 || v->n_bytes == 2 || v->n_bytes == 4 || v->n_bytes == 8) {
                struct dwarf_cursor c = bytes_of(parameter, v);

                arg->offset = (int64_t)dwarf_cursor_number(&c, (unsigned)v->n_bytes);
                return NULL;
        }
        return unknown_form;
}

const char *entry_place_find(struct dwarf_entries *e, const struct dwarf_entry *function,
                             const struct dwarf_entry *parameter, struct probe_arg *ret_arg)
{
        const struct dwarf_entry_value *location = &parameter->values[DWARF_ATTRIBUTE_LOCATION];
        uint64_t pc = 0;

        if (dwarf_entry_has(parameter, DWARF_ATTRIBUTE_CONST_VALUE))
                return read_const_value(parameter, ret_arg);
        switch (location->value.form) {
        case 0:
                return elsewhere;
        case DW_FORM_exprloc:
        case DW_FORM_block:
        case DW_FORM_block1:
        case DW_FORM_block2:
        case DW_FORM_block4:
                return read_expression(e, function, parameter, bytes_of(parameter, location), false, ret_arg);
        default:
                if (!dwarf_unit_address(function->unit, &function->values[DWARF_ATTRIBUTE_LOW_PC].value, &pc))
                        return damaged;
                return read_list(e, function, parameter, pc, ret_arg);
        }
}
