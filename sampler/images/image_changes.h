/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/image_changes.h - changes of what lies in a process's memory, each with its time
 *
 * Way of the data:  code_images -> [image_changes] -> kernel_side (address_space)
 *
 * Code that is seen in memory waits here until the records have come as far as that.  Used by one thread.
 */
#ifndef SAMPLER_IMAGES_IMAGE_CHANGES_H
#define SAMPLER_IMAGES_IMAGE_CHANGES_H

#include "sampler/tracks/address_space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* changes that wait; further ones are left out, and their frames stay addresses */
#define IMAGE_CHANGES_MAX 65536

struct memory_image;

/* From `time_ns` on, this code is in the process's memory. */
struct image_change {
        uint64_t time_ns;
        uint32_t pid;
        bool is_gone; /* the range is anonymous memory again; its module is 0 */
        struct address_range range;
};

/* All zero is empty. */
struct image_changes {
        struct image_change *changes; /* heap, owned; from `first` on, by time */
        size_t first, n_changes, capacity;
};

void image_changes_deinit(struct image_changes *c);

/* Inserts a change after those of the same time.  Returns 0 or -ENOMEM. */
int image_changes_add(struct image_changes *c, const struct image_change *change);

/* From then on the contents at the place of @image's code are unknown.  Returns 0 or -ENOMEM. */
int image_changes_add_gone(struct image_changes *c, const struct memory_image *image, uint64_t time_ns);

/* The next change up to @until_ns, in the order of time.  Returns false if no change is left. */
bool image_changes_next(struct image_changes *c, uint64_t until_ns, struct image_change *ret_change);

#endif /* SAMPLER_IMAGES_IMAGE_CHANGES_H */
