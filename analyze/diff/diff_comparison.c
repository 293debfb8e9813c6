/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_comparison.h"

#include "analyze/diff/diff_renames.h"
#include "analyze/diff/diff_run.h"
#include "analyze/stats/student_t.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE     0.95
#define TEST_SHARE_MIN 1e-4 /* nothing has the weight 0 */

struct diff_options diff_options_default(void)
{
        return (struct diff_options){
                .noise = DIFF_PRIOR_RUN,
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

/* Where a share is not known, because a range of time is compared, the number tells. */
static void keep_larger_loss(struct lost_zones *kept, const struct lost_zones *lost)
{
        if (lost->share > kept->share || (lost->share == kept->share && lost->n_lost > kept->n_lost))
                *kept = *lost;
}

static void diff_comparison_add_totals(struct diff_comparison *c, const struct diff_run *const *runs)
{
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                bool before = i < c->n_before;
                uint32_t n = before ? c->n_before : c->n_after;

                *(before ? &c->weight_before : &c->weight_after) += mean(runs[i]->weight, n);
                *(before ? &c->duration_ns_before
                         : &c->duration_ns_after) += mean((double)runs[i]->duration_ns, n);
                *(before ? &c->units_before : &c->units_after) += mean((double)runs[i]->n_units, n);
                *(before ? &c->n_samples_before : &c->n_samples_after) += runs[i]->n_samples;
                keep_larger_loss(before ? &c->lost_before : &c->lost_after, &runs[i]->lost);
                c->n_unspread += runs[i]->n_unspread;
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

static int diff_comparison_add_items(struct diff_comparison *c, const struct diff_run *const *runs)
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
                *item = (struct diff_item){ .key_before = key, .key_after = key };
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
        struct text_view name = diff_names_string(c->names, key->name);
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

/* Whether a run had too many zones to look at this one's instances. */
static bool is_beyond_limit(const struct diff_comparison *c, const struct diff_item *item,
                            const struct diff_run *const *runs)
{
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                uint32_t key = i < c->n_before ? item->key_before : item->key_after;
                struct diff_sum sum = diff_run_sum(runs[i], key);

                if (sum.wall_ns > 0 && sum.typical_wall.mean <= 0)
                        return true;
        }
        return false;
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
        if (item->kind == DIFF_ZONE && is_beyond_limit(c, item, runs))
                return DIFF_TOO_MANY;
        if (!is_enough(c, item, runs))
                return DIFF_TOO_FEW;
        return item->is_kernel && diff_comparison_is_pair(c) ? DIFF_OF_KERNEL : DIFF_JUDGED;
}

static double diff_comparison_value_of(const struct diff_comparison *c, const struct diff_item *item,
                                       const struct diff_run *run, bool before)
{
        return diff_item_value(item, run, &c->options.basis, before);
}

static double whole_value(const struct diff_comparison *c, const struct diff_run *run)
{
        if (!c->options.basis.per_unit)
                return run->weight;
        return run->n_units > 0 ? run->weight / (double)run->n_units : 0;
}

static double prior_of(const struct diff_comparison *c, double by_counts)
{
        return diff_test_prior(c->options.noise, by_counts);
}

/* @logs: room for a number of each run. */
static void judge_item(const struct diff_comparison *c, struct diff_item *item,
                       const struct diff_run *const *runs, double *logs)
{
        const struct diff_basis *basis = &c->options.basis;

        for (uint32_t i = 0; i < c->n_before + c->n_after; i++)
                logs[i] = log(diff_comparison_value_of(c, item, runs[i], i < c->n_before));
        if (diff_comparison_is_pair(c))
                item->verdict = diff_test_pair(
                        logs[0], logs[1], prior_of(c, diff_item_count_variance(item, runs[0], basis, true)),
                        prior_of(c, diff_item_count_variance(item, runs[1], basis, false)));
        else
                item->verdict = diff_test_sets(logs, c->n_before, c->n_after);
}

static bool is_whole_enough(const struct diff_comparison *c, const struct diff_run *const *runs)
{
        enum diff_kind only;

        if (c->options.only && (!is_kind_only(c->options.only, &only) || only != DIFF_FUNCTION))
                return false;
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++)
                if (runs[i]->n_samples < DIFF_SAMPLES_MIN || whole_value(c, runs[i]) <= 0)
                        return false;
        return true;
}

static void judge_whole(struct diff_comparison *c, const struct diff_run *const *runs, double *logs)
{
        struct diff_whole *whole = &c->whole;

        if (!is_whole_enough(c, runs))
                return;
        whole->is_judged = true;
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                double value = whole_value(c, runs[i]);

                logs[i] = log(value);
                if (i < c->n_before)
                        whole->value_before += mean(value, c->n_before);
                else
                        whole->value_after += mean(value, c->n_after);
        }
        if (diff_comparison_is_pair(c))
                whole->verdict = diff_test_pair(logs[0], logs[1], prior_of(c, 1 / (double)runs[0]->n_samples),
                                                prior_of(c, 1 / (double)runs[1]->n_samples));
        else
                whole->verdict = diff_test_sets(logs, c->n_before, c->n_after);
}

static int diff_comparison_judge(struct diff_comparison *c, const struct diff_run *const *runs)
{
        double *logs = calloc((size_t)c->n_before + c->n_after + 1, sizeof(*logs));

        if (!logs)
                return -ENOMEM;
        for (size_t i = 0; i < c->n_items; i++) {
                if (c->items[i].doubt != DIFF_JUDGED || !c->items[i].is_asked)
                        continue;
                judge_item(c, &c->items[i], runs, logs);
                c->n_judged[c->items[i].kind]++;
        }
        judge_whole(c, runs, logs);
        free(logs);
        return 0;
}

