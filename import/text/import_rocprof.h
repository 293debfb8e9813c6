/* SPDX-License-Identifier: MIT */
/*
 * import/text/import_rocprof.h - tables of rocprofv3: kernels, copies of memory, markers and calls
 *
 * Way of the data:  import_source -> csv_rows -> [import_rocprof] -> import_rows
 *
 * Columns are found by their names in the first row, whatever their case: versions have others, in another
 * order.  docs/use/import-perfetto.md says what becomes of them.  Memory: one row.
 */
#ifndef IMPORT_IMPORT_ROCPROF_H
#define IMPORT_IMPORT_ROCPROF_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

/* By the first row. */
bool import_rocprof_recognise(struct text_view head);

/* Return 0, -EBADMSG: the first row lacks columns, -ENOMEM, -errno. */
int import_rocprof_read(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_ROCPROF_H */
