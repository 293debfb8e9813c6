/* SPDX-License-Identifier: MIT */
/*
 * A place is a function on a call stack.  It is given by a stack, which stands for its innermost frame, and
 * by one of the functions that were inlined into each other in that frame.  A node of the tree is a set of
 * places with the same function.  Its children are found by moving each of its places on by one call, to
 * callees or to the caller, and sorting the results by function.
 */
#include "analyze/samples/call_tree.h"

#include "analyze/samples/function_table.h"
#include "analyze/samples/python_stacks.h"
#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct place {
        uint32_t stack;        /* the one after the last stands for "no call stack" */
        uint32_t at;           /* in the labels of the groups */
        struct sample_sum sum; /* that comes through here */
        struct sample_sum self;
        uint32_t node; /* that it belongs to; 0 = none */
};

struct place_list {
        struct place *places; /* heap */
        size_t n, capacity;
};

/* The sums of a stack: its own samples, and its samples including those of its callees. */
struct stack_sum {
        struct sample_sum own, all;
        uint32_t first_callee, next_sibling; /* only those with samples */
};

struct found_label {
        struct sample_sum total, self;
        uint32_t node;
        bool is_listed;
};

struct building {
        struct call_tree *tree;
        const struct call_tree_options *options;
        const struct trace_dictionary *dictionary;
        const struct function_table *functions;
        const struct label_groups *groups; /* its */
        struct stack_sum *stacks;          /* heap; by stack */
        uint32_t n_stacks;                 /* with the one that stands for none */
        struct found_label *found;
        uint32_t *listed; /* heap; labels in `found` */
        uint32_t n_listed;
        struct place_list now, next, moved;
};

void call_tree_deinit(struct call_tree *t)
{
        free(t->nodes);
        *t = (struct call_tree){ .nodes = NULL };
}

static uint32_t parent_of(const struct building *b, uint32_t stack)
{
        const struct trace_stack *row;

        if (stack == b->n_stacks)
                return 0;
        row = trace_dictionary_row(b->dictionary, TRACE_TABLE_STACKS, stack);
        return python_stacks_shown(b->options->folds, row->parent);
}

static uint32_t group_of(const struct building *b, uint32_t stack)
{
        const struct trace_stack *row;

        if (stack == b->n_stacks)
                return b->groups->n_groups;
        row = trace_dictionary_row(b->dictionary, TRACE_TABLE_STACKS, stack);
        return row->frame;
}

/* The first and the end of the functions of a stack's innermost frame. */
static uint32_t first_of(const struct building *b, uint32_t stack)
{
        return b->groups->first[group_of(b, stack)];
}

static uint32_t end_of(const struct building *b, uint32_t stack)
{
        return b->groups->first[group_of(b, stack) + 1];
}

static int add_place(struct place_list *list, const struct place *place)
{
        if (array_reserve(&list->places, &list->capacity, list->n + 1, sizeof(*list->places)) < 0)
                return -ENOMEM;
        list->places[list->n++] = *place;
        return 0;
}

/* ------------------------------------------------------------------ the samples of each stack */

/* A call stack that consists of a mark alone has no function that the sample could belong to. */
static uint32_t stack_of(const struct building *b, uint32_t stack)
{
        const struct function *innermost;

        if (stack == 0)
                return b->n_stacks;
        stack = python_stacks_shown(b->options->folds, stack);
        innermost = function_table_get(b->functions, b->groups->labels[first_of(b, stack)]);
        return innermost->kind == FUNCTION_MARK ? b->n_stacks : stack;
}

static void sum_stacks(struct building *b, const struct sample_stats *stats, uint32_t event)
{
        for (uint32_t i = 0; i < sample_stats_count(stats); i++) {
                const struct sample_key *key = sample_stats_key(stats, i);
                if (key->event == event && (!b->options->has_path || key->path == b->options->path))
                        sample_sum_add(&b->stacks[stack_of(b, key->stack)].own, &stats->sums[i]);
        }
        /* A caller has a lower id than its callees. */
        for (uint32_t stack = b->n_stacks; stack > 0; stack--) {
                struct stack_sum *sum = &b->stacks[stack];
                uint32_t parent = parent_of(b, stack);

                sample_sum_add(&sum->all, &sum->own);
                if (sum->all.n_samples == 0)
                        continue;
                sample_sum_add(&b->stacks[parent].all, &sum->all);
                sum->next_sibling = b->stacks[parent].first_callee;
                b->stacks[parent].first_callee = stack;
        }
}

static struct place place_of(const struct building *b, uint32_t stack, uint32_t at)
{
        struct place place = { .stack = stack, .at = at, .sum = b->stacks[stack].all };

