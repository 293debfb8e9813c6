/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_hits.h"

#include "timeline/query_step.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_lane.h"

#include <stddef.h>
#include <string.h>

/* One pass over hits of a lane that begin in [low, high), in units of the index. */
struct hit_visit {
        struct timeline_index *index;
        const struct timeline_lane *lane;
        const struct timeline_wanted *wanted; /* of the lane */
        uint64_t low, high;
        uint64_t *by_what;         /* as in struct timeline_hit_counts */
        uint64_t n_left;           /* the hit at which it ends is the n_left-th; 0 = none */
        const uint32_t *what;      /* the first hit with this `what` is one at which it ends; or NULL */
        uint64_t n;                /* hits so far */
        struct timeline_item item; /* at which it ended */
        struct error *err;
};

/* The first span that begins at @time or later: they are in order. */
static uint32_t first_from(const uint8_t *spans, uint32_t n, uint64_t time)
{
        uint32_t from = 0, to = n;

        while (from < to) {
                uint32_t middle = from + (to - from) / 2;

                if (timeline_item_get_span(spans + (size_t)middle * TIMELINE_SPAN_BYTES, false).begin < time)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from;
}

/* Counts hits among spans that all begin in the range. */
static void count_spans(struct hit_visit *v, const uint8_t *spans, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++) {
                uint32_t what;

                /* As timeline_item_put_span() wrote it; all else of the span is not needed. */
                memcpy(&what, spans + (size_t)i * TIMELINE_SPAN_BYTES + 12, sizeof(what));
                if (!timeline_wanted_has(v->wanted, what))
                        continue;
                v->n++;
                if (v->by_what)
                        v->by_what[what - v->wanted->first]++;
        }
}

/* Returns 1 if the pass is to end here, else 0. */
static int visit_hit_spans(struct hit_visit *v, const uint8_t *spans, uint32_t n)
{
        uint32_t end = first_from(spans, n, v->high), i = first_from(spans, n, v->low);

        if (v->n_left == 0 && !v->what && i < end) {
                count_spans(v, spans + (size_t)i * TIMELINE_SPAN_BYTES, end - i);
                return 0;
        }
        for (; i < end; i++) {
                v->item = timeline_item_get_span(spans + (size_t)i * TIMELINE_SPAN_BYTES, false);
                if (!timeline_wanted_has(v->wanted, v->item.what))
                        continue;
                v->n++;
                if (v->n == v->n_left || (v->what && *v->what == v->item.what))
                        return 1;
        }
        return 0;
}

static bool may_have_hits(const struct hit_visit *v, const struct timeline_ref *ref)
{
        return (ref->what_bits & v->wanted->ref_bits) != 0 && ref->first_begin < v->high &&
               ref->last_end >= v->low;
}

static int visit_hit_refs(struct hit_visit *v, const struct timeline_ref *refs, uint32_t n_refs)
{
        struct query_step steps[QUERY_STEPS_MAX + 1];
        unsigned n_steps = 1;
        int r = 0;

        steps[0] = (struct query_step){ .refs = refs, .n_refs = n_refs };
        while (n_steps > 0 && r == 0) {
                struct query_step *step = &steps[n_steps - 1];
                const struct timeline_ref *ref;
                const uint8_t *spans = NULL;

                if (step->i == step->n_refs) {
                        n_steps--;
                        continue;
                }
                ref = &step->refs[step->i++];
                if (!may_have_hits(v, ref))
                        continue;
                if (ref->level > 0) {
                        r = query_step_open(&steps[n_steps++], v->index, v->lane, ref, v->err);
                        continue;
                }
                r = timeline_pages_read(&v->index->pages, ref, &spans, v->err);
                if (r == 0)
                        r = visit_hit_spans(v, spans, ref->n_bytes / TIMELINE_SPAN_BYTES);
        }
        return r;
}

/* Returns 1 if it ended at a hit, 0, -errno. */
static int visit_hits(struct hit_visit *v)
{
        const struct timeline_lane *lane = v->lane;
        int r = 0;

        if (lane->n_items == 0 || lane->last_end < v->low || lane->first_begin >= v->high)
                return 0;
        r = visit_hit_refs(v, lane->roots, lane->n_roots);
        for (uint32_t level = lane->n_levels; level > 0 && r == 0; level--)
                if (lane->nodes[level - 1])
                        r = visit_hit_refs(v, lane->nodes[level - 1]->refs, lane->nodes[level - 1]->n_refs);
        return r == 0 ? visit_hit_spans(v, lane->spans, lane->n_spans) : r;
}

/* A pass over the lane of an id; false if nothing of it can be wanted. */
static bool begin_visit(struct timeline_index *t, const struct timeline_wanted *wanted, uint32_t id,
                        struct hit_visit *v)
{
        v->index = t;
        v->lane = t->lanes[id];
        v->wanted = &wanted[v->lane->kind];
        return v->wanted->n > 0 && !v->lane->has_values;
}

/*
 * The hit of a place, and how many begin when it does: all of them, or no more than its rank.
 * Returns 1, 0 if there are fewer, -errno.
 */
