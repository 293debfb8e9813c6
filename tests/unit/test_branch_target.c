/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/branch_target.c: direct jumps and calls lead where the manuals say,
 * and nothing else is one
 */
#include "symbolize/listing/branch_target.h"
#include "tests/unit/unit_test.h"

#include <elf.h>

static const struct {
        uint16_t machine;
        uint8_t bytes[8];
        size_t n_bytes;
        enum branch_kind kind;
        uint64_t svma; /* from 0x1000 */
} branches[] = {
        { EM_X86_64, { 0xeb, 0xfe }, 2, BRANCH_JUMP, 0x1000 },
        { EM_X86_64, { 0xe9, 0x00, 0x00, 0x00, 0x80 }, 5, BRANCH_JUMP, 0xffffffff80001005 },
        { EM_X86_64, { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 5, BRANCH_CALL, 0x1000 },
        { EM_X86_64, { 0x67, 0xe8, 0x02, 0x00, 0x00, 0x00 }, 6, BRANCH_CALL, 0x1008 },
        { EM_X86_64, { 0x0f, 0x8f, 0x10, 0x00, 0x00, 0x00 }, 6, BRANCH_CONDITIONAL, 0x1016 },
        { EM_X86_64, { 0x3e, 0x74, 0x10 }, 3, BRANCH_CONDITIONAL, 0x1013 },
        { EM_X86_64, { 0xe3, 0x7f }, 2, BRANCH_CONDITIONAL, 0x1081 },
        { EM_X86_64, { 0x0f, 0x90, 0xc0 }, 3, BRANCH_NONE, 0 },
        { EM_X86_64, { 0xff, 0xe0 }, 2, BRANCH_NONE, 0 },
        { EM_X86_64, { 0xc3 }, 1, BRANCH_NONE, 0 },
        { EM_X86_64, { 0x66 }, 1, BRANCH_NONE, 0 },
        { EM_X86_64, { 0x0f }, 1, BRANCH_NONE, 0 },
        { EM_386, { 0xe9, 0x00, 0x00, 0x00, 0x80 }, 5, BRANCH_JUMP, 0x80001005 },
        { EM_386, { 0x40, 0xeb, 0x00 }, 3, BRANCH_NONE, 0 }, /* there it is an instruction, no prefix */
        { EM_AARCH64, { 0xff, 0xff, 0xff, 0x17 }, 4, BRANCH_JUMP, 0xffc },
        { EM_AARCH64, { 0x02, 0x00, 0x00, 0x94 }, 4, BRANCH_CALL, 0x1008 },
        { EM_AARCH64, { 0xc1, 0xff, 0xff, 0x54 }, 4, BRANCH_CONDITIONAL, 0xff8 },
        { EM_AARCH64, { 0x40, 0x00, 0x00, 0xb4 }, 4, BRANCH_CONDITIONAL, 0x1008 },
        { EM_AARCH64, { 0x63, 0x00, 0x18, 0x36 }, 4, BRANCH_CONDITIONAL, 0x100c },
        { EM_AARCH64, { 0xc0, 0x03, 0x5f, 0xd6 }, 4, BRANCH_NONE, 0 },
        { EM_RISCV, { 0x6f, 0xf0, 0xdf, 0xff }, 4, BRANCH_JUMP, 0xffc },
        { EM_RISCV, { 0xef, 0x00, 0x80, 0x00 }, 4, BRANCH_CALL, 0x1008 },
        { EM_RISCV, { 0xe3, 0x1c, 0x05, 0xfe }, 4, BRANCH_CONDITIONAL, 0xff8 },
        { EM_RISCV, { 0xf5, 0xbf }, 2, BRANCH_JUMP, 0xffc },
        { EM_RISCV, { 0x11, 0xc1 }, 2, BRANCH_CONDITIONAL, 0x1004 },
        { EM_RISCV, { 0x82, 0x80 }, 2, BRANCH_NONE, 0 },
        { EM_S390, { 0xa7, 0xf4, 0x00, 0x04 }, 4, BRANCH_NONE, 0 },
};

START_LOOP_TEST(test_each_branch, 0, sizeof(branches) / sizeof(branches[0]))
{
        struct branch_target target = branch_target_decode(branches[_i].machine, 0x1000, branches[_i].bytes,
                                                           branches[_i].n_bytes);

        ck_assert_int_eq(target.kind, branches[_i].kind);
        ck_assert_uint_eq(target.svma, branches[_i].svma);
}
END_TEST
