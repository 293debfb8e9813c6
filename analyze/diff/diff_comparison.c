/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_comparison.h"

#include "analyze/diff/diff_calls.h"
#include "analyze/diff/diff_run.h"
#include "analyze/diff/diff_steps.h"
#include "analyze/diff/diff_test.h"
#include "analyze/stats/call_finder.h"
#include "base/saturating.h"

#include <errno.h>
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

/*
 * Keeps the larger loss: by share or, where a range of time is compared and no share is known, by number.
 */
static void keep_larger_loss(struct lost_zones *kept, const struct lost_zones *lost)
{
        if (lost->share > kept->share || (lost->share == kept->share && lost->n_lost > kept->n_lost))
                *kept = *lost;
}

static void keep_larger_share(struct unsampled_time *kept, const struct unsampled_time *u)
{
        struct unsampled_time was = *kept;
        const struct unsampled_time *python =
                unsampled_time_python_share(u) > unsampled_time_python_share(&was) ? u : &was;

        if (u->share > kept->share)
                *kept = *u;
        kept->n_python = python->n_python;
        kept->n_python_bare = python->n_python_bare;
        kept->is_python_late = python->is_python_late;
}

/* Means of a run. */
static void add_means(struct diff_comparison *c, const struct diff_run *run, bool before)
{
        uint32_t n = before ? c->n_before : c->n_after;

        *(before ? &c->weight_before : &c->weight_after) += mean(run->weight, n);
        *(before ? &c->duration_ns_before : &c->duration_ns_after) += mean((double)run->duration_ns, n);
        *(before ? &c->units_before : &c->units_after) += mean((double)run->n_units, n);
        *(before ? &c->threads_ns_before : &c->threads_ns_after) += mean(diff_run_threads_ns(run), n);
        *(before ? &c->waited_ns_before : &c->waited_ns_after) += mean(run->waited_ns, n);
}

static void add_totals(struct diff_comparison *c, const struct diff_run *const *runs)
{
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                const struct diff_run *run = runs[i];
                bool before = i < c->n_before;

                add_means(c, run, before);
                *(before ? &c->n_samples_before : &c->n_samples_after) += run->n_samples;
                keep_larger_loss(before ? &c->lost_before : &c->lost_after, &run->lost);
                keep_larger_share(before ? &c->unsampled_before : &c->unsampled_after, &run->unsampled);
                python_parts_add(before ? &c->python_before : &c->python_after, &run->parts);
                c->n_unspread += run->n_unspread;
                c->n_unnamed = saturating_add(c->n_unnamed,
                                              saturating_add(run->n_unnamed, run->n_unnamed_calls));
                c->weight_is_ns = runs[0]->weight_is_ns;
                c->is_folded = c->is_folded || run->is_folded;
                if (run->n_zones > 0 && !run->has_switches)
                        c->lacks_switches = true;
        }
        if (c->lacks_switches)
                c->options.basis.wall = true;
}

static bool has_any(const struct diff_run *run, int kind)
{
        const bool any[DIFF_KIND_COUNT] = { run->n_samples > 0, run->n_zones > 0, run->has_waits,
                                            run->has_calls, run->n_kernels > 0 };

        return any[kind];
}

static void find_kinds(struct diff_comparison *c, const struct diff_run *const *runs)
{
        for (int kind = 0; kind < DIFF_KIND_COUNT; kind++) {
                c->has_kind[kind] = true;
                for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                        bool any = has_any(runs[i], kind);

                        c->any_kind[kind] = c->any_kind[kind] || any;
                        c->has_kind[kind] = c->has_kind[kind] && any;
                }
        }
}

/* The whole of which an item's time is a share. */
static double whole_of(enum diff_kind kind, const struct diff_run *run)
{
        if (kind == DIFF_FUNCTION)
                return run->weight;
        if (kind == DIFF_KERNEL)
                return run->device_ns;
        return kind == DIFF_ZONE ? (double)run->duration_ns : diff_run_threads_ns(run);
}

