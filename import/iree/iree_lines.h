/* SPDX-License-Identifier: MIT */
/*
 * import/iree/iree_lines.h - IREE's profiles as JSON lines ("ireeperf-jsonl"), row by row
 *
 * Way of the data:  import_source, json_pull -> [iree_lines] -> iree_model
 *
 * The fields are the same as in the binary form; what the exporter derived from them (nanoseconds by a fit of
 * its own, names by id) is not used.  A line that is no row is counted, and the next one read.
 */
#ifndef IMPORT_IREE_LINES_H
#define IMPORT_IREE_LINES_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;
struct iree_model;

/* Whether this begins with the row that names the format. */
bool iree_lines_recognise(struct text_view head);

/* Reads all.  Returns 0, or a failure of import_source or import_rows. */
int iree_lines_read(struct import_source *source, struct iree_model *model, struct import_rows *rows,
                    struct error *err);

#endif /* IMPORT_IREE_LINES_H */
