/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/region_images.h - the ELF images that came with announced code
 *
 * Way of the data:  image_spool (CODE_IMAGE) -> [region_images] -> symbolizer, annotation
 *
 * A program that announces code may hand over the image that it is from.  A region
 * begins where the image's executable segment does; or, if it is as long as all of the
 * image in memory, where its first segment does.  Each image is opened once,
 * however many regions have it.  Not thread-safe.
 */
#ifndef SYMBOLIZE_SYMBOLS_REGION_IMAGES_H
#define SYMBOLIZE_SYMBOLS_REGION_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

struct elf_image;
struct error;
struct image_spool;
struct module_symbols;
struct region_images;
struct symbol_search;
struct trace_dictionary;

/* A place in an image; all borrowed, until the next call of region_images_find(). */
struct region_place {
        const struct elf_image *image;
        struct module_symbols *symbols;
        uint64_t svma;
};

/* @spool, @search: borrowed, like @dictionary; either may be NULL.  Returns 0 or -ENOMEM. */
int region_images_new(const struct trace_dictionary *dictionary, const struct image_spool *spool,
                      const struct symbol_search *search, struct region_images **ret_images,
                      struct error *err);

/* NULL is fine. */
void region_images_free(struct region_images *r);

/*
 * Finds the place of @avma, which is in the region with this id, in the region's image.  Returns 1; 0 if the
 * region has none that can be read; -ENOMEM.
 */
int region_images_find(struct region_images *r, uint32_t region, uint64_t avma,
                       struct region_place *ret_place);

/* For the tests: the address in the file of @avma, in a region of that start and length. */
bool region_images_place(const struct elf_image *image, uint64_t start_avma, uint64_t length_bytes,
                         uint64_t avma, uint64_t *ret_svma);

#endif /* SYMBOLIZE_SYMBOLS_REGION_IMAGES_H */
