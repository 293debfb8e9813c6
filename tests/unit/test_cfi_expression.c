/* SPDX-License-Identifier: MIT */
/*
 * unwind/cfi_expression.c: operations give what DWARF says; nonsense, endless loops and
 * foreign memory give errors
 */
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "unwind/cfi_expression.h"

#include <errno.h>
#include <stdlib.h>

/* Register n holds 1000 * n; memory at 0x1000 .. 0x1fff holds its address in each word. */
static int read_register(void *context, uint64_t number, uint64_t *ret_value)
{
        (void)context;
        if (number > 16)
                return -ENOENT;
        *ret_value = 1000 * number;
        return 0;
}

static int read_memory(void *context, uint64_t avma, size_t n_bytes, uint64_t *ret_value)
{
        (void)context;
        if (avma < 0x1000 || avma >= 0x2000)
                return -EFAULT;
        *ret_value = n_bytes == 8 ? avma + UINT64_C(0x100000000) : avma & ((UINT64_C(1) << 8 * n_bytes) - 1);
        return 0;
}

static const struct cfi_expression_view view = { .read_register = read_register, .read_memory = read_memory };

static const struct {
        const char *name;
        uint8_t bytes[24];
        size_t n_bytes;
        int result;
        int64_t value;
} cases[] = {
        { "lit0", { 0x30 }, 1, 0, 0 },
        { "lit31", { 0x4f }, 1, 0, 31 },
        { "const1u", { 0x08, 0xff }, 2, 0, 255 },
        { "const1s", { 0x09, 0xff }, 2, 0, -1 },
        { "const2u", { 0x0a, 0xff, 0xff }, 3, 0, 65535 },
        { "const2s", { 0x0b, 0xfe, 0xff }, 3, 0, -2 },
        { "const4u", { 0x0c, 0xff, 0xff, 0xff, 0xff }, 5, 0, 0xffffffff },
        { "const4s", { 0x0d, 0xfd, 0xff, 0xff, 0xff }, 5, 0, -3 },
        { "const8u", { 0x0e, 1, 0, 0, 0, 0, 0, 0, 0x10 }, 9, 0, INT64_C(0x1000000000000001) },
        { "const8s", { 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 9, 0, -1 },
        { "constu", { 0x10, 0x81, 1 }, 3, 0, 129 },
        { "consts", { 0x11, 0x7f }, 2, 0, -1 },
        { "breg7", { 0x77, 8 }, 2, 0, 7008 },
        { "breg7 negative", { 0x77, 0x78 }, 2, 0, 6992 },
        { "bregx", { 0x92, 9, 1 }, 3, 0, 9001 },
        { "a register that is not known", { 0x92, 40, 1 }, 3, -ENOENT, 0 },
        { "deref", { 0x0a, 0, 0x10, 0x06 }, 4, 0, INT64_C(0x100001000) },
        { "deref_size", { 0x0a, 0x34, 0x12, 0x94, 1 }, 5, 0, 0x34 },
        { "deref_size 4", { 0x0a, 0x34, 0x12, 0x94, 4 }, 5, 0, 0x1234 },
        { "deref of nothing", { 0x30, 0x06 }, 2, -EFAULT, 0 },
        { "deref_size 3", { 0x0a, 0x34, 0x12, 0x94, 3 }, 5, -EBADMSG, 0 },
        { "dup plus", { 0x35, 0x12, 0x22 }, 3, 0, 10 },
        { "drop", { 0x35, 0x36, 0x13 }, 3, 0, 5 },
        { "over", { 0x35, 0x36, 0x14 }, 3, 0, 5 },
        { "pick", { 0x35, 0x36, 0x37, 0x15, 2 }, 5, 0, 5 },
        { "pick too deep", { 0x35, 0x15, 1 }, 3, -EBADMSG, 0 },
        { "swap minus", { 0x35, 0x37, 0x16, 0x1c }, 4, 0, 2 },
        { "rot", { 0x31, 0x32, 0x33, 0x17 }, 4, 0, 2 },
        { "rot and two drops", { 0x31, 0x32, 0x33, 0x17, 0x13, 0x13 }, 6, 0, 3 },
        { "abs", { 0x11, 0x7b, 0x19 }, 3, 0, 5 },
        { "and", { 0x36, 0x33, 0x1a }, 3, 0, 2 },
        { "div", { 0x11, 0x76, 0x33, 0x1b }, 4, 0, -3 },
        { "div by 0", { 0x31, 0x30, 0x1b }, 3, -EBADMSG, 0 },
        { "least by -1", { 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x11, 0x7f, 0x1b }, 12, 0, INT64_MIN },
        { "minus", { 0x33, 0x35, 0x1c }, 3, 0, -2 },
        { "mod", { 0x38, 0x33, 0x1d }, 3, 0, 2 },
        { "mod 0", { 0x38, 0x30, 0x1d }, 3, -EBADMSG, 0 },
        { "mul", { 0x38, 0x33, 0x1e }, 3, 0, 24 },
        { "neg", { 0x35, 0x1f }, 2, 0, -5 },
        { "not", { 0x30, 0x20 }, 2, 0, -1 },
        { "or", { 0x36, 0x33, 0x21 }, 3, 0, 7 },
        { "plus", { 0x36, 0x33, 0x22 }, 3, 0, 9 },
        { "plus_uconst", { 0x36, 0x23, 0x80, 1 }, 4, 0, 134 },
        { "shl", { 0x31, 0x33, 0x24 }, 3, 0, 8 },
        { "shl by 64", { 0x31, 0x08, 64, 0x24 }, 4, 0, 0 },
        { "shr", { 0x11, 0x7f, 0x08, 60, 0x25 }, 5, 0, 15 },
        { "shra", { 0x11, 0x70, 0x32, 0x26 }, 4, 0, -4 },
        { "shra by 99", { 0x11, 0x70, 0x08, 99, 0x26 }, 5, 0, -1 },
        { "xor", { 0x36, 0x33, 0x27 }, 3, 0, 5 },
        { "eq", { 0x33, 0x33, 0x29 }, 3, 0, 1 },
        { "ge", { 0x11, 0x7f, 0x33, 0x2a }, 4, 0, 0 },
        { "gt", { 0x34, 0x33, 0x2b }, 3, 0, 1 },
        { "le", { 0x34, 0x33, 0x2c }, 3, 0, 0 },
        { "lt", { 0x11, 0x7f, 0x33, 0x2d }, 4, 0, 1 },
        { "ne", { 0x33, 0x33, 0x2e }, 3, 0, 0 },
        { "skip", { 0x31, 0x2f, 1, 0, 0x32 }, 5, 0, 1 },
        { "bra taken", { 0x35, 0x31, 0x28, 1, 0, 0x32 }, 6, 0, 5 },
        { "bra not taken", { 0x35, 0x30, 0x28, 1, 0, 0x32 }, 6, 0, 2 },
        { "skip out", { 0x31, 0x2f, 2, 0, 0x32 }, 5, -EBADMSG, 0 },
        { "skip to before", { 0x31, 0x2f, 0xfb, 0xff }, 4, -EBADMSG, 0 },
        { "for ever", { 0x31, 0x13, 0x2f, 0xfb, 0xff }, 5, -E2BIG, 0 },
        { "nop", { 0x31, 0x96 }, 2, 0, 1 },
        { "addr", { 0x03, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, -ENOTSUP, 0 },
        { "unknown", { 0xff }, 1, -ENOTSUP, 0 },
        { "empty", { 0 }, 0, -EBADMSG, 0 },
        { "nothing to drop", { 0x13 }, 1, -EBADMSG, 0 },
        { "plus of one", { 0x31, 0x22 }, 2, -EBADMSG, 0 },
        { "cut", { 0x0c, 1, 2 }, 3, -EBADMSG, 0 },
};

/* loop test */
START_LOOP_TEST(test_operations, 0, sizeof(cases) / sizeof(cases[0]))
{
        uint64_t value = 0;
        int r = cfi_expression_evaluate(cases[_i].bytes, cases[_i].n_bytes, &view, NULL, &value);

        ck_assert_msg(r == cases[_i].result, "%s: %d", cases[_i].name, r);
        if (r == 0)
                ck_assert_msg((int64_t)value == cases[_i].value, "%s: %ld", cases[_i].name, (long)value);
}
END_TEST

START_TEST(test_initial_value)
{
        static const uint8_t plus_two[] = { 0x23, 2 };
        uint64_t initial = 40, value = 0;

        ck_assert_int_eq(cfi_expression_evaluate(plus_two, sizeof(plus_two), &view, &initial, &value), 0);
        ck_assert_uint_eq(value, 42);
}
END_TEST

START_TEST(test_full_stack)
{
        uint8_t bytes[CFI_EXPRESSION_STACK_MAX + 1];
        uint64_t value = 0;

        for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = 0x31;
        ck_assert_int_eq(cfi_expression_evaluate(bytes, CFI_EXPRESSION_STACK_MAX, &view, NULL, &value), 0);
        ck_assert_int_eq(cfi_expression_evaluate(bytes, sizeof(bytes), &view, NULL, &value), -EBADMSG);
}
END_TEST

START_TEST(test_random_bytes)
{
        uint64_t state = 7;
        int n_good = 0;

        for (int i = 0; i < 100000; i++) {
                uint8_t bytes[12];
                uint64_t value = 0;

                for (size_t k = 0; k < sizeof(bytes); k++)
                        bytes[k] = (uint8_t)(fixed_random_next(&state) >> 32);
                n_good += cfi_expression_evaluate(bytes, sizeof(bytes), &view, NULL, &value) == 0;
        }
        ck_assert_int_gt(n_good, 0);
}
END_TEST
