/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_query.h"

#include "base/array.h"
#include "base/error.h"
#include "timeline/query_step.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ------------------------------------------------------------------------------------------- */

void timeline_columns_deinit(struct timeline_columns *c)
{
        free(c->begin_ns);
        free(c->end_ns);
        free(c->longest_begin_ns);
        free(c->longest_ns);
        free(c->first);
        free(c->last);
        free(c->what);
        free(c->count);
        *c = (struct timeline_columns){ .n = 0 };
}

/* All columns have one capacity, which is computed once. */
static int grow_columns(struct timeline_columns *c)
{
        double **const columns[] = { &c->begin_ns,   &c->end_ns, &c->longest_begin_ns,
                                     &c->longest_ns, &c->first,  &c->last };
        size_t capacity = c->capacity;
        int r = array_reserve(&c->what, &capacity, c->n + 1, sizeof(*c->what));
        size_t wanted = capacity;

        for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]) && r == 0; i++) {
                double *larger = reallocarray(*columns[i], wanted, sizeof(double));

                if (!larger)
                        return -ENOMEM;
                *columns[i] = larger;
        }
        if (r == 0) {
                uint32_t *larger = reallocarray(c->count, wanted, sizeof(*c->count));

                if (!larger)
                        return -ENOMEM;
                c->count = larger;
                c->capacity = wanted;
        }
        return r;
}

int timeline_columns_add_open(struct timeline_columns *c, uint64_t begin_ns, uint64_t end_ns, uint32_t what)
{
        size_t i = c->n;

        if (i == c->capacity && grow_columns(c) < 0)
                return -ENOMEM;
        c->begin_ns[i] = c->longest_begin_ns[i] = (double)begin_ns;
        c->end_ns[i] = (double)end_ns;
        c->longest_ns[i] = (double)(end_ns - begin_ns);
        c->what[i] = what;
        c->count[i] = 1;
        c->n++;
        return 0;
}

int timeline_columns_add_value(struct timeline_columns *c, const struct timeline_view *view, uint64_t at_ns,
                               double value, struct error *err)
{
        size_t i = c->n;

        if (i > 0 && (uint64_t)c->begin_ns[i - 1] >> view->bucket_log2 == at_ns >> view->bucket_log2) {
                i--;
                c->min[i] = value < c->min[i] ? value : c->min[i];
                c->max[i] = value > c->max[i] ? value : c->max[i];
                c->end_ns[i] = (double)at_ns;
                c->last[i] = value;
                c->count[i]++;
                return 0;
        }
        if (c->n_max != 0 && i == c->n_max)
                return error_set(err, -E2BIG, "the view has more than %zu items", c->n_max);
        if (i == c->capacity && grow_columns(c) < 0)
                return error_set(err, -ENOMEM, "the items of a view: out of memory");
        c->begin_ns[i] = c->end_ns[i] = (double)at_ns;
        c->min[i] = c->max[i] = c->first[i] = c->last[i] = value;
        c->what[i] = 0;
        c->count[i] = 1;
        c->n++;
        return 0;
}

/* ---- a view -------------------------------------------------------------------------------------------- */

static struct query_step query_step_of(const struct timeline_node *node)
{
        return (struct query_step){ .refs = node->refs,
                                    .n_refs = node->n_refs,
                                    .summaries = node->summaries };
}

struct query_visit {
        struct timeline_index *index;
        const struct timeline_lane *lane;
        struct timeline_columns *columns;
        struct timeline_fold fold;
        uint64_t low, high;               /* spans that begin outside of [low, high) are in no item */
        uint64_t from, to;                /* of the view, in units */
        uint64_t low_bucket, high_bucket; /* of values: the first and last that are wanted */
        struct error *err;
};

static bool is_in_view(const struct query_visit *v, const struct timeline_item *item)
{
        unsigned log2 = v->fold.bucket_log2;
        uint64_t bucket = item->begin >> log2, bucket_end = (bucket + 1) << log2;

        if (v->lane->has_values)
                return bucket >= v->low_bucket && bucket <= v->high_bucket;
        if (item->longest >> log2 != 0)
                return item->begin < v->to && item->end > v->from;
        return bucket << log2 < v->to && (bucket_end > v->from || item->end > v->from);
}