        if (at == first_of(b, stack))
                place.self = b->stacks[stack].own;
        return place;
}

/* ------------------------------------------------------------------ where the tree begins */

/*
 * Finds the outermost wanted function in the innermost frame of @stack, around which no frame has one.
 */
static bool find_wanted(const struct building *b, uint32_t stack, uint32_t *ret_at)
{
        for (uint32_t at = end_of(b, stack); at > first_of(b, stack); at--)
                if (b->options->wanted[b->groups->labels[at - 1]]) {
                        *ret_at = at - 1;
                        return true;
                }
        return false;
}

/* In a tree from the bottom, only calls through the wanted function count, whatever it called. */
static int begin_at_wanted(struct building *b)
{
        bool *has_wanted = calloc((size_t)b->n_stacks + 1, sizeof(*has_wanted));
        int r = 0;

        if (!has_wanted)
                return -ENOMEM;
        for (uint32_t stack = 1; stack <= b->n_stacks && r == 0; stack++) {
                uint32_t at;

                has_wanted[stack] = has_wanted[parent_of(b, stack)];
                if (has_wanted[stack] || !find_wanted(b, stack, &at))
                        continue;
                has_wanted[stack] = true;
                if (b->stacks[stack].all.n_samples != 0) {
                        struct place place = place_of(b, stack, at);

                        r = add_place(&b->moved, &place);
                }
        }
        free(has_wanted);
        return r;
}