/* Marks an item by the kind to which most of its time belongs, on either side. */
static void mark_side(struct diff_item *item, double weight, double self, double outside)
{
        bool has_parts = item->kind == DIFF_ZONE || item->kind == DIFF_WAIT;

        item->is_outer = item->is_outer || (has_parts && self < weight / 2);
        item->is_outside = item->is_outside || (item->kind == DIFF_WAIT && outside > weight / 2);
}

/* Sums of one side. */
static void fill_side(const struct diff_comparison *c, struct diff_item *item,
                      const struct diff_run *const *runs, bool before)
{
        uint32_t n = before ? c->n_before : c->n_after;
        double weight = 0, all = 0, self = 0, outside = 0, delay_ns = 0;
        uint64_t n_delays = 0;

        for (uint32_t i = 0; i < n; i++) {
                const struct diff_run *run = runs[(before ? 0 : c->n_before) + i];
                struct diff_sum sum = diff_run_sum(run, before ? item->key_before : item->key_after);

                *(before ? &item->n_before : &item->n_after) += sum.n;
                if (sum.n > 0)
                        *(before ? &item->caller_before : &item->caller_after) = sum.caller;
                *(before ? &item->value_before : &item->value_after) += mean(
                        diff_item_value(item, run, &c->options.basis, before), n);
                *(before ? &item->total_before : &item->total_after) += mean(
                        diff_item_total(item, run, &c->options.basis, before), n);
                weight += item->kind == DIFF_ZONE || item->kind == DIFF_CALL ? sum.wall_ns : sum.cpu;
                self += sum.self_ns;
                outside += sum.outside_ns;
                delay_ns += sum.delay_ns;
                n_delays += sum.n_delays;
                all += whole_of(item->kind, run);
        }
        *(before ? &item->share_before : &item->share_after) = all > 0 ? weight / all : 0;
        *(before ? &item->delay_before : &item->delay_after) = n_delays != 0 ? delay_ns / (double)n_delays
                                                                             : -1;
        mark_side(item, weight, self, outside);
}

/* Whether the number of calls depends on when other threads and programs run. */
static bool depends_on_others(struct text_view system_call)
{
        return (call_finder_only_waits(system_call) && !diff_calls_is_sleep(system_call)) ||
               text_view_is(system_call, "sched_yield");
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
                *item = (struct diff_item){ .key_before = key, .key_after = key };
                item->kind = (enum diff_kind)row->kind;
                item->is_kernel = diff_names_is_kernel(c->names, row);
                item->is_outside = item->kind == DIFF_CALL &&
                                   depends_on_others(diff_names_string(c->names, row->name));
                item->is_sleep = item->kind == DIFF_WAIT &&
                                 diff_calls_is_sleep(diff_names_string(c->names, row->function));
                fill_side(c, item, runs, true);
                fill_side(c, item, runs, false);
                if (item->n_before == 0)
                        item->key_before = 0;
                if (item->n_after == 0)
                        item->key_after = 0;
                if (diff_item_key(item) != 0)
                        c->n_items++;
        }
        return 0;
}

static void remove_empty(struct diff_comparison *c)
{
        size_t n = 0;

        for (size_t i = 0; i < c->n_items; i++)
                if (diff_item_key(&c->items[i]) != 0)
                        c->items[n++] = c->items[i];
        c->n_items = n;
}

/* Whether @glob fits the bare name or the distinguishing one. */
static bool fits_glob(const struct diff_comparison *c, const struct diff_item *item, const char *glob)
{
        uint32_t key = diff_item_key(item);

        return diff_names_fits_glob(diff_names_shown(c->names, key), glob) ||
               diff_names_fits_glob(diff_names_string(c->names, diff_names_key(c->names, key)->name), glob);
}

static bool is_kind_only(const char *only, enum diff_kind *ret_kind)
{
        static const char *const names[DIFF_KIND_COUNT] = { "functions", "zones", "waits", "syscalls",
                                                            "kernels" };

        *ret_kind = DIFF_FUNCTION;
        for (int kind = 0; only && kind < DIFF_KIND_COUNT; kind++)
                if (strcmp(only, names[kind]) == 0) {
                        *ret_kind = (enum diff_kind)kind;
                        return true;
                }
        return false;
}

