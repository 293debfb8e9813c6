/* SPDX-License-Identifier: MIT */
/*
 * examples/kernel_pool/kernel_compiler.h - a kernel's source -> the ELF image of a
 * shared library, in the heap
 *
 * Its files are deleted before this returns, as runtimes do that generate code
 * while they run.  That makes them hard to profile: when the profile is read,
 * the files are long gone.
 */
#ifndef EXAMPLES_KERNEL_POOL_KERNEL_COMPILER_H
#define EXAMPLES_KERNEL_POOL_KERNEL_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_plan;

struct kernel_compiler {
        const char *folder; /* for files of a moment */
        const char *cflags; /* further words for the compiler, separated by blanks; they come last */
        bool from_mlir;     /* lines are those of the MLIR, which recordings are given */
};

/* An ELF image; freed by the caller. */
struct kernel_binary {
        unsigned char *bytes;
        size_t n_bytes;
};

/*
 * kernel_compiler_run() - compile one kernel with the compiler that $CC names, else `cc`
 * Returns 0, or -1 after words on stderr.
 */
int kernel_compiler_run(const struct kernel_compiler *compiler, const struct kernel_plan *plan,
                        struct kernel_binary *ret_binary);

/* "FOLDER/NAME.SUFFIX", freed by the caller; NULL = no memory. */
char *kernel_compiler_path(const struct kernel_compiler *compiler, const struct kernel_plan *plan,
                           const char *suffix);

#endif /* EXAMPLES_KERNEL_POOL_KERNEL_COMPILER_H */
