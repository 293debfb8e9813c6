/* SPDX-License-Identifier: MIT */
/*
 * The rows of a process are ranked: by generation, and within a generation in the order of the trace.  A
 * frame of generation G belongs to the highest-ranked region at its address whose generation is not later
 * than G, unless a row of an earlier generation that says "gone" ranks higher.  A region that is gone in G
 * itself may have been there when the frame was made.
 *
 * Each row is stored in some nodes of a segment tree over all addresses at which a row begins or ends; the
 * rows in a node ascend.  The rows that say "gone" have a tree of their own.  An address is looked up in
 * the nodes from its leaf to the root.  So any number of overlapping rows costs only a logarithm each.
 */
#include "symbolize/symbols/region_symbols.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct ranked_row {
        uint64_t start_avma, end_avma;
        uint32_t process;
        uint32_t generation;
        uint32_t region;
        uint32_t gone;
};

/* Which rows lie in which nodes. */
struct region_nodes {
        /* heap: where the ranks of node i end in `ranks`; they begin where those of i - 1 end */
        size_t *ends;
        uint32_t *ranks; /* heap: rows of the process, counted from its first one on */
};

/* The rows of one process. */
struct region_tree {
        uint32_t first_row, n_rows; /* in `rows` of struct region_symbols */
        uint64_t *bounds;           /* heap: every start and end, ascending; leaf i is from bounds[i] on */
        size_t n_bounds;
        struct region_nodes regions, gone;
};

struct region_symbols {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct ranked_row *rows;                   /* heap, in the order of ranks, process by process */
        size_t n_rows;
        struct region_tree *trees; /* heap, by process, of those that have rows */
        size_t n_trees;
        uint32_t *lines; /* heap: ids in CODE_LINES by region and offset */
        size_t n_lines;
};

