/* SPDX-License-Identifier: MIT */
#include "analyze/path/path.h"

#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define STUDENT_95 1.96 /* half the width of an interval of 95 %, in standard deviations */

static double share_of(double ns, double whole_ns)
{
        return whole_ns > 0 ? ns / whole_ns : 0;
}

double path_row_share(const struct path *p, uint32_t row)
{
        return share_of(p->sums.rows[row - 1].ns, path_sums_rest_ns(&p->sums));
}

struct path_meanwhile path_row_meanwhile(const struct path *p, uint32_t row)
{
        const struct path_row *r = &p->sums.rows[row - 1];
        struct path_top top = path_sums_top(&p->sums, row, PATH_DETAIL_MEANWHILE);
        struct path_meanwhile did = { .group = 0 };

        if (top.key && top.key->b != 0 && r->looked_ns != 0) {
                did.group = top.key->a;
                did.label = top.key->b;
                did.share = top.amount * p->ns_per_weight / (double)r->looked_ns;
        }
        return did;
}

double path_row_doubt(const struct path *p, uint32_t row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);
        const struct path_row *r = &p->sums.rows[row - 1];
        struct cluster_ratio ratio = r->ratio;
        uint64_t n; /* what was counted: each is one observation */

        /* instances without the row count as well, with nothing of it */
        if (p->sums.n_instances < 2)
                return 0;
        ratio.n = p->sums.n_instances;
        ratio.w = path_sums_rest_ns(&p->sums);
        ratio.ww = p->sums.ww;
        n = key->kind <= PATH_ROW_SPIN ? r->n_samples : r->n_segments;
        return STUDENT_95 * sqrt(cluster_ratio_variance(&ratio, r->ns / fmax((double)n, 1)));
}

struct row_order {
        double ns;
        uint32_t row;
};

static int compare_rows(const void *a, const void *b)
{
        const struct row_order *left = a, *right = b;

        if (left->ns != right->ns)
                return left->ns < right->ns ? 1 : -1;
        return left->row < right->row ? -1 : 1;
}

static int sort_rows(struct path *p)
{
        uint32_t n = p->sums.keys.n_items;
        struct row_order *order = calloc((size_t)n + 1, sizeof(*order));

        p->order = calloc((size_t)n + 1, sizeof(*p->order));
        for (uint32_t row = 1; row <= n && order && p->order; row++)
                if (p->sums.rows[row - 1].ns >= 0.5 && !path_row_is_foreign(path_sums_key(&p->sums, row)))
                        order[p->n_rows++] = (struct row_order){ p->sums.rows[row - 1].ns, row };
        if (order && p->order) {
                qsort(order, p->n_rows, sizeof(*order), compare_rows);
                for (uint32_t i = 0; i < p->n_rows; i++)
                        p->order[i] = order[i].row;
        }
        free(order);
        return order && p->order ? 0 : -ENOMEM;
}

static double find_kind_ns(const struct path *p, enum path_row_kind kind)
{
        double ns = 0;

        for (uint32_t row = 1; row <= p->sums.keys.n_items; row++)
                if (path_sums_key(&p->sums, row)->kind == kind)
                        ns += p->sums.rows[row - 1].ns;
        return ns;
}

double path_kind_share(const struct path *p, enum path_row_kind kind)
{
        return share_of(find_kind_ns(p, kind), p->sums.total_ns);
}

double path_kind_rest_share(const struct path *p, enum path_row_kind kind)
{
        return share_of(find_kind_ns(p, kind), path_sums_rest_ns(&p->sums));
}

static bool is_unknown(const struct path_row_key *key)
{
        if (key->kind == PATH_ROW_WAIT)
                return key->end == WAIT_END_UNKNOWN;
        return key->kind == PATH_ROW_LOCK || key->kind == PATH_ROW_UNBORN || key->kind == PATH_ROW_CUT;
}

double path_unknown_share(const struct path *p)
{
        double share = 0;

        for (uint32_t i = 0; i < p->n_rows; i++)
                if (is_unknown(path_sums_key(&p->sums, p->order[i])))
                        share += path_row_share(p, p->order[i]);
        return share;
}

/* A part that would be mentioned is a device's, whose clock may be as wrong as what is asked of it. */
static bool is_vague(const struct path *p)
{
        return share_of((double)p->walk.vague_ns, p->sums.total_ns) > 0.05;
}

