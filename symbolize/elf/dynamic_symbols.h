/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/dynamic_symbols.h - section headers for an image that has none
 *
 * Way of the data:  elf_image (PT_DYNAMIC, PT_LOAD) -> [dynamic_symbols] -> elf_image
 *
 * An image that was put together from a process's memory, or stripped completely, still has the tables that
 * its loader needs: DT_SYMTAB and DT_STRTAB, whose length DT_HASH or DT_GNU_HASH tells.  From these are made
 * .dynsym and .dynstr, and from the executable segments .text sections, so that readers of sections find the
 * names.  64 bits, little endian.
 */
#ifndef SYMBOLIZE_ELF_DYNAMIC_SYMBOLS_H
#define SYMBOLIZE_ELF_DYNAMIC_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#define DYNAMIC_SYMBOLS_MAX      4194304 /* in one image */
#define DYNAMIC_SYMBOLS_CODE_MAX 16      /* executable segments */

struct byte_buffer;

/* Is this an executable or shared object that has program headers and no section headers? */
bool dynamic_symbols_are_needed(const void *header, size_t n_bytes);

/*
 * dynamic_symbols_add() - appends the sections to the image
 * Places of bytes in the file stay as they are.  An image that tells nothing stays as it is.
 * Returns 0 or -ENOMEM.
 */
int dynamic_symbols_add(struct byte_buffer *image);

#endif /* SYMBOLIZE_ELF_DYNAMIC_SYMBOLS_H */
