/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/image_search.h - ELF images anywhere in a process's memory
 *
 * Way of the data:  process_maps, process_memory -> [image_search] -> memory_image, image_source
 *
 * A program that loads code itself has a copy of the image: mostly in the heap or other anonymous memory,
 * which is searched first; else in files that are mapped as data, or in the mapped parts of programs and
 * libraries.  Pages that were never written are passed over.  The caller may give the place where such
 * images were before: it is searched first.
 */
#ifndef SAMPLER_IMAGES_IMAGE_SEARCH_H
#define SAMPLER_IMAGES_IMAGE_SEARCH_H

#include "sampler/keep/elf_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_SEARCH_BEGIN_BYTES 2048 /* the headers of an image must lie within these first bytes */

struct image_search;
struct process_memory;

struct image_search_limits {
        uint64_t bytes_max;       /* that are looked through */
        uint64_t until_ns;        /* CLOCK_MONOTONIC_RAW; 0 = the next field counts instead */
        uint64_t until_thread_ns; /* processor time of the thread that searches: clock_thread_ns() */
        uint64_t near_avma;       /* the search begins around here; 0 = no place is better than another */
};

struct image_search_hit {
        uint64_t avma; /* of its first byte */
        struct elf_header header;
        const uint8_t *begin; /* at least header.n_bytes; borrowed until the next call */
        size_t begin_bytes;
};

/*
 * @memory: borrowed; its maps_fd is used up.  Returns 0, -ENOENT if the process is gone or cannot
 * be looked into, -ENOMEM.
 */
int image_search_new(struct process_memory *memory, const struct image_search_limits *limits,
                     struct image_search **ret_search);

/* NULL is fine. */
void image_search_free(struct image_search *s);

/* The next image.  Returns 1, or 0 at the end or a limit. */
int image_search_next(struct image_search *s, struct image_search_hit *ret_hit);

/*
 * image_search_go_on_in_heap() - searches on for a second image, after one was found
 * From now on anonymous memory alone is searched, at most @bytes_max of it: files are many times as large.
 */
void image_search_go_on_in_heap(struct image_search *s, uint64_t bytes_max);

/* After the last image: was all anonymous memory searched?  Most programs have their images there. */
bool image_search_has_heap(const struct image_search *s);

#endif /* SAMPLER_IMAGES_IMAGE_SEARCH_H */
