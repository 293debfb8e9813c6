/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_table.c, unwind_table_build.c: every address gets the rule of its row, gaps none; limits hold
 */
#include "base/error.h"
#include "tests/unit/cfi_builder.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "unwind/plt_frames.h"
#include "unwind/unwind_machine.h"

#include <errno.h>
#include <string.h>

#define CIE_BYTES CFI_BYTES(0x0c, 7, 8, 0x90, 1)

static const struct cfi_builder_cie plain = { .version = 1 };
static const struct cfi_builder_cie signal_frame = { .augmentation = "zRS" };

static struct cfi_builder b;
static struct unwind_table *table;

static void setup(void)
{
        cfi_builder_init(&b);
}

static void teardown(void)
{
        unwind_table_free(table);
        table = NULL;
        cfi_builder_deinit(&b);
}

static int cfa_offset_at(uint64_t svma)
{
        const struct unwind_rule *rule = unwind_table_find(table, svma);

        return rule ? rule->cfa_offset : -1;
}

struct offset_at {
        uint64_t svma;
        int cfa_offset; /* -1 = there is no rule */
};

static void expect_offsets(const struct offset_at *wanted, size_t n)
{
        for (size_t i = 0; i < n; i++)
                ck_assert_msg(cfa_offset_at(wanted[i].svma) == wanted[i].cfa_offset, "%#llx: %d, not %d",
                              (unsigned long long)wanted[i].svma, cfa_offset_at(wanted[i].svma),
                              wanted[i].cfa_offset);
}
#define EXPECT_OFFSETS(...)                                       \
        expect_offsets((const struct offset_at[]){ __VA_ARGS__ }, \
                       sizeof((const struct offset_at[]){ __VA_ARGS__ }) / sizeof(struct offset_at))

START_TEST(test_rows_and_gaps)
{
        cfi_builder_add_cie(&b, &plain, CIE_BYTES);
        /*
         * Not in the order of addresses; 0x2000 to 0x2030, then 8 bytes of padding, then 0x2038 to
         * 0x2048; a gap; 0x5000.
         */
        cfi_builder_add_fde(&b, 0x5000, 0x10, CFI_BYTES(0x0e, 48));
        cfi_builder_add_fde(&b, 0x2000, 0x30, CFI_BYTES(0x41, 0x0e, 16, 0x50, 0x0e, 24));
        cfi_builder_add_fde(&b, 0x2038, 0x10, CFI_BYTES(0x0e, 32));
        cfi_builder_add_fde(&b, 0x200, 0x10, CFI_BYTES(0x0e, 32));    /* before the code */
        cfi_builder_add_fde(&b, 0xffff8, 0x10, CFI_BYTES(0x0e, 32));  /* beyond its end */
        cfi_builder_add_fde(&b, 0x2000, 0, CFI_BYTES(0x0e, 32));      /* of no length */
        cfi_builder_add_fde(&b, 0x7000, 0x10, CFI_BYTES(0x3f, 0x3f)); /* damaged */
        table = cfi_builder_table(&b, &unwind_machine_x86_64);

        ck_assert_uint_eq(table->n_fdes, 3);
        ck_assert_uint_eq(table->n_outside, 3);
        ck_assert_uint_eq(table->n_damaged, 1);
        EXPECT_OFFSETS({ 0, -1 }, { 0x1000, -1 }, { 0x1fff, -1 }, { 0x2000, 8 }, { 0x2001, 16 },
                       { 0x2010, 16 }, { 0x2011, 24 }, { 0x2037, 24 }, { 0x2038, 32 }, { 0x2047, 32 },
                       { 0x2048, -1 }, { 0x4fff, -1 }, { 0x5000, 48 }, { 0x500f, 48 }, { 0x5010, -1 },
                       { UINT64_MAX, -1 });
}
END_TEST

/* Where functions overlap, the one that begins first has the bytes, and the other what is left. */
START_TEST(test_overlaps)
{
        cfi_builder_add_cie(&b, &plain, CIE_BYTES);
        cfi_builder_add_fde(&b, 0x2000, 0x30, CFI_BYTES(0x0e, 16));
        cfi_builder_add_fde(&b, 0x2000, 0x30, CFI_BYTES(0x0e, 24));
        cfi_builder_add_fde(&b, 0x2010, 0x10, CFI_BYTES(0x0e, 32));
        cfi_builder_add_fde(&b, 0x2020, 0x30, CFI_BYTES(0x0e, 40, 0x58, 0x0e, 48, 0x48, 0x0e, 56));
        table = cfi_builder_table(&b, &unwind_machine_x86_64);
        EXPECT_OFFSETS({ 0x2000, 16 }, { 0x202f, 16 }, { 0x2030, 40 }, { 0x2038, 48 }, { 0x2040, 56 },
                       { 0x204f, 56 });
}
END_TEST

