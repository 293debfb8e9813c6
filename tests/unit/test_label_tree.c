/* SPDX-License-Identifier: MIT */
/* analyze/samples/label_tree.c: self and total equal those found by walking every way to the root */
#include "analyze/samples/label_tree.h"
#include "tests/unit/unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N_NODES  2000
#define N_GROUPS 12
#define N_LABELS 9

static uint64_t next_random(uint64_t *state)
{
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* main -> f -> g -> f: f is on the way twice and counts once */
START_TEST(test_recursion_counts_once)
{
        uint32_t first[] = { 0, 0, 1, 2, 3 };
        uint32_t labels[] = { 1, 2, 3 };
        struct label_groups groups = { first, labels, 3, 3 };
        struct label_tree t;
        struct sample_sum seven = { 7, 700 };
        struct sample_sum two = { 2, 200 };

        ck_assert_int_eq(label_tree_init(&t, &groups, 4), 0);
        for (uint32_t i = 1; i <= 4; i++)
                t.nodes[i].parent = i - 1;
        t.nodes[1].group = 1;
        t.nodes[2].group = t.nodes[4].group = 2;
        t.nodes[3].group = 3;
        label_tree_add(&t, 4, &seven);
        label_tree_add(&t, 2, &two);
        label_tree_sum(&t);
        ck_assert_uint_eq(t.n_found, 3);
        ck_assert_uint_eq(t.sums[1].self.n_samples, 0);
        ck_assert_uint_eq(t.sums[1].total.weight, 900);
        ck_assert_uint_eq(t.sums[2].self.weight, 900);
        ck_assert_uint_eq(t.sums[2].total.weight, 900);
        ck_assert_uint_eq(t.sums[3].self.weight, 0);
        ck_assert_uint_eq(t.sums[3].total.n_samples, 7);

        /* The next question starts from nothing. */
        label_tree_add(&t, 1, &two);
        label_tree_sum(&t);
        ck_assert_uint_eq(t.n_found, 1);
        ck_assert_uint_eq(t.sums[1].self.n_samples, 2);
        ck_assert_uint_eq(t.sums[2].total.n_samples, 0);
        label_tree_sum(&t);
        ck_assert_uint_eq(t.n_found, 0);
        label_tree_deinit(&t);
}
END_TEST

/* a trace may say any weight: a function is never more than 100% of all samples */
START_TEST(test_weights_stop_at_the_largest_number)
{
        uint32_t first[] = { 0, 0, 1 };
        uint32_t labels[] = { 1 };
        struct label_groups groups = { first, labels, 1, 1 };
        struct label_tree t;
        struct sample_sum all = { 1, UINT64_MAX };
        struct sample_sum one = { 1, 1000000 };

        ck_assert_int_eq(label_tree_init(&t, &groups, 1), 0);
        t.nodes[1].group = 1;
        label_tree_add(&t, 1, &one);
        label_tree_add(&t, 1, &all);
        label_tree_sum(&t);
        ck_assert_uint_eq(t.sums[1].self.n_samples, 2);
        ck_assert_uint_eq(t.sums[1].self.weight, UINT64_MAX);
        ck_assert_uint_eq(t.sums[1].total.weight, UINT64_MAX);
        label_tree_deinit(&t);
}
END_TEST

/* The slow way, from the definition. */
static void walk(const struct label_tree *t, const uint64_t *weights, uint64_t *self, uint64_t *total)
{
        for (uint32_t node = 1; node <= N_NODES; node++) {
                bool met[N_LABELS + 1] = { false };

                if (weights[node] == 0)
                        continue;
                self[t->groups->labels[t->groups->first[t->nodes[node].group]]] += weights[node];
                for (uint32_t at = node; at != 0; at = t->nodes[at].parent) {
                        uint32_t group = t->nodes[at].group;

                        for (uint32_t i = t->groups->first[group]; i < t->groups->first[group + 1]; i++)
                                met[t->groups->labels[i]] = true;
                }
                for (uint32_t label = 1; label <= N_LABELS; label++)
                        total[label] += met[label] ? weights[node] : 0;
        }
}

START_LOOP_TEST(test_agrees_with_walking, 0, 20)
{
        uint64_t state = 7 + (uint64_t)_i;
        uint32_t first[N_GROUPS + 2] = { 0 };
        uint32_t labels[N_GROUPS * 3];
        struct label_groups groups = { first, labels, N_GROUPS, N_LABELS };
        static uint64_t weights[N_NODES + 1];
        struct label_tree t;
        uint32_t used = 0;

        for (uint32_t group = 1; group <= N_GROUPS; group++) {
                first[group] = used;
                for (uint64_t n = 1 + next_random(&state) % 3; n > 0; n--)
                        labels[used++] = 1 + (uint32_t)(next_random(&state) % N_LABELS);
        }
        first[N_GROUPS + 1] = used;
        ck_assert_int_eq(label_tree_init(&t, &groups, N_NODES), 0);
        for (uint32_t node = 1; node <= N_NODES; node++) {
                uint64_t back = 1 + next_random(&state) % 4; /* near: deep trees */

                t.nodes[node].parent = back < node ? node - (uint32_t)back : 0;
                t.nodes[node].group = 1 + (uint32_t)(next_random(&state) % N_GROUPS);
        }
        for (int question = 0; question < 3; question++) {
                uint64_t self[N_LABELS + 1] = { 0 };
                uint64_t total[N_LABELS + 1] = { 0 };

                memset(weights, 0, sizeof(weights));
                for (int i = 0; i < 100; i++) {
                        uint32_t node = 1 + (uint32_t)(next_random(&state) % N_NODES);
                        struct sample_sum sum = { 1, next_random(&state) % 1000 };

                        weights[node] += sum.weight;
                        label_tree_add(&t, node, &sum);
                }
                label_tree_sum(&t);
                walk(&t, weights, self, total);
                for (uint32_t label = 1; label <= N_LABELS; label++) {
                        ck_assert_uint_eq(t.sums[label].self.weight, self[label]);
                        ck_assert_uint_eq(t.sums[label].total.weight, total[label]);
                }
        }
        label_tree_deinit(&t);
}
END_TEST
