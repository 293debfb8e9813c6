/* SPDX-License-Identifier: MIT */
/*
 * import/file/csv_rows.h - rows of RFC 4180: quoted fields may hold separators and line ends
 *
 * Way of the data:  import_source -> [csv_rows] -> import_csv
 *
 * Not thread-safe.
 */
#ifndef IMPORT_CSV_ROWS_H
#define IMPORT_CSV_ROWS_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdint.h>

struct error;
struct import_source;

#define CSV_FIELDS_MAX 256 /* of a row; further ones are not looked at */

struct csv_rows {
        struct import_source *source; /* borrowed */
        char separator;
        struct text_view fields[CSV_FIELDS_MAX]; /* of the row; valid until the next */
        uint32_t n_fields;
        uint64_t line; /* where the row begins, from 1 */
        struct byte_buffer text;
};

/* @separator: ',', ';' or tab */
void csv_rows_init(struct csv_rows *rows, struct import_source *source, char separator);
void csv_rows_deinit(struct csv_rows *rows);

/*
 * csv_rows_next() - the next row that is not empty
 * Returns 1, 0 at the end, 2: the file ends within quotes, or as import_source_next_line().
 */
int csv_rows_next(struct csv_rows *rows, struct error *err);

/* The separator of a header row: the one that it has most of. */
char csv_rows_guess_separator(struct text_view line);

/*
 * csv_rows_split() - the fields of one line, of which none has a line end in it
 * Quotes are left where they are.  Returns how many.
 */
uint32_t csv_rows_split(struct text_view line, char separator, struct text_view fields[CSV_FIELDS_MAX]);

#endif /* IMPORT_CSV_ROWS_H */