static bool is_asked(const struct diff_comparison *c, const struct diff_item *item)
{
        enum diff_kind kind;

        if (is_kind_only(c->options.only, &kind))
                return item->kind == kind;
        return !c->options.only || fits_glob(c, item, c->options.only);
}

/* Zero instances have no mean, so a new or gone zone is compared by the time of all its instances. */
static void put_all_instances(const struct diff_comparison *c, const struct diff_item *item, uint64_t n,
                              struct diff_number *number)
{
        bool is_new = item->key_before == 0;
        double n_there = is_new ? mean((double)item->n_after, c->n_after)
                                : mean((double)item->n_before, c->n_before);
        double times = c->options.basis.per_unit ? 1 : (double)n;

        number->value *= times;
        number->low *= times;
        number->high *= times;
        number->one = n_there > 0 ? (is_new ? item->total_after : item->total_before) / n_there : 0;
}

/*
 * How much of an item's number may belong to other items: samples may fall beside their function, and waits
 * for memory or for another zone move between zones.
 */
static double moved_of(const struct diff_comparison *c, const struct diff_item *item,
                       const struct diff_run *run, uint64_t n)
{
        double per = c->options.basis.per_unit ? (double)run->n_units : 1;
        double all = item->kind == DIFF_KERNEL              ? run->device_ns
                     : run->weight_is_ns && run->weight > 0 ? run->weight
                                                            : (double)run->duration_ns;

        if (item->kind == DIFF_FUNCTION)
                return per > 0 ? DIFF_STEADY_FUNCTION_MOVED * run->weight / per : 0;
        if (item->kind == DIFF_WAIT)
                return per > 0 && !item->is_sleep ? DIFF_STEADY_WAIT_MOVED * diff_run_threads_ns(run) / per
                                                  : 0;
        if (item->kind == DIFF_CALL)
                return 0;
        if (c->options.basis.per_unit)
                return per > 0 ? DIFF_STEADY_ZONE_MOVED * all / per : 0;
        return n > 0 ? DIFF_STEADY_ZONE_MOVED * all / (double)n : 0;
}

/*
 * One side may have a single long wait, so the number of waits is too coarse a measure.  Sets of runs show
 * how runs differ: both sides get an amount that is too small to matter, so that a single wait is enough.
 */
static void put_wait_or_call(const struct diff_comparison *c, const struct diff_item *item,
                             const struct diff_run *run, struct diff_number *number)
{
        bool is_larger_after = item->value_after > item->value_before;
        double n = is_larger_after ? mean((double)item->n_after, c->n_after)
                                   : mean((double)item->n_before, c->n_before);
        double per = c->options.basis.per_unit ? (double)run->n_units : 1, floor;

        number->one = fmax(item->value_before, item->value_after) / fmax(n, 1);
        if (number->n > 0)
                number->one = fmax(number->one, number->value / (double)number->n);
        if (diff_comparison_is_pair(c) || !(per > 0))
                return;
        floor = item->kind == DIFF_CALL
                        ? DIFF_CALLS_MIN
                        : c->options.share_min * fmax(c->threads_ns_before, c->threads_ns_after);
        number->value += floor / per;
        number->low = number->high = number->value;
}

static struct diff_number item_number(const struct diff_comparison *c, const struct diff_item *item,
                                      const struct diff_run *run, bool before)
{
        const struct diff_basis *basis = &c->options.basis;
        struct diff_sum sum = diff_run_sum(run, before ? item->key_before : item->key_after);
        struct diff_number number = {
                .value = diff_item_value(item, run, basis, before),
                .variance = diff_item_count_variance(item, run, basis, before),
                .spread = diff_item_spread_variance(item, run, basis, before),
                .moved = moved_of(c, item, run, sum.n),
                .n = sum.n,
                .n_seen = sum.n_seen,
        };

        diff_item_bounds(item, run, basis, before, &number.low, &number.high);
        if (item->kind == DIFF_FUNCTION && run->n_samples > 0)
                number.one = run->weight / (double)run->n_samples;
        if (item->kind == DIFF_FUNCTION && basis->per_unit)
                number.one = run->n_units > 0 ? number.one / (double)run->n_units : 0;
        if (diff_kind_is_zone(item->kind) && diff_item_is_one_sided(item))
                put_all_instances(c, item, sum.n, &number);
        if (item->kind == DIFF_WAIT || item->kind == DIFF_CALL)
                put_wait_or_call(c, item, run, &number);
        return number;
}

