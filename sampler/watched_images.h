/* SPDX-License-Identifier: MIT */
/*
 * sampler/watched_images.h - images in memory that the program can write while it runs them
 *
 * Way of the data:  code_images -> [watched_images] -> code_images
 *
 * No record tells when such an image is replaced.  So it is looked at again and again, ahead of the samples of that
 * time, and counts while it was the same at two looks.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_WATCHED_IMAGES_H
#define SAMPLER_WATCHED_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#define WATCHED_IMAGES_MAX 256 /* at a time; of others it is not seen that they are replaced */

struct memory_image;
struct watched_image;

/* All zero is empty. */
struct watched_images {
        struct watched_image *images; /* heap */
        size_t n_images, capacity;
};

void watched_images_deinit(struct watched_images *w);

/* It was there at @seen_ns, and takes the place of those that it overlaps.  Returns 0, -EOVERFLOW, -ENOMEM. */
int watched_images_add(struct watched_images *w, const struct memory_image *image, uint64_t seen_ns);

/* The process has ended, or runs another program. */
void watched_images_forget(struct watched_images *w, uint32_t pid);

/*
 * watched_images_check() - the next image that is another one, or gone
 * @at:        0 at first, then as it was left
 * @ret_image: it, taken out; @ret_seen_ns: when it was there still
 * Returns 1, 0 at the end, -ENOMEM.
 */
int watched_images_check(struct watched_images *w, size_t *at, struct memory_image *ret_image,
                         uint64_t *ret_seen_ns);

#endif /* SAMPLER_WATCHED_IMAGES_H */
