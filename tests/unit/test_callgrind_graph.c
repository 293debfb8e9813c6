/* SPDX-License-Identifier: MIT */
/*
 * export/stacks/callgrind_graph.c: what comes in through calls is each function's inclusive cost,
 * also where it calls itself
 */
#include "export/stacks/callgrind_graph.h"

#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

#define WEIGHT UINT64_C(10)

static struct trace_builder builder;
static struct export_frames frames;
static struct callgrind_graph graph;
static uint32_t f, g, h, location; /* frames */

static void set_up(void)
{
        uint32_t module;

        trace_builder_init(&builder);
        module = trace_builder_module(&builder, "/bin/m");
        f = trace_builder_frame(&builder, module, 0x10);
        g = trace_builder_frame(&builder, module, 0x20);
        h = trace_builder_frame(&builder, module, 0x30);
        trace_builder_symbol(&builder, f, "f", 0);
        trace_builder_symbol(&builder, g, "g", 0);
        trace_builder_symbol(&builder, h, "h_inlined", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(&builder, h, "h", 0);
        location = trace_builder_location(&builder, "z");
        (void)trace_builder_path(&builder, 0, location);
        (void)trace_builder_thread(&builder, 1, 1);
}

/* After the stacks are there. */
static void open_graph(void)
{
        ck_assert_int_eq(export_frames_init(&frames, &builder.dictionary), 0);
        ck_assert_int_eq(callgrind_graph_init(&graph, &frames, 1), 0);
}

static void tear_down(void)
{
        callgrind_graph_deinit(&graph);
        export_frames_deinit(&frames);
        trace_builder_deinit(&builder);
}

static uint32_t stack_of(const uint32_t *ids, size_t n)
{
        uint32_t stack = 0;

        for (size_t i = 0; i < n; i++)
                stack = trace_builder_stack(&builder, stack, ids[i]);
        return stack;
}

static void add(uint32_t stack)
{
        struct callstack_sum sum = { .values = { [CALLSTACK_SAMPLES] = 1, [CALLSTACK_WEIGHT] = WEIGHT } };

        ck_assert_int_eq(export_frames_of(&frames, NULL, 0, stack), 0);
        ck_assert_int_eq(callgrind_graph_add(&graph, 1, &sum), 0);
}

static uint32_t label_of(uint32_t frame)
{
        return frames.functions.frames.labels[frames.functions.frames.first[frame]];
}

/* The weight of all lines from @node to @callee; 0 stands for any node. */
static uint64_t weight(uint32_t node, uint32_t callee, uint64_t *ret_calls)
{
        uint64_t sum = 0;

        *ret_calls = 0;
        for (uint32_t i = 1; i <= graph.lines.n_items; i++) {
                const struct callgrind_line *line = intern_get(&graph.lines, i, NULL);

                if ((node != 0 && line->node != node) || line->callee != callee)
                        continue;
                sum += graph.costs[i - 1].sum.values[CALLSTACK_WEIGHT];
                *ret_calls += graph.costs[i - 1].n_calls;
        }
        return sum;
}

START_TEST(test_recursion_enters_once)
{
        const uint32_t direct[] = { f, f, f };
        const uint32_t around[] = { f, g, f };
        uint32_t stacks[2] = { stack_of(direct, 3), stack_of(around, 3) };
        uint64_t n_calls;

        open_graph();
        add(stacks[0]);
        add(stacks[1]);
        ck_assert_uint_eq(weight(0, label_of(f), &n_calls), 2 * WEIGHT);
        ck_assert_uint_eq(n_calls, 5);
        ck_assert_uint_eq(weight(0, label_of(g), &n_calls), WEIGHT);
        ck_assert_uint_eq(weight(label_of(g), label_of(f), &n_calls), 0);
        ck_assert_uint_eq(n_calls, 1);
        ck_assert_uint_eq(weight(label_of(f), 0, &n_calls), 2 * WEIGHT);
        ck_assert_uint_eq(weight(label_of(g), 0, &n_calls), 0);
}
END_TEST

START_TEST(test_inlined_functions_are_called)
{
        const uint32_t ids[] = { f, h };
        uint32_t stack = stack_of(ids, 2);
        uint32_t inlined;
        uint64_t n_calls;

        open_graph();
        add(stack);
        inlined = label_of(h); /* the innermost comes first */
        ck_assert_uint_eq(weight(inlined, 0, &n_calls), WEIGHT);
        ck_assert_uint_eq(weight(inlined + 1, inlined, &n_calls), WEIGHT);
        ck_assert_uint_eq(weight(label_of(f), inlined + 1, &n_calls), WEIGHT);
}
END_TEST

/* The root of all is the thread, and what it has are calls alone. */
START_TEST(test_threads_are_roots)
{
        uint32_t node;
        uint64_t n_calls;

        open_graph();
        add(0);
        node = graph.n_nodes;
        ck_assert_uint_eq(callgrind_graph_thread(&graph, node), 1);
        ck_assert_uint_eq(callgrind_graph_thread(&graph, node - 1), 0);
        ck_assert_uint_eq(weight(node, 0, &n_calls), 0);
        ck_assert_uint_eq(weight(0, 0, &n_calls), WEIGHT);
}
END_TEST

START_TEST(test_order_is_by_node)
{
        const uint32_t ids[] = { g, f, h, f };
        uint32_t stack = stack_of(ids, 4);
        uint32_t *order;
        uint32_t before = 0;

        open_graph();
        add(stack);
        order = callgrind_graph_order(&graph);
        ck_assert_ptr_nonnull(order);
        ck_assert_uint_eq(graph.lines.n_items, 6);
        for (uint32_t i = 0; i < graph.lines.n_items; i++) {
                const struct callgrind_line *line = intern_get(&graph.lines, order[i], NULL);

                ck_assert_uint_ge(line->node, before);
                before = line->node;
        }
        free(order);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