/* ---- rows in their order ------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
        const struct ranked_row *x = a, *y = b;

        if (x->process != y->process)
                return x->process < y->process ? -1 : 1;
        if (x->generation != y->generation)
                return x->generation < y->generation ? -1 : 1;
        return x->region < y->region ? -1 : x->region > y->region;
}

static uint32_t generation_of(const struct trace_dictionary *d, uint32_t module_id)
{
        const struct trace_module *module = module_id
                                                    ? trace_dictionary_row(d, TRACE_TABLE_MODULES, module_id)
                                                    : NULL;

        return module ? module->generation : 0;
}

static int rank_rows(struct region_symbols *s)
{
        uint32_t n_regions = trace_dictionary_count(s->dictionary, TRACE_TABLE_CODE_REGIONS);

        s->rows = calloc((size_t)n_regions + 1, sizeof(*s->rows));
        if (!s->rows)
                return -ENOMEM;
        for (uint32_t id = 1; id <= n_regions; id++) {
                const struct trace_code_region *r = trace_dictionary_row(s->dictionary,
                                                                         TRACE_TABLE_CODE_REGIONS, id);
                struct ranked_row row = { .start_avma = r->start_avma,
                                          .process = r->process,
                                          .generation = generation_of(s->dictionary, r->module),
                                          .region = id,
                                          .gone = r->gone != 0 };

                if (__builtin_add_overflow(r->start_avma, r->length_bytes, &row.end_avma))
                        row.end_avma = UINT64_MAX;
                if (row.start_avma < row.end_avma)
                        s->rows[s->n_rows++] = row;
        }
        qsort(s->rows, s->n_rows, sizeof(*s->rows), compare_rows);
        return 0;
}

/* ---- one process --------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

static int collect_bounds(struct region_tree *t, const struct ranked_row *rows)
{
        size_t n = 0;

        t->bounds = calloc((size_t)t->n_rows * 2, sizeof(*t->bounds));
        if (!t->bounds)
                return -ENOMEM;
        for (uint32_t i = 0; i < t->n_rows; i++) {
                t->bounds[n++] = rows[i].start_avma;
                t->bounds[n++] = rows[i].end_avma;
        }
        qsort(t->bounds, n, sizeof(*t->bounds), compare_numbers);
        for (size_t i = 0; i < n; i++)
                if (t->n_bounds == 0 || t->bounds[t->n_bounds - 1] != t->bounds[i])
                        t->bounds[t->n_bounds++] = t->bounds[i];
        return 0;
}

/* The last bound that is at or before @avma, plus one; 0 if there is none. */
static size_t count_bounds_to(const struct region_tree *t, uint64_t avma)
{
        size_t low = 0, high = t->n_bounds;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (t->bounds[middle] <= avma)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/*
 * Visits the nodes that together cover a row's addresses: leaf i of n is node n + i, and node k has the
 * children 2 k and 2 k + 1.  Counts the row in each node, or stores its rank in the node's next free place.
 */
static void visit_nodes(const struct region_tree *t, struct region_nodes *to, const struct ranked_row *row,
                        const uint32_t *rank)
{
        size_t low = count_bounds_to(t, row->start_avma) - 1 + t->n_bounds;
        size_t high = count_bounds_to(t, row->end_avma) - 1 + t->n_bounds;

        for (; low < high; low /= 2, high /= 2) {
                size_t nodes[2];
                unsigned n_nodes = 0;

                if (low % 2 != 0)
                        nodes[n_nodes++] = low++;
                if (high % 2 != 0)
                        nodes[n_nodes++] = --high;
                while (n_nodes-- > 0) {
                        size_t *end = &to->ends[nodes[n_nodes]];

                        if (rank)
                                to->ranks[*end] = *rank;
                        ++*end;
                }
        }
}

static int fill_nodes(const struct region_tree *t, struct region_nodes *to, const struct ranked_row *rows,
                      uint32_t gone)
{
        size_t n_nodes = t->n_bounds * 2, n_ranks = 0;

        to->ends = calloc(n_nodes, sizeof(*to->ends));
        if (!to->ends)
                return -ENOMEM;
        for (uint32_t i = 0; i < t->n_rows; i++)
                if (rows[i].gone == gone)
                        visit_nodes(t, to, &rows[i], NULL);
        for (size_t i = 0; i < n_nodes; i++) {
                size_t n = to->ends[i];

                to->ends[i] = n_ranks; /* where its ranks begin; storing them makes this their end */
                n_ranks += n;
        }
        to->ranks = calloc(n_ranks + 1, sizeof(*to->ranks));
        if (!to->ranks)
                return -ENOMEM;
        for (uint32_t i = 0; i < t->n_rows; i++)
                if (rows[i].gone == gone)
                        visit_nodes(t, to, &rows[i], &i);
        return 0;
}

static int build_tree(struct region_tree *t, const struct ranked_row *rows)
{
        int r = collect_bounds(t, rows);

        if (r == 0)
                r = fill_nodes(t, &t->regions, rows, 0);
        return r < 0 ? r : fill_nodes(t, &t->gone, rows, 1);
}

static int build_trees(struct region_symbols *s)
{
        size_t n_trees = 0;

        for (size_t i = 0; i < s->n_rows; i++)
                n_trees += i == 0 || s->rows[i].process != s->rows[i - 1].process;
        s->trees = calloc(n_trees + 1, sizeof(*s->trees));
        if (!s->trees)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_rows; i++) {
                if (i == 0 || s->rows[i].process != s->rows[i - 1].process)
                        s->trees[s->n_trees++].first_row = (uint32_t)i;
                s->trees[s->n_trees - 1].n_rows++;
        }
        for (size_t i = 0; i < s->n_trees; i++) {
                int r = build_tree(&s->trees[i], s->rows + s->trees[i].first_row);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

struct keyed_line {
        uint32_t region, offset_bytes, id;
};

static int compare_lines(const void *a, const void *b)
{
        const struct keyed_line *x = a, *y = b;

        if (x->region != y->region)
                return x->region < y->region ? -1 : 1;
        if (x->offset_bytes != y->offset_bytes)
                return x->offset_bytes < y->offset_bytes ? -1 : 1;
        return x->id < y->id ? -1 : x->id > y->id;
}

static int sort_lines(struct region_symbols *s)
{
        uint32_t n = trace_dictionary_count(s->dictionary, TRACE_TABLE_CODE_LINES);
        struct keyed_line *keyed = calloc((size_t)n + 1, sizeof(*keyed));

        s->lines = calloc((size_t)n + 1, sizeof(*s->lines));
        if (!keyed || !s->lines) {
                free(keyed);
                return -ENOMEM;
        }
        for (uint32_t id = 1; id <= n; id++) {
                const struct trace_code_line *line = trace_dictionary_row(s->dictionary,
                                                                          TRACE_TABLE_CODE_LINES, id);

                keyed[id - 1] = (struct keyed_line){ line->region, line->offset_bytes, id };
        }
        qsort(keyed, n, sizeof(*keyed), compare_lines);
        for (uint32_t i = 0; i < n; i++)
                s->lines[i] = keyed[i].id;
        s->n_lines = n;
        free(keyed);
        return 0;
}

/* The last line of the region at or before the byte. */
static void find_line(const struct region_symbols *s, uint64_t offset_bytes, struct region_symbol *symbol)
{
        const struct trace_code_line *line;
        size_t low = 0, high = s->n_lines;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                line = trace_dictionary_row(s->dictionary, TRACE_TABLE_CODE_LINES, s->lines[middle]);
                if (line->region < symbol->region ||
                    (line->region == symbol->region && line->offset_bytes <= offset_bytes))
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0)
                return;
        line = trace_dictionary_row(s->dictionary, TRACE_TABLE_CODE_LINES, s->lines[low - 1]);
        if (line->region != symbol->region)
                return;
        symbol->file = line->file;
        symbol->line = line->line;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

int region_symbols_new(const struct trace_dictionary *dictionary, struct region_symbols **ret_symbols,
                       struct error *err)
{
        struct region_symbols *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return error_set(err, -ENOMEM, "no memory for regions of code");
        s->dictionary = dictionary;
        r = rank_rows(s);
        if (r == 0)
                r = build_trees(s);
        if (r == 0)
                r = sort_lines(s);
        if (r < 0) {
                region_symbols_free(s);
                return error_set(err, r, "no memory for regions of code");
        }
        *ret_symbols = s;
        return 0;
}

void region_symbols_free(struct region_symbols *s)
{
        if (!s)
                return;
        for (size_t i = 0; i < s->n_trees; i++) {
                free(s->trees[i].bounds);
                free(s->trees[i].regions.ends);
                free(s->trees[i].regions.ranks);
                free(s->trees[i].gone.ends);
                free(s->trees[i].gone.ranks);
        }
        free(s->trees);
        free(s->rows);
        free(s->lines);
        free(s);
}

static const struct region_tree *find_tree(const struct region_symbols *s, uint32_t process)
{
        size_t low = 0, high = s->n_trees;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                uint32_t at = s->rows[s->trees[middle].first_row].process;

                if (at == process)
                        return &s->trees[middle];
                if (at < process)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

/* How many rows come before those of @generation. */
static uint32_t count_rows_before(const struct region_tree *t, const struct ranked_row *rows,
                                  uint64_t generation)
{
        uint32_t low = 0, high = t->n_rows;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (rows[middle].generation < generation)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The highest rank below @n_rows in a node, plus one; 0 if there is none. */
static uint32_t find_rank(const struct region_nodes *nodes, size_t node, uint32_t n_rows)
{
        size_t first = nodes->ends[node - 1];
        size_t low = first, high = nodes->ends[node];

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (nodes->ranks[middle] < n_rows)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low > first ? nodes->ranks[low - 1] + 1 : 0;
}

/* The highest rank below @n_rows in all nodes from a leaf up to the root, plus one; 0 if there is none. */
static uint32_t find_highest(const struct region_nodes *nodes, size_t leaf, uint32_t n_rows)
{
        uint32_t best = 0;

        for (size_t node = leaf; node > 0; node /= 2) {
                uint32_t rank = find_rank(nodes, node, n_rows);

                if (rank > best)
                        best = rank;
        }
        return best;
}

int region_symbols_find(const struct region_symbols *s, uint32_t module, uint64_t avma,
                        struct region_symbol *ret_symbol)
{
        const struct trace_module *row =
                module ? trace_dictionary_row(s->dictionary, TRACE_TABLE_MODULES, module) : NULL;
        const struct region_tree *t = row ? find_tree(s, row->process) : NULL;
        const struct ranked_row *rows;
        uint32_t found;
        size_t leaf;

        leaf = t ? count_bounds_to(t, avma) : 0;
        if (leaf == 0)
                return 0;
        leaf += t->n_bounds - 1;
        rows = s->rows + t->first_row;
        found = find_highest(&t->regions, leaf, count_rows_before(t, rows, (uint64_t)row->generation + 1));
        if (found == 0 || find_highest(&t->gone, leaf, count_rows_before(t, rows, row->generation)) > found)
                return 0;
        rows += found - 1;
        *ret_symbol = (struct region_symbol){ .region = rows->region };
        find_line(s, avma - rows->start_avma, ret_symbol);
        return 1;
}
