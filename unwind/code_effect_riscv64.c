/* SPDX-License-Identifier: MIT */
/* Instructions of 32 bits, and the compressed ones of 16 bits; longer ones are unknown. */
#include "unwind/code_effect.h"

#define RA 1
#define SP 2
#define FP 8

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
        else if (number == SP)
                e->flow = CODE_FLOW_UNKNOWN;
}

static bool is_kept(uint32_t number)
{
        return number == RA || number == FP;
}

static void move(struct code_effect *e, enum code_move_kind kind, uint32_t number, int32_t offset)
{
        e->moves[0] = (struct code_move){ .kind = (uint8_t)kind,
                                          .number = number == RA ? CODE_REGISTER_RA : CODE_REGISTER_FP,
                                          .offset = offset };
}

/* @number = @from + @offset */
static void add(struct code_effect *e, uint32_t number, uint32_t from, int32_t offset)
{
        if (number == SP && (from == SP || from == FP)) {
                e->sp_is_fp = from == FP;
                e->sp_after = offset;
        } else if (number == FP && from == SP) {
                e->fp_is_sp = true;
                e->fp_offset = offset;
        } else {
                set(e, number);
        }
}

static void jump(struct code_effect *e, uint32_t link, int32_t target)
{
        e->flow = link == 0 ? CODE_FLOW_JUMP : link == RA ? CODE_FLOW_CALL : CODE_FLOW_UNKNOWN;
        e->target = target;
}

static void jump_to_register(struct code_effect *e, uint32_t link, uint32_t to, int32_t offset)
{
        if (link == 0 && to == RA && offset == 0)
                e->flow = CODE_FLOW_RETURN;
        else
                e->flow = link == RA ? CODE_FLOW_CALL : CODE_FLOW_AWAY;
}

/* Comparisons, conversions and moves to a register for integers. */
static bool is_from_floating_point(uint32_t in)
{
        uint32_t kind = bits(in, 31, 27);

        return kind == 0x14 || kind == 0x18 || kind == 0x1c;
}

/* vsetvl and its kind; vmv.x.s, vcpop, vfirst. */
static bool is_from_vector(uint32_t in)
{
        return bits(in, 14, 12) == 7 || (bits(in, 14, 12) == 2 && bits(in, 31, 26) == 0x10);
}

static void read_long(uint32_t in, struct code_effect *e)
{
        uint32_t rd = bits(in, 11, 7), rs1 = bits(in, 19, 15), rs2 = bits(in, 24, 20);
        uint32_t kind = bits(in, 14, 12);
        int32_t offset = extend(bits(in, 31, 20), 12);

        switch (bits(in, 6, 0)) {
        case 0x63: /* conditional branches */
                e->flow = CODE_FLOW_BRANCH;
                e->target = extend(bits(in, 31, 31) << 12 | bits(in, 7, 7) << 11 | bits(in, 30, 25) << 5 |
                                           bits(in, 11, 8) << 1,
                                   13);
                return;
        case 0x6f: /* jal */
                jump(e, rd,
                     extend(bits(in, 31, 31) << 20 | bits(in, 19, 12) << 12 | bits(in, 20, 20) << 11 |
                                    bits(in, 30, 21) << 1,
                            21));
                return;
        case 0x67: /* jalr */
                jump_to_register(e, rd, rs1, offset);
                return;
        case 0x23: /* stores */
                if (kind == 3 && rs1 == SP && is_kept(rs2))
                        move(e, CODE_MOVE_STORE, rs2, extend(bits(in, 31, 25) << 5 | rd, 12));
                return;
        case 0x03: /* loads */
                if (kind == 3 && rs1 == SP && is_kept(rd))
                        move(e, CODE_MOVE_LOAD, rd, offset);
                else
                        set(e, rd);
                return;
        case 0x13: /* with a constant */
                if (kind == 0)
                        add(e, rd, rs1, offset);
                else
                        set(e, rd);
                return;
        case 0x73: /* ebreak; ecall and others */
                if (in == 0x00100073)
                        e->flow = CODE_FLOW_UNKNOWN;
                set(e, rd);
                return;
        case 0x17: /* auipc */
        case 0x37: /* lui */
        case 0x1b:
        case 0x33:
        case 0x3b:
        case 0x2f: /* atomic ones */
                set(e, rd);
                return;
        case 0x53:
                if (is_from_floating_point(in))
                        set(e, rd);
                return;
        case 0x57:
                if (is_from_vector(in))
                        set(e, rd);
                return;
        case 0x07: /* loads and stores of floating-point and vector registers, multiply and add, fences */
        case 0x27:
        case 0x43:
        case 0x47:
        case 0x4b:
        case 0x4f:
        case 0x0f:
                return;
        default:
                e->flow = CODE_FLOW_UNKNOWN;
        }
}

