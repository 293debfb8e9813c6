/* SPDX-License-Identifier: MIT */
#include "unwind/cfi_program.h"

#include "base/bytes.h"

#include <dwarf.h>
#include <string.h>

/*
 * The two highest bits of an instruction select one of three instructions that have an operand in the lower
 * six bits.
 */
#define OPERAND_MASK 0x3f

#define CFA_MIPS_ADVANCE_LOC8            0x1d
#define CFA_AARCH64_NEGATE_RA_STATE_PC   0x2c
#define CFA_GNU_WINDOW_SAVE              0x2d /* on AArch64: negate_ra_state */
#define CFA_GNU_NEGATIVE_OFFSET_EXTENDED 0x2f

static uint64_t mix(uint64_t v)
{
        v ^= v >> 31;
        v *= UINT64_C(0x9e3779b97f4a7c15);
        return v ^ v >> 29;
}

/*
 * The contribution of a register to the digest.  An expression counts by its bytes, not by its place.
 */
static uint64_t digest_of(const struct cfi_section *s, unsigned number, const struct cfi_saved *saved)
{
        uint64_t v = (uint64_t)number << 56 | (uint64_t)saved->kind << 48;

        if (saved->kind == CFI_SAVED_SAME)
                return 0;
        if (saved->kind < CFI_SAVED_AT_EXPRESSION)
                return mix(mix(v | (uint32_t)saved->value));
        for (uint32_t i = 0; i < saved->n_expression_bytes; i++)
                v = mix(v ^ s->bytes[(uint32_t)saved->value + i]);
        return v;
}

static void set_saved(struct cfi_program *p, uint64_t number, struct cfi_saved saved)
{
        struct cfi_saved *old;

        if (number >= UNWIND_REGISTERS_MAX)
                return; /* a floating-point register */
        old = &p->row.saved[number];
        p->row.digest -= digest_of(p->section, (unsigned)number, old);
        p->row.digest += digest_of(p->section, (unsigned)number, &saved);
        *old = saved;
}

/* Checks a number before it is stored: the numbers of compilers fit into 32 bits. */
static int32_t to_value(struct cfi_program *p, int64_t factor, int64_t align)
{
        int64_t value;

        if (__builtin_mul_overflow(factor, align, &value) || value < INT32_MIN || value > INT32_MAX) {
                p->is_damaged = true;
                return 0;
        }
        return (int32_t)value;
}

static int32_t unsigned_value(struct cfi_program *p, uint64_t factor, int64_t align)
{
        if (factor > INT32_MAX) {
                p->is_damaged = true;
                return 0;
        }
        return to_value(p, (int64_t)factor, align);
}

static void set_offset(struct cfi_program *p, uint64_t number, enum cfi_saved_kind kind, int32_t value)
{
        set_saved(p, number, (struct cfi_saved){ .kind = (uint16_t)kind, .value = value });
}

static uint32_t read_register(struct cfi_program *p, struct byte_reader *in)
{
        uint64_t number = bytes_varint(in);

        if (number > UINT16_MAX) {
                p->is_damaged = true;
                return 0;
        }
        return (uint32_t)number;
}

/* Steps over an expression.  Returns its offset; 0 and damaged if it is too long. */
static int32_t read_expression(struct cfi_program *p, struct byte_reader *in, uint16_t *ret_bytes)
{
        uint64_t n_bytes = bytes_varint(in);
        const uint8_t *at = n_bytes <= CFI_EXPRESSION_BYTES_MAX ? bytes_take(in, n_bytes) : NULL;

        *ret_bytes = 0;
        if (!at) {
                p->is_damaged = true;
                return 0;
        }
        *ret_bytes = (uint16_t)n_bytes;
        return (int32_t)(at - p->section->bytes);
}

static void save_by_expression(struct cfi_program *p, struct byte_reader *in, enum cfi_saved_kind kind)
{
        uint32_t number = read_register(p, in);
        struct cfi_saved saved = { .kind = (uint16_t)kind };

        saved.value = read_expression(p, in, &saved.n_expression_bytes);
        if (!p->is_damaged)
                set_saved(p, number, saved);
}

static void restore(struct cfi_program *p, uint64_t number)
{
        if (!p->initial)
                p->is_damaged = true;
        else if (number < UNWIND_REGISTERS_MAX)
                set_saved(p, number, p->initial->saved[number]);
}

