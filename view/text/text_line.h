/* SPDX-License-Identifier: MIT */
/*
 * view/text/text_line.h - lines of words, with a label before them
 *
 * Way of the data:  report -> [text_line] -> terminal
 *
 * A line is put together in a byte_buffer, which is sticky: who prints it learns
 * that memory ran out.
 */
#ifndef VIEW_TEXT_TEXT_LINE_H
#define VIEW_TEXT_TEXT_LINE_H

#include "base/text_view.h"

#include <stdint.h>
#include <stdio.h>

struct byte_buffer;

#define TEXT_LINE_INDENT        2
#define TEXT_LINE_LABEL_COLUMNS 12 /* of "  command   " */

/* Our own words and numbers, at most 255 bytes; names of a trace go in by text_line_add_string(). */
void text_line_add(struct byte_buffer *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_line_add_string(struct byte_buffer *line, struct text_view string);

/* Prints and empties @line after its label; one without contents is left out.  Returns 0 or -ENOMEM. */
int text_line_print(const char *label, struct byte_buffer *line, FILE *out);

/* The same without a label: after @n_indent spaces, and further lines after @n_hanging. */
int text_line_print_indented(uint32_t n_indent, uint32_t n_hanging, struct byte_buffer *line, FILE *out);

/* "s" unless @n is 1. */
const char *text_line_plural(uint64_t n);

#endif /* VIEW_TEXT_TEXT_LINE_H */
