/* SPDX-License-Identifier: MIT */
/*
 * examples/kernel_pool/kernel_source.h - the texts of a kernel: in C, and the intermediate
 * code that it stands for
 *
 * A compiler of machine learning models goes from MLIR through several steps to
 * machine code, and says in the debug information which line of the MLIR each
 * instruction came from.  Here the last step is C with #line directives.
 */
#ifndef EXAMPLES_KERNEL_POOL_KERNEL_SOURCE_H
#define EXAMPLES_KERNEL_POOL_KERNEL_SOURCE_H

#include <stdio.h>

struct kernel_plan;

/*
 * Writes the C source of the kernel.  @ir_file names the file that its lines refer to; NULL
 * = the C source itself.
 * Returns 0, or -1 when @out does not take it.
 */
int kernel_source_write(const struct kernel_plan *plan, const char *ir_file, FILE *out);

/* Writes the MLIR of the kernel.  Returns 0, or -1 when @out does not take it. */
int kernel_source_write_ir(const struct kernel_plan *plan, FILE *out);

#endif /* EXAMPLES_KERNEL_POOL_KERNEL_SOURCE_H */
