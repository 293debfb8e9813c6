/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_spread.h"

#include <math.h>

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

static uint64_t count(const struct diff_spread *s)
{
        uint64_t n = 0;

        for (int i = 0; i < DIFF_SPREAD_OCTAVES; i++)
                n += s->n[i];
        return n;
}

struct diff_typical diff_spread_typical(const struct diff_spread *s)
{
        uint64_t n_all = count(s), n_left_out, n = 0;
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
