/* SPDX-License-Identifier: MIT */
/*
 * The nodes that matter are linked to their parents while weights are added,
 * each once.  Summing walks them depth first.  On the way it keeps, for each
 * label, how often it lies between the node and the root.  When the walk leaves
 * a label for the last time, the node at hand is the outermost with that label,
 * and its sum (by then that of its whole subtree) belongs to the label's total.
 * So no way to the root is ever walked twice, and recursion counts once.
 */
#include "analyze/samples/label_tree.h"

#include <errno.h>
#include <stdlib.h>

void label_groups_deinit(struct label_groups *g)
{
        free(g->first);
        free(g->labels);
        *g = (struct label_groups){ .first = NULL };
}

int label_tree_init(struct label_tree *t, const struct label_groups *groups, uint32_t n_nodes)
{
        *t = (struct label_tree){ .groups = groups, .n_nodes = n_nodes };
        t->nodes = calloc((size_t)n_nodes + 1, sizeof(*t->nodes));
        t->sums = calloc((size_t)groups->n_labels + 1, sizeof(*t->sums));
        t->found = calloc((size_t)groups->n_labels + 1, sizeof(*t->found));
        if (!t->nodes || !t->sums || !t->found)
                goto fail;
        return 0;
fail:
        label_tree_deinit(t);
        return -ENOMEM;
}

void label_tree_deinit(struct label_tree *t)
{
        free(t->nodes);
        free(t->sums);
        free(t->found);
        *t = (struct label_tree){ .nodes = NULL };
}

static void forget_answer(struct label_tree *t)
{
        for (uint32_t i = 0; i < t->n_found; i++)
                t->sums[t->found[i]] = (struct label_sum){ .n_on_way = 0 };
        t->n_found = 0;
}

void label_tree_add(struct label_tree *t, uint32_t node, const struct sample_sum *sum)
{
        struct label_node *nodes = t->nodes;

        forget_answer(t);
        sample_sum_add(&nodes[node].sum, sum);
        while (node != 0 && !nodes[node].linked) {
                uint32_t parent = nodes[node].parent;

                nodes[node].linked = true;
                nodes[node].next_sibling = nodes[parent].first_child;
                nodes[parent].first_child = node;
                node = parent;
        }
}

static void enter(struct label_tree *t, const struct label_node *node)
{
        const uint32_t *labels = t->groups->labels;
        uint32_t first = t->groups->first[node->group];
        uint32_t end = t->groups->first[node->group + 1];

        for (uint32_t i = first; i < end; i++) {
                struct label_sum *sum = &t->sums[labels[i]];

                sum->n_on_way++;
                if (sum->listed)
                        continue;
                sum->listed = true;
                t->found[t->n_found++] = labels[i];
        }
        if (first < end)
                sample_sum_add(&t->sums[labels[first]].self, &node->sum);
}

static void leave(struct label_tree *t, struct label_node *node)
{
        const uint32_t *labels = t->groups->labels;
        uint32_t end = t->groups->first[node->group + 1];

        for (uint32_t i = t->groups->first[node->group]; i < end; i++) {
                struct label_sum *sum = &t->sums[labels[i]];

                sum->n_on_way--;
                if (sum->n_on_way == 0)
                        sample_sum_add(&sum->total, &node->sum);
        }
        sample_sum_add(&t->nodes[node->parent].sum, &node->sum);
        node->sum = (struct sample_sum){ .n_samples = 0 };
        node->linked = false;
}

void label_tree_sum(struct label_tree *t)
{
        struct label_node *nodes = t->nodes;
        uint32_t at = 0;

        forget_answer(t);
        for (;;) {
                uint32_t child = nodes[at].first_child;

                if (child != 0) {
                        nodes[at].first_child = nodes[child].next_sibling;
                        enter(t, &nodes[child]);
                        at = child;
                } else if (at != 0) {
                        leave(t, &nodes[at]);
                        at = nodes[at].parent;
                } else {
                        break;
                }
        }
        nodes[0].sum = (struct sample_sum){ .n_samples = 0 };
}