static void set_cfa(struct cfi_program *p, uint32_t number, int32_t offset)
{
        p->row.is_cfa_expression = false;
        p->row.cfa_n_expression_bytes = 0;
        p->row.cfa_register = number;
        p->row.cfa_value = offset;
}

/* The instructions about the CFA.  Returns false for any other. */
static bool run_cfa(struct cfi_program *p, uint8_t op, struct byte_reader *in)
{
        uint32_t number;

        switch (op) {
        case DW_CFA_def_cfa:
                number = read_register(p, in);
                set_cfa(p, number, unsigned_value(p, bytes_varint(in), 1));
                return true;
        case DW_CFA_def_cfa_sf:
                number = read_register(p, in);
                set_cfa(p, number, to_value(p, bytes_sleb128(in), p->cie->data_align));
                return true;
        case DW_CFA_def_cfa_register:
                number = read_register(p, in);
                set_cfa(p, number, p->row.is_cfa_expression ? 0 : p->row.cfa_value);
                return true;
        case DW_CFA_def_cfa_offset:
                set_cfa(p, p->row.cfa_register, unsigned_value(p, bytes_varint(in), 1));
                return true;
        case DW_CFA_def_cfa_offset_sf:
                set_cfa(p, p->row.cfa_register, to_value(p, bytes_sleb128(in), p->cie->data_align));
                return true;
        case DW_CFA_def_cfa_expression:
                p->row.is_cfa_expression = true;
                p->row.cfa_value = read_expression(p, in, &p->row.cfa_n_expression_bytes);
                return true;
        default:
                return false;
        }
}

/* The instructions about one register.  Returns false for any other. */
static bool run_register(struct cfi_program *p, uint8_t op, struct byte_reader *in)
{
        int64_t align = p->cie->data_align;
        uint32_t number;

        switch (op) {
        case DW_CFA_offset_extended:
                number = read_register(p, in);
                set_offset(p, number, CFI_SAVED_AT_CFA, unsigned_value(p, bytes_varint(in), align));
                return true;
        case DW_CFA_offset_extended_sf:
                number = read_register(p, in);
                set_offset(p, number, CFI_SAVED_AT_CFA, to_value(p, bytes_sleb128(in), align));
                return true;
        case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
                number = read_register(p, in);
                set_offset(p, number, CFI_SAVED_AT_CFA, -unsigned_value(p, bytes_varint(in), align));
                return true;
        case DW_CFA_val_offset:
                number = read_register(p, in);
                set_offset(p, number, CFI_SAVED_CFA_PLUS, unsigned_value(p, bytes_varint(in), align));
                return true;
        case DW_CFA_val_offset_sf:
                number = read_register(p, in);
                set_offset(p, number, CFI_SAVED_CFA_PLUS, to_value(p, bytes_sleb128(in), align));
                return true;
        case DW_CFA_restore_extended:
                restore(p, read_register(p, in));
                return true;
        case DW_CFA_undefined:
                set_offset(p, read_register(p, in), CFI_SAVED_UNDEFINED, 0);
                return true;
        case DW_CFA_same_value:
                set_offset(p, read_register(p, in), CFI_SAVED_SAME, 0);
                return true;
        case DW_CFA_register:
                number = read_register(p, in);
                set_offset(p, number, CFI_SAVED_IN_REGISTER, (int32_t)read_register(p, in));
                return true;
        case DW_CFA_expression:
                save_by_expression(p, in, CFI_SAVED_AT_EXPRESSION);
                return true;
        case DW_CFA_val_expression:
                save_by_expression(p, in, CFI_SAVED_BY_EXPRESSION);
                return true;
        default:
                return false;
        }
}

/* All other instructions that do not move the location. */
static void run_other(struct cfi_program *p, uint8_t op, struct byte_reader *in)
{
        switch (op) {
        case DW_CFA_nop:
        case CFA_GNU_WINDOW_SAVE: /* the walk cuts signatures away from every return address */
        case CFA_AARCH64_NEGATE_RA_STATE_PC:
                return;
        case DW_CFA_GNU_args_size:
                (void)bytes_varint(in);
                return;
        case DW_CFA_remember_state:
                if (p->n_states < CFI_STATES_MAX)
                        p->states[p->n_states++] = p->row;
                else
                        p->is_damaged = true;
                return;
        case DW_CFA_restore_state:
                if (p->n_states > 0)
                        p->row = p->states[--p->n_states];
                else
                        p->is_damaged = true;
                return;
        default:
                p->is_damaged = true;
        }
}

