/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_lane.h"

#include "base/content_hash.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_FIRST 8 /* places for spans of a new lane */

static int lane_no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "the index of the time line: out of memory");
}

static void free_node(struct timeline_pages *pages, struct timeline_node *node)
{
        if (!node)
                return;
        pages->open_bytes -= sizeof(*node) + node->capacity_bytes;
        free(node->summaries);
        free(node);
}

void timeline_lane_free(struct timeline_pages *pages, struct timeline_lane *lane)
{
        for (uint32_t i = 0; i < lane->n_levels; i++)
                free_node(pages, lane->nodes[i]);
        pages->open_bytes -= (uint64_t)lane->spans_capacity * TIMELINE_SPAN_BYTES;
        free(lane->spans);
        free(lane->roots);
        free(lane);
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

/* The open node of a level, which is at least 1. */
static struct timeline_node *open_node(struct timeline_pages *pages, struct timeline_lane *lane,
                                       uint32_t level)
{
        struct timeline_node **node;

        if (level >= TIMELINE_LEVELS_MAX)
                return NULL;
        node = &lane->nodes[level - 1];
        if (!*node) {
                *node = calloc(1, sizeof(**node));
                if (!*node)
                        return NULL;
                pages->open_bytes += sizeof(**node);
                if (lane->n_levels < level)
                        lane->n_levels = level;
        }
        return *node;
}

/* Room for one more summary. */
static uint8_t *reserve_summary(struct timeline_pages *pages, struct timeline_node *node, size_t n_bytes)
{
        size_t wanted = node->n_summary_bytes + n_bytes;

        if (wanted > node->capacity_bytes) {
                size_t capacity = wanted > 2 * node->capacity_bytes ? wanted : 2 * node->capacity_bytes;
                uint8_t *larger = realloc(node->summaries, capacity);

                if (!larger)
                        return NULL;
                pages->open_bytes += capacity - node->capacity_bytes;
                node->summaries = larger;
                node->capacity_bytes = capacity;
        }
        return node->summaries + node->n_summary_bytes;
}

struct summary_writer {
        uint8_t *at;
        uint32_t n;
        bool has_values;
};

static int put_summary(void *context, const struct timeline_item *item)
{
        struct summary_writer *w = context;

        timeline_item_put_folded(w->at + w->n * timeline_item_folded_bytes(w->has_values), item,
                                 w->has_values);
        w->n++;
        return 0;
}

/* Adds a written page, with a summary of @items, to the node above the page. */
static int push_ref(struct timeline_pages *pages, struct timeline_lane *lane, struct timeline_ref *ref,
                    const struct timeline_item *items, size_t n_items, unsigned least)
{
        struct timeline_node *node = open_node(pages, lane, ref->level + 1U);
        unsigned log2 = timeline_item_bucket(items, n_items, lane->has_values, TIMELINE_SUMMARY_ITEMS, least);
        struct summary_writer writer = { .has_values = lane->has_values };
        struct timeline_fold fold = {
                .take = put_summary, .context = &writer, .bucket_log2 = log2, .has_values = lane->has_values
        };

        if (!node)
                return -ENOMEM;
        writer.at = reserve_summary(pages, node,
                                    TIMELINE_SUMMARY_ITEMS * timeline_item_folded_bytes(lane->has_values));
        if (!writer.at)
                return -ENOMEM;
        for (size_t i = 0; i < n_items; i++)
                (void)timeline_fold_add(&fold, &items[i]);
        (void)timeline_fold_flush(&fold);
        node->n_summary_bytes += writer.n * timeline_item_folded_bytes(lane->has_values);
        ref->bucket_log2 = (uint8_t)log2;
        ref->n_summary = (uint16_t)writer.n;
        node->refs[node->n_refs++] = *ref;
        return 0;
}

/* The page of a node.  Returns its length. */
static size_t encode_node(const struct timeline_node *node, uint8_t *page)
{
        size_t n = TIMELINE_NODE_HEAD_BYTES;

        memset(page, 0, n);
        page[0] = (uint8_t)node->n_refs;
        for (uint32_t i = 0; i < node->n_refs; i++, n += TIMELINE_REF_BYTES)
                timeline_ref_put(page + n, &node->refs[i]);
        memcpy(page + n, node->summaries, node->n_summary_bytes);
        return n + node->n_summary_bytes;
}

/* Writes the page of the open node @level; @ret_ref has no summary yet. */
static int write_node(struct timeline_pages *pages, const struct timeline_node *node, uint32_t level,
                      struct timeline_ref *ret_ref, struct error *err)
{
        uint8_t page[TIMELINE_PAGE_BYTES_MAX];
        size_t n_bytes = encode_node(node, page);
        struct timeline_ref ref = {
                .checksum = content_hash(page, n_bytes),
                .first_begin = node->refs[0].first_begin,
                .last_end = node->refs[node->n_refs - 1].last_end,
                .n_bytes = (uint32_t)n_bytes,
                .level = (uint8_t)level,
        };
        int r = timeline_pages_append(pages, page, n_bytes, &ref.offset_bytes, err);

        if (r < 0)
                return r;
        for (uint32_t i = 0; i < node->n_refs; i++)
                ref.what_bits |= node->refs[i].what_bits;
        *ret_ref = ref;
        return 0;
}

static int close_node(struct timeline_pages *pages, struct timeline_lane *lane, uint32_t level,
                      struct error *err)
{
        struct timeline_node *node = lane->nodes[level - 1];
        size_t item_bytes = timeline_item_folded_bytes(lane->has_values);
        size_t n_items = node->n_summary_bytes / item_bytes;
        struct timeline_ref ref;
        unsigned least = 0;
        int r = write_node(pages, node, level, &ref, err);

        if (r < 0)
                return r;
        for (uint32_t i = 0; i < node->n_refs; i++)
                least = node->refs[i].bucket_log2 > least ? node->refs[i].bucket_log2 : least;
        for (size_t i = 0; i < n_items; i++)
                pages->scratch[i] = timeline_item_get_folded(node->summaries + i * item_bytes,
                                                             lane->has_values);
        if (push_ref(pages, lane, &ref, pages->scratch, n_items, least) < 0)
                return lane_no_memory(err);
        node->n_refs = 0;
        node->n_summary_bytes = 0;
        return 0;
}

/* Full nodes go to the file, from @level upwards. */
static int close_full(struct timeline_pages *pages, struct timeline_lane *lane, uint32_t level,
                      struct error *err)
{
        int r = 0;

        while (r == 0 && level <= lane->n_levels && lane->nodes[level - 1] &&
               lane->nodes[level - 1]->n_refs == TIMELINE_FANOUT)
                r = close_node(pages, lane, level++, err);
        return r;
}

/* ---- spans --------------------------------------------------------------------------------------------- */

/* Writes the page of the open spans, and leaves all of them in `scratch`. */
static int write_spans(struct timeline_pages *pages, const struct timeline_lane *lane,
                       struct timeline_ref *ret_ref, struct error *err)
{
        size_t n_bytes = (size_t)lane->n_spans * TIMELINE_SPAN_BYTES;
        struct timeline_ref ref = { .checksum = content_hash(lane->spans, n_bytes),
                                    .n_bytes = (uint32_t)n_bytes };

        for (uint32_t i = 0; i < lane->n_spans; i++) {
                pages->scratch[i] = timeline_item_get_span(lane->spans + (size_t)i * TIMELINE_SPAN_BYTES,
                                                           lane->has_values);
                ref.what_bits |= timeline_ref_bit(pages->scratch[i].what);
        }
        ref.first_begin = pages->scratch[0].begin;
        ref.last_end = pages->scratch[lane->n_spans - 1].end;
        *ret_ref = ref;
        return timeline_pages_append(pages, lane->spans, n_bytes, &ret_ref->offset_bytes, err);
}

static int close_spans(struct timeline_pages *pages, struct timeline_lane *lane, struct error *err)
{
        struct timeline_ref ref;
        int r = write_spans(pages, lane, &ref, err);

        if (r < 0)
                return r;
        if (push_ref(pages, lane, &ref, pages->scratch, lane->n_spans, 0) < 0)
                return lane_no_memory(err);
        lane->n_spans = 0;
        return close_full(pages, lane, 1, err);
}

static int grow_spans(struct timeline_pages *pages, struct timeline_lane *lane)
{
        uint32_t capacity = lane->spans_capacity == 0 ? SPANS_FIRST : 2 * lane->spans_capacity;
        uint8_t *larger = realloc(lane->spans, (size_t)capacity * TIMELINE_SPAN_BYTES);

        if (!larger)
                return -ENOMEM;
        pages->open_bytes += (uint64_t)(capacity - lane->spans_capacity) * TIMELINE_SPAN_BYTES;
        lane->spans = larger;
        lane->spans_capacity = capacity;
        return 0;
}

/* A place for one more span. */
static int lane_reserve(struct timeline_pages *pages, struct timeline_lane *lane, uint8_t **ret_at,
                        struct error *err)
{
        int r = 0;

        if (lane->n_spans == TIMELINE_PAGE_ITEMS)
                r = close_spans(pages, lane, err);
        if (r == 0 && lane->n_spans == lane->spans_capacity && grow_spans(pages, lane) < 0)
                r = lane_no_memory(err);
        if (r == 0)
                *ret_at = lane->spans + (size_t)lane->n_spans * TIMELINE_SPAN_BYTES;
        return r;
}

static void lane_count(struct timeline_lane *lane, uint64_t begin, uint64_t end)
{
        if (lane->n_items++ == 0)
                lane->first_begin = begin;
        lane->last_begin = begin;
        lane->last_end = end;
        lane->n_spans++;
}

int timeline_lane_add(struct timeline_pages *pages, struct timeline_lane *lane, uint64_t begin, uint64_t end,
                      uint32_t what, struct error *err)
{
        uint8_t *at = NULL;
        int r = lane_reserve(pages, lane, &at, err);

        if (r < 0)
                return r;
        begin = begin < lane->last_end ? lane->last_end : begin;
        end = end < begin ? begin : end;
        timeline_item_put_span(at, begin, end - begin, what);
        lane_count(lane, begin, end);
        return 0;
}

int timeline_lane_add_value(struct timeline_pages *pages, struct timeline_lane *lane, uint64_t time,
                            double value, struct error *err)
{
        uint8_t *at = NULL;
        int r = lane_reserve(pages, lane, &at, err);

        if (r < 0)
                return r;
        time = time < lane->last_end ? lane->last_end : time;
        timeline_item_put_value(at, time, value);
        lane_count(lane, time, time);
        return 0;
}

int timeline_lane_flush(struct timeline_pages *pages, struct timeline_lane *lane, bool is_hard,
                        struct error *err)
{
        uint32_t n_levels = lane->n_levels;
        int r = 0;

        if (lane->is_loaded)
                return 0;
        if (lane->n_spans != 0)
                r = close_spans(pages, lane, err);
        for (uint32_t level = 1; r == 0 && (level < n_levels || (level == n_levels && is_hard)); level++) {
                if (!lane->nodes[level - 1])
                        continue;
                if (lane->nodes[level - 1]->n_refs != 0)
                        r = close_node(pages, lane, level, err);
                if (r == 0)
                        r = close_full(pages, lane, level + 1, err);
                free_node(pages, lane->nodes[level - 1]);
                lane->nodes[level - 1] = NULL;
        }
        pages->open_bytes -= (uint64_t)lane->spans_capacity * TIMELINE_SPAN_BYTES;
        free(lane->spans);
        lane->spans = NULL;
        lane->spans_capacity = 0;
        return r;
}

int timeline_lane_save(struct timeline_pages *pages, const struct timeline_lane *lane,
                       struct timeline_ref *ret_roots, struct error *err)
{
        int n_roots = 0, r = 0;

        for (uint32_t level = lane->n_levels; level > 0 && r == 0; level--) {
                const struct timeline_node *node = lane->nodes[level - 1];

                if (node && node->n_refs != 0)
                        r = write_node(pages, node, level, &ret_roots[n_roots++], err);
        }
        if (r == 0 && lane->n_spans != 0)
                r = write_spans(pages, lane, &ret_roots[n_roots++], err);
        for (int i = 0; i < n_roots; i++) /* without a summary: they are read */
                ret_roots[i].bucket_log2 = TIMELINE_BUCKET_MAX;
        return r < 0 ? r : n_roots;
}
