/* SPDX-License-Identifier: MIT */
/*
 * cli/manual/manual_writer.h - headings, paragraphs and lists, for man(1) or as they are
 *
 * Way of the data:  man_page -> [manual_writer] -> roff, terminal
 */
#ifndef CLI_MANUAL_MANUAL_WRITER_H
#define CLI_MANUAL_MANUAL_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct manual_writer {
        FILE *out;
        bool is_roff;
        uint32_t n_columns; /* of a line */
        uint32_t n_indent;  /* of paragraphs, in text */
        bool has_begun;     /* something was written */
        bool after_heading; /* the last thing written is a heading: no empty line is needed */
};

/* @n_indent: of paragraphs below headings; no meaning for roff. */
void manual_writer_init(struct manual_writer *w, FILE *out, bool is_roff, uint32_t n_indent);

void manual_writer_heading(struct manual_writer *w, const char *text, size_t n_bytes);
void manual_writer_paragraph(struct manual_writer *w, const char *text, size_t n_bytes);

/* Writes lines as they are.  Each ends with a line end, except perhaps the last. */
void manual_writer_lines(struct manual_writer *w, const char *text, size_t n_bytes);

/* A name, and what it is. */
void manual_writer_item(struct manual_writer *w, const char *name, const char *text);

/* The contents of docs/man, see cli/manual/manual_prose.h. */
void manual_writer_prose(struct manual_writer *w, const char *text, size_t n_bytes);

#endif /* CLI_MANUAL_MANUAL_WRITER_H */
