/* SPDX-License-Identifier: MIT */
/*
 * By the groups of the architecture's manual.  Number 31 is the stack pointer where an address is
 * made, and zero elsewhere.  Instructions of SVE and SME are unknown: some of them move the stack pointer.
 */
#include "unwind/code_effect.h"

#define FP 29
#define RA 30
#define SP 31

/* Bits @high to @low of an instruction. */
static uint32_t bits(uint32_t in, unsigned high, unsigned low)
{
        return in >> low & ((UINT32_C(2) << (high - low)) - 1);
}

/* @value of @n_bits bits with a sign. */
static int32_t extend(uint32_t value, unsigned n_bits)
{
        uint32_t sign = UINT32_C(1) << (n_bits - 1);

        return (int32_t)(value ^ sign) - (int32_t)sign;
}

static void set(struct code_effect *e, uint32_t number)
{
        if (number == RA)
                e->loses[CODE_REGISTER_RA] = true;
        else if (number == FP)
                e->loses[CODE_REGISTER_FP] = true;
}

/* A load or store of one general register of 64 bits on the stack. */
static void move(struct code_effect *e, unsigned at, bool is_load, uint32_t number, int32_t offset)
{
        if (number == RA || number == FP)
                e->moves[at] = (struct code_move){ .kind = is_load ? CODE_MOVE_LOAD : CODE_MOVE_STORE,
                                                   .number = number == RA ? CODE_REGISTER_RA
                                                                          : CODE_REGISTER_FP,
                                                   .offset = offset };
}

/* ------------------------------------------------------------------- jumps */

static void read_register_jump(uint32_t in, struct code_effect *e)
{
        uint32_t kind = bits(in, 23, 21); /* br, blr, ret, and others; bit 24: with a signature */

        if (kind == 2 && bits(in, 9, 5) == (bits(in, 11, 11) ? 31U : 30U))
                e->flow = CODE_FLOW_RETURN; /* retaa and retab name 31 */
        else
                e->flow = kind == 1 ? CODE_FLOW_CALL : kind == 0 ? CODE_FLOW_AWAY : CODE_FLOW_UNKNOWN;
}

static void read_jump(uint32_t in, struct code_effect *e)
{
        if (bits(in, 30, 26) == 5) { /* b, bl */
                e->flow = bits(in, 31, 31) ? CODE_FLOW_CALL : CODE_FLOW_JUMP;
                e->target = extend(bits(in, 25, 0), 26) * 4;
        } else if (bits(in, 30, 25) == 0x1a || bits(in, 31, 24) == 0x54) { /* cbz, cbnz, b.cond */
                e->flow = CODE_FLOW_BRANCH;
                e->target = extend(bits(in, 23, 5), 19) * 4;
        } else if (bits(in, 30, 25) == 0x1b) { /* tbz, tbnz */
                e->flow = CODE_FLOW_BRANCH;
                e->target = extend(bits(in, 18, 5), 14) * 4;
        } else if (bits(in, 31, 25) == 0x6b) {
                read_register_jump(in, e);
        } else if (bits(in, 31, 22) == 0x354) { /* system registers and hints */
                if (bits(in, 21, 21))
                        set(e, bits(in, 4, 0));
        } else if ((in & UINT32_C(0xffe0001f)) != UINT32_C(0xd4000001)) { /* svc */
                e->flow = CODE_FLOW_UNKNOWN;
        }
}

/* ------------------------------------------------------------------- numbers */

static void read_add(uint32_t in, struct code_effect *e)
{
        uint32_t rd = bits(in, 4, 0), rn = bits(in, 9, 5);
        int32_t value = (int32_t)(bits(in, 21, 10) << (bits(in, 22, 22) ? 12 : 0));
        bool is_64 = bits(in, 31, 31) != 0, sets_flags = bits(in, 29, 29) != 0;

        if (bits(in, 30, 30))
                value = -value;
        if (sets_flags || (rd != SP && !(rd == FP && rn == SP && is_64))) {
                set(e, rd);
        } else if (rd == FP) {
                e->fp_is_sp = true;
                e->fp_offset = value;
        } else if (is_64 && (rn == SP || rn == FP)) {
                e->sp_is_fp = rn == FP;
                e->sp_after = value;
        } else {
                e->flow = CODE_FLOW_UNKNOWN;
        }
}

static void read_constant(uint32_t in, struct code_effect *e)
{
        uint32_t rd = bits(in, 4, 0);

        if (bits(in, 28, 23) == 0x22)
                read_add(in, e);
        else if (rd == SP &&
                 ((bits(in, 28, 23) == 0x24 && bits(in, 30, 29) != 3) || bits(in, 28, 23) == 0x23))
                e->flow = CODE_FLOW_UNKNOWN; /* and, orr, eor; tags */
        else
                set(e, rd);
}

static void read_registers(uint32_t in, struct code_effect *e)
{
        if (bits(in, 28, 21) == 0x59 && bits(in, 29, 29) == 0 && bits(in, 4, 0) == SP)
                e->flow = CODE_FLOW_UNKNOWN; /* a register is added to the stack pointer */
        else
                set(e, bits(in, 4, 0));
}