/* Context switches give the whole run's time, also where samples of it are missing. */
static struct diff_number run_number(const struct diff_comparison *c, const struct diff_run *run)
{
        double per = c->options.basis.per_unit ? (double)run->n_units : 1, value, low, high;

        if (run->n_samples == 0 || !(per > 0) || !(run->weight > 0))
                return (struct diff_number){ .n = 0 };
        if (diff_run_has_time(run)) {
                value = low = high = (double)run->unsampled.on_cpu_ns / per;
        } else {
                value = run->weight / per;
                low = (run->weight - run->added) / per;
                high = fmax(value, low + run->unsampled.whole_weight / per);
        }
        return (struct diff_number){
                .value = value,
                .low = low,
                .high = high,
                .variance = 1 / (double)run->n_samples,
                .one = value / (double)run->n_samples,
                .n = run->n_samples,
        };
}

static bool is_whole_asked(const struct diff_comparison *c, const struct diff_run *const *runs)
{
        enum diff_kind only;

        if (c->options.only && (!is_kind_only(c->options.only, &only) || only != DIFF_FUNCTION))
                return false;
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++)
                if (diff_doubt_is_cut(c, runs[i]) ||
                    (c->options.basis.per_unit && diff_doubt_lost_zones(runs[i])))
                        return false;
        return true;
}

/* @of: room for one number per run; @numbers refers to these numbers */
static void judge_whole(struct diff_comparison *c, const struct diff_run *const *runs,
                        struct diff_numbers *numbers, struct diff_number *of)
{
        struct diff_whole *whole = &c->whole;
        enum diff_basis_of_judgement by;

        if (!is_whole_asked(c, runs))
                return;
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++) {
                of[i] = run_number(c, runs[i]);
                *(i < c->n_before ? &whole->value_before : &whole->value_after) += mean(
                        of[i].value, i < c->n_before ? c->n_before : c->n_after);
        }
        numbers->n_min = DIFF_SAMPLES_MIN;
        numbers->noise = c->options.noise;
        numbers->steady_noises = 0; /* the machine may be slower all the time */
        by = diff_judgement_basis(numbers);
        whole->is_judged = by != DIFF_BY_NOTHING;
        if (whole->is_judged)
                whole->verdict = diff_judgement_of(numbers, by);
}

/* A zone with few instances on one side is not judged: their mean says too little. */
static bool is_judged_by(const struct diff_item *item, enum diff_basis_of_judgement by)
{
        return by == DIFF_BY_BOTH ||
               (by != DIFF_BY_NOTHING && (!diff_kind_is_zone(item->kind) || diff_item_is_one_sided(item)));
}

static uint64_t n_min_of(const struct diff_comparison *c, const struct diff_item *item)
{
        if (diff_kind_is_zone(item->kind))
                return DIFF_ZONES_MIN;
        if (item->kind == DIFF_WAIT || item->kind == DIFF_CALL)
                return diff_comparison_is_pair(c) ? DIFF_CALLS_MIN : 0;
        return diff_item_is_one_sided(item) && !diff_comparison_is_pair(c) ? DIFF_NEW_OF_RUN_MIN
                                                                           : DIFF_SAMPLES_MIN;
}

/* An item that is asked for by name is judged however small it is. */
static bool is_asked_by_name(const struct diff_comparison *c, const struct diff_item *item)
{
        enum diff_kind kind;

        return item->is_asked && c->options.only && !is_kind_only(c->options.only, &kind);
}

/*
 * Sleeps whose lengths differ within a run may differ between runs, too: by half of their standard deviation.
 */
static double sleeps_vary(const struct diff_numbers *numbers)
{
        double most = 0;

        for (uint32_t i = 0; i < numbers->n_before + numbers->n_after; i++)
                most = fmax(most, numbers->of[i].n_seen * numbers->of[i].variance - 1);
        return sqrt(most) / 2;
}

