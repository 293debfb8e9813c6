/* SPDX-License-Identifier: MIT */
#include "web/html_lanes.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_query.h"
#include "web/escaped_columns.h"

#include <errno.h>
#include <stdbool.h>

static void put_values(struct escaped_columns *out, const struct timeline_columns *c, bool is_merged)
{
        escaped_columns_add(out, c->begin_ns, c->n, 1);
        escaped_columns_add_f64(out, c->first, c->n);
        if (!is_merged)
                return;
        escaped_columns_add_f64(out, c->min, c->n);
        escaped_columns_add_f64(out, c->max, c->n);
        escaped_columns_add_f64(out, c->last, c->n);
        escaped_columns_add_u32(out, c->count, c->n);
}

static void put_spans(struct escaped_columns *out, const struct timeline_columns *c, bool is_merged)
{
        escaped_columns_add(out, c->begin_ns, c->n, 1);
        escaped_columns_add_less(out, c->end_ns, c->begin_ns, c->n);
        escaped_columns_add_u32(out, c->what, c->n);
        if (!is_merged)
                return;
        escaped_columns_add_less(out, c->longest_begin_ns, c->begin_ns, c->n);
        escaped_columns_add(out, c->longest_ns, c->n, 0);
        escaped_columns_add_u32(out, c->count, c->n);
}

static void html_lanes_put_lane(uint32_t id, bool has_values, unsigned merged_log2,
                                const struct timeline_columns *c, struct byte_buffer *out)
{
        struct escaped_columns columns = { .escapes = { .data = NULL } };

        if (has_values)
                put_values(&columns, c, merged_log2 != 0);
        else
                put_spans(&columns, c, merged_log2 != 0);
        byte_buffer_add_u32(out, id);
        byte_buffer_add_u32(out, has_values);
        byte_buffer_add_u32(out, (uint32_t)c->n);
        byte_buffer_add_u32(out, merged_log2);
        byte_buffer_add_u32(out, escaped_columns_count(&columns));
        byte_buffer_add_u32(out, 0);
        escaped_columns_put(&columns, out);
        escaped_columns_deinit(&columns);
}

int html_lanes_put(struct timeline_index *index, unsigned merged_log2, size_t n_items_max,
                   struct byte_buffer *out, struct error *err)
{
        struct timeline_columns columns = { .n = 0 };
        size_t n_items = 0;
        int r = 0;

        byte_buffer_add_u32(out, HTML_LANES_MAGIC);
        byte_buffer_add_u32(out, HTML_LANES_VERSION);
        byte_buffer_add_u32(out, index->n_lanes);
        byte_buffer_add_u32(out, 0);
        for (uint32_t i = 0; r == 0 && i < index->n_lanes; i++) {
                struct timeline_view view = { .lane = i,
                                              .bucket_log2 = merged_log2,
                                              .to_ns = index->duration_ns + 1 };

                columns.n_max = n_items_max - n_items + 1;
                r = timeline_query_view(index, &view, &columns, err);
                n_items += columns.n;
                if (r == 0 && n_items > n_items_max)
                        r = error_set(err, -E2BIG, "more than %zu items", n_items_max);
                if (r == 0)
                        html_lanes_put_lane(i, timeline_index_lane_facts(index, i).has_values, merged_log2,
                                            &columns, out);
        }
        timeline_columns_deinit(&columns);
        return r == 0 && out->failed ? error_set(err, -ENOMEM, "no memory for the timeline") : r;
}
