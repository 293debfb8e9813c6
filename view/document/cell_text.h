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

#define CELL_BAR_COLUMNS  20 /* of the longest bar, unless the column says otherwise */
#define CELL_STACK_FRAMES 12

/*
 * The text of a string cell; of a stack, its functions with a NUL between them; "-" if it is not known.
 * Borrowed from the document; hostile.
 */
struct text_view cell_text_string(const struct view_document *d, const struct view_cell *cell);

/*
 * cell_text_add_string() - the same as one text: the functions of a stack with " < " between them
 * @is_short:  of a place: without its folders; of a stack: the functions beyond
 *             CELL_STACK_FRAMES are only counted
 */
void cell_text_add_string(struct byte_buffer *out, const struct view_document *d, enum view_type type,
                          const struct view_cell *cell, bool is_short);

/* The next function of a stack, from the rest of it in @stack, which must not be empty. */
struct text_view cell_text_next_frame(struct text_view *stack);

/*
 * cell_text_add_number() - what a cell of another type holds, or "-"
 * ASCII; an empty bar adds nothing.
 */
void cell_text_add_number(struct byte_buffer *out, const struct view_column *column,
                          const struct view_cell *cell);

#endif /* VIEW_DOCUMENT_CELL_TEXT_H */
