/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/function_table.c: frames get the functions of their last group of symbols,
 * or the reason for none
 */
#include "analyze/samples/function_table.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static struct trace_builder b;
static struct function_table table;

/* The n-th function of a frame as "name" or as its kind in brackets. */
static const char *function_of(uint32_t frame, uint32_t n)
{
        static const char *const kinds[] = {
                "", "[no symbol]", "[stale]", "[no module]", "[no call stack]", "[mark]"
        };
        static char name[100];
        const struct function *function;
        size_t n_bytes;
        const char *bytes;

        if (table.frames.first[frame] + n >= table.frames.first[frame + 1])
                return "[end]";
        function = function_table_get(&table, table.frames.labels[table.frames.first[frame] + n]);
        if (function->kind != FUNCTION_NAMED)
                return kinds[function->kind];
        bytes = trace_dictionary_string(&b.dictionary, function->name, &n_bytes);
        ck_assert_uint_lt(n_bytes, sizeof(name));
        memcpy(name, bytes, n_bytes);
        name[n_bytes] = '\0';
        return name;
}

START_TEST(test_names_and_reasons)
{
        uint32_t lib, named, inlined, unnamed, stale, outside;

        lib = trace_builder_module(&b, "/lib/libfoo.so");
        named = trace_builder_frame(&b, lib, 0x10);
        inlined = trace_builder_frame(&b, lib, 0x20);
        unnamed = trace_builder_frame(&b, lib, 0x30);
        stale = trace_builder_frame(&b, lib, 0x40);
        outside = trace_builder_frame(&b, 0, 0x50);
        trace_builder_symbol(&b, named, "foo", 0);
        trace_builder_symbol(&b, inlined, "leaf", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(&b, inlined, "middle", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(&b, inlined, "foo", 0);
        trace_builder_symbol(&b, stale, NULL, TRACE_SYMBOL_STALE_FILE);
        ck_assert_int_eq(function_table_init(&table, &b.dictionary), 0);
        ck_assert_str_eq(function_of(named, 0), "foo");
        ck_assert_str_eq(function_of(named, 1), "[end]");
        ck_assert_str_eq(function_of(inlined, 0), "leaf");
        ck_assert_str_eq(function_of(inlined, 1), "middle");
        ck_assert_str_eq(function_of(inlined, 2), "foo");
        ck_assert_str_eq(function_of(inlined, 3), "[end]");
        ck_assert_str_eq(function_of(unnamed, 0), "[no symbol]");
        ck_assert_str_eq(function_of(stale, 0), "[stale]");
        ck_assert_str_eq(function_of(outside, 0), "[no module]");
        ck_assert_str_eq(function_of(outside + 1, 0), "[no call stack]");
        /* foo in two frames is one function */
        ck_assert_uint_eq(table.frames.labels[table.frames.first[named]],
                          table.frames.labels[table.frames.first[inlined] + 2]);
        ck_assert_uint_eq(table.frames.n_labels, 7);
}
END_TEST

START_TEST(test_a_later_group_replaces_an_earlier)
{
        uint32_t lib, frame, other, at_once;

        lib = trace_builder_module(&b, "/lib/libfoo.so");
        frame = trace_builder_frame(&b, lib, 0x10);
        other = trace_builder_frame(&b, lib, 0x20);
        at_once = trace_builder_frame(&b, lib, 0x30);
        trace_builder_symbol(&b, frame, "old_inlined", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(&b, frame, "old", 0);
        trace_builder_symbol(&b, at_once, "first", 0);
        trace_builder_symbol(&b, at_once, "second", 0); /* a group of its own, though of the same frame */
        trace_builder_symbol(&b, other, "other", 0);
        trace_builder_symbol(&b, frame, "inlined", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(&b, frame, "newest", 0);
        ck_assert_int_eq(function_table_init(&table, &b.dictionary), 0);
        ck_assert_str_eq(function_of(frame, 0), "inlined");
        ck_assert_str_eq(function_of(frame, 1), "newest");
        ck_assert_str_eq(function_of(frame, 2), "[end]");
        ck_assert_str_eq(function_of(other, 0), "other");
        ck_assert_str_eq(function_of(at_once, 0), "second");
        ck_assert_str_eq(function_of(at_once, 1), "[end]");
}
END_TEST

/* A mark's words are its module's path, whatever symbols a trace may have for it. */
START_TEST(test_marks)
{
        struct trace_module row = { .kind = TRACE_MODULE_MARK };
        const struct function *function;
        uint32_t frames[2];

        row.path = trace_builder_string(&b, "[truncated]");
        frames[0] = trace_builder_frame(&b, trace_builder_row(&b, TRACE_TABLE_MODULES, &row), 0);
        row.inode = 1; /* another row of the same words */
        frames[1] = trace_builder_frame(&b, trace_builder_row(&b, TRACE_TABLE_MODULES, &row), 5);
        trace_builder_symbol(&b, frames[1], "function", 0);
        ck_assert_int_eq(function_table_init(&table, &b.dictionary), 0);
        for (size_t i = 0; i < 2; i++) {
                ck_assert_str_eq(function_of(frames[i], 0), "[mark]");
                function = function_table_get(&table, table.frames.labels[table.frames.first[frames[i]]]);
                ck_assert_uint_eq(function->name, row.path);
                ck_assert_uint_eq(function->module, 0);
        }
        ck_assert_uint_eq(table.frames.labels[table.frames.first[frames[0]]],
                          table.frames.labels[table.frames.first[frames[1]]]);
}
END_TEST

START_TEST(test_endless_inlining_is_cut)
{
        uint32_t frame;

        frame = trace_builder_frame(&b, 0, 1);
        for (int i = 0; i < 1000; i++)
                trace_builder_symbol(&b, frame, i == 0 ? "innermost" : "again", TRACE_SYMBOL_INLINED);
        ck_assert_int_eq(function_table_init(&table, &b.dictionary), 0);
        ck_assert_str_eq(function_of(frame, 0), "innermost");
        ck_assert_uint_eq(table.frames.first[frame + 1] - table.frames.first[frame],
                          FUNCTION_TABLE_INLINED_MAX);
}
END_TEST

static void set_up(void)
{
        UNIT_TEST_SPOIL(table);
        trace_builder_init(&b);
}

static void tear_down(void)
{
        function_table_deinit(&table);
        trace_builder_deinit(&b);
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
