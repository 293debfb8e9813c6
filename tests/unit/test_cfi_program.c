/* SPDX-License-Identifier: MIT */
/* unwind/cfi_program.c: every instruction does what DWARF says; nonsense ends a program */
#include "tests/unit/cfi_builder.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "unwind/cfi_program.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 8
#define REG      3 /* the register that most cases are about */
#define START    0x2000
#define LENGTH   0x100

static struct cfi_builder b;

/* The CIE of all cases: CFA = r7 + 8, the return address at CFA - 8, register 4 at CFA - 16. */
#define CIE_BYTES CFI_BYTES(0x0c, 7, 8, 0x90, 1, 0x84, 2)

struct expected_row {
        uint64_t at; /* from START */
        uint32_t cfa_register;
        int32_t cfa_value;
        uint16_t kind; /* of REG */
        int32_t value;
};

static const struct {
        const char *name;
        uint8_t code_align;
        uint8_t instructions[32];
        size_t n_bytes;
        struct expected_row rows[4];
        size_t n_rows;
        bool is_damaged;
} cases[] = {
        { "nothing", 1, { 0 }, 0, { { 0, 7, 8, CFI_SAVED_SAME, 0 } }, 1, false },
        { "nop", 1, { 0, 0 }, 2, { { 0, 7, 8, CFI_SAVED_SAME, 0 } }, 1, false },
        { "advance, def_cfa_offset",
          1,
          { 0x42, 0x0e, 16 },
          3,
          { { 0, 7, 8, 0, 0 }, { 2, 7, 16, 0, 0 } },
          2,
          false },
        { "aligned advance", 4, { 0x42, 0x0e, 16 }, 3, { { 0, 7, 8, 0, 0 }, { 8, 7, 16, 0, 0 } }, 2, false },
        { "advance1",
          1,
          { 0x02, 0x90, 0x0e, 16 },
          4,
          { { 0, 7, 8, 0, 0 }, { 0x90, 7, 16, 0, 0 } },
          2,
          false },
        { "advance2",
          1,
          { 0x03, 0x90, 0, 0x0e, 16 },
          5,
          { { 0, 7, 8, 0, 0 }, { 0x90, 7, 16, 0, 0 } },
          2,
          false },
        { "advance4",
          1,
          { 0x04, 0x90, 0, 0, 0, 0x0e, 16 },
          7,
          { { 0, 7, 8, 0, 0 }, { 0x90, 7, 16, 0, 0 } },
          2,
          false },
        { "advance8",
          1,
          { 0x1d, 0x90, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16 },
          11,
          { { 0, 7, 8, 0, 0 }, { 0x90, 7, 16, 0, 0 } },
          2,
          false },
        { "set_loc",
          1,
          { 0x01, 0x10, 0x20, 0, 0, 0, 0, 0, 0, 0x0e, 16 },
          11,
          { { 0, 7, 8, 0, 0 }, { 0x10, 7, 16, 0, 0 } },
          2,
          false },
        { "advance beyond the end", 1, { 0x03, 0, 2, 0x0e, 16 }, 5, { { 0, 7, 8, 0, 0 } }, 1, false },
        { "two advances, one row",
          1,
          { 0x0e, 16, 0x40, 0x41, 0x0e, 24 },
          6,
          { { 0, 7, 16, 0, 0 }, { 1, 7, 24, 0, 0 } },
          2,
          false },
        { "def_cfa", 1, { 0x0c, 6, 0x80, 1 }, 4, { { 0, 6, 128, 0, 0 } }, 1, false },
        { "def_cfa_sf", 1, { 0x12, 6, 0x7e }, 3, { { 0, 6, 16, 0, 0 } }, 1, false },
        { "def_cfa_register", 1, { 0x0d, 6 }, 2, { { 0, 6, 8, 0, 0 } }, 1, false },
        { "def_cfa_offset_sf", 1, { 0x13, 0x7d }, 2, { { 0, 7, 24, 0, 0 } }, 1, false },
        { "offset", 1, { 0x80 | REG, 3 }, 2, { { 0, 7, 8, CFI_SAVED_AT_CFA, -24 } }, 1, false },
        { "offset_extended", 1, { 0x05, REG, 3 }, 3, { { 0, 7, 8, CFI_SAVED_AT_CFA, -24 } }, 1, false },
        { "offset_extended_sf", 1, { 0x11, REG, 0x7f }, 3, { { 0, 7, 8, CFI_SAVED_AT_CFA, 8 } }, 1, false },
        { "negative_offset_extended",
          1,
          { 0x2f, REG, 3 },
          3,
          { { 0, 7, 8, CFI_SAVED_AT_CFA, 24 } },
          1,
          false },
        { "val_offset", 1, { 0x14, REG, 2 }, 3, { { 0, 7, 8, CFI_SAVED_CFA_PLUS, -16 } }, 1, false },
        { "val_offset_sf", 1, { 0x15, REG, 0x7e }, 3, { { 0, 7, 8, CFI_SAVED_CFA_PLUS, 16 } }, 1, false },
        { "undefined", 1, { 0x07, REG }, 2, { { 0, 7, 8, CFI_SAVED_UNDEFINED, 0 } }, 1, false },
        { "register", 1, { 0x09, REG, 12 }, 3, { { 0, 7, 8, CFI_SAVED_IN_REGISTER, 12 } }, 1, false },
        { "same_value",
          1,
          { 0x80 | REG, 3, 0x41, 0x08, REG },
          5,
          { { 0, 7, 8, CFI_SAVED_AT_CFA, -24 }, { 1, 7, 8, 0, 0 } },
          2,
          false },
        { "restore",
          1,
          { 0x80 | REG, 3, 0x41, 0xc0 | REG },
          4,
          { { 0, 7, 8, CFI_SAVED_AT_CFA, -24 }, { 1, 7, 8, 0, 0 } },
          2,
          false },
        { "restore_extended",
          1,
          { 0x80 | REG, 3, 0x41, 0x06, REG },
          5,
          { { 0, 7, 8, CFI_SAVED_AT_CFA, -24 }, { 1, 7, 8, 0, 0 } },
          2,
          false },
        { "remember, restore_state",
          1,
          { 0x0a, 0x80 | REG, 3, 0x0e, 16, 0x41, 0x0b },
          7,
          { { 0, 7, 16, CFI_SAVED_AT_CFA, -24 }, { 1, 7, 8, 0, 0 } },
          2,
          false },
        { "args_size", 1, { 0x2e, 0x80, 1, 0x0e, 16 }, 5, { { 0, 7, 16, 0, 0 } }, 1, false },
        { "negate_ra_state", 1, { 0x2d, 0x2c, 0x0e, 16 }, 4, { { 0, 7, 16, 0, 0 } }, 1, false },
        { "a register that does not count",
          1,
          { 0x05, 40, 3, 0x0e, 16 },
          5,
          { { 0, 7, 16, 0, 0 } },
          1,
          false },
        { "unknown", 1, { 0x41, 0x3f }, 2, { { 0, 7, 8, 0, 0 } }, 1, true },
        { "restore_state of nothing", 1, { 0x0b }, 1, { { 0, 0, 0, 0, 0 } }, 0, true },
        { "too many states", 1, { 10, 10, 10, 10, 10, 10, 10, 10, 10 }, 9, { { 0, 0, 0, 0, 0 } }, 0, true },
        { "backwards", 1, { 0x01, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 16 }, 11, { { 0, 0, 0, 0, 0 } }, 0, true },
        { "cut number", 1, { 0x0e, 0x80 }, 2, { { 0, 0, 0, 0, 0 } }, 0, true },
        { "cut advance", 1, { 0x03, 1 }, 2, { { 0, 0, 0, 0, 0 } }, 0, true },
        { "cut expression", 1, { 0x0f, 3, 0x77, 8 }, 4, { { 0, 0, 0, 0, 0 } }, 0, true },
        { "huge expression", 1, { 0x0f, 0xff, 0xff, 0xff, 0xff, 0x7f }, 6, { { 0, 0, 0, 0, 0 } }, 0, true },
        { "huge offset", 1, { 0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f }, 6, { { 0, 0, 0, 0, 0 } }, 0, true },
        { "huge factored offset",
          1,
          { 0x80 | REG, 0xff, 0xff, 0xff, 0xff, 7 },
          6,
          { { 0, 0, 0, 0, 0 } },
          0,
          true },
        { "huge register", 1, { 0x0d, 0xff, 0xff, 0xff, 0xff, 7 }, 6, { { 0, 0, 0, 0, 0 } }, 0, true },
};

