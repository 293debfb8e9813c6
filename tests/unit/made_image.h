/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/made_image.h - small ELF files, made in memory
 *
 * Way of the data:  tests -> [made_image] -> what reads ELF
 */
#ifndef TESTS_UNIT_MADE_IMAGE_H
#define TESTS_UNIT_MADE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_IMAGE_PAGE_BYTES  4096
#define MADE_IMAGE_CODE_OFF    0x1000 /* in the file */
#define MADE_IMAGE_CODE_SVMA   0x2000
#define MADE_IMAGE_CODE_BYTES  0x300
#define MADE_IMAGE_DATA_OFF    0x1400
#define MADE_IMAGE_DATA_SVMA   0x4400
#define MADE_IMAGE_BYTES_MAX   0x2000
#define MADE_IMAGE_FUNCTION    "made_function" /* a symbol in .dynsym, at ... */
#define MADE_IMAGE_FUNCTION_AT 0x2040
#define MADE_IMAGE_SVMA_END    0x5000

struct made_image_options {
        uint8_t seed;      /* of the code */
        bool has_build_id; /* 20 bytes of the seed */
        bool has_no_sections;
};

struct made_image {
        _Alignas(16) uint8_t bytes[MADE_IMAGE_BYTES_MAX];
        size_t n_bytes;
};

/*
 * A shared object of this machine: headers, notes and .dynsym in one segment, code in another, the
 * dynamic table in a third.
 */
void made_image_init(struct made_image *image, const struct made_image_options *options);

/* Copies its segments, as a program does that loads it itself; @base is where its address 0 is to be. */
void made_image_load(const struct made_image *image, uint8_t *base, bool only_code);

#define MADE_OBJECT_TEXT_OFF   0x40
#define MADE_OBJECT_TEXT_BYTES 0x40
#define MADE_OBJECT_DEBUG_OFF \
        0x80 /* of .debug_made: 8 bytes, then 4: relocated to the function + 4, and to itself + 2 */
#define MADE_OBJECT_FUNCTION "made_object_function" /* 0x10 bytes from the begin of .text on */

/* A relocatable object of this machine, with .text at @text_avma (0 = nowhere). */
void made_image_init_object(struct made_image *object, uint64_t text_avma);

#endif /* TESTS_UNIT_MADE_IMAGE_H */
