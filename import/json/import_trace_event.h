/* SPDX-License-Identifier: MIT */
/*
 * import/json/import_trace_event.h - trace-event JSON: PyTorch's profiler (Kineto), clang -ftime-trace,
 * Chromium, Node.js, and `hyprof export chrome`
 *
 * Way of the data:  import_source -> [import_trace_event] -> import_rows
 *
 * docs/use/import-trace-event.md says what becomes of which event.  One pass, in the order of the file;
 * memory: as json_rows.h and import_slices.h say, and 16 bytes for each id of a flow.
 */
#ifndef IMPORT_IMPORT_TRACE_EVENT_H
#define IMPORT_IMPORT_TRACE_EVENT_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

/* @head: the first bytes of a file, unpacked. */
bool import_trace_event_recognise(struct text_view head);

/* Reads the whole file.  Returns 0, or -errno of the source or of @rows, with words. */
int import_trace_event_read(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_TRACE_EVENT_H */
