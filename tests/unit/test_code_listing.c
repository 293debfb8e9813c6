/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/code_listing.c: a listing comes back as it was sent, and not from bytes that are cut
 * or contradict themselves
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "symbolize/listing/code_listing.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

static struct code_listing listing;
static struct byte_buffer bytes;

static void add(uint64_t svma, uint32_t n_bytes, const char *text, uint32_t line)
{
        const struct symbol symbols[] = { { .function = "inner", .file = "a.h", .line = line },
                                          { .function = "outer", .file = "a.c", .line = 7 } };
        struct listing_instruction row = { .svma = svma, .n_bytes = n_bytes };

        ck_assert_int_eq(code_listing_add_string(&listing, text, &row.text), 0);
        ck_assert_int_eq(code_listing_add(&listing, &row, symbols, 2), 0);
}

static void setup(void)
{
        struct listing_part part = { .svma = 0x1000, .file_off = 0x400, .n_bytes = 6 };

        code_listing_init(&listing);
        ck_assert_int_eq(code_listing_add_string(&listing, "outer", &part.name), 0);
        ck_assert_int_eq(code_listing_add_part(&listing, &part), 0);
        add(0x1000, 4, "nop", 1);
        add(0x1004, 1, "nop", 1);
        add(0x1005, 1, "retq", 2);
        bytes = (struct byte_buffer){ .data = NULL };
}

static void teardown(void)
{
        code_listing_deinit(&listing);
        byte_buffer_deinit(&bytes);
}

START_TEST(test_round_trip)
{
        struct byte_buffer again = { .data = NULL };
        struct code_listing back;
        size_t n;

        ck_assert_uint_eq(listing.n_symbols, 4); /* two instructions of one line share theirs */
        code_listing_encode(&listing, &bytes);
        code_listing_init(&back);
        ck_assert_int_eq(code_listing_decode(&back, bytes.data, bytes.used_bytes, NULL), 0);
        ck_assert_uint_eq(back.n_parts, 1);
        ck_assert_uint_eq(back.n_instructions, 3);
        ck_assert_uint_eq(back.instructions[2].svma, 0x1005);
        ck_assert_mem_eq(intern_get(&back.strings, back.instructions[2].text, &n), "retq", 4);
        code_listing_encode(&back, &again);
        ck_assert_uint_eq(again.used_bytes, bytes.used_bytes);
        ck_assert_mem_eq(again.data, bytes.data, bytes.used_bytes);
        byte_buffer_deinit(&again);
        code_listing_deinit(&back);
}
END_TEST

START_TEST(test_cut_anywhere)
{
        code_listing_encode(&listing, &bytes);
        for (size_t n = 0; n < bytes.used_bytes; n++) {
                struct code_listing back;

                code_listing_init(&back);
                ck_assert_int_eq(code_listing_decode(&back, bytes.data, n, NULL), -EBADMSG);
                code_listing_deinit(&back);
        }
}
END_TEST

static void break_gap(void)
{
        listing.instructions[1].svma++;
}

static void break_text(void)
{
        listing.instructions[1].text = listing.strings.n_items + 1;
}

static void break_symbols(void)
{
        listing.instructions[1].n_symbols = 5;
}

static void break_length(void)
{
        listing.instructions[2].n_bytes = 0;
}

static void break_count(void)
{
        listing.parts[0].n_instructions = 2;
}

static void break_branch(void)
{
        listing.instructions[0].branch = BRANCH_CALL + 1;
}

static void break_file(void)
{
        listing.symbols[3].file = listing.strings.n_items + 1;
}

static void break_declared_file(void)
{
        listing.symbols[0].declared_file = listing.strings.n_items + 1;
}

static void break_function(void)
{
        listing.symbols[0].function = listing.strings.n_items + 1;
}

static void break_part_name(void)
{
        listing.parts[0].name = listing.strings.n_items + 1;
}

static void break_target_name(void)
{
        listing.instructions[0].target_name = listing.strings.n_items + 1;
}

static void break_first_symbol(void)
{
        listing.instructions[0].first_symbol = (uint32_t)listing.n_symbols + 1;
        listing.instructions[0].n_symbols = 0;
}

/* Parts whose instructions add up to more than 32 bits hold, to those that there are. */
static void break_sum(void)
{
        const uint32_t n[] = { UINT32_MAX, 1, 3 };

        for (size_t i = 1; i < sizeof(n) / sizeof(n[0]); i++)
                ck_assert_int_eq(code_listing_add_part(&listing, &listing.parts[0]), 0);
        for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
                listing.parts[i].n_instructions = n[i];
}

static void (*const breakers[])(void) = { break_gap,       break_text,          break_symbols,
                                          break_length,    break_count,         break_branch,
                                          break_file,      break_declared_file, break_function,
                                          break_part_name, break_target_name,   break_first_symbol,
                                          break_sum };

/* loop test */
START_LOOP_TEST(test_contradiction, 0, sizeof(breakers) / sizeof(breakers[0]))
{
        struct code_listing back;

        breakers[_i]();
        code_listing_encode(&listing, &bytes);
        code_listing_init(&back);
        ck_assert_int_eq(code_listing_decode(&back, bytes.data, bytes.used_bytes, NULL), -EBADMSG);
        code_listing_deinit(&back);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
