/* SPDX-License-Identifier: MIT */
/*
 * import/otlp/otlp_json.h - OTLP as JSON -> spans
 *
 * Way of the data:  json_rows -> [otlp_json] -> otlp_spans
 *
 * Memory: the spans of one resource as text, at most IMPORT_LINE_BYTES_MAX.
 */
#ifndef IMPORT_OTLP_JSON_H
#define IMPORT_OTLP_JSON_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_source;
struct otlp_spans;

bool otlp_json_recognise(struct text_view head);

/* To the end of the file.  Returns 0, -ENOMEM, -errno. */
int otlp_json_read(struct import_source *source, struct otlp_spans *spans, struct error *err);

#endif /* IMPORT_OTLP_JSON_H */