static const struct {
        const char *name;
        const struct cfi_builder_cie *cie;
        uint8_t instructions[24];
        size_t n_bytes;
        struct unwind_rule rule; /* but for `saved` */
} rules[] = {
        { "sp",
          &plain,
          { 0x0e, 16 },
          2,
          { UNWIND_CFA_SP, 7, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_SAME, 16, -8, 0, 0 } },
        { "fp",
          &plain,
          { 0x0c, 6, 16, 0x86, 2 },
          5,
          { UNWIND_CFA_FP, 6, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA, 16, -8, -16, 0 } },
        { "another register",
          &plain,
          { 0x0c, 10, 0 },
          3,
          { UNWIND_CFA_REGISTER, 10, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_SAME, 0, -8, 0, 0 } },
        { "no caller",
          &plain,
          { 0x07, 16 },
          2,
          { UNWIND_CFA_SP, 7, UNWIND_SAVED_UNDEFINED, UNWIND_SAVED_SAME, 8, 0, 0, 0 } },
        { "return address in a register",
          &plain,
          { 0x09, 16, 5 },
          3,
          { UNWIND_CFA_SP, 7, UNWIND_SAVED_IN_REGISTER, UNWIND_SAVED_SAME, 8, 5, 0, 0 } },
        { "return address by a long way",
          &plain,
          { 0x05, 16, 0xff, 0xff, 0x0f },
          5,
          { UNWIND_CFA_SP, 7, UNWIND_SAVED_ELSEWHERE, UNWIND_SAVED_SAME, 8, 0, 0, 0 } },
        { "frame pointer = CFA + n",
          &plain,
          { 0x14, 6, 2 },
          3,
          { UNWIND_CFA_SP, 7, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_ELSEWHERE, 8, -8, 0, 0 } },
        { "the PLT",
          &plain,
          { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 },
          13,
          { UNWIND_CFA_PLT, 11, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_SAME, 8, -8, 0, 0 } },
        { "an aligned stack",
          &plain,
          { 0x0f, 3, 0x76, 0x78, 0x06 },
          5,
          { UNWIND_CFA_DEREF, 6, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_SAME, -8, -8, 0, 0 } },
        { "an expression",
          &plain,
          { 0x0f, 5, 0x77, 8, 0x06, 0x23, 8 },
          7,
          { UNWIND_CFA_EXPRESSION, 0, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_SAME, 0, -8, 0, 0 } },
        { "a signal frame",
          &signal_frame,
          { 0x0f, 4, 0x77, 0xa0, 1, 0x06 },
          6,
          { UNWIND_CFA_SIGNAL, 0, 0, 0, 0, 0, 0, 0 } },
};

/* loop test */
START_LOOP_TEST(test_rules, 0, sizeof(rules) / sizeof(rules[0]))
{
        const struct unwind_rule *rule, *e = &rules[_i].rule;

        cfi_builder_add_cie(&b, rules[_i].cie, CIE_BYTES);
        cfi_builder_add_fde(&b, 0x2000, 0x10, rules[_i].instructions, rules[_i].n_bytes);
        table = cfi_builder_table(&b, &unwind_machine_x86_64);
        rule = unwind_table_find(table, 0x2000);
        ck_assert_ptr_nonnull(rule);
        ck_assert_msg(rule->cfa == e->cfa && rule->cfa_register == e->cfa_register &&
                              rule->cfa_offset == e->cfa_offset,
                      "%s: cfa %u, register %u, %d", rules[_i].name, rule->cfa, rule->cfa_register,
                      rule->cfa_offset);
        ck_assert_msg(rule->ra == e->ra && rule->ra_value == e->ra_value, "%s: return address %u, %d",
                      rules[_i].name, rule->ra, rule->ra_value);
        ck_assert_msg(rule->fp == e->fp && rule->fp_value == e->fp_value, "%s: frame pointer %u, %d",
                      rules[_i].name, rule->fp, rule->fp_value);
        if (rule->cfa == UNWIND_CFA_EXPRESSION) {
                size_t n_bytes;
                const uint8_t *bytes = unwind_table_expression(table, rule->cfa_offset, &n_bytes);

                ck_assert_uint_eq(n_bytes, 5);
                ck_assert_int_eq(memcmp(bytes, rules[_i].instructions + 2, n_bytes), 0);
        }
}
END_TEST

