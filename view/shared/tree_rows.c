/* SPDX-License-Identifier: MIT */
#include "view/shared/tree_rows.h"
#include "format/trace_dictionary.h"

#include "analyze/report/report.h"
#include "analyze/samples/call_tree.h"
#include "analyze/trace/zone_pattern.h"
#include "base/array.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define COMMON_NAMES_BYTES 2000 /* of the frames around a tree */

/* A function, or a zone around functions. */
struct tree_row {
        uint64_t total, self; /* weights */
        uint64_t self_whole;  /* the whole that `self` is a share of; 0 = a mark, which has no own time */
        uint64_t n_samples;
        struct view_value name;
        struct text_view module;
        char letter; /* of the handle */
        uint32_t id;
};

/* clang-format off */
#define TOTAL_COLUMNS(COLUMN, title)                                                                          \
        COLUMN(SHARE, "total_share", title, report_heading_share(row->total, p->whole),                       \
               "of all samples that passed the filter: of this chain of calls")
#define SELF_COLUMNS(COLUMN)                                                                                  \
        COLUMN(SHARE, "self_share", "self", report_heading_share(row->self, row->self_whole), NULL)
#define FUNCTION_COLUMNS(COLUMN, title)                                                                       \
        COLUMN(STRING, "function", title, row->name, NULL)                                                    \
        COLUMN(HANDLE, "handle", "", view_handle(row->letter, row->id), NULL)                                 \
        COLUMN(COUNT, "total_samples", "samples", view_number(row->n_samples), NULL)                          \
        COLUMN(PLACE, "module", "module", view_place(row->module, 0), NULL, .n_columns_max = 24)
/* clang-format on */

static const struct view_column columns_down[] = { TOTAL_COLUMNS(VIEW_COLUMN, "total") SELF_COLUMNS(
        VIEW_COLUMN) FUNCTION_COLUMNS(VIEW_COLUMN, "function") };
static const struct view_column columns_up[] = { TOTAL_COLUMNS(VIEW_COLUMN, "share") FUNCTION_COLUMNS(
        VIEW_COLUMN, "function, followed by its callers") };
const struct answer_part tree_rows_top_down_part = ANSWER_TABLE(
        "top_down", columns_down, "a call, from the thread's first function on; of --function: what it calls",
        .is_tree = true, .may_be_absent = true);
const struct answer_part tree_rows_bottom_up_part = ANSWER_TABLE(
        "bottom_up", columns_up,
        "a function, by the samples in itself, and below each its callers; of --function: its callers",
        .is_tree = true, .may_be_absent = true);
const struct answer_part tree_rows_calls_part = ANSWER_TABLE("calls", columns_down,
                                                             "a call of the samples inside, as in top_down",
                                                             .is_tree = true, .may_be_absent = true);

struct tree_printing {
        struct view_document *document;
        struct view_table *table;
        const struct report *report;
        const struct call_tree *tree;
        uint64_t whole;
        uint64_t weight_min; /* least weight of a shown node; of equal ones, the first */
        uint64_t n_of_min_left;
        uint32_t first_depth;  /* of the nodes that are shown at depth 0 */
        uint32_t depth_around; /* rows of zones around */
        uint32_t rows_max;     /* 0 = no bound; rows after that many are counted as left out */
        uint32_t depth_max;
        bool from_bottom;
};

/* ------------------------------------------------------------------ which nodes */