/* Floating point and vectors: what they give to a general register. */
static void read_vector(uint32_t in, struct code_effect *e)
{
        bool is_conversion = bits(in, 30, 24) == 0x1e && bits(in, 21, 21) && bits(in, 15, 10) == 0;
        bool is_element = (in & UINT32_C(0xbfe0ec00)) == UINT32_C(0x0e002c00); /* umov, smov */

        if (is_conversion || is_element)
                set(e, bits(in, 4, 0));
}

/* ------------------------------------------------------------------- memory */

/* @writes_back: 0 = no, 1 = after, 3 = before the access */
static void address(struct code_effect *e, uint32_t base, uint32_t writes_back, int32_t offset)
{
        if (writes_back == 0)
                return;
        if (base != SP)
                set(e, base);
        else if (writes_back == 3)
                e->sp_before = offset;
        else
                e->sp_after = offset;
}

static void read_pair(uint32_t in, struct code_effect *e)
{
        uint32_t size = bits(in, 31, 30), mode = bits(in, 24, 23), rn = bits(in, 9, 5);
        bool is_vector = bits(in, 26, 26) != 0, is_load = bits(in, 22, 22) != 0;
        bool has_tag = size == 1 && !is_vector && !is_load; /* stgp */
        unsigned shift = is_vector ? 2 + size : has_tag ? 4 : size == 2 ? 3 : 2;
        int32_t offset = extend(bits(in, 21, 15), 7) * (INT32_C(1) << shift);
        int32_t at = mode & 1 ? 0 : offset;

        if (!is_vector && size == 2 && rn == SP) {
                move(e, 0, is_load, bits(in, 4, 0), at);
                move(e, 1, is_load, bits(in, 14, 10), at + 8);
        } else if (!is_vector && is_load) {
                set(e, bits(in, 4, 0));
                set(e, bits(in, 14, 10));
        }
        address(e, rn, mode & 1 ? mode : 0, offset);
}

static void read_single(uint32_t in, struct code_effect *e)
{
        uint32_t size = bits(in, 31, 30), operation = bits(in, 23, 22), mode = bits(in, 11, 10);
        uint32_t rn = bits(in, 9, 5), rt = bits(in, 4, 0);
        bool is_vector = bits(in, 26, 26) != 0, is_scaled = bits(in, 24, 24) != 0;
        bool has_register = !is_scaled && bits(in, 21, 21);
        int32_t offset = is_scaled ? (int32_t)(bits(in, 21, 10) << 3) : extend(bits(in, 20, 12), 9);

        if (has_register && mode != 2 && rn == SP) {
                e->flow = CODE_FLOW_UNKNOWN; /* atomic ones, and addresses with a signature */
                return;
        }
        if (!is_scaled && !has_register)
                address(e, rn, mode & 1 ? mode : 0, offset);
        if (is_vector)
                return;
        if (size == 3 && operation < 2 && rn == SP && !has_register && (is_scaled || mode != 2))
                move(e, 0, operation == 1, rt, !is_scaled && mode & 1 ? 0 : offset);
        else if (operation != 0 || has_register)
                set(e, rt);
}

static void read_memory(uint32_t in, struct code_effect *e)
{
        if (bits(in, 29, 27) == 5 && !bits(in, 25, 25)) {
                read_pair(in, e);
        } else if (bits(in, 29, 27) == 7 && !bits(in, 25, 25)) {
                read_single(in, e);
        } else if (bits(in, 29, 24) == 0x18 || bits(in, 29, 24) == 0x1c) { /* near the program counter */
                if (!bits(in, 26, 26))
                        set(e, bits(in, 4, 0));
        } else if (bits(in, 29, 24) == 0x08) { /* exclusive ones */
                set(e, bits(in, 4, 0));
                set(e, bits(in, 14, 10));
                set(e, bits(in, 20, 16));
        } else if (bits(in, 9, 5) == SP) {
                e->flow = CODE_FLOW_UNKNOWN;
        } else {
                set(e, bits(in, 4, 0));
                set(e, bits(in, 9, 5));
        }
}

bool code_effect_read_aarch64(const uint8_t *bytes, size_t n_bytes, struct code_effect *ret_effect)
{
        struct code_effect e = { .n_bytes = 4, .flow = CODE_FLOW_NEXT };
        uint32_t in;

        if (n_bytes < 4)
                return false;
        in = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
             (uint32_t)bytes[3] << 24;
        switch (bits(in, 28, 25)) {
        case 8:
        case 9:
                read_constant(in, &e);
                break;
        case 10:
        case 11:
                read_jump(in, &e);
                break;
        case 5:
        case 13:
                read_registers(in, &e);
                break;
        case 7:
        case 15:
                read_vector(in, &e);
                break;
        case 4:
        case 6:
        case 12:
        case 14:
                read_memory(in, &e);
                break;
        default:
                e.flow = CODE_FLOW_UNKNOWN;
        }
        *ret_effect = e;
        return true;
}
