/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/memory_image.h - an ELF image that a program put into its memory without the loader
 *
 * Way of the data:  perf_record (MMAP2), process_maps, process_memory -> [memory_image] ->
 *                   code_images, image_source
 *
 * The program copies the segments of an image to where it likes them and makes
 * one executable, and the kernel calls that anonymous memory.  Mostly the header was copied too and lies
 * below the code, where it is looked for.  If it is not there, a copy of the image is often elsewhere in
 * the process, and is recognised by its code.
 */
#ifndef SAMPLER_IMAGES_MEMORY_IMAGE_H
#define SAMPLER_IMAGES_MEMORY_IMAGE_H

#include "sampler/images/image_search.h"
#include "sampler/keep/elf_header.h"
#include "sampler/proc/process_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_IMAGE_PARTS_MAX     8
#define MEMORY_IMAGE_BUILD_ID_MAX  20                  /* bytes of it that count */
#define MEMORY_IMAGE_PART_BYTES    (UINT64_C(1) << 28) /* of one executable segment */
#define MEMORY_IMAGE_CONTENT_BYTES (UINT32_C(1) << 20) /* of code that are hashed, and of constants */
#define MEMORY_IMAGE_BELOW_BYTES   (UINT64_C(1) << 30) /* the longest distance from a header up to its code */
#define MEMORY_IMAGE_PROBES_MAX    1024                /* pages that are looked at for a header */

struct byte_buffer;

/* A stretch of executable memory, and its place in the image's file. */
struct memory_image_part {
        uint64_t start_avma, end_avma; /* end is the first address after it */
        uint64_t file_off;
};

struct memory_image {
        struct process_memory memory; /* by number */
        uint64_t base_avma;           /* where the file's address 0 is mapped */
        uint64_t header_avma;         /* 0 = the header is not mapped with the code */
        uint64_t copy_avma;           /* where else the image begins; 0 = not known */
        struct elf_header header;
        uint8_t begin[IMAGE_SEARCH_BEGIN_BYTES]; /* the first header.n_bytes of the image */
        uint8_t build_id[MEMORY_IMAGE_BUILD_ID_MAX];
        size_t build_id_bytes; /* 0 = it has none */
        uint64_t content;      /* XXH3 of its headers, code and constants, the first mebibyte of both */
        uint32_t constants;    /* bit i: the read-only part of segment i is mapped, and hashed */
        struct memory_image_part parts[MEMORY_IMAGE_PARTS_MAX];
        size_t n_parts;
};

/* Where to look: executable memory of a process. */
struct memory_image_place {
        uint32_t pid;
        uint64_t start_avma, end_avma; /* of the mapping */
        uint64_t avma;                 /* an address in its code, or start_avma */
        uint64_t search_ns;            /* how long all memory is searched, if need be; 0 = not at all */
};

/*
 * memory_image_find() - the image that this memory is part of
 * Takes some tens of microseconds if the header, or nothing at all, lies below the code.
 * Returns 1; 0 if there is no image; -ENOMEM.
 */
int memory_image_find(const struct memory_image_place *place, struct memory_image *ret_image);

/* The part that the memory in question is in; NULL if no part contains it. */
const struct memory_image_part *memory_image_find_part(const struct memory_image *image,
                                                       const struct memory_image_place *place);

/*
 * memory_image_append_parts() - its mapped parts: headers and loaded segments, at their places in the file
 * The header says that there are no section headers: those are not mapped.
 * Returns 0, -EFBIG over @bytes_max, -EFAULT if its code cannot be read any more or is that of another
 * image by now, -ENOMEM.
 */
int memory_image_append_parts(const struct memory_image *image, uint64_t bytes_max, struct byte_buffer *out);

/*
 * memory_image_is_unchanged() - is the present mapping the image that was found?
 * Returns 1, 0 (also if it cannot be read), -ENOMEM.
 */
int memory_image_is_unchanged(const struct memory_image *image);

/* How many bytes memory_image_is_unchanged() reads and hashes. */
uint64_t memory_image_count_hashed(const struct memory_image *image);

/*
 * Do headers, code and constants in @bytes, a whole image with this one's header, equal those that were
 * found?  They are compared as far as they are hashed.
 */
bool memory_image_has_content(const struct memory_image *image, const uint8_t *bytes, size_t n_bytes);

/*
 * The same, and code beyond the hashed part is compared with the mapping, which may be another image by now.
 */
bool memory_image_has_code(const struct memory_image *image, const uint8_t *bytes, size_t n_bytes);

/*
 * Has the file in @bytes the same build-id?  Images of the same code may be different ones.  True for an
 * image that has none.
 */
bool memory_image_has_build_id(const struct memory_image *image, const uint8_t *bytes, size_t n_bytes);

#endif /* SAMPLER_IMAGES_MEMORY_IMAGE_H */