/* The first third: registers have three bits, from FP on. */
static void read_short_0(uint32_t in, struct code_effect *e)
{
        uint32_t rd = FP + bits(in, 4, 2);

        switch (bits(in, 15, 13)) {
        case 0: /* c.addi4spn; 0 is no instruction */
                if (in == 0)
                        e->flow = CODE_FLOW_UNKNOWN;
                else
                        add(e, rd, SP,
                            (int32_t)(bits(in, 12, 11) << 4 | bits(in, 10, 7) << 6 | bits(in, 6, 6) << 2 |
                                      bits(in, 5, 5) << 3));
                return;
        case 2: /* c.lw, c.ld, and newer ones of bytes */
        case 3:
        case 4:
                set(e, rd);
                return;
        default: /* c.fld, and stores */
                return;
        }
}

static void read_short_1(uint32_t in, struct code_effect *e)
{
        uint32_t rd = bits(in, 11, 7);
        int32_t value = extend(bits(in, 12, 12) << 5 | bits(in, 6, 2), 6);

        switch (bits(in, 15, 13)) {
        case 0: /* c.addi */
                add(e, rd, rd, value);
                return;
        case 3: /* c.addi16sp; c.lui */
                if (rd == SP)
                        e->sp_after = extend(bits(in, 12, 12) << 9 | bits(in, 6, 6) << 4 |
                                                     bits(in, 5, 5) << 6 | bits(in, 4, 3) << 7 |
                                                     bits(in, 2, 2) << 5,
                                             10);
                else
                        set(e, rd);
                return;
        case 4:
                set(e, FP + bits(in, 9, 7));
                return;
        case 5: /* c.j */
                jump(e, 0,
                     extend(bits(in, 12, 12) << 11 | bits(in, 11, 11) << 4 | bits(in, 10, 9) << 8 |
                                    bits(in, 8, 8) << 10 | bits(in, 7, 7) << 6 | bits(in, 6, 6) << 7 |
                                    bits(in, 5, 3) << 1 | bits(in, 2, 2) << 5,
                            12));
                return;
        case 6: /* c.beqz, c.bnez */
        case 7:
                e->flow = CODE_FLOW_BRANCH;
                e->target = extend(bits(in, 12, 12) << 8 | bits(in, 11, 10) << 3 | bits(in, 6, 5) << 6 |
                                           bits(in, 4, 3) << 1 | bits(in, 2, 2) << 5,
                                   9);
                return;
        default: /* c.addiw, c.li */
                set(e, rd);
        }
}

/* c.jr, c.mv, c.ebreak, c.jalr, c.add */
static void read_short_jump(uint32_t in, struct code_effect *e)
{
        uint32_t rd = bits(in, 11, 7), rs2 = bits(in, 6, 2);
        bool is_second = bits(in, 12, 12) != 0;

        if (rs2 == 0 && rd == 0)
                e->flow = CODE_FLOW_UNKNOWN;
        else if (rs2 == 0)
                jump_to_register(e, is_second ? RA : 0, rd, 0);
        else if (!is_second)
                add(e, rd, rs2, 0);
        else
                set(e, rd);
}

static void read_short_2(uint32_t in, struct code_effect *e)
{
        uint32_t rd = bits(in, 11, 7), rs2 = bits(in, 6, 2);

        switch (bits(in, 15, 13)) {
        case 3: /* c.ldsp */
                if (is_kept(rd))
                        move(e, CODE_MOVE_LOAD, rd,
                             (int32_t)(bits(in, 12, 12) << 5 | bits(in, 6, 5) << 3 | bits(in, 4, 2) << 6));
                else
                        set(e, rd);
                return;
        case 4:
                read_short_jump(in, e);
                return;
        case 7: /* c.sdsp */
                if (is_kept(rs2))
                        move(e, CODE_MOVE_STORE, rs2, (int32_t)(bits(in, 12, 10) << 3 | bits(in, 9, 7) << 6));
                return;
        case 1: /* c.fldsp, c.fsdsp, c.swsp */
        case 5:
        case 6:
                return;
        default: /* c.slli, c.lwsp */
                set(e, rd);
        }
}

bool code_effect_read_riscv64(const uint8_t *bytes, size_t n_bytes, struct code_effect *ret_effect)
{
        static void (*const readers[])(uint32_t in, struct code_effect * e) = { read_short_0, read_short_1,
                                                                                read_short_2, read_long };
        struct code_effect e = { .flow = CODE_FLOW_NEXT };
        uint32_t in;

        if (n_bytes < 2)
                return false;
        in = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
        e.n_bytes = (in & 3) == 3 ? 4 : 2;
        if ((in & 0x1f) == 0x1f) {
                e.flow = CODE_FLOW_UNKNOWN; /* longer ones */
        } else {
                if (n_bytes < e.n_bytes)
                        return false;
                if (e.n_bytes == 4)
                        in |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
                readers[in & 3](in, &e);
        }
        *ret_effect = e;
        return true;
}