static int take_item(void *context, const struct timeline_item *item)
{
        struct query_visit *v = context;
        struct timeline_columns *c = v->columns;
        unsigned unit = v->index->unit_log2;
        size_t i = c->n;

        if (!is_in_view(v, item))
                return 0;
        if (c->n_max != 0 && i == c->n_max)
                return error_set(v->err, -E2BIG, "the view has more than %zu items", c->n_max);
        if (i == c->capacity && grow_columns(c) < 0)
                return error_set(v->err, -ENOMEM, "the items of a view: out of memory");
        c->begin_ns[i] = (double)(item->begin << unit);
        c->end_ns[i] = (double)(item->end << unit);
        c->count[i] = item->count;
        if (v->lane->has_values) {
                c->min[i] = item->min;
                c->max[i] = item->max;
                c->first[i] = item->first;
                c->last[i] = item->last;
                c->what[i] = 0;
        } else {
                c->longest_begin_ns[i] = (double)(item->longest_begin << unit);
                c->longest_ns[i] = (double)(item->longest << unit);
                c->what[i] = item->what;
        }
        c->n++;
        return 0;
}

static int visit_summary(struct query_visit *v, const struct timeline_ref *ref, const uint8_t *at)
{
        size_t item_bytes = timeline_item_folded_bytes(v->lane->has_values);

        for (uint32_t i = 0; i < ref->n_summary; i++, at += item_bytes) {
                struct timeline_item item = timeline_item_get_folded(at, v->lane->has_values);
                int r = timeline_fold_add(&v->fold, &item);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* The first span that does not end before @low: they are in order. */
static uint32_t find_first(const uint8_t *spans, uint32_t n, bool has_values, uint64_t low)
{
        uint32_t from = 0, to = n;

        while (from < to) {
                uint32_t middle = from + (to - from) / 2;

                if (timeline_item_get_span(spans + (size_t)middle * TIMELINE_SPAN_BYTES, has_values).end <
                    low)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from;
}

static int visit_spans(struct query_visit *v, const uint8_t *spans, uint32_t n)
{
        bool has_values = v->lane->has_values;

        for (uint32_t i = find_first(spans, n, has_values, v->low); i < n; i++) {
                struct timeline_item item = timeline_item_get_span(spans + (size_t)i * TIMELINE_SPAN_BYTES,
                                                                   has_values);
                int r;

                if (item.begin >= v->high)
                        return 0;
                r = timeline_fold_add(&v->fold, &item);
                if (r < 0)
                        return r;
        }
        return 0;
}

/*
 * Reads a page.  On level 0 its spans are visited; on other levels its references become the next step.
 * Returns the number of new steps, or -errno.
 */
static int visit_open(struct query_visit *v, const struct timeline_ref *ref, struct query_step *step)
{
        const uint8_t *at = NULL;
        int r;

        if (ref->level == 0) {
                r = timeline_pages_read(&v->index->pages, ref, &at, v->err);
                return r < 0 ? r : visit_spans(v, at, ref->n_bytes / TIMELINE_SPAN_BYTES);
        }
        r = query_step_open(step, v->index, v->lane, ref, v->err);
        return r < 0 ? r : 1;
}

/* One reference of a step.  Returns as visit_open(). */
static int visit_ref(struct query_visit *v, struct query_step *step, struct query_step *next)
{
        const struct timeline_ref *ref = &step->refs[step->i++];
        const uint8_t *summaries = step->summaries;

        step->summaries += ref->n_summary * timeline_item_folded_bytes(v->lane->has_values);
        if (ref->last_end < v->low)
                return 0;
        if (ref->bucket_log2 <= v->fold.bucket_log2)
                return visit_summary(v, ref, summaries);
        return visit_open(v, ref, next);
}

static int visit_steps(struct query_visit *v, struct query_step *steps, unsigned n_steps)
{
        while (n_steps > 0) {
                struct query_step *step = &steps[n_steps - 1];
                int r;

                if (step->i == step->n_refs || step->refs[step->i].first_begin >= v->high) {
                        n_steps--;
                        continue;
                }
                r = visit_ref(v, step, step + 1);
                if (r < 0)
                        return r;
                n_steps += (unsigned)r;
        }
        return 0;
}

static int visit_page(struct query_visit *v, const struct timeline_ref *ref)
{
        struct query_step steps[QUERY_STEPS_MAX];
        int r = visit_open(v, ref, steps);

        return r < 0 ? r : visit_steps(v, steps, (unsigned)r);
}

static int visit_node(struct query_visit *v, const struct timeline_node *node)
{
        struct query_step steps[QUERY_STEPS_MAX];

        steps[0] = query_step_of(node);
        return visit_steps(v, steps, 1);
}

static int visit_lane(struct query_visit *v)
{
        const struct timeline_lane *lane = v->lane;
        int r = 0;

        for (uint32_t i = 0; i < lane->n_roots && r == 0; i++)
                if (lane->roots[i].last_end >= v->low && lane->roots[i].first_begin < v->high)
                        r = visit_page(v, &lane->roots[i]);
        for (uint32_t level = lane->n_levels; level > 0 && r == 0; level--)
                if (lane->nodes[level - 1])
                        r = visit_node(v, lane->nodes[level - 1]);
        if (r == 0)
                r = visit_spans(v, lane->spans, lane->n_spans);
        return r == 0 ? timeline_fold_flush(&v->fold) : r;
}

static int find_in_lane(struct timeline_index *t, const struct timeline_lane *lane,
                        const struct timeline_search *search, struct timeline_item *ret_item,
                        struct error *err);

/* Values need the neighbours of the view as well: whole buckets on both sides. */
static int widen_for_values(struct query_visit *v)
{
        struct timeline_search search = { .any = true, .is_backwards = true };
        unsigned log2 = v->fold.bucket_log2;
        struct timeline_item item;
        int r;

        v->low_bucket = v->from >> log2;
        v->high_bucket = (v->to - 1) >> log2;
        search.at_ns = v->low_bucket << log2;
        r = find_in_lane(v->index, v->lane, &search, &item, v->err);
        if (r == 1)
                v->low_bucket = item.begin >> log2;
        if (r < 0)
                return r;
        search.at_ns = ((v->high_bucket + 1) << log2) - 1;
        search.is_backwards = false;
        r = find_in_lane(v->index, v->lane, &search, &item, v->err);
        if (r == 1)
                v->high_bucket = item.begin >> log2;
        v->low = v->low_bucket << log2;
        v->high = (v->high_bucket + 1) << log2;
        return r < 0 ? r : 0;
}

static int prepare_visit(struct query_visit *v, const struct timeline_view *view)
{
        unsigned unit = v->index->unit_log2, log2 = v->fold.bucket_log2;
        uint64_t bucket;

        v->from = view->from_ns >> unit;
        v->to = (view->to_ns - 1) >> unit;
        v->to = v->to < TIMELINE_TIME_MAX ? v->to + 1 : TIMELINE_TIME_MAX + 1;
        if (v->from >= v->to)
                v->from = v->to - 1;
        if (v->lane->has_values)
                return widen_for_values(v);
        /*
         * The range begins one bucket earlier, because a span shorter than a bucket may begin there and end
         * in the view.
         */
        bucket = v->from >> log2;
        v->low = (bucket == 0 ? 0 : bucket - 1) << log2;
        v->high = (((v->to - 1) >> log2) + 1) << log2;
        return 0;
}

int timeline_query_view(struct timeline_index *t, const struct timeline_view *view,
                        struct timeline_columns *columns, struct error *err)
{
        struct query_visit v = { .index = t, .columns = columns, .err = err };
        int r;

        columns->n = 0;
        if (view->lane >= t->n_lanes || view->from_ns >= view->to_ns)
                return error_set(err, -EINVAL, "view: no such lane or time");
        v.lane = t->lanes[view->lane];
        v.fold = (struct timeline_fold){ .take = take_item, .context = &v, .has_values = v.lane->has_values };
        if (view->bucket_log2 > t->unit_log2)
                v.fold.bucket_log2 = view->bucket_log2 - t->unit_log2;
        if (v.fold.bucket_log2 > TIMELINE_TIME_BITS)
                v.fold.bucket_log2 = TIMELINE_TIME_BITS;
        r = prepare_visit(&v, view);
        return r < 0 ? r : visit_lane(&v);
}

/* ---- a search ------------------------------------------------------------------------------------------ */

/* `at_ns` of the search is in units here.  All functions of the search return 1, 0 or -errno. */
struct query_search {
        struct timeline_index *index;
        const struct timeline_lane *lane;
        const struct timeline_search *search;
        const struct timeline_wanted *wanted; /* of the lane; NULL = what `search` says */
        struct timeline_item *item;
        struct error *err;
};

static bool may_be_below(const struct query_search *q, const struct timeline_ref *ref)
{
        const struct timeline_search *s = q->search;

        if (q->wanted ? (ref->what_bits & q->wanted->ref_bits) == 0
                      : !s->any && (ref->what_bits & timeline_ref_bit(s->what)) == 0)
                return false;
        return s->is_backwards ? ref->first_begin < s->at_ns : ref->last_end > s->at_ns;
}

static bool is_searched(const struct query_search *q, uint32_t what)
{
        return q->wanted ? timeline_wanted_has(q->wanted, what) : q->search->any || what == q->search->what;
}

static int search_spans(const struct query_search *q, const uint8_t *spans, uint32_t n)
{
        const struct timeline_search *s = q->search;

        for (uint32_t i = 0; i < n; i++) {
                uint32_t place = s->is_backwards ? n - 1 - i : i;
                struct timeline_item item = timeline_item_get_span(
                        spans + (size_t)place * TIMELINE_SPAN_BYTES, q->lane->has_values);

                if ((s->is_backwards ? item.begin < s->at_ns : item.begin > s->at_ns) &&
                    is_searched(q, item.what)) {
                        *q->item = item;
                        return 1;
                }
        }
        return 0;
}

/*
 * Reads a page.  On level 0 its spans are searched; on other levels its references become the next step.
 * Returns 1 if the span was found, 0, or -errno.
 */
static int search_open(const struct query_search *q, const struct timeline_ref *ref, struct query_step *step,
                       unsigned *n_steps)
{
        const uint8_t *at = NULL;
        int r;

        if (ref->level == 0) {
                r = timeline_pages_read(&q->index->pages, ref, &at, q->err);
                return r < 0 ? r : search_spans(q, at, ref->n_bytes / TIMELINE_SPAN_BYTES);
        }
        ++*n_steps;
        return query_step_open(step, q->index, q->lane, ref, q->err);
}

static int search_refs(const struct query_search *q, const struct timeline_ref *refs, uint32_t n_refs)
{
        struct query_step steps[QUERY_STEPS_MAX + 1];
        unsigned n_steps = 1;
        int r = 0;

        steps[0] = (struct query_step){ .refs = refs, .n_refs = n_refs };
        while (n_steps > 0 && r == 0) {
                struct query_step *step = &steps[n_steps - 1];
                const struct timeline_ref *ref;

                if (step->i == step->n_refs) {
                        n_steps--;
                        continue;
                }
                ref = &step->refs[q->search->is_backwards ? step->n_refs - 1 - step->i : step->i];
                step->i++;
                if (may_be_below(q, ref))
                        r = search_open(q, ref, step + 1, &n_steps);
        }
        return r;
}

static int search_levels(const struct query_search *q)
{
        const struct timeline_lane *lane = q->lane;
        bool is_backwards = q->search->is_backwards;
        int r = search_refs(q, lane->roots, lane->n_roots);

        if (r == 0 && is_backwards)
                r = search_spans(q, lane->spans, lane->n_spans);
        for (uint32_t i = 0; i < lane->n_levels && r == 0; i++) {
                const struct timeline_node *node = lane->nodes[is_backwards ? i : lane->n_levels - 1 - i];

                if (node)
                        r = search_refs(q, node->refs, node->n_refs);
        }
        return r == 0 && !is_backwards ? search_spans(q, lane->spans, lane->n_spans) : r;
}

static int find_in_lane(struct timeline_index *t, const struct timeline_lane *lane,
                        const struct timeline_search *search, struct timeline_item *ret_item,
                        struct error *err)
{
        const struct query_search q = { .index = t,
                                        .lane = lane,
                                        .search = search,
                                        .wanted = search->wanted ? &search->wanted[lane->kind] : NULL,
                                        .item = ret_item,
                                        .err = err };

        return search_levels(&q);
}

/* True if @begin_ns is nearer than the best one so far. */
static bool is_nearer(const struct timeline_search *s, uint64_t begin_ns, const struct timeline_found *best)
{
        return s->is_backwards ? begin_ns > best->begin_ns : begin_ns < best->begin_ns;
}

int timeline_query_find(struct timeline_index *t, const struct timeline_search *search,
                        struct timeline_found *ret_found, struct error *err)
{
        struct timeline_search in_units = *search;
        struct timeline_found best = { .lane = 0 };
        int any = 0;

        in_units.at_ns = search->at_ns >> t->unit_log2;
        for (size_t i = 0; i < (search->lanes ? search->n_lanes : t->n_lanes); i++) {
                uint32_t id = search->lanes ? search->lanes[i] : (uint32_t)i;
                struct timeline_item item;
                int r;

                if (id >= t->n_lanes)
                        return error_set(err, -EINVAL, "search: no such lane");
                if (search->wanted && search->wanted[t->lanes[id]->kind].n == 0)
                        continue;
                r = find_in_lane(t, t->lanes[id], &in_units, &item, err);
                if (r < 0)
                        return r;
                if (r == 0 || (any && !is_nearer(search, item.begin << t->unit_log2, &best)))
                        continue;
                any = 1;
                best = (struct timeline_found){
                        .lane = id,
                        .begin_ns = item.begin << t->unit_log2,
                        .end_ns = item.end << t->unit_log2,
                };
                if (t->lanes[id]->has_values)
                        best.value = item.first;
                else
                        best.what = item.what;
        }
        if (any)
                *ret_found = best;
        return any;
}