/* How much an item varies from run to run. */
static double noise_of(const struct diff_comparison *c, const struct diff_item *item,
                       const struct diff_numbers *numbers, enum diff_basis_of_judgement by)
{
        if (item->kind == DIFF_CALL)
                return c->options.noise * DIFF_CALL_NOISES;
        if (item->kind != DIFF_WAIT)
                return c->options.noise;
        if (by != DIFF_BY_BOTH) /* then their number counts */
                return c->options.noise * (item->is_sleep ? DIFF_SLEEP_NOISES : DIFF_CALL_NOISES);
        if (!item->is_sleep)
                return c->options.noise * DIFF_DISK_NOISES;
        return fmax(c->options.noise * DIFF_SLEEP_NOISES, sleeps_vary(numbers));
}

/*
 * The amount that is added for sets of runs serves the test alone: it would make a change look smaller than
 * it is.
 */
static void show_without_floor(const struct diff_comparison *c, struct diff_item *item)
{
        if (diff_comparison_is_pair(c) || (item->kind != DIFF_WAIT && item->kind != DIFF_CALL) ||
            !(item->value_before > 0) || !(item->value_after > 0))
                return;
        diff_test_show(&item->verdict, log(item->value_after / item->value_before));
}

/*
 * Waits for others, and calls that wait for something, may differ by any factor in one pair of runs,
 * however steady they are in each run.  In sets of runs, the numbers of calls can be tested, and items that
 * one side lacks; but not longer waits as such: a server that has less to do waits longer, which is no
 * slowdown.
 */
static bool is_testable(const struct diff_comparison *c, const struct diff_item *item)
{
        return !item->is_outside ||
               (!diff_comparison_is_pair(c) && (item->kind == DIFF_CALL || diff_item_is_one_sided(item)));
}

static void judge_item(struct diff_comparison *c, struct diff_item *item, const struct diff_run *const *runs,
                       struct diff_numbers *numbers, struct diff_number *of)
{
        static const double steady_noises[DIFF_KIND_COUNT] = {
                DIFF_STEADY_FUNCTION_NOISES, DIFF_STEADY_ZONE_NOISES, DIFF_STEADY_CALL_NOISES,
                DIFF_STEADY_CALL_NOISES, DIFF_STEADY_ZONE_NOISES
        };
        enum diff_basis_of_judgement by;

        item->doubt = diff_doubt_find(c, item, runs, is_asked_by_name(c, item));
        if (item->doubt != DIFF_JUDGED)
                return;
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++)
                of[i] = item_number(c, item, runs[i], i < c->n_before);
        numbers->n_min = n_min_of(c, item);
        numbers->steady_noises = steady_noises[item->kind];
        numbers->is_few_steady = item->kind == DIFF_WAIT || item->kind == DIFF_CALL;
        by = diff_judgement_basis(numbers);
        if (by == DIFF_BY_NOTHING && (item->kind == DIFF_WAIT || item->kind == DIFF_CALL)) {
                numbers->n_min = 1; /* the spread already shows how uncertain a few are */
                by = diff_judgement_basis(numbers);
        }
        numbers->noise = noise_of(c, item, numbers, by);
        if (!is_judged_by(item, by)) {
                item->doubt = diff_item_is_one_sided(item) ? DIFF_ONE_SIDED : DIFF_TOO_FEW;
                return;
        }
        if (!item->is_asked)
                return;
        item->is_few = by != DIFF_BY_BOTH;
        item->moved_share = diff_moved_share(c, item);
        item->verdict = diff_judgement_of(numbers, by);
        show_without_floor(c, item);
        if (!is_testable(c, item))
                item->verdict.p = 1;
        c->n_judged[item->kind]++;
}

