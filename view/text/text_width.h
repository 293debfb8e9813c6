/* SPDX-License-Identifier: MIT */
/*
 * view/text/text_width.h - how many columns text has
 *
 * Way of the data:  terminal -> [text_width] -> text_table, option_table, output_options
 */
#ifndef VIEW_TEXT_TEXT_WIDTH_H
#define VIEW_TEXT_TEXT_WIDTH_H

#include <stdint.h>
#include <stdio.h>

#define TEXT_WIDTH 120 /* where there is no terminal to ask */

/* The width of the terminal @fd; 0 = it is not a terminal, or does not say. */
uint32_t text_width_of_terminal(int fd);

/* The width for output to @out: its terminal's, else $COLUMNS, else TEXT_WIDTH. */
uint32_t text_width_of(FILE *out);

#endif /* VIEW_TEXT_TEXT_WIDTH_H */
