/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_tree.h"

#include "analyze/samples/function_table.h"
#include "analyze/why/why_profile.h"
#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void why_tree_deinit(struct why_tree *t)
{
        intern_deinit(&t->keys);
        free(t->nodes);
        *t = (struct why_tree){ .nodes = NULL };
}

const struct why_node_key *why_tree_key(const struct why_tree *t, uint32_t node)
{
        return intern_get(&t->keys, node, NULL);
}

/* The labels of a call stack, the innermost first. */
static uint32_t list_labels(const struct why_profile *p, uint32_t stack, uint32_t labels[WHY_FRAMES_MAX])
{
        const struct label_groups *frames = &p->functions->frames;
        uint32_t n = 0;

        while (stack != 0 && n < WHY_FRAMES_MAX) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                for (uint32_t i = frames->first[row->frame];
                     i < frames->first[row->frame + 1] && n < WHY_FRAMES_MAX; i++)
                        labels[n++] = frames->labels[i];
                stack = row->parent;
        }
        return n;
}

static int add_node(struct why_tree *t, uint32_t node)
{
        int r = array_reserve(&t->nodes, &t->capacity, (size_t)node + 1, sizeof(*t->nodes));

        if (r == 0)
                t->nodes[node] = (struct why_node){ .first_child = 0 };
        return r;
}

static int add_stack(struct why_tree *t, const struct why_profile *p, uint32_t stack, int group, double ns)
{
        uint32_t labels[WHY_FRAMES_MAX];
        uint32_t n = list_labels(p, stack, labels);
        uint32_t node = 0;

        t->nodes[0].ns[group] += ns;
        while (n > 0) {
                struct why_node_key key = { .parent = node, .label = labels[--n] };
                int r = intern_add(&t->keys, &key, sizeof(key), &node);

                if (r == -EOVERFLOW) {
                        t->n_left_out++;
                        return 0;
                }
                if (r == 1)
                        r = add_node(t, node);
                if (r < 0)
                        return r;
                t->nodes[node].ns[group] += ns;
        }
        return 0;
}

struct sorted_node {
        double extra_ns;
        uint32_t node;
};

static int compare(const void *a, const void *b)
{
        const struct sorted_node *left = a, *right = b;

        return (left->extra_ns > right->extra_ns) - (left->extra_ns < right->extra_ns);
}

/* From the smallest on, each node becomes the first of its siblings. */
static int link_children(struct why_tree *t)
{
        uint32_t n = t->keys.n_items;
        struct sorted_node *sorted = calloc((size_t)n + 1, sizeof(*sorted));

        if (!sorted)
                return -ENOMEM;
        for (uint32_t i = 0; i < n; i++)
                sorted[i] = (struct sorted_node){ .extra_ns = why_node_extra_ns(&t->nodes[i + 1]),
                                                  .node = i + 1 };
        qsort(sorted, n, sizeof(*sorted), compare);
        for (uint32_t i = 0; i < n; i++) {
                struct why_node *parent = &t->nodes[why_tree_key(t, sorted[i].node)->parent];

                t->nodes[sorted[i].node].next_sibling = parent->first_child;
                parent->first_child = sorted[i].node;
        }
        free(sorted);
        return 0;
}

int why_tree_init(struct why_tree *t, const struct why_profile *profile, const double ns_per_weight[2])
{
        const struct why_instances *s = profile->instances;
        int r;

        *t = (struct why_tree){ .n_left_out = 0 };
        intern_init(&t->keys, sizeof(struct why_node_key), WHY_NODES_MAX);
        r = array_reserve(&t->nodes, &t->capacity, 1, sizeof(*t->nodes));
        if (r < 0)
                return r;
        memset(t->nodes, 0, sizeof(*t->nodes));
        for (size_t i = 0; i < s->n_items; i++) {
                int group = s->items[i].is_slow ? WHY_SLOW : WHY_TYPICAL;

                for (size_t k = 0; k < s->items[i].n_rows && r == 0; k++) {
                        const struct why_row *row = &s->rows[s->items[i].first_row + k];

                        if (row->kind == WHY_SAMPLE)
                                r = add_stack(t, profile, row->id, group,
                                              (double)row->amount * ns_per_weight[group]);
                }
        }
        return r < 0 ? r : link_children(t);
}