static int judge(struct diff_comparison *c, const struct diff_run *const *runs)
{
        size_t n = (size_t)c->n_before + c->n_after;
        struct diff_number *of = calloc(n + 1, sizeof(*of));
        struct diff_numbers numbers = {
                .of = of,
                .logs = calloc(n + 1, sizeof(double)),
                .n_before = c->n_before,
                .n_after = c->n_after,
                .noise = c->options.noise,
        };
        int r = of && numbers.logs ? 0 : -ENOMEM;

        for (size_t i = 0; r == 0 && i < c->n_items; i++)
                judge_item(c, &c->items[i], runs, &numbers, of);
        if (r == 0)
                judge_whole(c, runs, &numbers, of);
        free(of);
        free(numbers.logs);
        return r;
}

uint32_t diff_comparison_count_gates(const struct diff_comparison *c)
{
        return c->options.only ? diff_comparison_count_judged(c)
                               : c->n_judged[DIFF_FUNCTION] + c->n_judged[DIFF_ZONE] +
                                         c->n_judged[DIFF_KERNEL] + c->whole.is_judged;
}

static bool is_judged(const struct diff_item *item)
{
        return item->is_asked && item->doubt == DIFF_JUDGED;
}

uint32_t diff_comparison_count_judged(const struct diff_comparison *c)
{
        uint32_t n = c->whole.is_judged;

        for (int kind = 0; kind < DIFF_KIND_COUNT; kind++)
                n += c->n_judged[kind];
        return n;
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
 * Items with more of the time get a larger part of the significance level: a small function has to change
 * by more to be called significant.
 */
static double test_weight(const struct diff_item *item)
{
        return sqrt(fmax(fmax(item->share_before, item->share_after), TEST_SHARE_MIN));
}

bool diff_comparison_has_interval(const struct diff_comparison *c, const struct diff_item *item)
{
        return is_judged(item) && is_testable(c, item);
}

static double sum_weights(const struct diff_comparison *c)
{
        double sum = c->whole.is_judged;

        for (size_t i = 0; i < c->n_items; i++)
                if (diff_comparison_has_interval(c, &c->items[i]))
                        sum += test_weight(&c->items[i]);
        return sum;
}

/* Holm's correction, weighted. */
static int mark_significant(struct diff_comparison *c)
{
        struct test *tests = calloc((size_t)diff_comparison_count_judged(c) + 1, sizeof(*tests));
        double left = sum_weights(c);
        uint32_t n = 0;

        if (!tests)
                return -ENOMEM;
        for (size_t i = 0; i < c->n_items; i++) {
                struct diff_item *item = &c->items[i];

                if (diff_comparison_has_interval(c, item))
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

static double choose_alpha(const struct diff_comparison *c, const struct diff_run *const *runs)
{
        if (c->options.alpha > 0)
                return c->options.alpha;
        for (uint32_t i = 0; i < c->n_before + c->n_after; i++)
                if (runs[i]->unsampled.lost_weight > 0)
                        return DIFF_ALPHA_LOST;
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
        c->alpha = choose_alpha(c, runs);
        add_totals(c, runs);
        find_kinds(c, runs);
        r = add_items(c, runs);
        if (r < 0)
                return r;
        diff_renames_find(names, c->items, c->n_items);
        remove_empty(c);
        for (size_t i = 0; i < c->n_items; i++) {
                c->items[i].is_asked = is_asked(c, &c->items[i]);
                c->n_asked += c->items[i].is_asked;
        }
        r = judge(c, runs);
        return r < 0 ? r : mark_significant(c);
}

void diff_comparison_interval(const struct diff_verdict *v, double *ret_low, double *ret_high)
{
        double far = student_t_quantile(1 - CONFIDENCE, v->df) * v->se;

        *ret_low = expm1(v->change - far - v->lost_low);
        *ret_high = expm1(v->change + far + v->lost_high);
}

const struct diff_item *diff_comparison_leading(const struct diff_comparison *c)
{
        const struct diff_item *best = NULL;

        for (size_t i = 0; i < c->n_items; i++) {
                const struct diff_item *item = &c->items[i];

                if (!is_judged(item) || (item->kind == DIFF_CALL && item->value_before == item->value_after))
                        continue;
                if (!best || diff_kind_is_zone(item->kind) < diff_kind_is_zone(best->kind) ||
                    (diff_kind_is_zone(item->kind) == diff_kind_is_zone(best->kind) &&
                     item->moved_share > best->moved_share))
                        best = item;
        }
        return best;
}

double diff_comparison_detectable(const struct diff_comparison *c, const struct diff_item *item,
                                  uint32_t n_before, uint32_t n_after)
{
        bool is_many = n_before >= DIFF_MANY_RUNS && n_after >= DIFF_MANY_RUNS;
        double alpha = is_many ? DIFF_ALPHA_MANY : DIFF_ALPHA_SETS, lost = 0;

        if (c->options.alpha > 0)
                alpha = c->options.alpha;
        if (n_before == c->n_before && n_after == c->n_after) {
                alpha = c->alpha;
                lost = fmax(item->verdict.lost_low, item->verdict.lost_high);
        }
        alpha *= test_weight(item) / sum_weights(c);
        return expm1(lost + diff_test_detectable(item->verdict.variance, n_before, n_after, alpha));
}

/*
 * The whole run is judged by its interval alone, without the correction for many tests, because the result
 * only suppresses alarms.
 */
static bool is_run_faster(const struct diff_comparison *c)
{
        double low, high = 0;

        if (c->whole.is_judged)
                diff_comparison_interval(&c->whole.verdict, &low, &high);
        return high < 0;
}

/* The time of new functions minus that of gone ones. */
static double net_of_few(const struct diff_comparison *c)
{
        double net = 0;

        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].is_significant && c->items[i].is_few && c->items[i].kind == DIFF_FUNCTION)
                        net += diff_moved_ns(&c->items[i]);
        return net;
}

/*
 * A new function may contain code of a function that is gone.  So it counts as the smaller of two amounts:
 * the time that gone functions do not offset, and the slowdown of the whole run, both as logarithms
 * relative to the whole run.
 */
static double growth_by_few(const struct diff_comparison *c, const struct diff_item *item)
{
        double moved = diff_moved_ns(item), base = c->whole.value_before;

        if (!c->whole.is_judged)
                return !diff_kind_is_zone(item->kind) ? item->verdict.change : 0;
        if (diff_kind_is_zone(item->kind))
                base = c->options.basis.per_unit && c->units_before > 0
                               ? c->duration_ns_before / c->units_before
                               : c->duration_ns_before;
        else
                moved = fmin(moved, net_of_few(c));
        return base > 0 ? fmin(log1p(fmax(moved / base, 0)), c->whole.verdict.change) : 0;
}

bool diff_comparison_gates(const struct diff_comparison *c, const struct diff_item *item)
{
        return c->options.only || item->kind == DIFF_FUNCTION || diff_kind_is_zone(item->kind);
}

double diff_comparison_worst(const struct diff_comparison *c, const struct diff_item **ret_item)
{
        bool is_faster = is_run_faster(c);
        double worst = 0;

        *ret_item = NULL;
        if (c->whole.is_significant)
                worst = fmax(c->whole.verdict.change, 0);
        for (size_t i = 0; i < c->n_items; i++) {
                const struct diff_item *item = &c->items[i];
                double change = item->is_few ? growth_by_few(c, item) : item->verdict.change;

                if (!item->is_significant || !diff_comparison_gates(c, item) ||
                    (is_faster && (item->kind == DIFF_FUNCTION || item->is_few)) || change <= worst)
                        continue;
                worst = change;
                *ret_item = item;
        }
        return expm1(worst);
}

double diff_comparison_suspected(const struct diff_comparison *c, const struct diff_item **ret_item)
{
        double worst = 0, low, high;

        *ret_item = NULL;
        if (c->whole.is_judged)
                return expm1(c->whole.is_significant ? 0 : fmax(c->whole.verdict.change, 0));
        for (size_t i = 0; i < c->n_items; i++) {
                const struct diff_item *item = &c->items[i];

                if (!diff_comparison_has_interval(c, item) || item->is_significant ||
                    item->verdict.change <= worst || !diff_comparison_gates(c, item))
                        continue;
                diff_comparison_interval(&item->verdict, &low, &high);
                if (low <= 0)
                        continue;
                worst = item->verdict.change;
                *ret_item = item;
        }
        return expm1(worst);
}
