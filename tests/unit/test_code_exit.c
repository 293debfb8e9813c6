/* SPDX-License-Identifier: MIT */
/*
 * unwind/code_exit.c: short straight code has the rule that its instructions give at each of them;
 * anything else has none
 */
#include "tests/unit/unit_test.h"
#include "unwind/code_exit.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_rule.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(...) { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define NO_FP      99 /* the frame pointer is as the caller left it */

static const struct {
        uint8_t bytes[CODE_EXIT_BYTES];
        size_t n_bytes;
        enum unwind_cfa cfa; /* UNWIND_CFA_NONE: there is no rule */
        int32_t cfa_offset;
        int fp_value; /* where the caller's frame pointer is, from the CFA; NO_FP */
} cases[] = {
        /* Python's trampoline, from each of its instructions on: sub rsp; call rcx; add rsp; ret */
        { BYTES(0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3), UNWIND_CFA_SP, 8, NO_FP },
        { BYTES(0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3), UNWIND_CFA_SP, 16, NO_FP },
        { BYTES(0x48, 0x83, 0xc4, 0x08, 0xc3), UNWIND_CFA_SP, 16, NO_FP },
        { BYTES(0xc3), UNWIND_CFA_SP, 8, NO_FP },
        { BYTES(0xf3, 0xc3), UNWIND_CFA_SP, 8, NO_FP },
        { BYTES(0x48, 0x81, 0xc4, 0x00, 0x01, 0x00, 0x00, 0xc3), UNWIND_CFA_SP, 0x108, NO_FP },
        /* a frame pointer: endbr64; push rbp; mov rsp to rbp; call rax; pop rbp; ret */
        { BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0x5d, 0xc3), UNWIND_CFA_SP, 8,
          NO_FP },
        { BYTES(0xff, 0xd0, 0x5d, 0xc3), UNWIND_CFA_SP, 16, -16 },
        { BYTES(0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3), UNWIND_CFA_SP, 32, -16 },
        { BYTES(0xc9, 0xc3), UNWIND_CFA_FP, 16, -16 },
        { BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xe8, 1, 2, 3, 4, 0xc9, 0xc3), UNWIND_CFA_SP,
          8, NO_FP },
        /* the same without its end */
        { BYTES(0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08), UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x48, 0x83, 0xc4), UNWIND_CFA_NONE, 0, 0 },
        /* a jump, another register that is restored, an instruction that is not known */
        { BYTES(0xeb, 0x00, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x5b, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x31, 0xc0, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        /* what was pushed is still there, or is overwritten by a call */
        { BYTES(0x55, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x48, 0x83, 0xec, 0x08, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x55, 0x48, 0x83, 0xc4, 0x08, 0xff, 0xd0, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x5d, 0x5d, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x55, 0x48, 0x83, 0xc4, 0x08, 0xff, 0xd0, 0x48, 0x83, 0xec, 0x08, 0x5d, 0xc3),
          UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x55, 0x48, 0x83, 0xc4, 0x08, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        /* something else is popped */
        { BYTES(0x55, 0x48, 0x83, 0xec, 0x08, 0x5d, 0x48, 0x83, 0xc4, 0x08, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        /* the largest frame that is followed, and one larger, either way */
        { BYTES(0x48, 0x81, 0xc4, 0x00, 0x10, 0x00, 0x00, 0xc3), UNWIND_CFA_SP, 0x1008, NO_FP },
        { BYTES(0x48, 0x81, 0xc4, 0x01, 0x10, 0x00, 0x00, 0xc3), UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x48, 0x81, 0xec, 0x00, 0x10, 0x00, 0x00, 0x48, 0x81, 0xc4, 0x00, 0x10, 0x00, 0x00, 0xc3),
          UNWIND_CFA_SP, 8, NO_FP },
        { BYTES(0x48, 0x81, 0xec, 0x01, 0x10, 0x00, 0x00, 0x48, 0x81, 0xc4, 0x01, 0x10, 0x00, 0x00, 0xc3),
          UNWIND_CFA_NONE, 0, 0 },
        { BYTES(0x48, 0x89, 0xe5, 0xc9, 0xc3), UNWIND_CFA_NONE, 0, 0 },
};

START_LOOP_TEST(test_case, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct unwind_rule rule = { .cfa = UNWIND_CFA_NONE };
        bool found = code_exit_find(&unwind_machine_x86_64, cases[_i].bytes, cases[_i].n_bytes, &rule);

        ck_assert_int_eq(found, cases[_i].cfa != UNWIND_CFA_NONE);
        if (!found)
                return;
        ck_assert_int_eq(rule.cfa, cases[_i].cfa);
        ck_assert_int_eq(rule.cfa_offset, cases[_i].cfa_offset);
        ck_assert_int_eq(rule.ra, UNWIND_SAVED_AT_CFA);
        ck_assert_int_eq(rule.ra_value, -8);
        ck_assert_int_eq(rule.fp, cases[_i].fp_value == NO_FP ? UNWIND_SAVED_SAME : UNWIND_SAVED_AT_CFA);
        if (cases[_i].fp_value != NO_FP)
                ck_assert_int_eq(rule.fp_value, cases[_i].fp_value);
}
END_TEST

/* As many instructions as are followed, and one more. */
START_TEST(test_long_code)
{
        uint8_t bytes[17];
        struct unwind_rule rule;

        memset(bytes, 0x90, sizeof(bytes));
        bytes[15] = bytes[16] = 0xc3;
        ck_assert(code_exit_find(&unwind_machine_x86_64, bytes, 16, &rule));
        bytes[15] = 0x90;
        ck_assert(!code_exit_find(&unwind_machine_x86_64, bytes, 17, &rule));
}
END_TEST

/* At every cut nothing is read beyond the bytes, and a rule is found only with the return. */
START_TEST(test_cuts)
{
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                for (size_t n = 0; n < cases[i].n_bytes; n++) {
                        uint8_t *copy = malloc(n + 1); /* so that AddressSanitizer sees the end */
                        struct unwind_rule rule;

                        for (size_t k = 0; k < n; k++)
                                copy[k] = cases[i].bytes[k];
                        copy = realloc(copy, n > 0 ? n : 1);
                        ck_assert(!code_exit_find(&unwind_machine_x86_64, copy, n, &rule));
                        free(copy);
                }
}
END_TEST

START_TEST(test_other_machines)
{
        const uint8_t ret[] = { 0xc3 };
        struct unwind_rule rule;

        ck_assert(!code_exit_find(&unwind_machine_aarch64, ret, sizeof(ret), &rule));
        ck_assert(!code_exit_find(&unwind_machine_riscv64, ret, sizeof(ret), &rule));
}
END_TEST

/* Only code that surely does not return is the first of its thread. */
START_TEST(test_never)
{
        static const uint8_t halts[] = { 0xf4 }, exits[] = { 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 };
        static const uint8_t any_call[] = { 0x89, 0xc7, 0xe8, 1, 2, 3, 4, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
        const struct unwind_machine *m = &unwind_machine_x86_64;

        ck_assert(code_exit_is_never(m, halts, sizeof(halts)));
        ck_assert(code_exit_is_never(m, exits, sizeof(exits)));
        ck_assert(!code_exit_is_never(m, exits, sizeof(exits) - 1));
        ck_assert(!code_exit_is_never(m, any_call, sizeof(any_call)));
        ck_assert(!code_exit_is_never(m, halts, 0));
        ck_assert(!code_exit_is_never(&unwind_machine_aarch64, halts, sizeof(halts)));
}
END_TEST
