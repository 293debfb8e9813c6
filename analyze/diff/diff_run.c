/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_run.h"

#include "base/array.h"
#include "base/saturating.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/*
 * The context switches show less than this share of the sampled time on CPUs only if switches are missing.
 */
#define TIME_OF_SAMPLED_MIN 0.95

void diff_run_deinit(struct diff_run *run)
{
        diff_run_finish(run);
        if (run->folded)
                free(run->folded->sums);
        free(run->folded);
        free(run->sums);
        *run = (struct diff_run){ .sums = NULL };
}

void diff_run_finish(struct diff_run *run)
{
        for (uint32_t i = 0; i < run->n_sums; i++) {
                struct diff_sum *sum = &run->sums[i];

                if (!sum->spreads)
                        continue;
                sum->typical_cpu = diff_spread_typical(&sum->spreads->cpu);
                sum->typical_wall = diff_spread_typical(&sum->spreads->wall);
                free(sum->spreads);
                sum->spreads = NULL;
        }
}

struct diff_sum diff_run_sum(const struct diff_run *run, uint32_t key)
{
        if (key == 0 || key > run->n_sums)
                return (struct diff_sum){ .n = 0 };
        return run->sums[key - 1];
}

/* The sum of a key; NULL without memory. */
static struct diff_sum *find(struct diff_run *run, uint32_t key)
{
        assert(key != 0);
        if (key > run->n_sums) {
                if (array_extend(&run->sums, &run->capacity, run->n_sums, key, sizeof(*run->sums)) < 0)
                        return NULL;
                run->n_sums = key;
        }
        return &run->sums[key - 1];
}

int diff_run_add_sample(struct diff_run *run, uint32_t key, double weight, double added)
{
        struct diff_sum *sum = find(run, key);

        if (!sum)
                return -ENOMEM;
        sum->n++;
        sum->cpu += weight;
        sum->added += added;
        return 0;
}

void diff_run_add_block(struct diff_run *run, uint32_t key, uint32_t block)
{
        if (block >= DIFF_RUN_BLOCKS)
                block = DIFF_RUN_BLOCKS - 1;
        run->blocks[block]++;
        if (key != 0)
                run->sums[key - 1].blocks[block]++;
}

bool diff_run_has_time(const struct diff_run *run)
{
        return run->weight_is_ns && run->unsampled.on_cpu_ns != 0 &&
               (double)run->unsampled.on_cpu_ns >= TIME_OF_SAMPLED_MIN * (run->weight - run->added);
}

double diff_run_threads_ns(const struct diff_run *run)
{
        bool is_known = run->unsampled.on_cpu_ns != 0 || !run->weight_is_ns;

        return run->waited_ns + (is_known ? (double)run->unsampled.on_cpu_ns : run->weight);
}

int diff_run_add_wait(struct diff_run *run, uint32_t key, const struct diff_wait *wait)
{
        struct diff_sum *sum = find(run, key);
        double part_ns = fmax((double)run->duration_ns / DIFF_RUN_PARTS, 1);

        if (!sum)
                return -ENOMEM;
        sum->n += (uint64_t)(wait->n + 0.5);
        sum->cpu += wait->ns;
        sum->self_ns += wait->ns - wait->by_others_ns;
        sum->squares += wait->squares;
        sum->n_seen += wait->n_seen;
        sum->outside_ns += wait->outside_ns;
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                sum->blocks[i] = (uint32_t)fmin(sum->blocks[i] + wait->blocks[i] / part_ns + 0.5, UINT32_MAX);
        return 0;
}

int diff_run_add_calls(struct diff_run *run, uint32_t key, uint64_t n, double ns)
{
        struct diff_sum *sum = find(run, key);

        if (!sum)
                return -ENOMEM;
        sum->n = saturating_add(sum->n, n);
        sum->cpu += (double)n;
        sum->wall_ns += ns;
        return 0;
}

/* Boyer and Moore's vote: a caller with more than half of the weight is left at the end. */
void diff_run_add_caller(struct diff_run *run, uint32_t key, uint32_t caller, double weight)
{
        struct diff_sum *sum = &run->sums[key - 1];

        if (sum->caller == caller) {
                sum->caller_lead += weight;
                return;
        }
        sum->caller_lead -= weight;
        if (sum->caller_lead >= 0)
                return;
        sum->caller = caller;
        sum->caller_lead = -sum->caller_lead;
}

int diff_run_move(struct diff_run *run, uint32_t from, uint32_t to)
{
        struct diff_sum *old, *sum;

        if (from > run->n_sums || run->sums[from - 1].n == 0)
                return 0;
        sum = find(run, to);
        if (!sum)
                return -ENOMEM;
        old = &run->sums[from - 1];
        sum->n += old->n;
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                sum->blocks[i] += old->blocks[i];
        sum->cpu += old->cpu;
        sum->added += old->added;
        diff_run_add_caller(run, to, old->caller, old->caller_lead);
        *old = (struct diff_sum){ .n = 0 };
        return 0;
}

