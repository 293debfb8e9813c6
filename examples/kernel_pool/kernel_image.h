/* SPDX-License-Identifier: MIT */
/*
 * examples/kernel_pool/kernel_image.h - a kernel as machine code: compiled, loaded, its files deleted at once
 *
 * This is what runtimes do that generate code while they run, and what makes
 * them hard to profile: when the profile is read, the files are long gone.
 */
#ifndef EXAMPLES_KERNEL_POOL_KERNEL_IMAGE_H
#define EXAMPLES_KERNEL_POOL_KERNEL_IMAGE_H

#include "examples/kernel_pool/kernel_plan.h"

struct kernel_image {
        struct kernel_plan plan;
        double (*run)(const float *in, float *out);
        double expected; /* checksum */
        void *library;   /* of dlopen() */
};

/*
 * Compiles the kernel of @image->plan with the compiler that $CC names, else
 * `cc`, in the folder @folder, loads it and deletes both files.
 * Returns 0, or -1 after words on stderr; then nothing is loaded.
 */
int kernel_image_load(struct kernel_image *image, const char *folder);

/* Unloads the kernel; harmless for an image that was never loaded. */
void kernel_image_unload(struct kernel_image *image);

#endif /* EXAMPLES_KERNEL_POOL_KERNEL_IMAGE_H */