static int compare_weights(const void *a, const void *b)
{
        return -report_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* The heaviest nodes form a tree by themselves, since no node weighs more than its parent. */
static int choose_nodes(struct tree_printing *p, uint32_t limit)
{
        uint32_t n = p->tree->n_nodes - 1;
        uint64_t *weights;

        p->weight_min = 0;
        p->n_of_min_left = UINT64_MAX;
        if (limit == 0 || n <= limit)
                return 0;
        weights = calloc(n, sizeof(*weights));
        if (!weights)
                return -1;
        for (uint32_t i = 0; i < n; i++)
                weights[i] = p->tree->nodes[i + 1].total.weight;
        qsort(weights, n, sizeof(*weights), compare_weights);
        p->weight_min = weights[limit - 1];
        p->n_of_min_left = 0;
        for (uint32_t i = 0; i < limit; i++)
                p->n_of_min_left += weights[i] == p->weight_min;
        free(weights);
        return 0;
}

static bool is_chosen(struct tree_printing *p, const struct call_tree_node *node)
{
        if (node->total.weight != p->weight_min)
                return node->total.weight > p->weight_min;
        if (p->n_of_min_left == 0)
                return false;
        if (p->n_of_min_left != UINT64_MAX)
                p->n_of_min_left--;
        return true;
}

/* ------------------------------------------------------------------ rows */

static bool are_enough(struct tree_printing *p)
{
        if (!p->table || p->rows_max == 0 || view_table_count(p->table) < p->rows_max)
                return false;
        p->table->n_left_out++;
        return true;
}

static void put_row(struct tree_printing *p, const struct tree_row *row, uint32_t depth)
{
        struct view_document *d = p->document;
        struct view_table *t = p->table;

        view_table_begin_row(d, t, depth);
        TOTAL_COLUMNS(VIEW_CELL, NULL)
        if (!p->from_bottom) {
                SELF_COLUMNS(VIEW_CELL)
        }
        FUNCTION_COLUMNS(VIEW_CELL, NULL)
}

static void add_row(struct tree_printing *p, const struct call_tree_node *node)
{
        const struct report_samples *samples = &p->report->samples;
        const struct function *function = function_table_get(&samples->functions, node->label);
        enum function_kind kind = (enum function_kind)function->kind;
        struct tree_row row = {
                .total = node->total.weight,
                .self = node->self.weight,
                .self_whole = kind != FUNCTION_MARK ? p->whole : 0,
                .n_samples = node->total.n_samples,
                .name = view_text(report_names_function(
                        trace_dictionary_text(samples->dictionary, function->name), kind)),
                .module = trace_dictionary_text(samples->dictionary, function->module),
                .letter = 'f',
                .id = node->label,
        };

        if (!are_enough(p))
                put_row(p, &row, p->depth_around + node->depth - p->first_depth);
}

/*
 * The walk is not recursive, because a tree may be thousands of nodes deep.  After each node it goes on to
 * the next sibling, or to that of a parent.
 */
static void add_rows(struct tree_printing *p, uint32_t root)
{
        const struct call_tree_node *nodes = p->tree->nodes;
        uint32_t at = nodes[root].n_children != 0 ? nodes[root].first_child : 0;
        bool is_new = true;

        while (at != 0 && at != root) {
                const struct call_tree_node *node = &nodes[at];
                const struct call_tree_node *parent = &nodes[node->parent];

                if (is_new && is_chosen(p, node)) {
                        add_row(p, node);
                        if (node->n_children != 0) {
                                at = node->first_child;
                                continue;
                        }
                }
                is_new = at + 1 < parent->first_child + parent->n_children;
                at = is_new ? at + 1 : node->parent;
        }
}

/* ------------------------------------------------------------------ the frames around */

/* Adds " > name" of the node. */
static void add_name(const struct tree_printing *p, const struct call_tree_node *node,
                     struct byte_buffer *names)
{
        const struct report_samples *samples = &p->report->samples;
        const struct function *function = function_table_get(&samples->functions, node->label);
        struct text_view name = report_names_function(
                trace_dictionary_text(samples->dictionary, function->name),
                (enum function_kind)function->kind);

        if (names->used_bytes > COMMON_NAMES_BYTES)
                return;
        if (names->used_bytes != 0)
                byte_buffer_add(names, " > ", 3);
        byte_buffer_add(names, name.bytes, name.n_bytes);
}

/* The last node, counted from the root, through which all samples pass; 0 if the tree branches at once. */
static uint32_t skip_common(struct tree_printing *p, struct byte_buffer *names)
{
        const struct call_tree_node *nodes = p->tree->nodes;
        uint32_t at = 0;

        for (;;) {
                const struct call_tree_node *child = &nodes[nodes[at].first_child];

                if (nodes[at].n_children != 1 || child->total.weight != p->tree->nodes[0].total.weight ||
                    child->self.weight != 0 || child->n_children == 0)
                        break;
                at = nodes[at].first_child;
                add_name(p, child, names);
        }
        return at;
}

static void say_about(const struct tree_printing *p, const struct report_view_options *options,
                      const struct byte_buffer *names)
{
        const struct report_event *event = p->report->event;
        struct byte_buffer left = { .data = NULL };
        char words[160];
        int n = 0;

        if (p->tree->n_left_out != 0)
                n = snprintf(
                        words, sizeof(words),
                        "; %s calls below %s or deeper than %s levels are left out (--min-share, --depth)",
                        text_number_count(p->tree->n_left_out).text,
                        text_number_share(options->share_min).text,
                        text_number_count(p->depth_max != 0 ? p->depth_max : CALL_TREE_DEPTH_MAX).text);
        byte_buffer_add(&left, words, n > 0 ? (size_t)n : 0);
        view_table_set_about(p->document, p->table, "%% of the %s of %.*s%s%s%.*s%.*s",
                             text_number_counted(event->sum.n_samples, "samples").text,
                             (int)event->name.n_bytes, event->name.bytes,
                             options->function ? "; only of the chosen functions" : "",
                             names->used_bytes != 0 ? "; all inside of " : "", (int)names->used_bytes,
                             names->used_bytes != 0 ? (const char *)names->data : "", (int)left.used_bytes,
                             left.used_bytes != 0 ? (const char *)left.data : "");
        byte_buffer_deinit(&left);
}

static void fill_table(struct tree_printing *p, const struct report_view_options *options)
{
        struct byte_buffer names = { .data = NULL };
        uint32_t root = 0;
        size_t n_rows;

        if (options->skips_common && !p->from_bottom)
                root = skip_common(p, &names);
        p->first_depth = root != 0 ? p->tree->nodes[root].depth + 1 : 0;
        if (choose_nodes(p, options->tree_limit) < 0)
                p->document->failed = true;
        say_about(p, options, &names);
        add_rows(p, root);
        n_rows = p->table ? view_table_count(p->table) : 0;
        if (p->table)
                p->table->n_left_out = p->tree->n_nodes - 1 - n_rows - (root != 0 ? p->first_depth : 0);
        p->document->failed = p->document->failed || names.failed;
        byte_buffer_deinit(&names);
}

void tree_rows_add(struct view_document *d, const struct report *report,
                   const struct report_view_options *options, const struct tree_rows *rows)
{
        struct call_tree tree = { .nodes = NULL };
        struct tree_printing p = {
                .document = d, .report = report, .tree = &tree, .from_bottom = rows->from_bottom
        };
        struct call_tree_options choice = { .from_bottom = rows->from_bottom,
                                            .depth_max = options->depth_max,
                                            .wanted = rows->wanted,
                                            .folds = report_samples_folds(&report->samples) };

        if (rows->from_bottom && options->up_depth_max != 0)
                choice.depth_max = options->up_depth_max;
        p.depth_max = choice.depth_max;
        p.table = view_document_add_part(d, rows->part, rows->title);
        if (!report->event || report->event->sum.n_samples == 0)
                return;
        p.whole = report->event->sum.weight;
        choice.weight_min = (uint64_t)(options->share_min * (double)p.whole);
        if (call_tree_init(&tree, report->samples.dictionary, &report->samples.functions,
                           report->samples.stats, report->event->event, &choice) < 0) {
                d->failed = true;
                return;
        }
        fill_table(&p, options);
        call_tree_deinit(&tree);
}

/* ------------------------------------------------------------------ below zones */

struct zone_node {
        struct sample_sum own, all; /* samples directly in it; with those of zones inside */
        uint32_t first_child, next_sibling;
        uint32_t depth;
};

struct zone_tree {
        const struct report *report;
        const struct zone_paths *paths;
        struct zone_node *nodes; /* heap; by path, [0] = outside of all */
        uint32_t n_paths;
        struct call_tree_options choice;
        struct call_tree calls; /* of one path at a time */
        uint64_t n_left_out;
};

static void sum_zones(struct zone_tree *z)
{
        const struct sample_stats *stats = z->report->samples.stats;

        for (uint32_t i = 0; i < sample_stats_count(stats); i++) {
                const struct sample_key *key = sample_stats_key(stats, i);

                if (key->event == z->report->event->event && key->path <= z->n_paths)
                        sample_sum_add(&z->nodes[key->path].own, &stats->sums[i]);
        }
        /* A path has a lower id than those inside of it. */
        for (uint32_t path = z->n_paths; path > 0; path--) {
                uint32_t parent = zone_paths_parent(z->paths, path);
                struct zone_node *node = &z->nodes[path];
                uint32_t *link = &z->nodes[parent].first_child;

                sample_sum_add(&node->all, &node->own);
                if (node->all.n_samples == 0)
                        continue;
                sample_sum_add(&z->nodes[parent].all, &node->all);
                while (*link != 0 && z->nodes[*link].all.weight > node->all.weight)
                        link = &z->nodes[*link].next_sibling;
                node->next_sibling = *link;
                *link = path;
        }
        for (uint32_t path = 1; path <= z->n_paths; path++) {
                uint32_t parent = zone_paths_parent(z->paths, path);

                z->nodes[path].depth = parent != 0 ? z->nodes[parent].depth + 1 : 0;
        }
}

/* The functions of the samples directly in a zone path. */
static void add_calls_of_zone(struct tree_printing *p, struct zone_tree *z, uint32_t path)
{
        const struct report *report = z->report;

        if (z->nodes[path].own.n_samples == 0)
                return;
        z->choice.path = path;
        if (call_tree_init(&z->calls, report->samples.dictionary, &report->samples.functions,
                           report->samples.stats, report->event->event, &z->choice) < 0) {
                p->document->failed = true;
                return;
        }
        assert(z->calls.nodes);
        p->tree = &z->calls;
        p->depth_around = path != 0 ? z->nodes[path].depth + 1 : 0;
        p->n_of_min_left = UINT64_MAX;
        add_rows(p, 0);
        z->n_left_out += z->calls.n_left_out;
        call_tree_deinit(&z->calls);
}

static void add_zone(struct tree_printing *p, const struct zone_tree *z, uint32_t path)
{
        uint32_t location = zone_paths_location(z->paths, path);
        struct tree_row row = {
                .total = z->nodes[path].all.weight,
                .self_whole = p->whole,
                .n_samples = z->nodes[path].all.n_samples,
                .name = view_name(zone_pattern_name_of(p->report->samples.dictionary, location)),
                .letter = 'z',
                .id = location,
        };

        if (!are_enough(p))
                put_row(p, &row, z->nodes[path].depth);
}

/* Depth first, without recursion; zones too light for a row are left out with all inside of them. */
static void add_zone_tree(struct tree_printing *p, struct zone_tree *z)
{
        uint32_t at = z->nodes[0].first_child;

        while (at != 0) {
                if (z->nodes[at].all.weight >= z->choice.weight_min) {
                        add_zone(p, z, at);
                        add_calls_of_zone(p, z, at);
                        if (z->nodes[at].first_child != 0) {
                                at = z->nodes[at].first_child;
                                continue;
                        }
                } else {
                        z->n_left_out++;
                }
                while (at != 0 && z->nodes[at].next_sibling == 0)
                        at = zone_paths_parent(z->paths, at);
                at = z->nodes[at].next_sibling;
        }
        add_calls_of_zone(p, z, 0);
}

void tree_rows_add_zones(struct view_document *d, const struct report *report,
                         const struct report_view_options *options)
{
        struct tree_printing p = { .document = d, .report = report, .rows_max = options->tree_limit };
        struct zone_tree z = { .report = report, .paths = &report->totals.walk.paths };
        uint64_t whole = report->event ? report->event->sum.weight : 0;

        p.table = view_document_add_part(d, &tree_rows_top_down_part, "Calls, below zones");
        if (whole == 0)
                return;
        z.n_paths = zone_paths_count(z.paths);
        z.nodes = calloc((size_t)z.n_paths + 1, sizeof(*z.nodes));
        if (!z.nodes) {
                d->failed = true;
                return;
        }
        p.whole = whole;
        z.choice = (struct call_tree_options){ .depth_max = options->depth_max,
                                               .weight_min = (uint64_t)(options->share_min * (double)whole),
                                               .folds = report_samples_folds(&report->samples),
                                               .has_path = true };
        sum_zones(&z);
        add_zone_tree(&p, &z);
        view_table_set_about(
                d, p.table,
                "%% of the %s of %.*s, below the zones that were open; %s calls and zones below %s "
                "or deeper than %s levels are left out (--min-share, --depth)",
                text_number_counted(report->event->sum.n_samples, "samples").text,
                (int)report->event->name.n_bytes, report->event->name.bytes,
                text_number_count(z.n_left_out).text, text_number_share(options->share_min).text,
                text_number_count(options->depth_max != 0 ? options->depth_max : CALL_TREE_DEPTH_MAX).text);
        free(z.nodes);
}
