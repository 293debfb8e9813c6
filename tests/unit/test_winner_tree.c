/* SPDX-License-Identifier: MIT */
/* base/winner_tree.c: after any change the winner is the source that a look at all of them finds */
#include "base/winner_tree.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#define N_CHANGES 2000

static size_t find_slowly(const uint64_t *keys, size_t n)
{
        size_t first = n;

        for (size_t i = 0; i < n; i++)
                if (keys[i] != WINNER_TREE_NONE && (first == n || keys[i] < keys[first]))
                        first = i;
        return first;
}

static const size_t numbers[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000 };

/* Keys are few, so that many are equal: of these the source with the lower number wins. */
START_LOOP_TEST(test_first, 0, sizeof(numbers) / sizeof(numbers[0]))
{
        uint64_t state = 17;
        struct winner_tree tree;
        uint64_t keys[1000];
        size_t n = numbers[_i];

        ck_assert_int_eq(winner_tree_init(&tree, n), 0);
        ck_assert_uint_eq(winner_tree_first(&tree), n);
        for (size_t i = 0; i < n; i++)
                keys[i] = WINNER_TREE_NONE;
        for (int i = 0; n > 0 && i < N_CHANGES; i++) {
                size_t source = fixed_random_next(&state) % n, first = winner_tree_first(&tree);

                if (i % 3 == 0 && first < n) /* as a ring whose next record is looked at */
                        source = first;
                keys[source] = i % 4 == 0 ? WINNER_TREE_NONE : fixed_random_next(&state) % 50;
                winner_tree_set(&tree, source, keys[source]);
                ck_assert_uint_eq(winner_tree_first(&tree), find_slowly(keys, n));
        }
        winner_tree_deinit(&tree);
}
END_TEST
