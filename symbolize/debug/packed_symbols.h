/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/packed_symbols.h - the ELF file with a symbol table that distributions
 * pack into .gnu_debugdata
 *
 * Way of the data:  elf_image -> [packed_symbols] -> debug_files -> symbol_table
 */
#ifndef SYMBOLIZE_DEBUG_PACKED_SYMBOLS_H
#define SYMBOLIZE_DEBUG_PACKED_SYMBOLS_H

#include <libelf.h>

#define PACKED_SYMBOLS_BYTES_MAX (1U << 28) /* unpacked */

struct elf_image;

/* Unpacks it (xz).  Returns 1 with an image that the caller closes; 0 if no readable image is there. */
int packed_symbols_open(Elf *elf, struct elf_image **ret_image);

#endif /* SYMBOLIZE_DEBUG_PACKED_SYMBOLS_H */
