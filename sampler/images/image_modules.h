/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/image_modules.h - the modules of images in memory
 *
 * Way of the data:  memory_image, jit_objects -> [image_modules] -> trace_dictionary (MODULES)
 */
#ifndef SAMPLER_IMAGES_IMAGE_MODULES_H
#define SAMPLER_IMAGES_IMAGE_MODULES_H

#include <stdint.h>

struct byte_buffer;
struct memory_image;
struct trace_dictionary;
struct trace_module;

/*
 * image_modules_add() - a module of kind IMAGE
 * @row:     all but kind and path
 * @mapped:  its name begins with the upper half of it
 * Returns as trace_dictionary_add().
 */
int image_modules_add(struct trace_dictionary *d, struct trace_module *row, uint64_t mapped,
                      uint32_t *ret_module);

/*
 * The same for an image that has a build-id.  If it is of a file that is around it in memory, or of the
 * program's, as /proc tells, the module is that file.
 */
int image_modules_add_build_id(struct trace_dictionary *d, const struct memory_image *image,
                               uint32_t *ret_module);

/* The module of the file that an image is of, by its build-id; 0 = it is not known. */
uint32_t image_modules_find_file(const struct trace_dictionary *d, const struct memory_image *image);

/* Bytes in memory without a name, for the builder of unwind tables; -1 if that cannot be.  The caller's. */
int image_modules_hold(const struct byte_buffer *bytes);

#endif /* SAMPLER_IMAGES_IMAGE_MODULES_H */
