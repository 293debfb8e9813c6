/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/symbol_table.c: an address gives the best name of the innermost symbol, and none in a gap
 */
#include "symbolize/index/symbol_table.h"
#include "tests/unit/unit_test.h"

static void add(struct symbol_table *table, uint64_t svma, uint64_t size_bytes, const char *name,
                enum symbol_binding binding)
{
        const struct symbol_table_entry entry = {
                .svma = svma,
                .size_bytes = size_bytes,
                .section_end = 0x2000,
                .name = name,
                .binding = binding,
        };

        ck_assert_int_eq(symbol_table_add(table, &entry), 0);
}

static const char *find(const struct symbol_table *table, uint64_t svma)
{
        const struct symbol_table_entry *entry = symbol_table_find(table, svma);

        return entry ? entry->name : NULL;
}

START_TEST(test_empty_table)
{
        struct symbol_table table = { .entries = NULL };

        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert_ptr_null(find(&table, 0));
        symbol_table_deinit(&table);
}
END_TEST

START_TEST(test_sized_symbols)
{
        struct symbol_table table = { .entries = NULL };

        add(&table, 0x1100, 0x10, "second", SYMBOL_BINDING_GLOBAL);
        add(&table, 0x1000, 0x10, "first", SYMBOL_BINDING_GLOBAL);
        add(&table, 0x1104, 0x4, "inner", SYMBOL_BINDING_LOCAL);
        add(&table, UINT64_MAX - 4, 0x10, "goes around", SYMBOL_BINDING_GLOBAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert_pstr_eq(find(&table, 0xfff), NULL);
        ck_assert_pstr_eq(find(&table, 0x1000), "first");
        ck_assert_pstr_eq(find(&table, 0x100f), "first");
        ck_assert_pstr_eq(find(&table, 0x1010), NULL);
        ck_assert_pstr_eq(find(&table, 0x1103), "second");
        ck_assert_pstr_eq(find(&table, 0x1107), "inner");
        ck_assert_pstr_eq(find(&table, 0x1108), "second");
        ck_assert_pstr_eq(find(&table, 0x1110), NULL);
        ck_assert_pstr_eq(find(&table, UINT64_MAX - 2), NULL);
        symbol_table_deinit(&table);
}
END_TEST

START_TEST(test_symbols_without_size)
{
        struct symbol_table table = { .entries = NULL };

        add(&table, 0x1000, 0, "assembly", SYMBOL_BINDING_GLOBAL);
        add(&table, 0x1100, 0x10, "sized", SYMBOL_BINDING_GLOBAL);
        add(&table, 0x1108, 0, "label", SYMBOL_BINDING_GLOBAL);
        add(&table, 0x1200, 0, "last", SYMBOL_BINDING_GLOBAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert_pstr_eq(find(&table, 0x1000), "assembly");
        ck_assert_pstr_eq(find(&table, 0x10ff), "assembly");
        ck_assert_pstr_eq(find(&table, 0x1100), "sized");
        ck_assert_pstr_eq(find(&table, 0x110a), "sized");
        ck_assert_pstr_eq(find(&table, 0x1110), NULL);
        ck_assert_pstr_eq(find(&table, 0x1fff), "last");
        ck_assert_pstr_eq(find(&table, 0x2000), NULL);
        symbol_table_deinit(&table);
}
END_TEST

/* Each pair lies at one address, in both orders of adding; the first of the pair is the better name. */
static const struct {
        uint64_t better_bytes, worse_bytes;
        const char *better, *worse;
        enum symbol_binding better_binding, worse_binding;
} aliases[] = {
        { 8, 0, "_weak_with_size", "without_size", SYMBOL_BINDING_WEAK, SYMBOL_BINDING_GLOBAL },
        { 8, 8, "_global", "local", SYMBOL_BINDING_GLOBAL, SYMBOL_BINDING_LOCAL },
        { 8, 8, "_local", "weak", SYMBOL_BINDING_LOCAL, SYMBOL_BINDING_WEAK },
        { 8, 8, "_one", "__two", SYMBOL_BINDING_GLOBAL, SYMBOL_BINDING_GLOBAL },
        { 8, 8, "__clone3", "__GI___clone3", SYMBOL_BINDING_LOCAL, SYMBOL_BINDING_LOCAL },
        { 8, 8, "fork", "__GI_fork", SYMBOL_BINDING_WEAK, SYMBOL_BINDING_LOCAL },
        { 4, 8, "short", "_long", SYMBOL_BINDING_GLOBAL, SYMBOL_BINDING_GLOBAL },
};

START_LOOP_TEST(test_best_of_aliases, 0, sizeof(aliases) / sizeof(aliases[0]))
{
        for (int swapped = 0; swapped < 2; swapped++) {
                struct symbol_table table = { .entries = NULL };

                if (swapped)
                        add(&table, 0x1000, aliases[_i].worse_bytes, aliases[_i].worse,
                            aliases[_i].worse_binding);
                add(&table, 0x1000, aliases[_i].better_bytes, aliases[_i].better, aliases[_i].better_binding);
                if (!swapped)
                        add(&table, 0x1000, aliases[_i].worse_bytes, aliases[_i].worse,
                            aliases[_i].worse_binding);
                ck_assert_int_eq(symbol_table_build(&table), 0);
                ck_assert_pstr_eq(find(&table, 0x1000), aliases[_i].better);
                ck_assert_pstr_eq(find(&table, 0x1007), aliases[_i].better);
                symbol_table_deinit(&table);
        }
}
END_TEST

START_TEST(test_equally_good_names_give_the_first)
{
        struct symbol_table table = { .entries = NULL };

        add(&table, 0x1000, 8, "zebra", SYMBOL_BINDING_GLOBAL);
        add(&table, 0x1000, 8, "ant", SYMBOL_BINDING_GLOBAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert_pstr_eq(find(&table, 0x1000), "zebra");
        symbol_table_deinit(&table);
}
END_TEST

/* Names that are as good can be chosen, those that are worse cannot. */
START_TEST(test_a_name_that_is_as_good_is_chosen)
{
        struct symbol_table table = { .entries = NULL };

        add(&table, 0x1000, 8, "older", SYMBOL_BINDING_WEAK);
        add(&table, 0x1000, 8, "newer", SYMBOL_BINDING_WEAK);
        add(&table, 0x1000, 8, "_lower", SYMBOL_BINDING_WEAK);
        add(&table, 0x1000, 0, "unsized", SYMBOL_BINDING_WEAK);
        add(&table, 0x1010, 8, "alone", SYMBOL_BINDING_WEAK);
        add(&table, 0x1010, 8, "local", SYMBOL_BINDING_LOCAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert(symbol_table_has_aliases(&table, symbol_table_find(&table, 0x1000)));
        ck_assert(!symbol_table_has_aliases(&table, symbol_table_find(&table, 0x1010)));
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), NULL);
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "_lower");
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "unsized");
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "unknown");
        symbol_table_choose(&table, symbol_table_find(&table, 0x1010), "alone");
        ck_assert_pstr_eq(find(&table, 0x1007), "older");
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "newer");
        ck_assert_pstr_eq(find(&table, 0x1007), "newer");
        ck_assert_pstr_eq(find(&table, 0x1010), "local");
        symbol_table_deinit(&table);
}
END_TEST

/* Also where more is added after the table was built once, as stubs are. */
START_TEST(test_aliases_of_a_table_that_is_built_twice)
{
        struct symbol_table table = { .entries = NULL };

        add(&table, 0x1000, 8, "first", SYMBOL_BINDING_GLOBAL);
        add(&table, 0x1000, 8, "second", SYMBOL_BINDING_GLOBAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        address_map_deinit(&table.ranges);
        add(&table, 0x800, 8, "stub", SYMBOL_BINDING_LOCAL);
        add(&table, 0x800, 8, "same stub", SYMBOL_BINDING_LOCAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "second");
        symbol_table_choose(&table, symbol_table_find(&table, 0x800), "same stub");
        ck_assert_pstr_eq(find(&table, 0x1000), "second");
        ck_assert_pstr_eq(find(&table, 0x800), "same stub");
        symbol_table_deinit(&table);
}
END_TEST
