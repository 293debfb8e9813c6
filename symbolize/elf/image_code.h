/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/image_code.h - the executable segments of an image: are they there, are they
 * the same, where were they
 *
 * Way of the data:  elf_image -> [image_code] -> image_finder
 */
#ifndef SYMBOLIZE_ELF_IMAGE_CODE_H
#define SYMBOLIZE_ELF_IMAGE_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct elf_image;
struct trace_dictionary;

/* Whether a segment with code has bytes in the file: a file with debug information only has none. */
bool image_code_is_there(const struct elf_image *image);

/*
 * Whether all code and constants of @a are in @b, at the same place, byte for byte.  Constants count because
 * the same code under other names has other dynamic symbols.  The ELF header does not count, nor do segments
 * of zeros, which an image that was put together lacks.
 */
bool image_code_is_equal(const struct elf_image *a, const struct elf_image *b);

/*
 * image_code_is_described() - does @debug, a file with debug information only, belong to @image?
 * For images without a build-id, and files without the code to compare.  The loaded sections and segments
 * must be the same by name, place and length, exported functions by name and place, and the functions of
 * @debug must begin and end as the unwind information of @image says.  Builds that differ in nothing but
 * names of static functions are not told apart.
 * Returns 1, 0, or -ENOMEM.
 */
int image_code_is_described(const struct elf_image *image, const struct elf_image *debug);

/*
 * image_code_place() - where the code of a file with debug information only was in the file that was mapped
 * Its segments state addresses, but no places in the mapped file; the mappings of the trace tell both.  It is
 * found only where it is certain: if one segment has code, and a mapping is just as long.
 * Changes the segments of @image, so that elf_image_find_svma() answers.  Returns whether it does.
 */
bool image_code_place(struct elf_image *image, const struct trace_dictionary *dictionary, uint32_t module);

#endif /* SYMBOLIZE_ELF_IMAGE_CODE_H */
