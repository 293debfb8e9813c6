/* SPDX-License-Identifier: MIT */
/*
 * import/iree/import_ireeprof.h - profiles of IREE's HAL: binary .ireeprof 1.x, and exports as JSON lines
 *
 * Way of the data:  import_source -> [import_ireeprof] -> import_rows
 *
 * Both forms give the same rows (docs/use/import-iree.md says which).  Dispatches and queue operations are in
 * ticks of their device, all else in CLOCK_MONOTONIC, and each clock has its own tracks.  Rows that are
 * malformed, unknown or lost are counted; a cut file is read up to the cut.  Blocks on the file.  Memory does
 * not grow with the number of events: 45 MB and the names.
 */
#ifndef IMPORT_IMPORT_IREEPROF_H
#define IMPORT_IMPORT_IREEPROF_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

/* @head: as import_source_head() gives it. */
bool import_ireeprof_recognise(struct text_view head);

/*
 * Reads all of a file that was recognised.  Returns 0; -ENODATA if nothing was recorded (a header alone);
 * -ENOTSUP for a newer container; -EBADMSG if its header is broken; or a failure of import_source or
 * import_rows.
 */
int import_ireeprof_read(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_IREEPROF_H */