/* Takes the sums of functions, or of waits and calls together, from the folded run. */
static int take_folded(struct diff_run *run, const struct diff_names *names, bool are_calls)
{
        if (run->folded->n_sums != 0 && !find(run, run->folded->n_sums))
                return -ENOMEM;
        for (uint32_t key = 1; key <= run->n_sums; key++) {
                uint32_t kind = diff_names_key(names, key)->kind;

                if (are_calls ? kind == DIFF_WAIT || kind == DIFF_CALL : kind == DIFF_FUNCTION)
                        run->sums[key - 1] = diff_run_sum(run->folded, key);
        }
        return 0;
}

int diff_run_fold(struct diff_run *run, const struct diff_names *names)
{
        if (take_folded(run, names, false) < 0)
                return -ENOMEM;
        run->n_unnamed = run->folded->n_unnamed;
        run->is_folded = true;
        return 0;
}

int diff_run_fold_calls(struct diff_run *run, const struct diff_names *names)
{
        run->n_unnamed_calls = run->folded->n_unnamed_calls;
        return take_folded(run, names, true);
}

/* Adds the spreads at a zone's first instance; a zone beyond the limit gets none. */
static int add_spreads(struct diff_run *run, struct diff_sum *sum)
{
        if (run->n_spread >= DIFF_RUN_ZONES_MAX) {
                run->n_unspread++;
                return 0;
        }
        sum->spreads = calloc(1, sizeof(*sum->spreads));
        if (!sum->spreads)
                return -ENOMEM;
        run->n_spread++;
        return 0;
}

int diff_run_add_zone(struct diff_run *run, uint32_t key, double cpu_ns, double wall_ns, double self_ns)
{
        struct diff_sum *sum = find(run, key);

        if (!sum || (sum->n == 0 && add_spreads(run, sum) < 0))
                return -ENOMEM;
        sum->n++;
        sum->cpu += cpu_ns;
        sum->wall_ns += wall_ns;
        sum->self_ns += self_ns;
        if (sum->spreads) {
                diff_spread_add(&sum->spreads->cpu, cpu_ns);
                diff_spread_add(&sum->spreads->wall, wall_ns);
        }
        return 0;
}

void diff_run_add_delay(struct diff_run *run, uint32_t key, double ns)
{
        run->sums[key - 1].delay_ns += ns;
        run->sums[key - 1].n_delays++;
}

/* ------------------------------------------------------------------ times of a zone */

static uint32_t octave_of(double ns)
{
        int exponent = 0;

        (void)frexp(ns, &exponent);
        if (exponent < 0)
                return 0;
        return exponent < DIFF_SPREAD_OCTAVES ? (uint32_t)exponent : DIFF_SPREAD_OCTAVES - 1;
}

void diff_spread_add(struct diff_spread *s, double ns)
{
        uint32_t octave = octave_of(ns);

        s->n[octave]++;
        s->sum[octave] += ns;
        s->squares[octave] += ns * ns;
}

static uint64_t count_instances(const struct diff_spread *s)
{
        uint64_t n = 0;

        for (int i = 0; i < DIFF_SPREAD_OCTAVES; i++)
                n += s->n[i];
        return n;
}

struct diff_typical diff_spread_typical(const struct diff_spread *s)
{
        uint64_t n_all = count_instances(s), n_left_out, n = 0;
        struct diff_typical t = { .variance = HUGE_VAL };
        double sum = 0, squares = 0, mean_square;

        if (n_all == 0)
                return t;
        n_left_out = (n_all + DIFF_SPREAD_ONE_LEFT_OF - 1) / DIFF_SPREAD_ONE_LEFT_OF;
        if (n_left_out == n_all)
                n_left_out = 0;
        for (int i = DIFF_SPREAD_OCTAVES - 1; i >= 0; i--) {
                uint64_t n_here = s->n[i], n_skipped = n_here < n_left_out ? n_here : n_left_out;
                double kept = n_here > 0 ? (double)(n_here - n_skipped) / (double)n_here : 0;

                n_left_out -= n_skipped;
                n += n_here - n_skipped;
                sum += kept * s->sum[i];
                squares += kept * s->squares[i];
        }
        t.mean = sum / (double)n;
        mean_square = t.mean * t.mean;
        if (n > 1 && mean_square > 0)
                t.variance = fmax(squares / (double)n - mean_square, 0) / mean_square / (double)(n - 1);
        return t;
}
