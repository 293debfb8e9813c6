/* SPDX-License-Identifier: MIT */
/*
 * cli/options/output_options.h - --json, --csv, --format, --section, --limit, --skip, --color, --full-names:
 * how an answer is printed
 *
 * Way of the data:  command line, terminal -> [output_options] -> document_format -> standard output
 */
#ifndef CLI_OPTIONS_OUTPUT_OPTIONS_H
#define CLI_OPTIONS_OUTPUT_OPTIONS_H

#include "base/text_view.h"
#include "view/document/document_format.h"
#include "view/text/text_color.h"

#include <stdbool.h>
#include <stdint.h>

struct common_options;
struct error;
struct view_document;

#define OUTPUT_OPTION_JSON       'j'
#define OUTPUT_OPTION_LIMIT      'l'
#define OUTPUT_OPTION_CSV        1200
#define OUTPUT_OPTION_FORMAT     1201
#define OUTPUT_OPTION_SECTION    1202
#define OUTPUT_OPTION_COLOR      1203
#define OUTPUT_OPTION_CSV_SAFE   1204
#define OUTPUT_OPTION_FULL_NAMES 1205
#define OUTPUT_OPTION_SKIP       1206
#define OUTPUT_OPTION_WHOLE      1207

/* For answers whose text is not made of tables. */
#define OUTPUT_OPTION_ROWS_OF_FORMAT                                                                \
        { OUTPUT_OPTION_JSON, "json", NULL, "print JSON (docs/use/view-json.md)" },                 \
                { OUTPUT_OPTION_CSV, "csv", NULL, "print a table as CSV" },                         \
                { OUTPUT_OPTION_CSV_SAFE, "csv-safe", NULL,                                         \
                  "=--csv, with no cell that a spreadsheet takes for a formula" },                  \
        {                                                                                           \
                OUTPUT_OPTION_FORMAT, "format", "text|md|json|csv", "default: text; md is Markdown" \
        }

#define OUTPUT_OPTION_ROW_SECTION                                                                 \
        {                                                                                         \
                OUTPUT_OPTION_SECTION, "section", "KEY", "with --csv or --json: this table alone" \
        }

#define OUTPUT_OPTION_ROWS                                                                                  \
        OUTPUT_OPTION_ROWS_OF_FORMAT, OUTPUT_OPTION_ROW_SECTION,                                            \
                { OUTPUT_OPTION_FULL_NAMES, "full-names", NULL,                                             \
                  "in text: never shorten names, however long the lines" },                                 \
                { OUTPUT_OPTION_LIMIT, "limit", "N",                                                        \
                  "show at most N rows of each table; 0 = all; JSON: what fits into 24 KB, if not given" }, \
                { OUTPUT_OPTION_SKIP, "skip", "N",                                                          \
                  "with --csv or --json: leave out the first N rows of each table" },                       \
                { OUTPUT_OPTION_WHOLE, "whole", NULL, NULL },                                               \
        {                                                                                                   \
                OUTPUT_OPTION_COLOR, "color", TEXT_COLOR_CHOICES, "default: auto, on a terminal"            \
        }

#define OUTPUT_LIMIT_UNSET UINT32_MAX

/* Only the viewer gives --whole: it shows the answer as tables, with all rows that are filled by default. */

/*
 * The bound of JSON if the user gave no limit: as much as a person, an assistant or a script reads in one go.
 */
#define OUTPUT_JSON_BYTES_MAX (24 << 10)

struct output_options {
        struct document_options
                document; /* n_columns, color and is_terminal are filled in by output_options_complete() */
        enum text_color_when color;
        bool has_format; /* it was asked for */
        bool is_whole;   /* JSON without the bound */
        uint32_t limit;  /* 0 = all; OUTPUT_LIMIT_UNSET = the user gave none */
};

void output_options_init(struct output_options *o);

/* Returns 1; 0 if the letter is another option's; -EINVAL after a complaint. */
int output_options_take(struct output_options *o, int letter, const char *value);

/*
 * To be called after the last option; @common has those of the same options that command_frame took.  Returns
 * 0, or -EINVAL after a complaint.
 */
int output_options_adopt(struct output_options *o, const struct common_options *common);

/* Looks at the terminal: its width, whether it shows color.  Text into a file has 120 columns. */
void output_options_complete(struct output_options *o);

/* Whether it is JSON that is cut to OUTPUT_JSON_BYTES_MAX. */
bool output_options_is_bounded(const struct output_options *o);

/*
 * How many rows a view is to fill; 0 = all.  This is the limit, or all rows if the first ones are skipped,
 * since all pages must have one order.  Without a limit it is @n_text_rows in text and Markdown, and all rows
 * in other formats.
 */
uint32_t output_options_limit(const struct output_options *o, uint32_t n_text_rows);

/*
 * output_options_check() - whether filters left anything of an answer
 * @filter:  in words; empty = there are none
 * Returns 0, or -ENOENT with words if there are filters and no table has a row.
 */
int output_options_check(const struct view_document *document, struct text_view filter, struct error *err);

/* The same answer for a view whose tables have rows that no filter leaves out.  Returns -ENOENT. */
int output_options_say_none(struct text_view filter, struct error *err);

/* Prints the document to standard output; returns the exit status, after a complaint if it failed. */
int output_options_print(const struct output_options *o, const struct view_document *document);

#endif /* CLI_OPTIONS_OUTPUT_OPTIONS_H */
