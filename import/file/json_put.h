/* SPDX-License-Identifier: MIT */
/*
 * import/file/json_put.h - values as JSON, in texts of spans and instants
 *
 * Way of the data:  pftrace_args, otlp_spans, otlp_json, otlp_protobuf -> [json_put] -> import_rows
 */
#ifndef IMPORT_JSON_PUT_H
#define IMPORT_JSON_PUT_H

#include "base/text_view.h"

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

/* In quotes, with its escapes; at most @n_bytes_max bytes of it. */
void json_put_string(struct byte_buffer *b, struct text_view text, size_t n_bytes_max);

/* The same of a text of JSON between its quotes, whose escapes stay as they are. */
void json_put_escaped(struct byte_buffer *b, struct text_view text, size_t n_bytes_max);

/* The double of these bits; null if it is not finite. */
void json_put_double(struct byte_buffer *b, uint64_t bits);

/* The number as it is, if it is one of JSON; else null. */
void json_put_number(struct byte_buffer *b, struct text_view number);

/* Bytes in base64, without quotes; at most @n_bytes_max of them. */
void json_put_base64(struct byte_buffer *b, struct text_view bytes, size_t n_bytes_max);

/* 16 digits, without quotes. */
void json_put_hex(struct byte_buffer *b, uint64_t number);

#endif /* IMPORT_JSON_PUT_H */
