/* SPDX-License-Identifier: MIT */
/*
 * import/otlp/otlp_protobuf.h - OTLP as protobuf -> spans
 *
 * Way of the data:  import_source -> [otlp_protobuf] -> otlp_spans
 *
 * Memory: the spans of one resource, or one message with its length before it, at most IMPORT_LINE_BYTES_MAX.
 */
#ifndef IMPORT_OTLP_PROTOBUF_H
#define IMPORT_OTLP_PROTOBUF_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_source;
struct otlp_spans;

/* One message that is the whole file. */
bool otlp_protobuf_recognise(struct text_view head);
/* Messages with their lengths, four bytes with the highest first, before them. */
bool otlp_protobuf_recognise_framed(struct text_view head);

/* To the end of the file.  Return 0, -ENOMEM, -errno. */
int otlp_protobuf_read(struct import_source *source, struct otlp_spans *spans, struct error *err);
int otlp_protobuf_read_framed(struct import_source *source, struct otlp_spans *spans, struct error *err);

#endif /* IMPORT_OTLP_PROTOBUF_H */