START_TEST(test_saved_registers)
{
        const struct unwind_saved *saved;
        const struct unwind_rule *rule;
        size_t n_bytes;

        cfi_builder_add_cie(&b, &plain, CIE_BYTES);
        cfi_builder_add_fde(&b, 0x2000, 0x10, CFI_BYTES(0x83, 3, 0x8c, 4, 0x10, 13, 2, 0x77, 8));
        cfi_builder_add_fde(&b, 0x3000, 0x10, CFI_BYTES(0x8c, 4, 0x83, 3, 0x10, 13, 2, 0x77, 8));
        table = cfi_builder_table(&b, &unwind_machine_x86_64);
        rule = unwind_table_find(table, 0x2000);
        ck_assert_ptr_eq(rule, unwind_table_find(table, 0x3000)); /* they say the same */
        saved = unwind_table_saved(table, rule, 3);
        ck_assert_ptr_nonnull(saved);
        ck_assert_int_eq(saved->value, -24);
        saved = unwind_table_saved(table, rule, 13);
        ck_assert_ptr_nonnull(saved);
        ck_assert_uint_eq(saved->kind, UNWIND_SAVED_AT_EXPRESSION);
        ck_assert_uint_eq(unwind_table_expression(table, saved->value, &n_bytes)[0], 0x77);
        ck_assert_uint_eq(n_bytes, 2);
        ck_assert_ptr_null(unwind_table_saved(table, rule, 6));
}
END_TEST

START_TEST(test_nothing)
{
        const struct unwind_code_range code = { .start_svma = 0x1000, .end_svma = 0x100000 };
        struct unwind_table_source source = { .machine = &unwind_machine_x86_64, .code = &code, .n_code = 1 };

        ck_assert_int_eq(unwind_table_build(&source, &table, NULL), -ENODATA);
        source.n_code = 0;
        ck_assert_int_eq(unwind_table_build(&source, &table, NULL), -ENODATA);
        ck_assert_ptr_null(table);
}
END_TEST

/*
 * Stubs have rules by their instructions, but those of a section where one describes them;
 * hostile ones are left out.
 */
START_TEST(test_stubs)
{
        static const uint8_t jump_push[] = { 0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0 };
        const struct unwind_code_range code = { .start_svma = 0, .end_svma = 0x100000 };
        const struct plt_section plts[] = {
                { jump_push, sizeof(jump_push), 0x2000 },         /* described by the section as well */
                { jump_push, sizeof(jump_push), 0x3000 },         /* by nothing else */
                { jump_push + 1, 4, 0x4000 },                     /* not understood */
                { jump_push, sizeof(jump_push), 0xffff8 },        /* beyond the code */
                { jump_push, sizeof(jump_push), UINT64_MAX - 7 }, /* around the end of all addresses */
        };
        struct cfi_section section;
        struct unwind_table_source source = { .machine = &unwind_machine_x86_64,
                                              .sections = &section,
                                              .n_sections = 1,
                                              .code = &code,
                                              .n_code = 1,
                                              .plts = plts,
                                              .n_plts = sizeof(plts) / sizeof(plts[0]) };

        cfi_builder_add_cie(&b, &plain, CIE_BYTES);
        cfi_builder_add_fde(&b, 0x2000, 0x10, CFI_BYTES(0x0e, 48));
        section = cfi_builder_section(&b);
        ck_assert_int_eq(unwind_table_build(&source, &table, NULL), 0);
        ck_assert_uint_eq(table->n_fdes, 3);
        EXPECT_OFFSETS({ 0x2000, 48 }, { 0x200f, 48 }, { 0x2fff, -1 }, { 0x3000, 8 }, { 0x300a, 8 },
                       { 0x300b, 16 }, { 0x300f, 16 }, { 0x3010, -1 }, { 0x4000, -1 }, { 0xffff8, -1 });
        ck_assert_int_eq(unwind_table_find(table, 0x3000)->ra, UNWIND_SAVED_AT_CFA);
        ck_assert_int_eq(unwind_table_find(table, 0x3000)->ra_value, -8);
}
END_TEST

START_TEST(test_second_section_and_sigreturns)
{
        const struct unwind_code_range code = { .start_svma = 0x1000, .end_svma = 0x100000 };
        const struct unwind_code_range sigreturns[] = { { 0x6000, 0x6009 }, { 0x500000, 0x500009 } };
        struct cfi_section sections[2];
        struct unwind_table_source source = { .machine = &unwind_machine_x86_64,
                                              .sections = sections,
                                              .n_sections = 2,
                                              .code = &code,
                                              .n_code = 1,
                                              .sigreturns = sigreturns,
                                              .n_sigreturns = 2 };
        struct cfi_builder first, second;

        cfi_builder_init(&first);
        cfi_builder_init(&second);
        second.is_debug_frame = true;
        cfi_builder_add_cie(&first, &plain, CIE_BYTES);
        cfi_builder_add_fde(&first, 0x2000, 0x10, CFI_BYTES(0x0e, 16));
        cfi_builder_add_cie(&second, &(struct cfi_builder_cie){ .version = 3, .augmentation = "" },
                            CIE_BYTES);
        cfi_builder_add_fde(&second, 0x2000, 0x10, CFI_BYTES(0x0e, 24));
        cfi_builder_add_fde(&second, 0x3000, 0x10, CFI_BYTES(0x0e, 32));
        sections[0] = cfi_builder_section(&first);
        sections[1] = cfi_builder_section(&second);
        ck_assert_int_eq(unwind_table_build(&source, &table, NULL), 0);
        ck_assert_int_eq(cfa_offset_at(0x2000), 16);
        ck_assert_int_eq(cfa_offset_at(0x3000), 32);
        ck_assert_ptr_null(unwind_table_find(table, 0x5ffe));
        ck_assert_uint_eq(unwind_table_find(table, 0x5fff)->cfa, UNWIND_CFA_SIGNAL);
        ck_assert_uint_eq(unwind_table_find(table, 0x6008)->cfa, UNWIND_CFA_SIGNAL);
        ck_assert_ptr_null(unwind_table_find(table, 0x6009));
        cfi_builder_deinit(&first);
        cfi_builder_deinit(&second);
}
END_TEST