static int find_place(struct timeline_index *t, const struct timeline_wanted *wanted,
                      const struct timeline_hit_place *place, struct timeline_found *ret_found,
                      uint64_t *ret_n, struct error *err)
{
        uint64_t at = place->at_ns >> t->unit_log2;
        struct hit_visit v = { .low = at, .high = at + 1, .n_left = place->rank, .err = err };
        int r = 0;

        for (uint32_t id = 0; id < t->n_lanes && r == 0; id++) {
                if (!begin_visit(t, wanted, id, &v))
                        continue;
                r = visit_hits(&v);
                if (r == 1)
                        *ret_found = (struct timeline_found){ .lane = id,
                                                              .what = v.item.what,
                                                              .begin_ns = v.item.begin << t->unit_log2,
                                                              .end_ns = v.item.end << t->unit_log2 };
        }
        *ret_n = v.n;
        return r;
}

/* The last of the hits that begin when @found does. */
static int find_last(struct timeline_index *t, const struct timeline_wanted *wanted,
                     struct timeline_found *found, struct timeline_hit_place *ret_place, struct error *err)
{
        struct timeline_hit_place place = { .at_ns = found->begin_ns, .rank = UINT64_MAX };
        int r = find_place(t, wanted, &place, found, &place.rank, err);

        if (r < 0)
                return r;
        *ret_place = place;
        return find_place(t, wanted, &place, found, &place.rank, err);
}

int timeline_hits_step(struct timeline_index *t, const struct timeline_wanted *wanted,
                       struct timeline_hit_place *place, bool is_backwards, struct timeline_found *ret_found,
                       struct error *err)
{
        struct timeline_search search = { .at_ns = place->at_ns,
                                          .is_backwards = is_backwards,
                                          .wanted = wanted };
        struct timeline_hit_place near = { .at_ns = place->at_ns };
        uint64_t n = 0;
        int r = 0;

        near.rank = is_backwards ? place->rank - (place->rank > 0) : place->rank + 1;
        if (near.rank > 0)
                r = find_place(t, wanted, &near, ret_found, &n, err);
        if (r != 0) {
                *place = near;
                return r;
        }
        r = timeline_query_find(t, &search, ret_found, err);
        if (r == 1 && is_backwards)
                return find_last(t, wanted, ret_found, place, err);
        if (r == 1)
                *place = (struct timeline_hit_place){ .at_ns = ret_found->begin_ns, .rank = 1 };
        return r;
}

int timeline_hits_place(struct timeline_index *t, const struct timeline_wanted *wanted,
                        const struct timeline_found *found, struct timeline_hit_place *ret_place,
                        struct error *err)
{
        uint64_t at = found->begin_ns >> t->unit_log2;
        struct hit_visit v = { .low = at, .high = at + 1, .err = err };
        int r = 0;

        for (uint32_t id = 0; id <= found->lane && r == 0; id++) {
                if (!begin_visit(t, wanted, id, &v))
                        continue;
                v.what = id == found->lane ? &found->what : NULL;
                r = visit_hits(&v);
        }
        *ret_place = (struct timeline_hit_place){ .at_ns = found->begin_ns, .rank = v.n };
        return r < 0 ? r : 0;
}

/* The hits in all lanes of a kind, whose numbers are known. */
static void count_known(const struct timeline_counts *known, const struct timeline_wanted *wanted,
                        uint64_t *by_what, uint64_t *n)
{
        for (uint32_t i = 0; i < wanted->n && (uint64_t)wanted->first + i < known->n; i++) {
                if (!timeline_wanted_has(wanted, wanted->first + i))
                        continue;
                *n += known->by_what[wanted->first + i];
                if (by_what)
                        by_what[i] += known->by_what[wanted->first + i];
        }
}

int timeline_hits_count(struct timeline_index *t, const struct timeline_wanted *wanted, uint64_t at_ns,
                        struct timeline_hit_counts *counts, struct error *err)
{
        uint64_t at = at_ns >> t->unit_log2;
        int r = 0;

        counts->n = counts->n_before = 0;
        for (size_t kind = 0; kind < TIMELINE_LANE_KIND_COUNT; kind++)
                if (t->counts[kind].is_known)
                        count_known(&t->counts[kind], &wanted[kind],
                                    counts->by_what ? counts->by_what[kind] : NULL, &counts->n);
        for (uint32_t id = 0; id < t->n_lanes && r == 0; id++) {
                struct hit_visit v = { .low = 0, .high = at, .err = err };
                bool is_known;

                if (!begin_visit(t, wanted, id, &v))
                        continue;
                is_known = t->counts[v.lane->kind].is_known;
                v.by_what = counts->by_what && !is_known ? counts->by_what[v.lane->kind] : NULL;
                r = visit_hits(&v);
                counts->n_before += v.n;
                if (is_known)
                        continue;
                v.low = at;
                v.high = UINT64_MAX;
                if (r == 0)
                        r = visit_hits(&v);
                counts->n += v.n;
        }
        return r < 0 ? r : 0;
}
