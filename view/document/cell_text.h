/* SPDX-License-Identifier: MIT */
/*
 * view/document/cell_text.h - one cell of a document as people read it
 *
 * Way of the data:  view_document -> [cell_text] -> document_text, document_markdown
 */
#ifndef VIEW_DOCUMENT_CELL_TEXT_H
#define VIEW_DOCUMENT_CELL_TEXT_H

#include "view/document/view_document.h"

#include <stdbool.h>
#include <stdint.h>

#define CELL_BAR_COLUMNS 20 /* of the longest bar, unless the column says otherwise */

/* What a string cell holds; of a place without its folders if @is_short.  Borrowed from the document; hostile. */
struct report_string cell_text_string(const struct view_document *d, enum view_type type,
                                      const struct view_cell *cell, bool is_short);

/*
 * cell_text_add_number() - what a cell of another type holds, or "-"
 * @n_columns_max: of a bar; 0 = CELL_BAR_COLUMNS
 * ASCII; an empty bar adds nothing.
 */
void cell_text_add_number(struct byte_buffer *out, enum view_type type, const struct view_cell *cell,
                          uint32_t n_columns_max);

#endif /* VIEW_DOCUMENT_CELL_TEXT_H */
