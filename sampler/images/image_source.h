/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/image_source.h - all bytes of an image in memory, for the keeper
 *
 * Way of the data:  memory_image -> code_images -> [image_source] (then in the keeper's
 *                   thread) -> code_keeper
 *
 * The mapped part of an image lacks its symbols and lines.  The program often has all of it elsewhere: an
 * image with the same beginning and the same code, whose end its own headers show.  If no such copy exists,
 * the mapped parts are put together.
 *
 * A program may free both within a millisecond.  So the finder of the image reads its mapped part at once,
 * if it is small, and looks briefly for the whole; the keeper's thread reads larger ones, and goes on
 * looking for wholes that were not found.
 */
#ifndef SAMPLER_IMAGES_IMAGE_SOURCE_H
#define SAMPLER_IMAGES_IMAGE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#define IMAGE_SOURCE_BYTES_MAX (UINT64_C(256) << 20) /* of one image */

struct byte_buffer;
struct code_source;
struct image_search_limits;
struct error;
struct memory_image;

/* Makes a source that reads @image, which is copied.  Returns 0 or -ENOMEM. */
int image_source_new(const struct memory_image *image, struct code_source *ret_source);

/*
 * image_source_hold() - reads the mapped part now: the program cannot take it away then
 * @source:  of a struct code_source that image_source_new() made
 * Returns 0, -EFBIG over @bytes_max, -EFAULT if the image is gone or another one is there by now, -ENOMEM.
 */
int image_source_hold(void *source, uint64_t bytes_max);

/* The held bytes turned out not to be the image. */
void image_source_drop(void *source);

/* The held bytes; empty if there are none.  Borrowed. */
const struct byte_buffer *image_source_held(const void *source);

/*
 * image_source_search() - looks for the whole image now
 * @bytes_max:  of the image
 * @out:        empty
 * @ret_avma:   where it was
 * Returns 1; 0 if the image was not found within the limits, or has no build-id and a second, different one
 * was found; -ENOMEM.
 */
int image_source_search(void *source, const struct image_search_limits *limits, uint64_t bytes_max,
                        struct byte_buffer *out, uint64_t *ret_avma);

/*
 * image_source_find_only() - finds the whole image, if no other one in the program could be it
 * Two images may have the same mapped part, but different names and lines: then neither can be chosen.
 * @limits:   bytes_max limits the image as well
 * @out:      empty before the call; gets the image
 * @ret_all:  whether all anonymous memory was searched, so that there is surely no other image
 * Returns 1, 0 if none is found within the limits, -EEXIST if there are several, -ENOMEM.
 */
int image_source_find_only(const struct memory_image *image, const struct image_search_limits *limits,
                           struct byte_buffer *out, uint64_t *ret_avma, bool *ret_all);

/* The whole image at @avma, where it was the last time.  Returns 1, 0 if it is not there, -ENOMEM. */
int image_source_read_at(const struct memory_image *image, uint64_t avma, struct byte_buffer *out);

/* This image may be any of several: the search is skipped, and the mapped part is read. */
void image_source_note_several(void *source);

/* The functions of struct code_source: see sampler/keep/image_reader.h. */
int image_source_read(void *source, uint64_t bytes_max, struct byte_buffer *out, uint32_t *ret_kind,
                      struct error *err);

#endif /* SAMPLER_IMAGES_IMAGE_SOURCE_H */
