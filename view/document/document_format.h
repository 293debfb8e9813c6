/* SPDX-License-Identifier: MIT */
/*
 * view/document/document_format.h - a view_document as text, Markdown, JSON or CSV
 *
 * Way of the data:  view_document -> [document_format] -> terminal, file, pipe
 *
 *      text       of at most `n_columns` columns; what is cut or left out is announced; color
 *                 and full names on request
 *      Markdown   GitHub tables, for issues and pull requests
 *      JSON       one object: "schema", facts, "warnings", each table as { "rows": [...], "n_rows": n,
 *                 "left_out": n, "next": n }; names never cut; of a bounded size, if so asked
 *      CSV        RFC 4180: the first table, or the one that is asked for; warnings are not in it
 */
#ifndef VIEW_DOCUMENT_DOCUMENT_FORMAT_H
#define VIEW_DOCUMENT_DOCUMENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct view_document;
struct view_table;

enum document_format { DOCUMENT_TEXT, DOCUMENT_MARKDOWN, DOCUMENT_JSON, DOCUMENT_CSV };

/* Answers without tables have sections as well, of these names. */
#define DOCUMENT_SECTION_FACTS    "facts"
#define DOCUMENT_SECTION_WARNINGS "warnings"

struct document_options {
        enum document_format format;
        uint32_t n_columns;  /* of text; 0 = without limit */
        bool color;          /* of text */
        bool is_terminal;    /* of text: lines of listings are cut at its width, else they are not cut */
        bool full_names;     /* of text: names are never cut, so that lines are as long as need be */
        const char *section; /* key of a table; JSON then has only its rows; CSV: NULL = the first table */
        size_t n_bytes_max;  /* of JSON: tables are cut to make it about this long at most; 0 = no bound */
        uint32_t n_skipped;  /* of JSON and CSV: so many first rows of each table are left out */
        uint32_t n_rows_max; /* of JSON and CSV: at most so many rows after those are printed; 0 = all */
        char separator;      /* of CSV: ',' */
        bool csv_is_safe;    /* see csv_writer.h */
};

/*
 * document_print() - write the document
 * Returns 0, -ENOMEM, -ENOENT with words if there is no such section; the caller looks at ferror(@out).
 */
int document_print(const struct view_document *d, const struct document_options *options, FILE *out,
                   struct error *err);

/* One function for each format; they return the same.  A section that the options name must exist. */
int document_print_text(const struct view_document *d, const struct document_options *options, FILE *out);
int document_print_markdown(const struct view_document *d, FILE *out);
int document_print_json(const struct view_document *d, const struct document_options *options, FILE *out);
int document_print_csv(const struct view_document *d, const struct document_options *options, FILE *out,
                       struct error *err);

/* The titles and rows of one table as text and nothing else, for a screen.  Returns 0 or -ENOMEM. */
int document_print_rows(const struct view_document *d, const struct view_table *t,
                        const struct document_options *options, FILE *out);

/* The rows of a table with a `listing`, below its title.  Returns 0 or -ENOMEM. */
int document_listing_print(const struct view_document *d, const struct view_table *t,
                           const struct document_options *options, FILE *out);

#endif /* VIEW_DOCUMENT_DOCUMENT_FORMAT_H */