/* Many functions in any order: each address gives what a search through all of them gives. */
START_TEST(test_many_functions)
{
        enum { N = 3000 };
        static struct {
                uint64_t start, end;
                int offset;
        } functions[N];
        uint64_t state = 3;

        cfi_builder_add_cie(&b, &plain, CIE_BYTES);
        for (uint64_t i = 0; i < N; i++) {
                /* Each has 256 bytes to itself, and begins and ends somewhere in them. */
                uint64_t place = (i * 1237) % N;

                functions[place].start = 0x1000 + place * 256 + (fixed_random_next(&state) >> 32) % 100;
                functions[place].end = functions[place].start + 1 + (fixed_random_next(&state) >> 32) % 100;
                functions[place].offset = (int)(i % 120);
                cfi_builder_add_fde(&b, functions[place].start, functions[place].end - functions[place].start,
                                    CFI_BYTES(0x0e, (uint8_t)functions[place].offset));
        }
        table = cfi_builder_table(&b, &unwind_machine_x86_64);
        for (uint64_t i = 0; i < N; i++) {
                ck_assert_int_eq(cfa_offset_at(functions[i].start), functions[i].offset);
                ck_assert_int_eq(cfa_offset_at(functions[i].end - 1), functions[i].offset);
                if (i + 1 < N && functions[i + 1].start - functions[i].end >= UNWIND_TABLE_GAP_BYTES_MIN)
                        ck_assert_int_eq(cfa_offset_at(functions[i].end), -1);
        }
        ck_assert_uint_le(table->n_rules, 121);
}
END_TEST

/* More different rules than a row can name: the table ends up with gaps, not with wrong rules. */
START_TEST(test_too_many_rules)
{
        enum { N = 70000 };

        cfi_builder_add_cie(&b, &plain, CIE_BYTES);
        for (uint64_t i = 0; i < N; i++)
                cfi_builder_add_fde(
                        &b, 0x1000 + i * 8, 8,
                        CFI_BYTES(0x0e, (uint8_t)(i | 0x80), (uint8_t)(i >> 7 | 0x80), (uint8_t)(i >> 14)));
        table = cfi_builder_table(&b, &unwind_machine_x86_64);
        ck_assert_uint_eq(table->n_rules, UNWIND_TABLE_RULES_MAX);
        for (int i = 0; i < N; i++)
                ck_assert_int_eq(cfa_offset_at(0x1000 + (uint64_t)i * 8),
                                 i < UNWIND_TABLE_RULES_MAX - 1 ? i : -1);
}
END_TEST

START_TEST(test_random_bytes)
{
        const struct unwind_code_range code = { .start_svma = 0, .end_svma = UINT64_MAX };
        uint64_t state = 11;

        for (int i = 0; i < 2000; i++) {
                struct cfi_section section;
                const struct unwind_table_source source = { .machine = &unwind_machine_x86_64,
                                                            .sections = &section,
                                                            .n_sections = 1,
                                                            .code = &code,
                                                            .n_code = 1 };

                teardown();
                setup();
                cfi_builder_add_cie(&b, &plain, CIE_BYTES);
                for (uint64_t k = 0; k < 8; k++)
                        cfi_builder_add_fde(&b, 0x1000 + k * 16, 16,
                                            CFI_BYTES(0x0e, 16, 0x41, 0x83, 2, 0x0a, 0x0b));
                for (size_t k = 0; k < b.bytes.used_bytes; k++)
                        if ((fixed_random_next(&state) >> 32) % 16 == 0)
                                b.bytes.data[k] = (uint8_t)(fixed_random_next(&state) >> 32);
                section = cfi_builder_section(&b);
                if (unwind_table_build(&source, &table, NULL) == 0)
                        for (uint64_t svma = 0x0ff0; svma < 0x1100; svma++)
                                (void)unwind_table_find(table, svma);
        }
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
