/* SPDX-License-Identifier: MIT */
/*
 * sampler/image_source.h - all bytes of an image in memory, for the keeper
 *
 * Way of the data:  memory_image -> [image_source] (keeper's thread) -> code_keeper
 *
 * What is mapped of an image lacks its symbols and lines.  The program often has
 * all of it elsewhere: an image that begins alike, and whose code is the mapped one, is
 * cut by its own headers.  If there is none, what is mapped is put together.
 */
#ifndef SAMPLER_IMAGE_SOURCE_H
#define SAMPLER_IMAGE_SOURCE_H

#include <stdint.h>

#define IMAGE_SOURCE_SEARCH_BYTES (UINT64_C(1) << 30)   /* of memory that are searched for one image, ... */
#define IMAGE_SOURCE_SEARCH_NS    UINT64_C(500000000)   /* ... and how long */
#define IMAGE_SOURCE_BYTES_MAX    (UINT64_C(256) << 20) /* of one image */

struct byte_buffer;
struct code_source;
struct error;
struct memory_image;

/* How @image is read; it is copied.  Returns 0 or -ENOMEM. */
int image_source_new(const struct memory_image *image, struct code_source *ret_source);

/* What struct code_source calls: see sampler/code_keeper.h. */
int image_source_read(void *source, uint64_t bytes_max, struct byte_buffer *out, uint32_t *ret_kind,
                      struct error *err);

#endif /* SAMPLER_IMAGE_SOURCE_H */
