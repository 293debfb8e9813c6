/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/code_extent.h - how far the code that begins at an address certainly goes on
 *
 * Way of the data:  elf_image -> [code_extent] -> symbol_table
 *
 * For functions of which nothing says where they end: hand-written assembly that a stripped library exports.
 * Follows the instructions one by one, up to the first one that control never passes, unless a short jump
 * leads behind it: calls of other functions are never short.  For x86-64; elsewhere nothing is certain.
 */
#ifndef SYMBOLIZE_ELF_CODE_EXTENT_H
#define SYMBOLIZE_ELF_CODE_EXTENT_H

#include <stddef.h>
#include <stdint.h>

#define CODE_EXTENT_BYTES_MAX 4096 /* of one function that are looked at */

struct elf_image;

/* The first address after it, at most @end_svma; @svma if nothing is certain. */
uint64_t code_extent_find_end(const struct elf_image *image, uint64_t svma, uint64_t end_svma);

/* The same for bytes of x86-64 code.  Returns how many of the @n_bytes go on. */
size_t code_extent_count_x86(const uint8_t *bytes, size_t n_bytes);

#endif /* SYMBOLIZE_ELF_CODE_EXTENT_H */
