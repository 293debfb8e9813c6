/* SPDX-License-Identifier: MIT */
/*
 * examples/kernel_pool/kernel_plan.h - which kernels there are, and what they must compute
 *
 * A kernel is one of four kinds of loop, generated for one size (kernel_source.h).
 * It is a function `double NAME(const float *in, float *out)`, which reads and writes at
 * most KERNEL_FLOATS and returns a checksum of its results.
 */
#ifndef EXAMPLES_KERNEL_POOL_KERNEL_PLAN_H
#define EXAMPLES_KERNEL_POOL_KERNEL_PLAN_H

#define KERNEL_FLOATS 65536
#define KERNELS_MAX   32
#define KERNEL_KINDS  4
#define KERNEL_SWEEPS 4  /* of a stencil */
#define KERNEL_ROWS   32 /* of a softmax */

enum kernel_kind { KERNEL_MATMUL, KERNEL_STENCIL, KERNEL_SOFTMAX, KERNEL_SCAN };

struct kernel_plan {
        enum kernel_kind kind;
        int size;
        char name[32]; /* of the function and of its file */
};

/* The @index-th kernel of a pool, below KERNELS_MAX: the kinds in turn, in growing sizes. */
struct kernel_plan kernel_plan_of(int index);

/*
 * The checksum that the kernel must return for @in, computed without it, in
 * double precision.  @scratch has room for KERNEL_FLOATS numbers.
 */
double kernel_plan_expect(const struct kernel_plan *plan, const float *in, double *scratch);

#endif /* EXAMPLES_KERNEL_POOL_KERNEL_PLAN_H */
