/* SPDX-License-Identifier: MIT */
/* analyze/trace/histogram.c: quantiles lie within 1 % of those of the sorted numbers; the rest is exact */
#include "analyze/trace/histogram.h"
#include "tests/unit/unit_test.h"

#include <stdint.h>
#include <stdlib.h>

#define N_VALUES 20000

static const double shares[] = { 0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1 };

/* xorshift64*: the same numbers in every run */
static uint64_t next_random(uint64_t *state)
{
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static int compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a;
        uint64_t y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

/* Nearest rank, from the definition: the smallest number that at least this share does not exceed. */
static uint64_t exact_quantile(const uint64_t *sorted, double share)
{
        for (uint64_t n = 1; n < N_VALUES; n++)
                if ((double)n >= share * N_VALUES)
                        return sorted[n - 1];
        return sorted[N_VALUES - 1];
}

/* Numbers whose magnitude is itself random, of at most 2^(n + 1); each loop another range. */
START_LOOP_TEST(test_quantiles_within_one_percent, 0, 64)
{
        uint64_t *values = malloc(N_VALUES * sizeof(*values));
        uint64_t state = 42 + (uint64_t)_i;
        struct histogram h = { .n_values = 0 };
        uint64_t sum = 0;

        ck_assert_ptr_nonnull(values);
        for (size_t i = 0; i < N_VALUES; i++) {
                values[i] = next_random(&state) >> (63 - next_random(&state) % ((uint64_t)_i + 1));
                sum += values[i];
                ck_assert_int_eq(histogram_add(&h, values[i]), 0);
        }
        qsort(values, N_VALUES, sizeof(*values), compare);
        ck_assert_uint_eq(h.n_values, N_VALUES);
        ck_assert_uint_eq(h.sum, sum);
        ck_assert_uint_eq(h.smallest, values[0]);
        ck_assert_uint_eq(h.largest, values[N_VALUES - 1]);
        for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
                double exact = (double)exact_quantile(values, shares[i]);
                double got = (double)histogram_quantile(&h, shares[i]);

                ck_assert_msg(got >= exact * 0.99 && got <= exact * 1.01, "quantile %g: %g, exact %g",
                              shares[i], got, exact);
        }
        histogram_deinit(&h);
        free(values);
}
END_TEST

START_TEST(test_small_numbers_are_exact)
{
        struct histogram h = { .n_values = 0 };

        for (uint64_t v = 0; v < 128; v++)
                ck_assert_int_eq(histogram_add(&h, v), 0);
        for (uint64_t rank = 1; rank <= 128; rank++)
                ck_assert_uint_eq(histogram_quantile(&h, (double)rank / 128), rank - 1);
        histogram_deinit(&h);
}
END_TEST

/* Few numbers are kept exactly; and nothing changes when there are too many of them to be kept. */
START_TEST(test_few_numbers_are_exact)
{
        struct histogram h = { .n_values = 0 };
        uint64_t sorted[100];
        uint64_t state = 7;

        for (size_t n = 1; n <= 100; n++) {
                uint64_t value = next_random(&state) >> (next_random(&state) % 60);

                sorted[n - 1] = value;
                qsort(sorted, n, sizeof(*sorted), compare);
                ck_assert_int_eq(histogram_add(&h, value), 0);
                ck_assert_uint_eq(h.n_values, n);
                ck_assert_uint_eq(h.largest, sorted[n - 1]);
                for (size_t rank = 1; rank <= n; rank++) {
                        uint64_t got = histogram_quantile(&h, ((double)rank - 0.5) / (double)n);
                        double error = (double)got / (double)sorted[rank - 1] - 1;

                        if (n <= 64)
                                ck_assert_uint_eq(got, sorted[rank - 1]);
                        else
                                ck_assert_msg(error > -0.01 && error < 0.01, "%zu of %zu", rank, n);
                }
        }
        histogram_deinit(&h);
}
END_TEST

START_TEST(test_grows_to_both_sides)
{
        static const uint64_t values[] = { 1000000, 5, UINT64_MAX, 0, 70, UINT64_C(1) << 63 };
        struct histogram h = { .n_values = 0 };

        for (size_t i = 0; i < 20; i++) /* more than are kept as they are */
                for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
                        ck_assert_int_eq(histogram_add(&h, values[i < 12 ? 0 : k]), 0);
        ck_assert_uint_eq(h.n_values, 120);
        ck_assert_uint_eq(histogram_quantile(&h, 0), 0);
        ck_assert_uint_eq(histogram_quantile(&h, 16.0 / 120), 5);
        ck_assert_uint_eq(histogram_quantile(&h, 24.0 / 120), 70);
        ck_assert_uint_eq(histogram_quantile(&h, 1), UINT64_MAX);
        histogram_deinit(&h);
}
END_TEST

START_TEST(test_empty_and_single)
{
        struct histogram h = { .n_values = 0 };

        ck_assert_uint_eq(histogram_quantile(&h, 0.5), 0);
        ck_assert_int_eq(histogram_add(&h, 123456789), 0);
        for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
                ck_assert_uint_eq(histogram_quantile(&h, shares[i]), 123456789);
        histogram_deinit(&h);
        ck_assert_uint_eq(h.n_values, 0);
}
END_TEST

/* How many numbers two histograms have before they are one: lists, buckets, none. */
static const size_t merged[][2] = { { 0, 0 },   { 3, 0 },     { 0, 500 },   { 40, 20 },
                                    { 40, 40 }, { 40, 3000 }, { 3000, 40 }, { 3000, 5000 } };

/* Merged, they are what one histogram of all numbers is. */
START_LOOP_TEST(test_merge, 0, sizeof(merged) / sizeof(merged[0]))
{
        struct histogram whole = { .n_values = 0 }, parts[2] = { { .n_values = 0 }, { .n_values = 0 } };
        uint64_t state = 7 + (uint64_t)_i;

        for (size_t part = 0; part < 2; part++)
                for (size_t i = 0; i < merged[_i][part]; i++) {
                        uint64_t value = next_random(&state) >> (next_random(&state) % 50 + 10 * part);

                        ck_assert_int_eq(histogram_add(&whole, value), 0);
                        ck_assert_int_eq(histogram_add(&parts[part], value), 0);
                }
        ck_assert_int_eq(histogram_merge(&parts[0], &parts[1]), 0);
        ck_assert_uint_eq(parts[0].n_values, whole.n_values);
        ck_assert_uint_eq(parts[0].sum, whole.sum);
        ck_assert_uint_eq(parts[0].smallest, whole.smallest);
        ck_assert_uint_eq(parts[0].largest, whole.largest);
        for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
                ck_assert_uint_eq(histogram_quantile(&parts[0], shares[i]),
                                  histogram_quantile(&whole, shares[i]));
        histogram_deinit(&whole);
        histogram_deinit(&parts[0]);
        histogram_deinit(&parts[1]);
}
END_TEST