static bool is_judged(const struct diff_item *item)
{
        return item->is_asked && item->doubt == DIFF_JUDGED;
}

static uint32_t count_tests(const struct diff_comparison *c)
{
        return c->n_judged[DIFF_FUNCTION] + c->n_judged[DIFF_ZONE] + c->whole.is_judged;
}

/* One of the tests of a comparison. */
struct test {
        double p, weight;
        bool *is_significant;
};

static int compare_tests(const void *a, const void *b)
{
        const struct test *x = a, *y = b;
        double far = x->p / x->weight - y->p / y->weight;

        return far < 0 ? -1 : far > 0;
}

/*
 * Items with more of the time get more of the level: a small function has to change by
 * more to be called significant.
 */
static double test_weight(const struct diff_item *item)
{
        return sqrt(fmax(fmax(item->share_before, item->share_after), TEST_SHARE_MIN));
}

static double sum_weights(const struct diff_comparison *c)
{
        double sum = c->whole.is_judged;

        for (size_t i = 0; i < c->n_items; i++)
                if (is_judged(&c->items[i]))
                        sum += test_weight(&c->items[i]);
        return sum;
}

/* Holm's correction, weighted. */
static int mark_significant(struct diff_comparison *c)
{
        struct test *tests = calloc((size_t)count_tests(c) + 1, sizeof(*tests));
        double left = sum_weights(c);
        uint32_t n = 0;

        if (!tests)
                return -ENOMEM;
        for (size_t i = 0; i < c->n_items; i++) {
                struct diff_item *item = &c->items[i];

                if (is_judged(item))
                        tests[n++] = (struct test){ item->verdict.p, test_weight(item),
                                                    &item->is_significant };
        }
        if (c->whole.is_judged)
                tests[n++] = (struct test){ c->whole.verdict.p, 1, &c->whole.is_significant };
        if (n > 0)
                qsort(tests, n, sizeof(*tests), compare_tests);
        for (uint32_t i = 0; i < n && tests[i].p <= c->alpha * tests[i].weight / left; i++) {
                *tests[i].is_significant = true;
                left = fmax(left - tests[i].weight, i + 1 < n ? tests[i + 1].weight : 0);
                c->n_significant++;
        }
        free(tests);
        return 0;
}

bool diff_comparison_is_pair(const struct diff_comparison *c)
{
        return c->n_before == 1 && c->n_after == 1;
}

static double choose_alpha(const struct diff_comparison *c)
{
        if (c->options.alpha > 0)
                return c->options.alpha;
        if (diff_comparison_is_pair(c))
                return DIFF_ALPHA_PAIR;
        return c->n_before >= DIFF_MANY_RUNS && c->n_after >= DIFF_MANY_RUNS ? DIFF_ALPHA_MANY
                                                                             : DIFF_ALPHA_SETS;
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
        c->alpha = choose_alpha(c);
        diff_comparison_add_totals(c, runs);
        find_kinds(c, runs);
        r = diff_comparison_add_items(c, runs);
        if (r < 0)
                return r;
        diff_renames_find(names, c->items, c->n_items);
        remove_empty(c);
        for (size_t i = 0; i < c->n_items; i++) {
                c->items[i].is_asked = is_asked(c, &c->items[i]);
                c->items[i].doubt = find_doubt(c, &c->items[i], runs);
                c->n_asked += c->items[i].is_asked;
        }
        r = diff_comparison_judge(c, runs);
        return r < 0 ? r : mark_significant(c);
}

void diff_comparison_interval(const struct diff_verdict *v, double *ret_low, double *ret_high)
{
        double far = student_t_quantile(1 - CONFIDENCE, v->df) * v->se;

        *ret_low = expm1(v->change - far);
        *ret_high = expm1(v->change + far);
}

/* The part of the run that the change is. */
static double diff_comparison_weight_of(const struct diff_item *item)
{
        return fabs(item->verdict.change) * fmax(item->share_before, item->share_after);
}

const struct diff_item *diff_comparison_leading(const struct diff_comparison *c)
{
        const struct diff_item *best = NULL;

        for (size_t i = 0; i < c->n_items; i++) {
                const struct diff_item *item = &c->items[i];

                if (!is_judged(item))
                        continue;
                if (!best || item->kind < best->kind ||
                    (item->kind == best->kind &&
                     diff_comparison_weight_of(item) > diff_comparison_weight_of(best)))
                        best = item;
        }
        return best;
}

double diff_comparison_detectable(const struct diff_comparison *c, const struct diff_item *item,
                                  uint32_t n_before, uint32_t n_after)
{
        bool is_many = n_before >= DIFF_MANY_RUNS && n_after >= DIFF_MANY_RUNS;
        double alpha = is_many ? DIFF_ALPHA_MANY : DIFF_ALPHA_SETS;

        if (c->options.alpha > 0)
                alpha = c->options.alpha;
        alpha *= test_weight(item) / sum_weights(c);
        return expm1(diff_test_detectable(item->verdict.variance, n_before, n_after, alpha));
}

double diff_comparison_worst(const struct diff_comparison *c, const struct diff_item **ret_item)
{
        double worst = 0;

        *ret_item = NULL;
        if (c->whole.is_significant)
                worst = fmax(c->whole.verdict.change, 0);
        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].is_significant && c->items[i].verdict.change > worst) {
                        worst = c->items[i].verdict.change;
                        *ret_item = &c->items[i];
                }
        return expm1(worst);
}
