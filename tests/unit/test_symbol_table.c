/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/symbol_table.c: an address gives the best name of the innermost symbol, and none in a gap
 */
#include "symbolize/elf/function_bounds.h"
#include "symbolize/index/symbol_table.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static struct symbol_table table;

static void teardown(void)
{
        symbol_table_deinit(&table);
}

static void add(uint64_t svma, uint64_t size_bytes, const char *name, enum symbol_binding binding)
{
        const struct symbol_table_entry entry = {
                .svma = svma,
                .size_bytes = size_bytes,
                .section_end = 0x2000,
                .name = name,
                .binding = binding,
        };

        ck_assert_int_eq(symbol_table_add(&table, &entry), 0);
}

static void add_unsized(uint64_t svma, const char *name, bool is_label, bool is_export)
{
        const struct symbol_table_entry entry = {
                .svma = svma,
                .section_end = 0x2000,
                .name = name,
                .is_label = is_label,
                .is_export = is_export,
        };

        ck_assert_int_eq(symbol_table_add(&table, &entry), 0);
}

static const char *find(uint64_t svma)
{
        const struct symbol_table_entry *entry = symbol_table_find(&table, svma);

        return entry ? entry->name : NULL;
}

struct name_at {
        uint64_t svma;
        const char *name; /* NULL = none */
};

static void expect_names(const struct name_at *wanted, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const char *found = find(wanted[i].svma);

                ck_assert_msg(found == wanted[i].name ||
                                      (found && wanted[i].name && strcmp(found, wanted[i].name) == 0),
                              "%#llx: %s, not %s", (unsigned long long)wanted[i].svma, found, wanted[i].name);
        }
}
#define EXPECT_NAMES(...)                                     \
        expect_names((const struct name_at[]){ __VA_ARGS__ }, \
                     sizeof((const struct name_at[]){ __VA_ARGS__ }) / sizeof(struct name_at))

START_TEST(test_empty_table)
{
        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert_ptr_null(find(0));
}
END_TEST

