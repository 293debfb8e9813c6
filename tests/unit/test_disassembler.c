/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/disassembler.c: AVX-512, AMX, SVE, SVE2 and RVV are decoded, targets are addresses,
 * what is no code is bytes
 */
#include "base/error.h"
#include "symbolize/listing/disassembler.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

struct encoding {
        uint16_t machine;
        uint8_t bytes[8];
        size_t n_bytes;
        const char *text;
};

/* llvm-mc assembles them to this. */
static const struct encoding encodings[] = {
        { EM_X86_64,
          { 0x62, 0xf2, 0x75, 0x59, 0xb8, 0x14, 0x87 },
          7,
          "vfmadd231ps (%rdi,%rax,4){1to16}, %zmm1, %zmm2 {%k1}" },
        { EM_X86_64,
          { 0x62, 0xf2, 0x7d, 0x49, 0xa2, 0x0c, 0x97 },
          7,
          "vscatterdps %zmm1, (%rdi,%zmm2,4) {%k1}" },
        { EM_X86_64, { 0x62, 0xf2, 0x6d, 0x48, 0x50, 0xd9 }, 6, "vpdpbusd %zmm1, %zmm2, %zmm3" },
        { EM_X86_64, { 0x62, 0xf2, 0x76, 0x48, 0x52, 0xd0 }, 6, "vdpbf16ps %zmm0, %zmm1, %zmm2" },
        { EM_X86_64, { 0x62, 0xf6, 0x75, 0x58, 0xb8, 0x17 }, 6, "vfmadd231ph (%rdi){1to32}, %zmm1, %zmm2" },
        { EM_X86_64, { 0xc4, 0xe2, 0x7b, 0x5e, 0xd1 }, 5, "tdpbssd %tmm0, %tmm1, %tmm2" },
        { EM_X86_64, { 0xe8, 0x00, 0x01, 0x00, 0x00 }, 5, "callq 0x1105" },
        { EM_X86_64, { 0x75, 0xf8 }, 2, "jne 0xffa" },
        { EM_X86_64, { 0x06 }, 1, ".byte 0x06" },
        { EM_AARCH64, { 0x60, 0x1c, 0xa1, 0x25 }, 4, "whilelo p0.s, x3, x1" },
        { EM_AARCH64, { 0x00, 0x40, 0x21, 0x85 }, 4, "ld1w { z0.s }, p0/z, [x0, z1.s, uxtw #2]" },
        { EM_AARCH64, { 0x20, 0xc0, 0xa2, 0x45 }, 4, "histcnt z0.s, p0/z, z1.s, z2.s" },
        { EM_AARCH64, { 0x20, 0x98, 0x02, 0x45 }, 4, "smmla z0.s, z1.b, z2.b" },
        { EM_AARCH64, { 0xc1, 0xff, 0xff, 0x54 }, 4, "b.ne 0xff8" },
        { EM_AARCH64, { 0x63, 0x00, 0x18, 0x36 }, 4, "tbz w3, #0x3, 0x100c" },
        { EM_AARCH64, { 0x00, 0x00, 0x00, 0x00 }, 4, "udf #0x0" },
        { EM_AARCH64, { 0xff, 0xff, 0xff, 0xff }, 4, ".byte 0xff, 0xff, 0xff, 0xff" },
        { EM_RISCV, { 0xd7, 0x72, 0x35, 0x0d }, 4, "vsetvli t0, a0, e32, m8, ta, ma" },
        { EM_RISCV, { 0x57, 0x58, 0x85, 0xb2 }, 4, "vfmacc.vf v16, fa0, v8" },
        { EM_RISCV, { 0x07, 0xe4, 0x05, 0x07 }, 4, "vluxei32.v v8, (a1), v16" },
        { EM_RISCV, { 0x33, 0xc5, 0xc5, 0x20 }, 4, "sh2add a0, a1, a2" },
        { EM_RISCV, { 0x53, 0xf5, 0xc5, 0x04 }, 4, "fadd.h fa0, fa1, fa2" },
        { EM_RISCV, { 0x82, 0x80 }, 2, "ret" },
        { EM_RISCV, { 0xe3, 0x1c, 0x05, 0xfe }, 4, "bnez a0, 0xff8" },
        { EM_RISCV, { 0x00, 0x00 }, 2, "unimp" },
};

static struct disassembler *open_for(uint16_t machine, bool intel_syntax)
{
        const struct disassembler_options options = { .machine = machine,
                                                      .is_64_bit = true,
                                                      .intel_syntax = intel_syntax };
        struct disassembler *d = NULL;
        struct error err = ERROR_NONE;

        ck_assert_msg(disassembler_open(&options, &d, &err) == 0, "%s", err.text);
        return d;
}

START_LOOP_TEST(test_each_extension, 0, sizeof(encodings) / sizeof(encodings[0]))
{
        const struct encoding *e = &encodings[_i];
        struct disassembler *d = open_for(e->machine, false);
        char text[DISASSEMBLER_TEXT_BYTES];

        ck_assert_uint_eq(disassembler_decode(d, 0x1000, e->bytes, e->n_bytes, text), e->n_bytes);
        ck_assert_str_eq(text, e->text);
        disassembler_close(d);
}
END_TEST

/* loop test: an instruction that is cut off is bytes, and no more of them than there are */
START_LOOP_TEST(test_cut_anywhere, 0, sizeof(encodings) / sizeof(encodings[0]))
{
        const struct encoding *e = &encodings[_i];
        struct disassembler *d = open_for(e->machine, false);
        char text[DISASSEMBLER_TEXT_BYTES];

        for (size_t n = 1; n < e->n_bytes; n++) {
                size_t n_used = disassembler_decode(d, 0x1000, e->bytes, n, text);

                ck_assert_uint_ge(n_used, 1);
                ck_assert_uint_le(n_used, n);
        }
        disassembler_close(d);
}
END_TEST

START_TEST(test_intel_syntax)
{
        static const uint8_t add[] = { 0x83, 0xc0, 0x2a }, jump[] = { 0xeb, 0xfe };
        struct disassembler *d = open_for(EM_X86_64, true);
        char text[DISASSEMBLER_TEXT_BYTES];

        ck_assert_uint_eq(disassembler_decode(d, 0x1000, add, sizeof(add), text), 3);
        ck_assert_str_eq(text, "add eax, 0x2a");
        ck_assert_uint_eq(disassembler_decode(d, 0x1000, jump, sizeof(jump), text), 2);
        ck_assert_str_eq(text, "jmp 0x1000");
        disassembler_close(d);
}
END_TEST

START_TEST(test_unknown_machine)
{
        const struct disassembler_options options = { .machine = EM_AVR, .is_64_bit = true };
        struct disassembler *d = NULL;
        struct error err = ERROR_NONE;

        ck_assert_int_eq(disassembler_open(&options, &d, &err), -ENOTSUP);
        ck_assert_ptr_null(d);
        disassembler_close(NULL);
}
END_TEST