static int begin_everywhere(struct building *b)
{
        for (uint32_t stack = 1; stack <= b->n_stacks; stack++) {
                const struct stack_sum *sum = &b->stacks[stack];
                struct place place;
                int r;

                if (b->options->from_bottom ? sum->own.n_samples == 0
                                            : parent_of(b, stack) != 0 || sum->all.n_samples == 0)
                        continue;
                place = place_of(b, stack,
                                 b->options->from_bottom ? first_of(b, stack) : end_of(b, stack) - 1);
                if (b->options->from_bottom)
                        place.sum = sum->own;
                r = add_place(&b->moved, &place);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------------------------------------------------------------------ one call on */

static int move_to_callees(struct building *b, const struct place *place)
{
        if (place->at > first_of(b, place->stack)) {
                struct place callee = place_of(b, place->stack, place->at - 1);

                return add_place(&b->moved, &callee);
        }
        for (uint32_t s = b->stacks[place->stack].first_callee; s != 0; s = b->stacks[s].next_sibling) {
                struct place callee = place_of(b, s, end_of(b, s) - 1);
                int r = add_place(&b->moved, &callee);

                if (r < 0)
                        return r;
        }
        return 0;
}

/*
 * A place without a caller adds to the self of its node: in this direction, self is the sum of the call
 * stacks that end there.
 */
static int move_to_caller(struct building *b, const struct place *place)
{
        struct place caller = *place;

        caller.self = (struct sample_sum){ .n_samples = 0 };
        if (place->at + 1 < end_of(b, place->stack)) {
                caller.at++;
        } else {
                caller.stack = parent_of(b, place->stack);
                if (caller.stack == 0) {
                        sample_sum_add(&b->tree->nodes[place->node].self, &place->sum);
                        return 0;
                }
                caller.at = first_of(b, caller.stack);
        }
        return add_place(&b->moved, &caller);
}

/* ------------------------------------------------------------------ sorting by function */

static void list_labels(struct building *b, const struct place *places, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                uint32_t label = b->groups->labels[places[i].at];
                struct found_label *found = &b->found[label];

                if (!found->is_listed) {
                        *found = (struct found_label){ .is_listed = true };
                        b->listed[b->n_listed++] = label;
                }
                sample_sum_add(&found->total, &places[i].sum);
                sample_sum_add(&found->self, &places[i].self);
        }
}

static int compare_labels(const void *a, const void *b, void *context)
{
        const struct found_label *found = context;
        uint32_t x = *(const uint32_t *)a;
        uint32_t y = *(const uint32_t *)b;

        if (found[x].total.weight != found[y].total.weight)
                return found[x].total.weight < found[y].total.weight ? 1 : -1;
        return (x > y) - (x < y);
}

/* Makes a node of each function that weighs enough. */
static int add_children(struct building *b, uint32_t parent)
{
        struct call_tree *t = b->tree;
        uint64_t least = b->options->weight_min != 0 ? b->options->weight_min : 1;

        if (b->n_listed != 0)
                qsort_r(b->listed, b->n_listed, sizeof(*b->listed), compare_labels, b->found);
        for (uint32_t i = 0; i < b->n_listed; i++) {
                struct found_label *found = &b->found[b->listed[i]];

                if (found->total.weight < least || t->n_nodes >= CALL_TREE_NODES_MAX) {
                        t->n_left_out++;
                        continue;
                }
                if (array_reserve(&t->nodes, &t->nodes_capacity, t->n_nodes + 1, sizeof(*t->nodes)) < 0)
                        return -ENOMEM;
                if (t->nodes[parent].n_children++ == 0)
                        t->nodes[parent].first_child = t->n_nodes;
                found->node = t->n_nodes;
                t->nodes[t->n_nodes++] = (struct call_tree_node){
                        .label = b->listed[i],
                        .parent = parent,
                        .depth = parent != 0 ? t->nodes[parent].depth + 1 : 0,
                        .total = found->total,
                };
                if (!b->options->from_bottom)
                        t->nodes[t->n_nodes - 1].self = found->self;
        }
        return 0;
}

/* Moves the places that were found below one node into the next level, in the order of its nodes. */
static int keep_places(struct building *b)
{
        struct place_list *moved = &b->moved;

        for (size_t i = 0; i < moved->n; i++) {
                struct place *place = &moved->places[i];
                int r;

                place->node = b->found[b->groups->labels[place->at]].node;
                if (place->node == 0)
                        continue;
                r = add_place(&b->next, place);
                if (r < 0)
                        return r;
        }
        moved->n = 0;
        for (uint32_t i = 0; i < b->n_listed; i++)
                b->found[b->listed[i]] = (struct found_label){ .is_listed = false };
        b->n_listed = 0;
        return 0;
}

/* Makes the moved places children of @parent; nodes deeper than wanted are only counted. */
static int end_node(struct building *b, uint32_t parent, bool is_deep)
{
        int r = 0;

        list_labels(b, b->moved.places, b->moved.n);
        if (!is_deep)
                r = add_children(b, parent);
        else
                b->tree->n_left_out += b->n_listed;
        return r == 0 ? keep_places(b) : r;
}

static int compare_places(const void *a, const void *b)
{
        const struct place *x = a;
        const struct place *y = b;

        return (x->node > y->node) - (x->node < y->node);
}

/* Builds one level: the places of each node follow each other. */
static int build_level(struct building *b, bool is_deep)
{
        struct place_list level = b->next;

        b->next = b->now;
        b->next.n = 0;
        b->now = level;
        qsort(level.places, level.n, sizeof(*level.places), compare_places);
        for (size_t i = 0; i < level.n; i++) {
                const struct place *place = &level.places[i];
                int r = b->options->from_bottom ? move_to_caller(b, place) : move_to_callees(b, place);

                if (r == 0 && (i + 1 == level.n || level.places[i + 1].node != place->node))
                        r = end_node(b, place->node, is_deep);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int build(struct building *b)
{
        struct call_tree *t = b->tree;
        uint32_t depth_max = b->options->depth_max;
        int r = b->options->wanted ? begin_at_wanted(b) : begin_everywhere(b);

        if (depth_max == 0 || depth_max > CALL_TREE_DEPTH_MAX)
                depth_max = CALL_TREE_DEPTH_MAX;
        for (size_t i = 0; r == 0 && i < b->moved.n; i++)
                sample_sum_add(&t->nodes[0].total, &b->moved.places[i].sum);
        if (r == 0)
                r = end_node(b, 0, false);
        for (uint32_t depth = 1; r == 0 && b->next.n != 0; depth++)
                r = build_level(b, depth >= depth_max);
        return r;
}

int call_tree_init(struct call_tree *t, const struct trace_dictionary *dictionary,
                   const struct function_table *functions, const struct sample_stats *stats, uint32_t event,
                   const struct call_tree_options *options)
{
        struct building b = {
                .tree = t,
                .options = options,
                .dictionary = dictionary,
                .functions = functions,
                .groups = &functions->frames,
                .n_stacks = trace_dictionary_count(dictionary, TRACE_TABLE_STACKS) + 1,
        };
        int r = -ENOMEM;

        *t = (struct call_tree){ .n_nodes = 1, .nodes_capacity = 1 };
        t->nodes = calloc(1, sizeof(*t->nodes));
        b.stacks = calloc((size_t)b.n_stacks + 1, sizeof(*b.stacks));
        b.found = calloc((size_t)b.groups->n_labels + 1, sizeof(*b.found));
        b.listed = calloc((size_t)b.groups->n_labels + 1, sizeof(*b.listed));
        if (t->nodes && b.stacks && b.found && b.listed) {
                sum_stacks(&b, stats, event);
                r = build(&b);
        }
        free(b.stacks);
        free(b.found);
        free(b.listed);
        free(b.now.places);
        free(b.next.places);
        free(b.moved.places);
        if (r < 0)
                call_tree_deinit(t);
        return r;
}