/* Runs a function's program; returns how many rows there are. */
static size_t run(const struct cfi_section *section, struct cfi_program *p, struct cfi_row *rows,
                  uint64_t *svmas)
{
        struct cfi_reader reader;
        struct cfi_row initial;
        struct cfi_fde fde;
        size_t n = 0;

        cfi_reader_init(&reader, section);
        ck_assert_int_eq(cfi_reader_next(&reader, &fde), 1);
        ck_assert(cfi_program_run_cie(section, fde.cie, &initial));
        cfi_program_start(p, section, &fde, &initial);
        p->n_instructions_left = 1000;
        while (n < ROWS_MAX && cfi_program_next(p, &svmas[n]) == 1)
                rows[n++] = p->row;
        return n;
}

/* loop test */
START_LOOP_TEST(test_instructions, 0, sizeof(cases) / sizeof(cases[0]))
{
        const struct cfi_builder_cie cie = { .code_align = cases[_i].code_align };
        struct cfi_row rows[ROWS_MAX];
        uint64_t svmas[ROWS_MAX];
        struct cfi_section section;
        struct cfi_program p;
        size_t n_rows;

        cfi_builder_add_cie(&b, &cie, CIE_BYTES);
        cfi_builder_add_fde(&b, START, LENGTH, cases[_i].instructions, cases[_i].n_bytes);
        section = cfi_builder_section(&b);
        n_rows = run(&section, &p, rows, svmas);
        ck_assert_msg(n_rows == cases[_i].n_rows, "%s: %zu rows", cases[_i].name, n_rows);
        ck_assert_msg(p.is_damaged == cases[_i].is_damaged, "%s", cases[_i].name);
        for (size_t i = 0; i < n_rows; i++) {
                const struct expected_row *e = &cases[_i].rows[i];

                ck_assert_msg(svmas[i] == START + e->at, "%s: row %zu at %#lx", cases[_i].name, i,
                              (unsigned long)svmas[i]);
                ck_assert_msg(rows[i].cfa_register == e->cfa_register && rows[i].cfa_value == e->cfa_value,
                              "%s: row %zu is r%u + %d", cases[_i].name, i, rows[i].cfa_register,
                              rows[i].cfa_value);
                ck_assert_msg(rows[i].saved[REG].kind == e->kind && rows[i].saved[REG].value == e->value,
                              "%s: row %zu, kind %u, value %d", cases[_i].name, i, rows[i].saved[REG].kind,
                              rows[i].saved[REG].value);
                ck_assert_uint_eq(rows[i].saved[16].kind, CFI_SAVED_AT_CFA);
                ck_assert_int_eq(rows[i].saved[16].value, -8);
                ck_assert_int_eq(rows[i].saved[4].value, -16);
        }
}
END_TEST

