/* SPDX-License-Identifier: MIT */
/*
 * import/formats/import_csv.h - tables of spans: hyprof's own columns, and those of tracy-csvexport -u
 *
 * Way of the data:  import_source -> csv_rows -> [import_csv] -> import_rows
 * Specification:    docs/use/import.md, "csv"
 *
 * Columns are found by their names in the first row.  Not thread-safe.  Memory: one row, and each combination
 * of process, thread, device and track once.
 */
#ifndef IMPORT_IMPORT_CSV_H
#define IMPORT_IMPORT_CSV_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

/* By the first row. */
bool import_csv_recognise(struct text_view head);
bool import_csv_recognise_tracy(struct text_view head);

/* Return 0, -EBADMSG: the first row lacks columns, -ENOMEM, -errno. */
int import_csv_read(struct import_source *source, struct import_rows *rows, struct error *err);
int import_csv_read_tracy(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_CSV_H */
