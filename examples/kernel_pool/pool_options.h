/* SPDX-License-Identifier: MIT */
/*
 * examples/kernel_pool/pool_options.h - the command line of kernel_pool
 */
#ifndef EXAMPLES_KERNEL_POOL_POOL_OPTIONS_H
#define EXAMPLES_KERNEL_POOL_POOL_OPTIONS_H

#include <stdbool.h>

struct pool_options {
        double seconds;
        /* the seconds are those of all threads on processors, not of the clock on the wall */
        bool counts_cpu;
        int n_workers;
        int n_kernels;
        const char *cflags; /* borrowed from argv; NULL = none */
        bool from_mlir;
        bool in_memory; /* kernels are mapped into anonymous memory, without files */
        bool reloads;   /* a batch has one kernel, which is loaded before and unloaded after it */
};

/* Returns 0, or -1 after a line on stderr. */
int pool_options_parse(int argc, char **argv, struct pool_options *ret_options);

#endif /* EXAMPLES_KERNEL_POOL_POOL_OPTIONS_H */