START_TEST(test_expressions)
{
        const struct cfi_builder_cie cie = { .version = 1 };
        struct cfi_row rows[ROWS_MAX];
        uint64_t svmas[ROWS_MAX];
        struct cfi_section section;
        struct cfi_program p;

        cfi_builder_add_cie(&b, &cie, CIE_BYTES);
        cfi_builder_add_fde(
                &b, START, LENGTH,
                CFI_BYTES(0x0f, 2, 0x77, 8, 0x10, REG, 1, 0x31, 0x41, 0x16, REG, 1, 0x32, 0x41, 0x0d, 6));
        section = cfi_builder_section(&b);
        ck_assert_uint_eq(run(&section, &p, rows, svmas), 3);
        ck_assert(rows[0].is_cfa_expression);
        ck_assert_uint_eq(rows[0].cfa_n_expression_bytes, 2);
        ck_assert_uint_eq(section.bytes[rows[0].cfa_value], 0x77);
        ck_assert_uint_eq(rows[0].saved[REG].kind, CFI_SAVED_AT_EXPRESSION);
        ck_assert_uint_eq(section.bytes[rows[0].saved[REG].value], 0x31);
        ck_assert_uint_eq(rows[1].saved[REG].kind, CFI_SAVED_BY_EXPRESSION);
        ck_assert_uint_eq(section.bytes[rows[1].saved[REG].value], 0x32);
        ck_assert(!rows[2].is_cfa_expression);
        ck_assert_uint_eq(rows[2].cfa_register, 6);
}
END_TEST

