/* SPDX-License-Identifier: MIT */
/*
 * import/otlp/import_otlp.h - spans of OpenTelemetry -> rows
 *
 * Way of the data:  import_source -> [import_otlp] -> otlp_json or otlp_protobuf -> otlp_spans -> import_rows
 *
 * Three forms: JSON, one document or one a line, as the collector's file exporter writes it; messages of
 * protobuf with their lengths before them, as it does with `format: proto`; and one message of protobuf
 * alone, as exporters send it (ExportTraceServiceRequest, TracesData).
 */
#ifndef IMPORT_IMPORT_OTLP_H
#define IMPORT_IMPORT_OTLP_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

bool import_otlp_recognise(struct text_view head);

/* Returns 0, -ENOMEM, -errno. */
int import_otlp_read(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_OTLP_H */
