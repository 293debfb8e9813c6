/* SPDX-License-Identifier: MIT */
/*
 * view/shared/tree_rows.h - a call_tree as rows of a document
 *
 * Way of the data:  call_tree -> [tree_rows] -> view_document
 */
#ifndef VIEW_SHARED_TREE_ROWS_H
#define VIEW_SHARED_TREE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct answer_part;
struct call_tree;
struct report;
struct report_view_options;
struct view_document;

struct tree_rows {
        const struct answer_part *part; /* one of those below; that from the bottom has columns of its own */
        const char *title;              /* of the table; static */
        bool from_bottom;
        const bool *wanted; /* by label of the functions; NULL = all */
};

/* Parts of schemas: calls from the outermost function on; functions and their callers; calls in a zone. */
extern const struct answer_part tree_rows_top_down_part, tree_rows_bottom_up_part, tree_rows_calls_part;

/*
 * tree_rows_add() - a table of the samples of the report's event as a tree
 * Rows beyond options->tree_limit are the lightest; the table's `about` counts the rows that are left out.
 */
void tree_rows_add(struct view_document *d, const struct report *report,
                   const struct report_view_options *options, const struct tree_rows *rows);

/*
 * tree_rows_add_zones() - the same from the top, below the zones that were open: a zone is a row around those
 * of its calls
 * A zone's row has its handle, z7, no module, and as `function` its name.  Samples outside of all zones come
 * last.
 */
void tree_rows_add_zones(struct view_document *d, const struct report *report,
                         const struct report_view_options *options);

#endif /* VIEW_SHARED_TREE_ROWS_H */
