/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/kernel_source.h"

#include "examples/kernel_pool/kernel_plan.h"

#include <string.h>

/*
 * The hot function of each kernel is `static`, the kernel itself is exported.  They are compiled with N,
 * the size, and NAME(part), a name for each function, defined.  The directives say which line of the MLIR
 * below the next one is.
 */
static const char *const c_texts[KERNEL_KINDS] = {
        [KERNEL_MATMUL] =
                "#line 1 IR_FILE\n"
                "static __attribute__((noinline)) void NAME(_row)(const float *a, const float *b, float *c)\n"
                "{\n"
                "        for (int j = 0; j < N; j++) {\n"
                "                float sum = 0;\n"
                "#line 4 IR_FILE\n"
                "                for (int k = 0; k < N; k++)\n"
                "#line 7 IR_FILE\n"
                "                        sum += a[k] * b[k * N + j];\n"
                "#line 11 IR_FILE\n"
                "                c[j] = sum;\n"
                "        }\n"
                "}\n"
                "#line 15 IR_FILE\n"
                "double NAME()(const float *in, float *out)\n"
                "{\n"
                "        double sum = 0;\n"
                "        for (int i = 0; i < N; i++)\n"
                "                NAME(_row)(in + i * N, in + N * N, out + i * N);\n"
                "#line 19 IR_FILE\n"
                "        for (int i = 0; i < N * N; i++)\n"
                "                sum += out[i];\n"
                "        return sum;\n"
                "}\n",
        [KERNEL_STENCIL] =
                "#line 1 IR_FILE\n"
                "static __attribute__((noinline)) void NAME(_sweep)(const float *from, float *to)\n"
                "{\n"
                "#line 3 IR_FILE\n"
                "        for (int i = 1; i < N - 1; i++)\n"
                "                for (int j = 1; j < N - 1; j++)\n"
                "#line 5 IR_FILE\n"
                "                        to[i * N + j] = 0.2f * (from[i * N + j] + from[i * N + j - 1] +\n"
                "                                from[i * N + j + 1] + from[(i - 1) * N + j] +\n"
                "                                from[(i + 1) * N + j]);\n"
                "#line 18 IR_FILE\n"
                "}\n"
                "#line 20 IR_FILE\n"
                "double NAME()(const float *in, float *out)\n"
                "{\n"
                "        double sum = 0;\n"
                "        for (int i = 0; i < 2 * N * N; i++)\n"
                "                out[i] = in[i % (N * N)];\n"
                "#line 23 IR_FILE\n"
                "        for (int s = 0; s < SWEEPS; s++)\n"
                "                NAME(_sweep)(out + (s % 2) * N * N, out + (1 - s % 2) * N * N);\n"
                "        for (int i = 0; i < N * N; i++)\n"
                "                sum += out[(SWEEPS % 2) * N * N + i];\n"
                "        return sum;\n"
                "}\n",
        [KERNEL_SOFTMAX] =
                "#include <math.h>\n"
                "#line 1 IR_FILE\n"
                "static __attribute__((noinline)) float NAME(_exponents)(const float *x, float *e)\n"
                "{\n"
                "        float sum = 0;\n"
                "        for (int i = 0; i < N; i++) {\n"
                "#line 5 IR_FILE\n"
                "                e[i] = expf(x[i]);\n"
                "#line 7 IR_FILE\n"
                "                sum += e[i];\n"
                "        }\n"
                "        return sum;\n"
                "}\n"
                "#line 13 IR_FILE\n"
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
        [KERNEL_SCAN] = "#line 1 IR_FILE\n"
                        "static __attribute__((noinline)) float NAME(_step)(float state, float x)\n"
                        "{\n"
                        "#line 4 IR_FILE\n"
                        "        return 0.5f * state + x * (1 + x * (0.5f + x * (0.25f + x * 0.125f)));\n"
                        "}\n"
                        "#line 9 IR_FILE\n"
                        "double NAME()(const float *in, float *out)\n"
                        "{\n"
                        "        double sum = 0;\n"
                        "        float state = 0;\n"
                        "#line 10 IR_FILE\n"
                        "        for (int i = 0; i < N; i++) {\n"
                        "                state = NAME(_step)(state, in[i]);\n"
                        "                out[i] = state;\n"
                        "                sum += state;\n"
                        "        }\n"
                        "        return sum;\n"
                        "}\n",
};

