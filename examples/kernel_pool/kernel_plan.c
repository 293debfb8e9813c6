/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/kernel_plan.h"

#include <math.h>

#define N_KINDS        4
#define STENCIL_SWEEPS 4
#define SOFTMAX_ROWS   32

/* The bodies are compiled with N, the size, and NAME(part), a name for each function, defined. */
static const char *const kind_bodies[N_KINDS] = {
        [KERNEL_MATMUL] =
                "static __attribute__((noinline)) void NAME(_row)(const float *a, const float *b, float *c)\n"
                "{\n"
                "        for (int j = 0; j < N; j++) {\n"
                "                float sum = 0;\n"
                "                for (int k = 0; k < N; k++)\n"
                "                        sum += a[k] * b[k * N + j];\n"
                "                c[j] = sum;\n"
                "        }\n"
                "}\n"
                "double NAME()(const float *in, float *out)\n"
                "{\n"
                "        double sum = 0;\n"
                "        for (int i = 0; i < N; i++)\n"
                "                NAME(_row)(in + i * N, in + N * N, out + i * N);\n"
                "        for (int i = 0; i < N * N; i++)\n"
                "                sum += out[i];\n"
                "        return sum;\n"
                "}\n",
        [KERNEL_STENCIL] =
                "static __attribute__((noinline)) void NAME(_sweep)(const float *from, float *to)\n"
                "{\n"
                "        for (int i = 1; i < N - 1; i++)\n"
                "                for (int j = 1; j < N - 1; j++)\n"
                "                        to[i * N + j] = 0.2f * (from[i * N + j] + from[i * N + j - 1] +\n"
                "                                from[i * N + j + 1] + from[(i - 1) * N + j] +\n"
                "                                from[(i + 1) * N + j]);\n"
                "}\n"
                "double NAME()(const float *in, float *out)\n"
                "{\n"
                "        double sum = 0;\n"
                "        for (int i = 0; i < 2 * N * N; i++)\n"
                "                out[i] = in[i % (N * N)];\n"
                "        for (int s = 0; s < SWEEPS; s++)\n"
                "                NAME(_sweep)(out + (s % 2) * N * N, out + (1 - s % 2) * N * N);\n"
                "        for (int i = 0; i < N * N; i++)\n"
                "                sum += out[(SWEEPS % 2) * N * N + i];\n"
                "        return sum;\n"
                "}\n",
        [KERNEL_SOFTMAX] =
                "#include <math.h>\n"
                "static __attribute__((noinline)) float NAME(_exponents)(const float *x, float *e)\n"
                "{\n"
                "        float sum = 0;\n"
                "        for (int i = 0; i < N; i++) {\n"
                "                e[i] = expf(x[i]);\n"
                "                sum += e[i];\n"
                "        }\n"
                "        return sum;\n"
                "}\n"
                "double NAME()(const float *in, float *out)\n"
                "{\n"
                "        double sum = 0;\n"
                "        for (int r = 0; r < ROWS; r++) {\n"
                "                float scale = 1 / NAME(_exponents)(in + r * N, out + r * N);\n"
                "                for (int i = 0; i < N; i++)\n"
                "                        sum += (out[r * N + i] *= scale) * in[i];\n"
                "        }\n"
                "        return sum;\n"
                "}\n",
        [KERNEL_SCAN] = "static __attribute__((noinline)) float NAME(_step)(float state, float x)\n"
                        "{\n"
                        "        return 0.5f * state + x * (1 + x * (0.5f + x * (0.25f + x * 0.125f)));\n"
                        "}\n"
                        "double NAME()(const float *in, float *out)\n"
                        "{\n"
                        "        double sum = 0;\n"
                        "        float state = 0;\n"
                        "        for (int i = 0; i < N; i++) {\n"
                        "                state = NAME(_step)(state, in[i]);\n"
                        "                out[i] = state;\n"
                        "                sum += state;\n"
                        "        }\n"
                        "        return sum;\n"
                        "}\n",
};

struct kernel_plan kernel_plan_of(int index)
{
        static const struct {
                const char *name;
                int first_size;
                int step;
        } kinds[N_KINDS] = {
                [KERNEL_MATMUL] = { "matmul", 48, 16 },
                [KERNEL_STENCIL] = { "stencil", 64, 12 },
                [KERNEL_SOFTMAX] = { "softmax", 256, 128 },
                [KERNEL_SCAN] = { "scan", 8192, 8192 },
        };
        struct kernel_plan plan = { .kind = (enum kernel_kind)(index % N_KINDS) };

        plan.size = kinds[plan.kind].first_size + index / N_KINDS * kinds[plan.kind].step;
        (void)snprintf(plan.name, sizeof(plan.name), "%s_%d", kinds[plan.kind].name, plan.size);
        return plan;
}

int kernel_plan_write_source(const struct kernel_plan *plan, FILE *out)
{
        int n = fprintf(out,
                        "#define N %d\n"
                        "#define SWEEPS %d\n"
                        "#define ROWS %d\n"
                        "#define NAME(part) %s##part\n"
                        "%s",
                        plan->size, STENCIL_SWEEPS, SOFTMAX_ROWS, plan->name, kind_bodies[plan->kind]);

        return n < 0 ? -1 : 0;
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
        for (int s = 0; s < STENCIL_SWEEPS; s++) {
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

        for (int row = 0; row < SOFTMAX_ROWS; row++) {
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