/* An answer is as sure as the weakest of what it rests on. */
static enum path_confidence judge(const struct path *p)
{
        uint32_t row = p->n_rows != 0 ? p->order[0] : 0;
        const struct path_row *r = row != 0 ? &p->sums.rows[row - 1] : NULL;
        bool is_sampled = row != 0 && path_sums_key(&p->sums, row)->kind <= PATH_ROW_SPIN;
        bool is_few = p->request.zone && p->n_examined < PATH_INSTANCES_MIN;
        double unknown = path_unknown_share(p), others = path_kind_share(p, PATH_ROW_OTHERS);
        double unsampled = p->unsampled_share, lost = p->lost_share;
        enum path_confidence c = PATH_CONFIDENCE_HIGH;

        if (others > PATH_OTHERS_MANY || unknown > PATH_UNKNOWN_MANY || unsampled > PATH_UNSAMPLED_MANY ||
            lost > PATH_LOST_MANY || is_few || (is_sampled && r->n_samples < PATH_SAMPLES_FEW) ||
            path_kind_share(p, PATH_ROW_CUT) > 0.05 || path_kind_share(p, PATH_ROW_UNBORN) > 0.1 ||
            is_vague(p))
                c = PATH_CONFIDENCE_MEDIUM;
        if (others > PATH_OTHERS_MOST || unknown > 0.5 || unsampled > PATH_UNSAMPLED_MOST ||
            lost > PATH_LOST_MOST || row == 0 || (is_sampled && r->n_samples < PATH_SAMPLES_FEWEST) ||
            path_kind_share(p, PATH_ROW_CUT) > 0.3 || !p->has_switches)
                c = PATH_CONFIDENCE_LOW;
        return c;
}

static int compare_shown(const void *a, const void *b)
{
        const struct path_shown *left = a, *right = b;

        return left->begin_ns < right->begin_ns ? -1 : left->begin_ns > right->begin_ns;
}

/* The places of all waits on chains are looked at, for who names them later. */
static int name_links(struct path *p)
{
        int r = 0;

        for (uint32_t chain = 1; chain <= p->walk.chains.n_items && r == 0; chain++) {
                const struct path_link *link = intern_get(&p->walk.chains, chain, NULL);
                uint32_t place;

                r = path_names_place(&p->names, link->stack, &place);
        }
        for (size_t i = 0; i < p->segments.n_items && r == 0; i++) {
                uint32_t place;

                r = path_names_place(&p->names, p->segments.items[i].stack, &place);
        }
        return r;
}

/* The time on CPUs on all paths, and the weight of the samples in it. */
static struct path_pool add_pools(const struct path *p)
{
        struct path_pool sum = { .ns = 0 };

        for (uint32_t i = 0; i < 2 * p->names.group_keys.n_items; i++) {
                sum.ns += p->sums.pools[i].ns;
                sum.weight += p->sums.pools[i].weight;
        }
        return sum;
}

/* The weight of clocks is time already. */
static bool is_clock(const struct path *p)
{
        const struct trace_sample_event *event;

        if (p->past.event == 0)
                return false;
        event = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, p->past.event);
        return text_view_is(trace_dictionary_text(p->trace->dictionary, event->unit), "ns");
}

static void weigh_samples(struct path *p)
{
        struct path_pool sum = add_pools(p);

        p->ns_per_weight = sum.weight > 0 ? sum.ns / sum.weight : 0;
        if (!is_clock(p))
                return;
        p->ns_per_weight = 1;
        if (sum.ns >= PATH_UNSAMPLED_NS && sum.weight < sum.ns)
                p->unsampled_share = 1 - sum.weight / sum.ns;
}

int path_finish(struct path *p)
{
        int r = path_sums_finish(&p->sums);

        weigh_samples(p);
        if (r == 0)
                r = name_links(p);

        if (r == 0)
                r = sort_rows(p);
        if (r == 0)
                r = path_chains_take(&p->chains, &p->walk, &p->names, &p->sums);
        if (r == 0)
                r = what_if_finish(&p->what_if, &p->sums);
        if (r < 0)
                return r;
        if (p->segments.n_items > 1)
                qsort(p->segments.items, p->segments.n_items, sizeof(*p->segments.items), compare_shown);
        p->has_switches = p->past.has_switches;
        p->machine_share = share_of(p->sums.others_ns, p->sums.total_ns);
        p->confidence = judge(p);
        return 0;
}

void path_deinit(struct path *p)
{
        what_if_deinit(&p->what_if);
        path_chains_deinit(&p->chains);
        path_sums_deinit(&p->sums);
        path_walk_deinit(&p->walk);
        path_spins_deinit(&p->spins);
        path_names_deinit(&p->names);
        device_works_deinit(&p->works);
        lane_names_deinit(&p->lanes);
        past_deinit(&p->past);
        free(p->order);
        shown_segments_deinit(&p->segments);
        *p = (struct path){ .order = NULL };
}