/* $NAME and $N are the kernel's name and size. */
static const char *const ir_texts[KERNEL_KINDS] = {
        [KERNEL_MATMUL] =
                "func.func private @$NAME_row(%a: memref<$Nxf32>, %b: memref<$Nx$Nxf32>, %c: memref<$Nxf32>) {\n"
                "  %zero = arith.constant 0.0 : f32\n"
                "  affine.for %j = 0 to $N {\n"
                "    %sum = affine.for %k = 0 to $N iter_args(%acc = %zero) -> f32 {\n"
                "      %x = affine.load %a[%k] : memref<$Nxf32>\n"
                "      %y = affine.load %b[%k, %j] : memref<$Nx$Nxf32>\n"
                "      %product = arith.mulf %x, %y : f32\n"
                "      %next = arith.addf %acc, %product : f32\n"
                "      affine.yield %next : f32\n"
                "    }\n"
                "    affine.store %sum, %c[%j] : memref<$Nxf32>\n"
                "  }\n"
                "  return\n"
                "}\n"
                "func.func @$NAME(%in: memref<2x$Nx$Nxf32>, %out: memref<$Nx$Nxf32>) -> f64 {\n"
                "  affine.for %i = 0 to $N {\n"
                "    func.call @$NAME_row(%in[0, %i], %in[1], %out[%i])\n"
                "  }\n"
                "  %sum = linalg.reduce { arith.addf } ins(%out : memref<$Nx$Nxf32>) outs(%zero : f64)\n"
                "  return %sum : f64\n"
                "}\n",
        [KERNEL_STENCIL] =
                "func.func private @$NAME_sweep(%from: memref<$Nx$Nxf32>, %to: memref<$Nx$Nxf32>) {\n"
                "  %fifth = arith.constant 0.2 : f32\n"
                "  affine.for %i = 1 to $N - 1 {\n"
                "    affine.for %j = 1 to $N - 1 {\n"
                "      %c = affine.load %from[%i, %j] : memref<$Nx$Nxf32>\n"
                "      %w = affine.load %from[%i, %j - 1] : memref<$Nx$Nxf32>\n"
                "      %e = affine.load %from[%i, %j + 1] : memref<$Nx$Nxf32>\n"
                "      %n = affine.load %from[%i - 1, %j] : memref<$Nx$Nxf32>\n"
                "      %s = affine.load %from[%i + 1, %j] : memref<$Nx$Nxf32>\n"
                "      %cw = arith.addf %c, %w : f32\n"
                "      %cwe = arith.addf %cw, %e : f32\n"
                "      %cwen = arith.addf %cwe, %n : f32\n"
                "      %all = arith.addf %cwen, %s : f32\n"
                "      %mean = arith.mulf %all, %fifth : f32\n"
                "      affine.store %mean, %to[%i, %j] : memref<$Nx$Nxf32>\n"
                "    }\n"
                "  }\n"
                "  return\n"
                "}\n"
                "func.func @$NAME(%in: memref<$Nx$Nxf32>, %out: memref<2x$Nx$Nxf32>) -> f64 {\n"
                "  memref.copy %in, %out[0]\n"
                "  memref.copy %in, %out[1]\n"
                "  affine.for %s = 0 to 4 {\n"
                "    func.call @$NAME_sweep(%out[%s mod 2], %out[1 - %s mod 2])\n"
                "  }\n"
                "  %sum = linalg.reduce { arith.addf } ins(%out : memref<$Nx$Nxf32>) outs(%zero : f64)\n"
                "  return %sum : f64\n"
                "}\n",
        [KERNEL_SOFTMAX] =
                "func.func private @$NAME_exponents(%x: memref<$Nxf32>, %e: memref<$Nxf32>) -> f32 {\n"
                "  %zero = arith.constant 0.0 : f32\n"
                "  %sum = affine.for %i = 0 to $N iter_args(%acc = %zero) -> f32 {\n"
                "    %0 = affine.load %x[%i] : memref<$Nxf32>\n"
                "    %1 = math.exp %0 : f32\n"
                "    affine.store %1, %e[%i] : memref<$Nxf32>\n"
                "    %next = arith.addf %acc, %1 : f32\n"
                "    affine.yield %next : f32\n"
                "  }\n"
                "  return %sum : f32\n"
                "}\n"
                "\n"
                "func.func @$NAME(%in: memref<32x$Nxf32>, %out: memref<32x$Nxf32>) -> f64 {\n"
                "  affine.for %r = 0 to 32 {\n"
                "    %all = func.call @$NAME_exponents(%in[%r], %out[%r]) : f32\n"
                "    %scale = arith.divf %one, %all : f32\n"
                "    affine.for %i = 0 to $N {\n"
                "      %0 = affine.load %out[%r, %i] : memref<32x$Nxf32>\n"
                "      %1 = arith.mulf %0, %scale : f32\n"
                "      affine.store %1, %out[%r, %i] : memref<32x$Nxf32>\n"
                "    }\n"
                "  }\n"
                "  return %sum : f64\n"
                "}\n",
        [KERNEL_SCAN] = "func.func private @$NAME_step(%state: f32, %x: f32) -> f32 {\n"
                        "  %half = arith.constant 0.5 : f32\n"
                        "  %decayed = arith.mulf %half, %state : f32\n"
                        "  %poly = math.polynomial %x [1.0, 0.5, 0.25, 0.125] : f32\n"
                        "  %next = arith.addf %decayed, %poly : f32\n"
                        "  return %next : f32\n"
                        "}\n"
                        "\n"
                        "func.func @$NAME(%in: memref<$Nxf32>, %out: memref<$Nxf32>) -> f64 {\n"
                        "  affine.for %i = 0 to $N iter_args(%state = %zero, %sum = %zero) {\n"
                        "    %next = func.call @$NAME_step(%state, %in[%i]) : f32\n"
                        "    affine.store %next, %out[%i] : memref<$Nxf32>\n"
                        "    affine.yield %next : f32\n"
                        "  }\n"
                        "  return %sum : f64\n"
                        "}\n",
};

