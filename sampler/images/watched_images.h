/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/watched_images.h - images in memory that the program can write while it runs them
 *
 * Way of the data:  code_images -> [watched_images] -> code_images, image_changes
 *
 * No record tells when such an image is replaced.  So it is looked at again and again, ahead of the samples
 * of that time, and counts while it was the same at two looks.  The whole that it was recognised by is
 * looked at as well, since another image may have the same mapped bytes.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_IMAGES_WATCHED_IMAGES_H
#define SAMPLER_IMAGES_WATCHED_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WATCHED_IMAGES_MAX   256                  /* at a time; others have no names */
#define WATCHED_IMAGES_BYTES (UINT64_C(16) << 20) /* of all images and wholes, which each look reads */

struct image_changes;
struct image_copy;
struct memory_image;
struct recorder_pace;
struct watched_image;

/* All zero is empty. */
struct watched_images {
        struct recorder_pace *pace;   /* borrowed */
        struct watched_image *images; /* heap */
        size_t n_images, capacity;
        size_t to_search;     /* the next image whose whole may have a twin, or may be found by now */
        uint64_t searched_ns; /* the last time */
};

void watched_images_deinit(struct watched_images *w);

/*
 * How large the whole of @image may be; @image takes the place of images that it overlaps.  0 = it cannot be
 * watched.
 */
uint64_t watched_images_copy_room(const struct watched_images *w, const struct memory_image *image);

/*
 * watched_images_begin_look() - all images are about to be looked at
 * Where looks have taken more than their share of the time, no image is watched any more: each image counts
 * until it was seen last, and has no names from then on.  Returns how many images those are, or -ENOMEM.
 */
int watched_images_begin_look(struct watched_images *w, struct image_changes *changes, uint64_t now_ns);

/*
 * watched_images_put() - an image was found
 * It counts from after the look: its earlier contents are unknown, since no record says when it was written.
 * If it was seen there before, it was there when the look began, too, also if its whole was found only now.
 * Another one that was seen in its place
 * counts until it was seen last, and is not watched any more.  An image for which there is no room or no time
 * does not count: it could be replaced unseen.
 * @copy:     the whole that it is known by, if any
 * @began_ns: the look at its memory
 * @from_ns:  after it; becomes the time from which it counts
 * @changes:  receives images that are gone
 * Returns how many images it has replaced, -EOVERFLOW if it does not count, or -ENOMEM.
 */
int watched_images_put(struct watched_images *w, struct image_changes *changes,
                       const struct memory_image *image, const struct image_copy *copy, uint64_t began_ns,
                       uint64_t *from_ns);

/*
 * The process has ended, or runs another program since @time_ns, some of whose images may
 * have been seen already.
 */
void watched_images_forget(struct watched_images *w, uint32_t pid, uint64_t time_ns);

/*
 * watched_images_check() - the next image that is another one, or gone
 * @at:        0 at first, then as it was left
 * @searches:  there is time to look for a second whole of one image; a first one is always looked for
 * @ret_image: it, taken out; @ret_seen_ns: when it was there still
 * Returns 1; 2 if it is there and stays, but its whole is to be looked for again; 0 at the end; -ENOMEM.
 */
int watched_images_check(struct watched_images *w, size_t *at, bool searches, struct memory_image *ret_image,
                         uint64_t *ret_seen_ns);

#endif /* SAMPLER_IMAGES_WATCHED_IMAGES_H */
