/* SPDX-License-Identifier: MIT */
/*
 * symbolize/module_symbols.h - all that one module says about its addresses
 *
 * Way of the data:  elf_image -> [module_symbols] -> symbolizer
 *
 * Puts together the symbol table (names of functions), the line table (file
 * and line) and the inlined calls (the chain between them).  What is missing
 * or damaged is left out, the rest is used.
 */
#ifndef SYMBOLIZE_MODULE_SYMBOLS_H
#define SYMBOLIZE_MODULE_SYMBOLS_H

#include <stdint.h>

struct elf_image;
struct error;
struct module_symbols;
struct symbol;

/*
 * module_symbols_open() - read the symbols of an image
 * @path:  to look for debug files beside it; may be NULL.  Borrowed, as @image is, until the close.
 * Returns 0, -EBADMSG, -ENOMEM.
 */
int module_symbols_open(const struct elf_image *image, const char *path, struct module_symbols **ret_module,
                        struct error *err);

/* NULL is fine. */
void module_symbols_close(struct module_symbols *module);

/*
 * module_symbols_find() - what is at an address
 * @ret_symbols:  the chain, innermost first, borrowed until the next call
 * Returns how many there are, at most SYMBOLIZER_CHAIN_MAX; 0 if nothing is known.
 */
uint32_t module_symbols_find(struct module_symbols *module, uint64_t svma, const struct symbol **ret_symbols);

#endif /* SYMBOLIZE_MODULE_SYMBOLS_H */