int kernel_source_write(const struct kernel_plan *plan, const char *ir_file, FILE *out)
{
        static const char directive[] = "#line ";
        const char *line = c_texts[plan->kind];

        (void)fprintf(out, "#define N %d\n#define SWEEPS %d\n#define ROWS %d\n#define NAME(part) %s##part\n",
                      plan->size, KERNEL_SWEEPS, KERNEL_ROWS, plan->name);
        if (ir_file)
                (void)fprintf(out, "#define IR_FILE \"%s\"\n", ir_file);
        while (*line != '\0') {
                size_t n_bytes = strcspn(line, "\n") + 1;

                if (ir_file || strncmp(line, directive, sizeof(directive) - 1) != 0)
                        (void)fwrite(line, 1, n_bytes, out);
                line += n_bytes;
        }
        return ferror(out) ? -1 : 0;
}

int kernel_source_write_ir(const struct kernel_plan *plan, FILE *out)
{
        const char *text = ir_texts[plan->kind];

        while (*text != '\0') {
                size_t n_bytes = strcspn(text, "$");

                (void)fwrite(text, 1, n_bytes, out);
                text += n_bytes;
                if (strncmp(text, "$NAME", 5) == 0) {
                        (void)fputs(plan->name, out);
                        text += 5;
                } else if (*text == '$') {
                        (void)fprintf(out, "%d", plan->size);
                        text += 2;
                }
        }
        return ferror(out) ? -1 : 0;
}
