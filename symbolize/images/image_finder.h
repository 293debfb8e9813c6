/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/image_finder.h - the code of a module: kept in the trace, or in a file that is certainly
 * the same
 *
 * Way of the data:  image_spool, module_candidates -> [image_finder] -> symbolizer, annotation
 *
 * If several modules of the trace have one build-id, the file with the most names counts for all.  A file is
 * believed if its build-id is the module's.  Without a build-id: on the machine that recorded, until it is
 * booted again, if device and inode are the same and the file was not changed since it was mapped; anywhere,
 * if its code is byte for byte what the trace keeps of it.  Reads hostile files: for processes that such a
 * file may crash.
 */
#ifndef SYMBOLIZE_IMAGES_IMAGE_FINDER_H
#define SYMBOLIZE_IMAGES_IMAGE_FINDER_H

#include "symbolize/images/image_spool.h"

#include <stdbool.h>
#include <stdint.h>

struct elf_image;
struct error;
struct module_images;
struct symbol_search;
struct trace_dictionary;

/* Everything is borrowed. */
struct image_finder {
        const struct trace_dictionary *dictionary;
        const struct module_images *images;
        const struct image_spool *spool;    /* NULL = the trace keeps none */
        const struct symbol_search *search; /* NULL = all zero */
};

/* Where there are several, a later one in this list is preferred to an earlier one. */
enum image_source {
        IMAGE_SOURCE_NONE = 0,      /* there is no such file */
        IMAGE_SOURCE_UNCHECKED = 1, /* there is a file, but nothing tells whether it is the one */
        IMAGE_SOURCE_DIFFERS = 2,   /* there is a file, and it is another one */
        IMAGE_SOURCE_DEBUG = 3,     /* a file with debug information only, without code */
        IMAGE_SOURCE_PARTS = 4,     /* in the trace: the parts that were mapped */
        IMAGE_SOURCE_FILE = 5,      /* a file */
        IMAGE_SOURCE_KEPT = 6,      /* in the trace, whole */
        IMAGE_SOURCE_MACHINE = 7,   /* this machine itself: its vdso, its kernel */
        IMAGE_SOURCE_TRACE = 8,     /* the regions of code that the trace states */
};

struct found_image {
        struct elf_image *image; /* owned; NULL = none: `source` says why */
        enum image_source source;
        char *path; /* heap: of the file, or of the one that is not believed; NULL = it is in no folder */
        int fd;     /* of the file; -1 = none */
};

/*
 * image_finder_find() - the code of @module, of any kind that has an image
 * Returns 0, or -ENOMEM; after 0, the caller closes *@ret_image by found_image_close().
 */
int image_finder_find(const struct image_finder *f, uint32_t module, struct found_image *ret_image);

/* The same for a caller that wants instructions: a file without code never stands in for another one. */
int image_finder_find_code(const struct image_finder *f, uint32_t module, struct found_image *ret_image);
void found_image_close(struct found_image *image);

#endif /* SYMBOLIZE_IMAGES_IMAGE_FINDER_H */
