/* SPDX-License-Identifier: MIT */
#include "analyze/diff_comparison.h"

#include "analyze/diff_pair.h"
#include "analyze/diff_renames.h"
#include "analyze/diff_run.h"
#include "analyze/diff_sets.h"
#include "analyze/student_t.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95
#define POWER      0.8 /* with which a change of the resolution is found */

struct diff_options diff_options_default(void)
{
        return (struct diff_options){
                .allowance = { DIFF_ALLOW_ITEM, DIFF_ALLOW_KERNEL, DIFF_ALLOW_WHOLE },
                .alpha = DIFF_ALPHA,
                .share_min = DIFF_SHARE_MIN,
        };
}

void diff_comparison_deinit(struct diff_comparison *c)
{
        free(c->items);
        c->items = NULL;
}

static double mean(double sum, uint32_t n)
{
        return sum / n;
}

static void add_totals(struct diff_comparison *c, const struct diff_run *const *runs)
{
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                bool before = i < c->n_before;
                uint32_t n = before ? c->n_before : c->n_after;

                *(before ? &c->weight_before : &c->weight_after) += mean(runs[i]->weight, n);
                *(before ? &c->duration_ns_before
                         : &c->duration_ns_after) += mean((double)runs[i]->duration_ns, n);
                *(before ? &c->units_before : &c->units_after) += mean((double)runs[i]->n_units, n);
                *(before ? &c->n_samples_before : &c->n_samples_after) += runs[i]->n_samples;
                c->n_unsliced += runs[i]->n_unsliced;
                c->n_unnamed += runs[i]->n_unnamed;
                c->weight_is_ns = runs[0]->weight_is_ns;
                if (runs[i]->n_zones > 0 && !runs[i]->has_switches)
                        c->lacks_switches = true;
        }
        if (c->lacks_switches)
                c->options.basis.wall = true;
}

static void find_kinds(struct diff_comparison *c, const struct diff_run *const *runs)
{
        for (int kind = 0; kind < DIFF_KIND_COUNT; kind++) {
                c->has_kind[kind] = true;
                for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                        bool any = (kind == DIFF_ZONE ? runs[i]->n_zones : runs[i]->n_samples) > 0;

                        c->any_kind[kind] = c->any_kind[kind] || any;
                        c->has_kind[kind] = c->has_kind[kind] && any;
                }
        }
}

/* Sums of one side. */
static void fill_side(const struct diff_comparison *c, struct diff_item *item,
                      const struct diff_run *const *runs, bool before)
{
        uint32_t n = before ? c->n_before : c->n_after;
        double weight = 0, all = 0, self = 0;

        for (uint32_t i = 0; i < n; i++) {
                const struct diff_run *run = runs[(before ? 0 : c->n_before) + i];
                struct diff_sum sum = diff_run_sum(run, before ? item->key_before : item->key_after);

                *(before ? &item->n_before : &item->n_after) += sum.n;
                *(before ? &item->value_before : &item->value_after) += mean(
                        diff_item_value(item, run, &c->options.basis, before), n);
                weight += item->kind == DIFF_ZONE ? sum.wall_ns : sum.cpu;
                self += sum.self_ns;
                all += item->kind == DIFF_ZONE ? (double)run->duration_ns : run->weight;
        }
        *(before ? &item->share_before : &item->share_after) = all > 0 ? weight / all : 0;
        if (item->kind == DIFF_ZONE && self < weight / 2)
                item->is_outer = true;
}

static int add_items(struct diff_comparison *c, const struct diff_run *const *runs)
{
        uint32_t n_keys = c->names->keys.n_items;

        c->items = calloc((size_t)n_keys + 1, sizeof(*c->items));
        if (!c->items)
                return -ENOMEM;
        for (uint32_t key = 1; key <= n_keys; key++) {
                struct diff_item *item = &c->items[c->n_items];
                const struct diff_key *row = diff_names_key(c->names, key);

                if (!c->has_kind[row->kind])
                        continue;
                *item = (struct diff_item){ .key_before = key, .key_after = key, .p = 1 };
                item->kind = (enum diff_kind)row->kind;
                item->is_kernel = diff_names_is_kernel(c->names, row);
                fill_side(c, item, runs, true);
                fill_side(c, item, runs, false);
                if (item->n_before == 0)
                        item->key_before = 0;
                if (item->n_after == 0)
                        item->key_after = 0;
                if (item->key_before != 0 || item->key_after != 0)
                        c->n_items++;
        }
        return 0;
}

