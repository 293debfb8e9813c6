/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/branch_target.h"

#include "base/bytes.h"

#include <elf.h>
#include <string.h>

/* The lowest @n_bits of @value, as a signed number. */
static int64_t sign_extend(uint64_t value, unsigned n_bits)
{
        uint64_t sign = UINT64_C(1) << (n_bits - 1);

        value &= (sign << 1) - 1;
        return (int64_t)((value ^ sign) - sign);
}

static struct branch_target relative(enum branch_kind kind, uint64_t svma, int64_t distance)
{
        return (struct branch_target){ .kind = kind, .svma = svma + (uint64_t)distance };
}

static uint32_t bits(uint32_t word, unsigned first, unsigned n_bits)
{
        return word >> first & ((1U << n_bits) - 1);
}

/* ---- x86 ----------------------------------------------------------------------------------------------- */

static bool is_x86_prefix(uint8_t byte, bool is_64_bit)
{
        static const uint8_t prefixes[] = {
                0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3
        };

        return memchr(prefixes, byte, sizeof(prefixes)) != NULL || (is_64_bit && byte >> 4 == 4);
}

static enum branch_kind x86_kind(uint8_t byte, uint8_t byte_after)
{
        if (byte == 0xe8)
                return BRANCH_CALL;
        if (byte == 0xe9 || byte == 0xeb)
                return BRANCH_JUMP;
        if (byte >> 4 == 7 || (byte >= 0xe0 && byte <= 0xe3) || (byte == 0x0f && byte_after >> 4 == 8))
                return BRANCH_CONDITIONAL;
        return BRANCH_NONE;
}

/*
 * The distance is the rest of the instruction after the opcode: one, two or four bytes, counted from the
 * instruction's end.
 */
static struct branch_target decode_x86(bool is_64_bit, uint64_t svma, const uint8_t *bytes, size_t n_bytes)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct branch_target target = { .kind = BRANCH_NONE };
        enum branch_kind kind;
        uint8_t opcode;

        while (in.left > 0 && is_x86_prefix(*in.at, is_64_bit))
                (void)bytes_u8(&in);
        opcode = bytes_u8(&in);
        kind = x86_kind(opcode, in.left > 0 ? *in.at : 0);
        if (opcode == 0x0f)
                (void)bytes_u8(&in);
        if (in.short_read || kind == BRANCH_NONE)
                return target;
        if (in.left == 1)
                target = relative(kind, svma + n_bytes, sign_extend(bytes_u8(&in), 8));
        else if (in.left == 2)
                target = relative(kind, svma + n_bytes, sign_extend(bytes_u16(&in), 16));
        else if (in.left == 4)
                target = relative(kind, svma + n_bytes, sign_extend(bytes_u32(&in), 32));
        if (!is_64_bit)
                target.svma &= UINT32_MAX;
        return target;
}

/* ---- AArch64 ------------------------------------------------------------------------------------------- */

static struct branch_target decode_aarch64(uint64_t svma, uint32_t word)
{
        if ((word & 0x7c000000) == 0x14000000) /* b, bl */
                return relative(word >> 31 ? BRANCH_CALL : BRANCH_JUMP, svma,
                                4 * sign_extend(bits(word, 0, 26), 26));
        if ((word & 0xff000000) == 0x54000000) /* b.cond, bc.cond */
                return relative(BRANCH_CONDITIONAL, svma, 4 * sign_extend(bits(word, 5, 19), 19));
        if ((word & 0x7e000000) == 0x34000000) /* cbz, cbnz */
                return relative(BRANCH_CONDITIONAL, svma, 4 * sign_extend(bits(word, 5, 19), 19));
        if ((word & 0x7e000000) == 0x36000000) /* tbz, tbnz */
                return relative(BRANCH_CONDITIONAL, svma, 4 * sign_extend(bits(word, 5, 14), 14));
        return (struct branch_target){ .kind = BRANCH_NONE };
}

/* ---- RISC-V -------------------------------------------------------------------------------------------- */

static struct branch_target decode_riscv(uint64_t svma, uint32_t word)
{
        uint32_t distance;

        if ((word & 0x7f) == 0x6f) { /* jal */
                distance = bits(word, 31, 1) << 20 | bits(word, 12, 8) << 12 | bits(word, 20, 1) << 11 |
                           bits(word, 21, 10) << 1;
                return relative(bits(word, 7, 5) == 0 ? BRANCH_JUMP : BRANCH_CALL, svma,
                                sign_extend(distance, 21));
        }
        if ((word & 0x7f) == 0x63) { /* beq and its like */
                distance = bits(word, 31, 1) << 12 | bits(word, 7, 1) << 11 | bits(word, 25, 6) << 5 |
                           bits(word, 8, 4) << 1;
                return relative(BRANCH_CONDITIONAL, svma, sign_extend(distance, 13));
        }
        return (struct branch_target){ .kind = BRANCH_NONE };
}

static struct branch_target decode_riscv_short(uint64_t svma, uint32_t half)
{
        uint32_t distance;

        if ((half & 0xe003) == 0xa001) { /* c.j */
                distance = bits(half, 12, 1) << 11 | bits(half, 8, 1) << 10 | bits(half, 9, 2) << 8 |
                           bits(half, 6, 1) << 7 | bits(half, 7, 1) << 6 | bits(half, 2, 1) << 5 |
                           bits(half, 11, 1) << 4 | bits(half, 3, 3) << 1;
                return relative(BRANCH_JUMP, svma, sign_extend(distance, 12));
        }
        if ((half & 0xc003) == 0xc001) { /* c.beqz, c.bnez */
                distance = bits(half, 12, 1) << 8 | bits(half, 5, 2) << 6 | bits(half, 2, 1) << 5 |
                           bits(half, 10, 2) << 3 | bits(half, 3, 2) << 1;
                return relative(BRANCH_CONDITIONAL, svma, sign_extend(distance, 9));
        }
        return (struct branch_target){ .kind = BRANCH_NONE };
}

struct branch_target branch_target_decode(uint16_t machine, uint64_t svma, const uint8_t *bytes,
                                          size_t n_bytes)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);

        if (machine == EM_X86_64 || machine == EM_386)
                return decode_x86(machine == EM_X86_64, svma, bytes, n_bytes);
        if (machine == EM_AARCH64 && n_bytes == 4)
                return decode_aarch64(svma, bytes_u32(&in));
        if (machine == EM_RISCV && n_bytes == 4)
                return decode_riscv(svma, bytes_u32(&in));
        if (machine == EM_RISCV && n_bytes == 2)
                return decode_riscv_short(svma, bytes_u16(&in));
        return (struct branch_target){ .kind = BRANCH_NONE };
}
