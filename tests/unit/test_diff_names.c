/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_names.c: copies of a function, builds in other folders and versions of a
 * library are the same thing
 */
#include "analyze/diff/diff_names.h"
#include "analyze/samples/function_table.h"
#include "analyze/trace/function_name.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static struct text_view text(const char *words)
{
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

static void ck_same(struct text_view found, const char *wanted)
{
        ck_assert_uint_eq(found.n_bytes, strlen(wanted));
        ck_assert_int_eq(memcmp(found.bytes, wanted, found.n_bytes), 0);
}

START_TEST(test_functions)
{
        static const char *const rows[][2] = {
                { "main", "main" },
                { "f.constprop.0", "f" },
                { "f.isra.0.part.12.cold", "f" },
                { "f(int) [clone .cold]", "f(int)" },
                { "std::get<0>(a)", "std::get<0>(a)" },
                { "a.b", "a.b" }, /* no compiler's word */
                { ".cold", ".cold" },
                { ".", "." },
                { "", "" },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                ck_same(plain_name_of_function(text(rows[i][0])), rows[i][1]);
}
END_TEST

/* The file of a function that several files have, beside its name; a name is there in any case. */
START_TEST(test_labels)
{
        static const struct {
                const char *name;
                size_t n_bytes;
        } rows[] = {
                { "step (a.c)", 6 }, { "a (b)", 4 },     { " (a.c)", 0 },
                { "(a.c)", 0 },      { "step(a.c)", 0 }, { "step (a.c) ", 0 },
                { "step a.c)", 0 },  { "", 0 },          { "a (b) (c)", 4 },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                ck_assert_uint_eq(plain_name_label_bytes(text(rows[i].name)), rows[i].n_bytes);
}
END_TEST

START_TEST(test_modules)
{
        static const char *const rows[][2] = {
                { "/home/a/build-1/prog", "prog" },
                { "/usr/lib/libz.so.1.2.13", "libz.so" },
                { "/usr/lib/libz.so", "libz.so" },
                { "/tmp/prog (deleted)", "prog" },
                { "[kernel]", "[kernel]" },
                { "[image 3f0c91d2]", "[image]" },
                { "//anon", "//anon" },
                { "/", "/" },
                { "", "" },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                ck_same(diff_names_plain_module(text(rows[i][0])), rows[i][1]);
}
END_TEST

static uint32_t zone_key(struct diff_names *names, struct trace_builder *b, const char *function,
                         const char *file, uint32_t line)
{
        struct trace_location row = { .name = trace_builder_string(b, "zone"), .line = line };
        uint32_t key;

        row.function = trace_builder_string(b, function);
        row.file = trace_builder_string(b, file);
        ck_assert_int_eq(diff_names_add_zone(names, &b->dictionary, &row, &key), 0);
        return key;
}

/* Lines move from build to build; functions do not become others. */
START_TEST(test_keys)
{
        struct trace_builder b;
        struct diff_names names;
        struct function function = { .kind = FUNCTION_NAMED };
        uint32_t key, same, other;

        trace_builder_init(&b);
        diff_names_init(&names);
        key = zone_key(&names, &b, "f", "/old/src/a.c", 10);
        ck_assert_uint_eq(key, zone_key(&names, &b, "f", "/new/src/a.c", 12));
        ck_assert_uint_ne(key, zone_key(&names, &b, "g", "/new/src/a.c", 12));
        ck_assert_uint_ne(key, zone_key(&names, &b, "f", "/new/src/b.c", 12));

        function.name = trace_builder_string(&b, "zone");
        function.module = trace_builder_string(&b, "/a/m.so.1");
        ck_assert_int_eq(diff_names_add_function(&names, &b.dictionary, &function, NULL, &key), 0);
        function.module = trace_builder_string(&b, "/b/m.so.2");
        ck_assert_int_eq(diff_names_add_function(&names, &b.dictionary, &function, NULL, &same), 0);
        ck_assert_uint_eq(key, same);
        function.module = trace_builder_string(&b, "[kernel]");
        ck_assert_int_eq(diff_names_add_function(&names, &b.dictionary, &function, NULL, &other), 0);
        ck_assert_uint_ne(key, other);
        ck_assert(diff_names_is_kernel(&names, diff_names_key(&names, other)));
        ck_assert(!diff_names_is_kernel(&names, diff_names_key(&names, key)));
        function.kind = FUNCTION_NO_SYMBOL;
        ck_assert_int_eq(diff_names_add_function(&names, &b.dictionary, &function, NULL, &other), 0);
        ck_same(diff_names_string(&names, diff_names_key(&names, other)->name), "[no symbol]");
        diff_names_deinit(&names);
        trace_builder_deinit(&b);
}
END_TEST