/* Rows that say the same have the same digest however they came about; others differ. */
START_TEST(test_digest)
{
        const struct cfi_builder_cie cie = { .version = 1 };
        struct cfi_row rows[ROWS_MAX];
        uint64_t svmas[ROWS_MAX];
        struct cfi_section section;
        struct cfi_program p;

        cfi_builder_add_cie(&b, &cie, CIE_BYTES);
        /* r3 and r6; r6 and r3 the other way round in time; back; r3 by the same expression twice */
        cfi_builder_add_fde(&b, START, LENGTH,
                            CFI_BYTES(0x83, 3, 0x86, 4, 0x41, 0xc3, 0xc6, 0x86, 4, 0x83, 3, 0x41, 0xc3, 0xc6,
                                      0x41, 0x10, 3, 1, 0x31, 0x41, 0x10, 3, 1, 0x31, 0x41, 0x10, 3, 1,
                                      0x32));
        section = cfi_builder_section(&b);
        ck_assert_uint_eq(run(&section, &p, rows, svmas), 6);
        ck_assert_uint_eq(rows[0].digest, rows[1].digest);
        ck_assert_uint_ne(rows[1].digest, rows[2].digest);
        ck_assert_uint_eq(rows[3].digest, rows[4].digest);
        ck_assert_uint_ne(rows[4].digest, rows[5].digest);
}
END_TEST

START_TEST(test_limit_of_instructions)
{
        const struct cfi_builder_cie cie = { .version = 1 };
        struct cfi_row rows[ROWS_MAX];
        uint64_t svmas[ROWS_MAX];
        uint8_t nops[2000] = { 0 };
        struct cfi_section section;
        struct cfi_program p;

        cfi_builder_add_cie(&b, &cie, CIE_BYTES);
        cfi_builder_add_fde(&b, START, LENGTH, nops, sizeof(nops));
        section = cfi_builder_section(&b);
        ck_assert_uint_eq(run(&section, &p, rows, svmas), 0);
        ck_assert(p.is_damaged);
}
END_TEST

START_TEST(test_cie_that_moves_or_restores)
{
        static const uint8_t programs[][3] = { { 0x41, 0x0e, 16 }, { 0xc3, 0, 0 }, { 0x3f, 0, 0 } };
        const struct cfi_builder_cie cie = { .version = 1 };

        for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
                struct cfi_section section;
                struct cfi_reader reader;
                struct cfi_row row;
                struct cfi_fde fde;

                cfi_builder_add_cie(&b, &cie, programs[i], sizeof(programs[i]));
                cfi_builder_add_fde(&b, START, LENGTH, CFI_BYTES(0));
                section = cfi_builder_section(&b);
                cfi_reader_init(&reader, &section);
                ck_assert_int_eq(cfi_reader_next(&reader, &fde), 1);
                ck_assert(!cfi_program_run_cie(&section, fde.cie, &row));
                cfi_builder_deinit(&b);
        }
}
END_TEST

START_TEST(test_random_instructions)
{
        const struct cfi_builder_cie cie = { .version = 1 };
        uint64_t state = 42;

        for (int i = 0; i < 20000; i++) {
                struct cfi_row rows[ROWS_MAX];
                uint64_t svmas[ROWS_MAX];
                uint8_t bytes[24];
                struct cfi_section section;
                struct cfi_program p;
                size_t n;

                for (size_t k = 0; k < sizeof(bytes); k++)
                        bytes[k] = (uint8_t)(fixed_random_next(&state) >> 32);
                cfi_builder_add_cie(&b, &cie, CIE_BYTES);
                cfi_builder_add_fde(&b, START, LENGTH, bytes, sizeof(bytes));
                section = cfi_builder_section(&b);
                n = run(&section, &p, rows, svmas);
                for (size_t k = 0; k < n; k++)
                        ck_assert(svmas[k] >= START && svmas[k] < START + LENGTH &&
                                  (k == 0 || svmas[k] > svmas[k - 1]));
                cfi_builder_deinit(&b);
        }
}
END_TEST

static void set_up(void)
{
        cfi_builder_init(&b);
}

static void tear_down(void)
{
        cfi_builder_deinit(&b);
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
