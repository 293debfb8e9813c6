/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/kernel_plan.h"

#include <math.h>
#include <stdio.h>

struct kernel_plan kernel_plan_of(int index)
{
        static const struct {
                const char *name;
                int first_size;
                int step;
        } kinds[KERNEL_KINDS] = {
                [KERNEL_MATMUL] = { "matmul", 48, 16 },
                [KERNEL_STENCIL] = { "stencil", 64, 12 },
                [KERNEL_SOFTMAX] = { "softmax", 256, 128 },
                [KERNEL_SCAN] = { "scan", 8192, 8192 },
        };
        struct kernel_plan plan = { .kind = (enum kernel_kind)(index % KERNEL_KINDS) };

        plan.size = kinds[plan.kind].first_size + index / KERNEL_KINDS * kinds[plan.kind].step;
        (void)snprintf(plan.name, sizeof(plan.name), "%s_%d", kinds[plan.kind].name, plan.size);
        return plan;
}

/* The sum over all elements of a product is the sum over k of (column sum of a) times (row sum of b). */
static double expect_matmul(int n, const float *in)
{
        const float *a = in;
        const float *b = in + n * n;
        double total = 0;

        for (int k = 0; k < n; k++) {
                double column_sum = 0;
                double row_sum = 0;

                for (int i = 0; i < n; i++) {
                        column_sum += (double)a[i * n + k];
                        row_sum += (double)b[k * n + i];
                }
                total += column_sum * row_sum;
        }
        return total;
}

static double expect_stencil(int n, const float *in, double *scratch)
{
        double total = 0;
        double *from = scratch;
        double *to = scratch + n * n;

        for (int i = 0; i < 2 * n * n; i++)
                scratch[i] = (double)in[i % (n * n)];
        for (int s = 0; s < KERNEL_SWEEPS; s++) {
                double *swap = from;

                for (int i = n; i < n * (n - 1); i++) {
                        if (i % n != 0 && i % n != n - 1)
                                to[i] = 0.2 *
                                        (from[i] + from[i - 1] + from[i + 1] + from[i - n] + from[i + n]);
                }
                from = to;
                to = swap;
        }
        for (int i = 0; i < n * n; i++)
                total += from[i];
        return total;
}

static double expect_softmax(int n, const float *in)
{
        double total = 0;

        for (int row = 0; row < KERNEL_ROWS; row++) {
                double sum = 0;
                double weighted = 0;

                for (int i = 0; i < n; i++) {
                        double e = exp((double)in[row * n + i]);

                        sum += e;
                        weighted += e * (double)in[i];
                }
                total += weighted / sum;
        }
        return total;
}

static double expect_scan(int n, const float *in)
{
        double total = 0;
        double state = 0;

        for (int i = 0; i < n; i++) {
                double x = (double)in[i];

                state = 0.5 * state + x + 0.5 * x * x + 0.25 * x * x * x + 0.125 * x * x * x * x;
                total += state;
        }
        return total;
}

double kernel_plan_expect(const struct kernel_plan *plan, const float *in, double *scratch)
{
        switch (plan->kind) {
        case KERNEL_MATMUL:
                return expect_matmul(plan->size, in);
        case KERNEL_STENCIL:
                return expect_stencil(plan->size, in, scratch);
        case KERNEL_SOFTMAX:
                return expect_softmax(plan->size, in);
        case KERNEL_SCAN:
                return expect_scan(plan->size, in);
        }
        return 0;
}
