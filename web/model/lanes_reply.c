/* SPDX-License-Identifier: MIT */
#include "web/model/lanes_reply.h"

#include "base/byte_buffer.h"
#include "timeline/timeline_query.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are copied as they are in memory");

void lanes_reply_add_f64(struct byte_buffer *out, const double *values, size_t n)
{
        if (n > 0)
                byte_buffer_add(out, values, n * sizeof(*values));
}

void lanes_reply_add_u32(struct byte_buffer *out, const uint32_t *values, size_t n)
{
        if (n > 0)
                byte_buffer_add(out, values, n * sizeof(*values));
        if (n % 2 != 0)
                byte_buffer_add_u32(out, 0);
}

void lanes_reply_begin(struct byte_buffer *out, uint32_t n_lanes)
{
        byte_buffer_add_u32(out, LANES_REPLY_MAGIC);
        byte_buffer_add_u32(out, LANES_REPLY_VERSION);
        byte_buffer_add_u32(out, n_lanes);
        byte_buffer_add_u32(out, 0);
}

void lanes_reply_add(struct byte_buffer *out, const struct lanes_reply_lane *lane,
                     const struct timeline_columns *c)
{
        byte_buffer_add_u32(out, lane->id);
        byte_buffer_add_u32(out, lane->has_values);
        byte_buffer_add_u32(out, (uint32_t)c->n);
        byte_buffer_add_u32(out, lane->bucket_log2);
        lanes_reply_add_f64(out, c->begin_ns, c->n);
        if (lane->has_values) {
                lanes_reply_add_f64(out, c->min, c->n);
                lanes_reply_add_f64(out, c->max, c->n);
                lanes_reply_add_f64(out, c->first, c->n);
                lanes_reply_add_f64(out, c->last, c->n);
        } else {
                lanes_reply_add_f64(out, c->end_ns, c->n);
                lanes_reply_add_f64(out, c->longest_begin_ns, c->n);
                lanes_reply_add_f64(out, c->longest_ns, c->n);
                lanes_reply_add_u32(out, c->what, c->n);
        }
        lanes_reply_add_u32(out, c->count, c->n);
}
