/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/late_images.h - frames in anonymous memory that was recognised as an image only later
 *
 * Way of the data:  trace_dictionary (MAPPINGS, MODULES) -> [late_images] -> symbolizer
 *
 * A JIT's list of objects is read a moment after it has changed, and an image in memory may be recognised at
 * the second look.  Samples before that have a frame in ANONYMOUS memory.  If that memory became one image at
 * that address, and never anything else, the frame is the image's.
 */
#ifndef SYMBOLIZE_IMAGES_LATE_IMAGES_H
#define SYMBOLIZE_IMAGES_LATE_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

struct late_images;
struct trace_dictionary;

/* @dictionary: borrowed.  Returns 0 or -ENOMEM. */
int late_images_new(const struct trace_dictionary *dictionary, struct late_images **ret_images);

/* NULL is fine. */
void late_images_free(struct late_images *l);

/*
 * late_images_find() - what @avma in an ANONYMOUS @module is
 * @ret_module, @ret_file_off:  the IMAGE, and the byte in its file
 * Takes time in proportion to the process's mappings; all calls together take a bounded time, after which
 * nothing more is found.
 */
bool late_images_find(struct late_images *l, uint32_t module, uint64_t avma, uint32_t *ret_module,
                      uint64_t *ret_file_off);

#endif /* SYMBOLIZE_IMAGES_LATE_IMAGES_H */
