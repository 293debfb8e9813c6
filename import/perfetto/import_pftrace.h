/* SPDX-License-Identifier: MIT */
/*
 * import/perfetto/import_pftrace.h - Perfetto's traces: track events, counters, clocks
 *
 * Way of the data:  import_source -> pftrace_packets -> [import_pftrace] -> import_rows
 *
 * docs/use/import-perfetto.md says what becomes of which packet.  One pass, in the order of the file; memory
 * as the parts say: packets, sequences, tracks, clocks, and import_slices.
 */
#ifndef IMPORT_IMPORT_PFTRACE_H
#define IMPORT_IMPORT_PFTRACE_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

/* @head: the first bytes of a file, unpacked. */
bool import_pftrace_recognise(struct text_view head);

/* Reads the whole file.  Returns 0, or -errno of the source or of @rows, with words. */
int import_pftrace_read(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_PFTRACE_H */