START_TEST(test_sized_symbols)
{
        add(0x1100, 0x10, "second", SYMBOL_BINDING_GLOBAL);
        add(0x1000, 0x10, "first", SYMBOL_BINDING_GLOBAL);
        add(0x1104, 0x4, "inner", SYMBOL_BINDING_LOCAL);
        add(UINT64_MAX - 4, 0x10, "goes around", SYMBOL_BINDING_GLOBAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        EXPECT_NAMES({ 0xfff, NULL }, { 0x1000, "first" }, { 0x100f, "first" }, { 0x1010, NULL },
                     { 0x1103, "second" }, { 0x1107, "inner" }, { 0x1108, "second" }, { 0x1110, NULL },
                     { UINT64_MAX - 2, NULL });
}
END_TEST

START_TEST(test_symbols_without_size)
{
        add(0x1000, 0, "assembly", SYMBOL_BINDING_GLOBAL);
        add(0x1100, 0x10, "sized", SYMBOL_BINDING_GLOBAL);
        add(0x1108, 0, "label", SYMBOL_BINDING_GLOBAL);
        add(0x1200, 0, "last", SYMBOL_BINDING_GLOBAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        EXPECT_NAMES({ 0x1000, "assembly" }, { 0x10ff, "assembly" }, { 0x1100, "sized" }, { 0x110a, "sized" },
                     { 0x1110, NULL }, { 0x1fff, "last" }, { 0x2000, NULL });
}
END_TEST

/* Unwind information bounds symbols without a size: entries at 0x1000 and 0x1200, each 0x100 long. */
START_TEST(test_bounds_of_symbols_without_size)
{
        struct function_bounds bounds = { .is_loaded = true };
        struct function_bound rows[] = { { 0x1000, 0x1100 }, { 0x1200, 0x1300 }, { 0x13ff, 0x1410 } };

        bounds.rows = rows;
        for (uint32_t i = 0; i < 3; i++)
                ck_assert_int_eq(address_map_add(&bounds.ranges, rows[i].start_svma, rows[i].end_svma, i), 0);
        ck_assert_int_eq(address_map_build(&bounds.ranges), 0);
        table.bounds = &bounds;
        add_unsized(0x1000, "begin", true, false);
        add_unsized(0x1010, "label", true, false);
        add_unsized(0x1020, "function", false, false);
        add_unsized(0x1180, "next", false, false);
        add_unsized(0x1280, "label of an unnamed function", true, false);
        add_unsized(0x1300, "export", false, true);
        add_unsized(0x1400, "trampoline", true, true);
        add_unsized(0x1500, "one of both", false, false);
        add_unsized(0x1500, "export of both", false, true);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        EXPECT_NAMES({ 0x1000, "begin" }, { 0x1010, "begin" }, { 0x1020, "function" }, { 0x10ff, "function" },
                     { 0x1100, NULL }, { 0x11ff, "next" }, { 0x1200, NULL }, { 0x1280, NULL },
                     { 0x1300, NULL }, { 0x13ff, NULL }, { 0x140f, "trampoline" }, { 0x1410, NULL },
                     { 0x15ff, "one of both" });
        address_map_deinit(&bounds.ranges);
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

START_LOOP_TEST(test_best_of_aliases, 0, 2 * sizeof(aliases) / sizeof(aliases[0]))
{
        const bool is_swapped = _i % 2 == 1;
        const size_t i = (size_t)_i / 2;

        if (is_swapped)
                add(0x1000, aliases[i].worse_bytes, aliases[i].worse, aliases[i].worse_binding);
        add(0x1000, aliases[i].better_bytes, aliases[i].better, aliases[i].better_binding);
        if (!is_swapped)
                add(0x1000, aliases[i].worse_bytes, aliases[i].worse, aliases[i].worse_binding);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert_pstr_eq(find(0x1000), aliases[i].better);
        ck_assert_pstr_eq(find(0x1007), aliases[i].better);
}
END_TEST

START_TEST(test_equally_good_names_give_the_first)
{
        add(0x1000, 8, "zebra", SYMBOL_BINDING_GLOBAL);
        add(0x1000, 8, "ant", SYMBOL_BINDING_GLOBAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert_pstr_eq(find(0x1000), "zebra");
}
END_TEST

/* Names that are as good can be chosen, those that are worse cannot. */
START_TEST(test_a_name_that_is_as_good_is_chosen)
{
        add(0x1000, 8, "older", SYMBOL_BINDING_WEAK);
        add(0x1000, 8, "newer", SYMBOL_BINDING_WEAK);
        add(0x1000, 8, "_lower", SYMBOL_BINDING_WEAK);
        add(0x1000, 0, "unsized", SYMBOL_BINDING_WEAK);
        add(0x1010, 8, "alone", SYMBOL_BINDING_WEAK);
        add(0x1010, 8, "local", SYMBOL_BINDING_LOCAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        ck_assert(symbol_table_has_aliases(&table, symbol_table_find(&table, 0x1000)));
        ck_assert(!symbol_table_has_aliases(&table, symbol_table_find(&table, 0x1010)));
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), NULL);
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "_lower");
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "unsized");
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "unknown");
        symbol_table_choose(&table, symbol_table_find(&table, 0x1010), "alone");
        ck_assert_pstr_eq(find(0x1007), "older");
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "newer");
        ck_assert_pstr_eq(find(0x1007), "newer");
        ck_assert_pstr_eq(find(0x1010), "local");
}
END_TEST

/* Also where more is added after the table was built once, as stubs are. */
START_TEST(test_aliases_of_a_table_that_is_built_twice)
{
        add(0x1000, 8, "first", SYMBOL_BINDING_GLOBAL);
        add(0x1000, 8, "second", SYMBOL_BINDING_GLOBAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        address_map_deinit(&table.ranges);
        add(0x800, 8, "stub", SYMBOL_BINDING_LOCAL);
        add(0x800, 8, "same stub", SYMBOL_BINDING_LOCAL);
        ck_assert_int_eq(symbol_table_build(&table), 0);
        symbol_table_choose(&table, symbol_table_find(&table, 0x1000), "second");
        symbol_table_choose(&table, symbol_table_find(&table, 0x800), "same stub");
        ck_assert_pstr_eq(find(0x1000), "second");
        ck_assert_pstr_eq(find(0x800), "same stub");
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
