/* SPDX-License-Identifier: MIT */
#include "analyze/stats/histogram_bins.h"

#include <stdbool.h>

#define WIDE_RATIO    16 /* if largest / smallest is at least this, bars grow with the numbers */
#define BINS_WANTED   12
#define BUCKETS_EXACT 64 /* a bucket spans at most 1/64 of its numbers */

/* The step after @step in 1, 2, 5, 10, 20 ...; UINT64_MAX after the last. */
static uint64_t next_step(uint64_t step, bool by_tens)
{
        uint64_t power = 1, next;

        while (step / power >= 10)
                power *= 10;
        if (by_tens)
                return __builtin_mul_overflow(power, 10, &next) ? UINT64_MAX : next;
        if (step < 2 * power)
                return 2 * power;
        if (__builtin_mul_overflow(power, step < 5 * power ? 5 : 10, &next))
                return UINT64_MAX;
        return next;
}

/* The largest step that is not larger than @value. */
static uint64_t step_below(uint64_t value, bool by_tens)
{
        uint64_t step = 1;

        for (uint64_t next = step; next <= value && next != UINT64_MAX; next = next_step(next, by_tens))
                step = next;
        return value == 0 ? 0 : step;
}

static uint32_t count_steps(uint64_t smallest, uint64_t largest, bool by_tens)
{
        uint32_t n = 1;

        for (uint64_t step = step_below(smallest, by_tens); step <= largest && step != UINT64_MAX; n++)
                step = step == 0 ? 1 : next_step(step, by_tens);
        return n;
}

static void add_bin(struct histogram_bins *b, const struct histogram *h, uint64_t from, uint64_t to)
{
        struct histogram_bin bin = { .from = from, .to = to };

        if (b->n_bins == HISTOGRAM_BINS_MAX)
                return;
        bin.n_values = to == UINT64_MAX ? h->n_values : histogram_count_below(h, to);
        bin.n_values -= histogram_count_below(h, from);
        /* The middle of a bucket and its numbers may be on different sides of a limit. */
        if (bin.n_values == 0 && b->n_bins == 0)
                return;
        if (bin.n_values > b->n_largest)
                b->n_largest = bin.n_values;
        b->bins[b->n_bins++] = bin;
}

static void fill_growing(struct histogram_bins *b, const struct histogram *h, uint64_t step)
{
        bool by_tens = count_steps(h->smallest, h->largest, false) > HISTOGRAM_BINS_MAX;
        uint64_t from = h->smallest < step ? 0 : step_below(h->smallest, by_tens);

        while (from <= h->largest && from != UINT64_MAX) {
                uint64_t to = from == 0 ? 1 : next_step(from, by_tens);

                while (to - from < step && to != UINT64_MAX)
                        to = next_step(to, by_tens);
                add_bin(b, h, from, to);
                from = to;
        }
}

static void fill_equal(struct histogram_bins *b, const struct histogram *h, uint64_t step)
{
        uint64_t span = h->largest - h->smallest;
        uint64_t width = step_below(span / BINS_WANTED, false);
        uint64_t from;

        if (width < h->largest / BUCKETS_EXACT)
                width = next_step(step_below(h->largest / BUCKETS_EXACT, false), false);
        while (width < step && width != UINT64_MAX)
                width = width == 0 ? 1 : next_step(width, false);
        while (width == 0 || span / width >= HISTOGRAM_BINS_MAX - 2)
                width = width == 0 ? 1 : next_step(width, false);
        from = h->smallest - h->smallest % width;
        while (from <= h->largest) {
                uint64_t to;

                if (__builtin_add_overflow(from, width, &to))
                        to = UINT64_MAX;
                add_bin(b, h, from, to);
                if (to == UINT64_MAX)
                        return;
                from = to;
        }
}

void histogram_bins_fill(struct histogram_bins *b, const struct histogram *h, uint64_t step)
{
        *b = (struct histogram_bins){ .n_bins = 0 };
        if (h->n_values == 0)
                return;
        if (h->largest / WIDE_RATIO >= h->smallest)
                fill_growing(b, h, step);
        else
                fill_equal(b, h, step);
        while (b->n_bins != 0 && b->bins[b->n_bins - 1].n_values == 0)
                b->n_bins--;
}

/* The smallest number of a bucket: the reverse of histogram_bucket_of(). */
static uint64_t smallest_of_bucket(uint32_t bucket)
{
        uint32_t group = bucket >> HISTOGRAM_GROUP_BITS;
        uint64_t within = bucket & (HISTOGRAM_GROUP_BUCKETS - 1);

        if (bucket >= HISTOGRAM_BUCKETS)
                return UINT64_MAX;
        return group == 0 ? within : (within + HISTOGRAM_GROUP_BUCKETS) << (group - 1);
}

uint32_t histogram_steps_fill(const struct histogram *h, struct histogram_step *steps)
{
        uint64_t value, n;
        uint32_t n_steps = 0;

        for (uint32_t i = 0; i < HISTOGRAM_STEPS_MAX; i++)
                steps[i] = (struct histogram_step){ .from = smallest_of_bucket(4 * i),
                                                    .to = smallest_of_bucket(4 * i + 4) };
        for (uint32_t i = 0; histogram_get(h, i, &value, &n); i++) {
                struct histogram_step *step = &steps[histogram_bucket_of(value) / 4];

                step->n_values += n;
                step->sum += n * value;
        }
        for (uint32_t i = 0; i < HISTOGRAM_STEPS_MAX; i++)
                if (steps[i].n_values != 0)
                        steps[n_steps++] = steps[i];
        return n_steps;
}
