/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/image_identity.h - which image it is, of those that look alike in memory
 *
 * Way of the data:  memory_image, image_source -> [image_identity] -> code_images (MODULES)
 *
 * An image without a build-id is identified by its mapped bytes: headers, code and constants.  That is the
 * same for two that differ only in symbols, lines or the names of local functions.  So it is known by all
 * of its bytes where the program has them: then its names are its own.  Where they were not found in time,
 * it counts as an image of its own, whose bytes the keeper's thread looks for.  After
 * IMAGE_IDENTITY_UNKNOWN_MAX of these, it counts as the image that was found in this program before, if
 * there was only one.
 *
 * Memory that the program can write while it runs it may hold another image of the same mapped bytes at any
 * time, unseen.  There an image is known by its whole as long as that was the only one and is still where
 * it was found; else only by its mapped bytes.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_IMAGES_IMAGE_IDENTITY_H
#define SAMPLER_IMAGES_IMAGE_IDENTITY_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_IDENTITY_IMAGES_MAX  65536 /* that are remembered, of all programs */
#define IMAGE_IDENTITY_UNKNOWN_MAX 16    /* times that an image counts as one of its own */

struct byte_buffer;
struct memory_image;

/* The facts about an image of a program. */
struct image_whole {
        uint64_t number;    /* of all its bytes; 0 = they were never found */
        uint64_t copy_avma; /* where these were last; 0 as above */
        uint32_t n_unknown; /* times that it was not found in time */
        bool has_several;   /* wholes with these mapped bytes, at the same time or one after the other */
        bool is_ambiguous;  /* at the same time */
};

struct image_identities {
        struct intern images;      /* by program and mapped bytes */
        struct image_whole *known; /* heap; by the id in `images` - 1 */
        size_t capacity;
        uint64_t recording; /* random: in another recording the same PID and bytes may be another image */
};

/* A look at an image that was found. */
struct image_identity_look {
        const struct memory_image *image;
        /* number of programs that ran in this PID before: the PID alone may be another program's */
        uint32_t program;
        bool may_search; /* there is time to: */
        uint64_t search_ns;
        bool is_writable;         /* the program can write the image while it runs it */
        uint64_t whole_bytes_max; /* if so: of a whole that can be read again and again */
        uint64_t *near_avma;      /* where the last whole image of the program was; is updated */
};

/* A whole image in a program's memory. */
struct image_copy {
        uint64_t avma; /* 0 = there is none */
        uint64_t n_bytes;
        uint64_t number; /* XXH3 of all of its bytes */
        bool is_sought;  /* no copy, because none was found in time */
};

struct image_identity {
        uint64_t content;       /* as in MODULES */
        bool is_ambiguous;      /* there are several wholes, or may be */
        struct image_copy copy; /* the whole that it is known by */
};

void image_identities_init(struct image_identities *ids);
void image_identities_deinit(struct image_identities *ids);

/*
 * image_identities_find() - finds out which image it is
 * @whole:  empty; all of the image, if it was found now
 * Returns 0 or -ENOMEM.
 */
int image_identities_find(struct image_identities *ids, const struct image_identity_look *look,
                          struct byte_buffer *whole, struct image_identity *ret);

/* Is no other whole of the same mapped bytes found in that time?  Returns 1, 0 or -ENOMEM. */
int image_copy_is_only(const struct image_copy *copy, const struct memory_image *image, uint64_t search_ns);

/* Is the whole still there, and the same?  Returns 1, 0 or -ENOMEM. */
int image_copy_is_unchanged(const struct image_copy *copy, const struct memory_image *image);

#endif /* SAMPLER_IMAGES_IMAGE_IDENTITY_H */