static void remove_empty(struct diff_comparison *c)
{
        size_t n = 0;

        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].key_before != 0 || c->items[i].key_after != 0)
                        c->items[n++] = c->items[i];
        c->n_items = n;
}

static bool fits_glob(const struct diff_comparison *c, const struct diff_item *item, const char *glob)
{
        const struct diff_key *key = diff_names_key(c->names, item->key_after != 0 ? item->key_after
                                                                                   : item->key_before);
        struct report_string name = diff_names_string(c->names, key->name);
        char *text = strndup(name.n_bytes > 0 ? name.bytes : "", name.n_bytes);
        bool fits = text && (strcmp(glob, text) == 0 || fnmatch(glob, text, 0) == 0);

        free(text);
        return fits;
}

static bool is_kind_only(const char *only, enum diff_kind *ret_kind)
{
        bool functions = only && strcmp(only, "functions") == 0, zones = only && strcmp(only, "zones") == 0;

        *ret_kind = zones ? DIFF_ZONE : DIFF_FUNCTION;
        return functions || zones;
}

static bool is_asked(const struct diff_comparison *c, const struct diff_item *item)
{
        enum diff_kind kind;

        if (is_kind_only(c->options.only, &kind))
                return item->kind == kind;
        return !c->options.only || fits_glob(c, item, c->options.only);
}

/* Whether each run has enough of it. */
static bool is_enough(const struct diff_comparison *c, const struct diff_item *item,
                      const struct diff_run *const *runs)
{
        uint64_t n_min = item->kind == DIFF_ZONE ? DIFF_ZONES_MIN : DIFF_SAMPLES_MIN;

        for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                bool before = i < c->n_before;
                struct diff_sum sum = diff_run_sum(runs[i], before ? item->key_before : item->key_after);

                if (sum.n < n_min || diff_item_value(item, runs[i], &c->options.basis, before) <= 0)
                        return false;
        }
        return true;
}

static enum diff_doubt find_doubt(const struct diff_comparison *c, const struct diff_item *item,
                                  const struct diff_run *const *runs)
{
        enum diff_kind kind;
        bool is_named = item->is_asked && c->options.only && !is_kind_only(c->options.only, &kind);

        if (item->key_before == 0 || item->key_after == 0)
                return item->kind == DIFF_FUNCTION && item->n_before + item->n_after < DIFF_NEW_MIN
                               ? DIFF_TOO_FEW
                               : DIFF_ONE_SIDED;
        if (!is_named && fmax(item->share_before, item->share_after) < c->options.share_min)
                return DIFF_TOO_SMALL;
        if (!is_enough(c, item, runs))
                return DIFF_TOO_FEW;
        if (c->n_before == 1 && c->n_after == 1 &&
            (!diff_run_sum(runs[0], item->key_before).slices ||
             !diff_run_sum(runs[1], item->key_after).slices))
                return DIFF_NO_SLICES;
        return DIFF_JUDGED;
}

static int judge_kind(struct diff_comparison *c, const struct diff_run *const *runs, enum diff_kind kind)
{
        struct diff_pair pair = {
                .before = runs[0],
                .after = runs[c->n_before],
                .basis = c->options.basis,
                .allowance = c->options.allowance,
                .kind = kind,
        };
        struct diff_sets sets = {
                .runs = runs,
                .n_before = c->n_before,
                .n_after = c->n_after,
                .basis = c->options.basis,
                .allowance = c->options.allowance,
                .kind = kind,
        };

        if (c->n_before == 1 && c->n_after == 1)
                return diff_pair_judge(&pair, c->items, c->n_items, &c->wholes[kind]);
        return diff_sets_judge(&sets, c->items, c->n_items, &c->wholes[kind]);
}

static int compare_doubles(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x < y ? -1 : x > y;
}

static bool is_judged(const struct diff_item *item, enum diff_kind kind)
{
        return item->kind == kind && item->is_asked && item->doubt == DIFF_JUDGED;
}

static bool is_whole_asked(const struct diff_comparison *c, enum diff_kind kind)
{
        enum diff_kind only;

        if (!c->wholes[kind].is_known)
                return false;
        return !c->options.only || (is_kind_only(c->options.only, &only) && only == kind);
}

