/* SPDX-License-Identifier: MIT */
/*
 * The source of w_kernel_turns's kernels: a hot function that is not exported, and one that is.  Their lines
 * are those of a file that a compiler may have made them from.
 */
#include <stdint.h>

#line 1 "kernel_0000.mlir"
static __attribute__((noinline)) void kernel_0000(uint64_t n_rounds)
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("" : "+r"(n_rounds));
        }
}

void entry(uint64_t n_rounds);
void entry(uint64_t n_rounds)
{
        kernel_0000(n_rounds);
        __asm__ volatile("");
}
