/* SPDX-License-Identifier: MIT */
/*
 * examples/kernel_pool/image_mapper.h - a small loader: an ELF image in the heap ->
 * executable anonymous memory
 *
 * Runtimes that load kernels from a cache or from a container file do this: no
 * file, no dynamic loader, and nothing in /proc/PID/maps that says what it is.
 * For shared libraries of one's own that need nothing but functions of the
 * program and of the libraries that it has: no constructors, no thread-local variables.
 */
#ifndef EXAMPLES_KERNEL_POOL_IMAGE_MAPPER_H
#define EXAMPLES_KERNEL_POOL_IMAGE_MAPPER_H

#include <stddef.h>

struct image_mapping {
        unsigned char *base; /* where address 0 of the image is; NULL = nothing is mapped */
        size_t n_bytes;
        const unsigned char *image; /* borrowed: what it was made from */
};

/* @image is trusted, and must stay as long as the mapping.  Returns 0 or -1. */
int image_mapper_map(const unsigned char *image, size_t n_bytes, struct image_mapping *ret_mapping);

/* Harmless if nothing is mapped. */
void image_mapper_unmap(struct image_mapping *mapping);

/* The address of an exported symbol; NULL = there is none of that name. */
void *image_mapper_find(const struct image_mapping *mapping, const char *name);

#endif /* EXAMPLES_KERNEL_POOL_IMAGE_MAPPER_H */