/* How far an instruction of full length moves the location.  Returns false for other instructions. */
static bool read_advance(struct cfi_program *p, uint8_t op, struct byte_reader *in, uint64_t *ret_svma)
{
        uint64_t align = p->cie->code_align;
        size_t off;

        switch (op) {
        case DW_CFA_advance_loc1:
                *ret_svma = p->svma + bytes_u8(in) * align;
                return true;
        case DW_CFA_advance_loc2:
                *ret_svma = p->svma + bytes_u16(in) * align;
                return true;
        case DW_CFA_advance_loc4:
                *ret_svma = p->svma + bytes_u32(in) * align;
                return true;
        case CFA_MIPS_ADVANCE_LOC8:
                *ret_svma = p->svma + bytes_u64(in) * align;
                return true;
        case DW_CFA_set_loc:
                off = p->end_off - in->left;
                if (!cfi_pointer_read(p->section, p->cie->pointer_encoding, &off, p->end_off, ret_svma)) {
                        p->is_damaged = true;
                        return true;
                }
                (void)bytes_take(in, off - (p->end_off - in->left));
                return true;
        default:
                return false;
        }
}

/* Runs one instruction.  Returns true if it moves the location, which is then in @ret_svma. */
static bool run_instruction(struct cfi_program *p, struct byte_reader *in, uint64_t *ret_svma)
{
        uint8_t op = bytes_u8(in);
        uint8_t operand = op & OPERAND_MASK;

        switch (op & ~OPERAND_MASK) {
        case DW_CFA_advance_loc:
                *ret_svma = p->svma + operand * p->cie->code_align;
                return true;
        case DW_CFA_offset:
                set_offset(p, operand, CFI_SAVED_AT_CFA,
                           unsigned_value(p, bytes_varint(in), p->cie->data_align));
                return false;
        case DW_CFA_restore:
                restore(p, operand);
                return false;
        default:
                break;
        }
        if (read_advance(p, op, in, ret_svma))
                return true;
        if (!run_cfa(p, op, in) && !run_register(p, op, in))
                run_other(p, op, in);
        return false;
}

int cfi_program_next(struct cfi_program *p, uint64_t *ret_start_svma)
{
        struct byte_reader in = byte_reader_of(p->section->bytes + p->at_off, p->end_off - p->at_off);
        uint64_t start_svma = p->svma;

        if (start_svma >= p->end_svma || p->is_damaged)
                return 0;
        while (in.left > 0) {
                uint64_t next_svma = p->svma;
                bool moves = run_instruction(p, &in, &next_svma);

                if (p->n_instructions_left == 0 || in.short_read)
                        p->is_damaged = true;
                if (p->is_damaged)
                        return 0;
                p->n_instructions_left--;
                if (!moves || next_svma == p->svma)
                        continue;
                p->at_off = p->end_off - in.left;
                /* Locations only grow, up to the end of the function. */
                p->is_damaged = next_svma < p->svma;
                p->svma = next_svma < p->end_svma ? next_svma : p->end_svma;
                *ret_start_svma = start_svma;
                return !p->is_damaged;
        }
        p->at_off = p->end_off;
        p->svma = p->end_svma;
        *ret_start_svma = start_svma;
        return 1;
}

bool cfi_program_run_cie(const struct cfi_section *section, const struct cfi_cie *cie,
                         struct cfi_row *ret_row)
{
        /* The length of the code does not matter: a CIE moves no location. */
        struct cfi_program p = { .section = section,
                                 .cie = cie,
                                 .at_off = cie->instructions_off,
                                 .end_off = (size_t)cie->instructions_off + cie->n_instruction_bytes,
                                 .end_svma = 1,
                                 .n_instructions_left = cie->n_instruction_bytes };
        uint64_t svma;

        if (cfi_program_next(&p, &svma) != 1 || p.at_off != p.end_off)
                return false;
        *ret_row = p.row;
        return true;
}

void cfi_program_start(struct cfi_program *p, const struct cfi_section *section, const struct cfi_fde *fde,
                       const struct cfi_row *initial)
{
        p->section = section;
        p->cie = fde->cie;
        p->initial = initial;
        p->at_off = fde->instructions_off;
        p->end_off = (size_t)fde->instructions_off + fde->n_instruction_bytes;
        p->svma = fde->start_svma;
        p->end_svma = fde->end_svma;
        p->row = *initial;
        p->n_states = 0;
        p->is_damaged = false;
}