/* The largest p that is significant among those of a kind (Benjamini and Hochberg); below 0 if none is. */
static int find_limit(struct diff_comparison *c, enum diff_kind kind, double *ret_limit)
{
        double *all = calloc(c->n_items + 1, sizeof(*all));
        uint32_t n = 0;

        if (!all)
                return -ENOMEM;
        for (size_t i = 0; i < c->n_items; i++)
                if (is_judged(&c->items[i], kind))
                        all[n++] = c->items[i].p;
        if (is_whole_asked(c, kind))
                all[n++] = c->wholes[kind].p;
        if (n > 0)
                qsort(all, n, sizeof(*all), compare_doubles);
        *ret_limit = -1;
        for (uint32_t i = 0; i < n; i++)
                if (all[i] <= c->options.alpha * (i + 1) / n)
                        *ret_limit = all[i];
        c->n_judged[kind] = n;
        free(all);
        return 0;
}

static int mark_significant(struct diff_comparison *c, enum diff_kind kind)
{
        struct diff_whole *whole = &c->wholes[kind];
        double limit;
        int r = find_limit(c, kind, &limit);

        if (r < 0)
                return r;
        for (size_t i = 0; i < c->n_items; i++) {
                struct diff_item *item = &c->items[i];

                if (!is_judged(item, kind))
                        continue;
                item->is_significant = item->p <= limit;
                c->n_significant += item->is_significant;
        }
        whole->is_significant = is_whole_asked(c, kind) && whole->p <= limit;
        c->n_significant += whole->is_significant;
        return 0;
}

int diff_comparison_init(struct diff_comparison *c, const struct diff_names *names,
                         const struct diff_run *const *runs, uint32_t n_before, uint32_t n_after,
                         const struct diff_options *options)
{
        int r;

        *c = (struct diff_comparison){
                .names = names,
                .options = *options,
                .n_before = n_before,
                .n_after = n_after,
        };
        add_totals(c, runs);
        find_kinds(c, runs);
        r = add_items(c, runs);
        if (r < 0)
                return r;
        diff_renames_find(names, c->items, c->n_items);
        remove_empty(c);
        for (size_t i = 0; i < c->n_items; i++) {
                c->items[i].is_asked = is_asked(c, &c->items[i]);
                c->items[i].doubt = find_doubt(c, &c->items[i], runs);
        }
        for (int kind = 0; r == 0 && kind < DIFF_KIND_COUNT; kind++)
                r = judge_kind(c, runs, (enum diff_kind)kind);
        for (int kind = 0; r == 0 && kind < DIFF_KIND_COUNT; kind++)
                r = mark_significant(c, (enum diff_kind)kind);
        return r;
}

void diff_comparison_interval(double change, double se, double df, double *ret_low, double *ret_high)
{
        double far = student_t_quantile(1 - CONFIDENCE, df) * se;

        *ret_low = expm1(change - far);
        *ret_high = expm1(change + far);
}

double diff_comparison_resolution(const struct diff_comparison *c, enum diff_kind kind)
{
        double *all = calloc(c->n_items + 1, sizeof(*all)), middle = 0;
        size_t n = 0;

        for (size_t i = 0; all && i < c->n_items; i++) {
                const struct diff_item *item = &c->items[i];

                if (is_judged(item, kind) && !item->is_kernel)
                        all[n++] = item->se *
                                   (student_t_quantile(c->options.alpha / c->n_judged[kind], item->df) +
                                    student_t_quantile(2 * (1 - POWER), item->df));
        }
        if (n > 0) {
                qsort(all, n, sizeof(*all), compare_doubles);
                middle = all[n / 2];
        }
        free(all);
        return expm1(middle);
}

double diff_comparison_worst(const struct diff_comparison *c, const struct diff_item **ret_item)
{
        double worst = 0;

        *ret_item = NULL;
        for (int kind = 0; kind < DIFF_KIND_COUNT; kind++)
                if (c->wholes[kind].is_significant && c->wholes[kind].change > worst)
                        worst = c->wholes[kind].change;
        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].is_significant && c->items[i].change > worst) {
                        worst = c->items[i].change;
                        *ret_item = &c->items[i];
                }
        return expm1(worst);
}
