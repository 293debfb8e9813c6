/* SPDX-License-Identifier: MIT */
/*
 * import/text/import_ftrace.h - the text of ftrace, and of atrace and trace-cmd report: what programs wrote
 * into trace_marker
 *
 * Way of the data:  import_source -> [import_ftrace] -> import_rows
 *
 * docs/use/import-perfetto.md says what becomes of which message.  The text does not say its clock.  One
 * pass; memory: import_slices, and a row a thread, at most FTRACE_THREADS_MAX.
 */
#ifndef IMPORT_IMPORT_FTRACE_H
#define IMPORT_IMPORT_FTRACE_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

/* @head: the first bytes of a file, unpacked. */
bool import_ftrace_recognise(struct text_view head);

/* Reads the whole file.  Returns 0, or -errno of the source or of @rows, with words. */
int import_ftrace_read(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_FTRACE_H */
