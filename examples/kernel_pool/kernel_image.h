/* SPDX-License-Identifier: MIT */
/*
 * examples/kernel_pool/kernel_image.h - a kernel as machine code: kept as an ELF image in the heap,
 * loaded when it is to run
 *
 * Loaded by the dynamic loader from a file that is deleted at once, or mapped
 * into anonymous memory without it: the two things that runtimes do.
 */
#ifndef EXAMPLES_KERNEL_POOL_KERNEL_IMAGE_H
#define EXAMPLES_KERNEL_POOL_KERNEL_IMAGE_H

#include "examples/kernel_pool/image_mapper.h"
#include "examples/kernel_pool/kernel_compiler.h"
#include "examples/kernel_pool/kernel_plan.h"

struct kernel_image {
        struct kernel_plan plan;
        struct kernel_binary binary;
        double (*run)(const float *in, float *out); /* NULL = it is not loaded */
        double expected;                            /* checksum */
        void *library;                              /* of dlopen() */
        struct image_mapping mapping;               /* of image_mapper_map() */
};

/* Loads a compiled kernel from a file in the folder of @compiler.  Returns 0, or -1 after words on stderr. */
int kernel_image_load_file(struct kernel_image *image, const struct kernel_compiler *compiler);

/* The same without a file. */
int kernel_image_load_memory(struct kernel_image *image);

/* Unloads the kernel; harmless for one that is not loaded. */
void kernel_image_unload(struct kernel_image *image);

#endif /* EXAMPLES_KERNEL_POOL_KERNEL_IMAGE_H */
