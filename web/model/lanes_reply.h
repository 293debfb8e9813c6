/* SPDX-License-Identifier: MIT */
/*
 * web/model/lanes_reply.h - columns of lanes as the bytes of a reply
 *
 * Way of the data:  timeline_query (columns) -> [lanes_reply] -> view_content
 *
 * docs/use/viewers.md has the format.  Little-endian; each column begins at a multiple of 8 bytes.
 */
#ifndef WEB_MODEL_LANES_REPLY_H
#define WEB_MODEL_LANES_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_REPLY_MAGIC   UINT32_C(0x4c545948) /* "HYTL" */
#define LANES_REPLY_VERSION 1

struct byte_buffer;
struct timeline_columns;

struct lanes_reply_lane {
        uint32_t id, bucket_log2;
        bool has_values;
};

void lanes_reply_begin(struct byte_buffer *out, uint32_t n_lanes);
void lanes_reply_add(struct byte_buffer *out, const struct lanes_reply_lane *lane,
                     const struct timeline_columns *columns);

/* Columns, padded; for other formats of the same kind. */
void lanes_reply_add_f64(struct byte_buffer *out, const double *values, size_t n);
void lanes_reply_add_u32(struct byte_buffer *out, const uint32_t *values, size_t n);

#endif /* WEB_MODEL_LANES_REPLY_H */
