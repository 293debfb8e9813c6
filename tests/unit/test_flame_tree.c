/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks become boxes side by side: siblings in the order of names, children inside their parents,
 * nothing counted twice.
 */
#include "export/stacks/flame_tree.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static void expect_node(const struct flame_tree *t, uint32_t id, const char *name, const uint64_t numbers[3])
{
        const struct flame_node *node = &t->nodes[id];

        ck_assert_uint_eq(node->n_name, strlen(name));
        ck_assert_int_eq(memcmp(node->name, name, node->n_name), 0);
        ck_assert_uint_eq(node->depth, numbers[0]);
        ck_assert_uint_eq(node->begin, numbers[1]);
        ck_assert_uint_eq(node->total, numbers[2]);
}

START_TEST(boxes_of_stacks)
{
        static const char text[] = "b;main 2\na;main;f 3\na;main 1\nno number\na;main;f x 4\na;main-2 5\n";
        struct flame_tree t;

        ck_assert_int_eq(flame_tree_read(&t, text, strlen(text)), 0);
        ck_assert_uint_eq(t.n_nodes, 8);
        ck_assert_uint_eq(t.depth_max, 3);
        expect_node(&t, 0, "all", (uint64_t[]){ 0, 0, 15 });
        expect_node(&t, 1, "a", (uint64_t[]){ 1, 0, 13 });
        expect_node(&t, 2, "main", (uint64_t[]){ 2, 0, 8 });
        expect_node(&t, 3, "f", (uint64_t[]){ 3, 1, 3 });
        expect_node(&t, 4, "f x", (uint64_t[]){ 3, 4, 4 });
        expect_node(&t, 5, "main-2", (uint64_t[]){ 2, 8, 5 });
        expect_node(&t, 6, "b", (uint64_t[]){ 1, 13, 2 });
        expect_node(&t, 7, "main", (uint64_t[]){ 2, 13, 2 });
        flame_tree_deinit(&t);
}
END_TEST

START_TEST(stacks_of_waits_are_known)
{
        static const char text[] = "a;main;[waiting] 2\na;main;f 3\na;[waiting];g 4\n[preempted] 1\n";
        struct flame_tree t;

        ck_assert_int_eq(flame_tree_read(&t, text, strlen(text)), 0);
        ck_assert_uint_eq(t.nodes[0].waiting, 3);
        for (uint32_t i = 0; i < t.n_nodes; i++)
                if (t.nodes[i].n_name == 4)
                        ck_assert(t.nodes[i].total == 5 && t.nodes[i].waiting == 2);
        flame_tree_deinit(&t);
}
END_TEST

START_TEST(nothing_to_draw)
{
        struct flame_tree t;

        ck_assert_int_eq(flame_tree_read(&t, "", 0), 0);
        ck_assert_uint_eq(t.n_nodes, 1);
        ck_assert_uint_eq(t.nodes[0].total, 0);
        flame_tree_deinit(&t);
}
END_TEST
