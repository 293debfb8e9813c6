/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/module_symbols.h - all that one module says about its addresses
 *
 * Way of the data:  elf_image -> [module_symbols] -> symbolizer
 *
 * Puts together the symbol table (names of functions), stubs of the PLT, and the debug information (inlined
 * calls, files and lines).  A function without a name in any of these gets one from its module and its first
 * address in the file, which the unwind information gives: "libruby-3.1+0x1a20", TRACE_SYMBOL_UNNAMED.
 * Missing or damaged parts are left out, the rest is used.  An object belongs to one thread at a time.
 */
#ifndef SYMBOLIZE_SYMBOLS_MODULE_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_MODULE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct elf_image;
struct error;
struct module_symbols;
struct symbol;
struct symbol_search;

struct module_symbols_options {
        const char *path; /* to look for debug files beside it; NULL = it is in no folder */
        /* of the module, to name functions without a symbol by; NULL = they get no name */
        const char *name;
        const struct symbol_search *search; /* NULL = the machine's own folders */
        const uint8_t *index; /* that module_symbols_save() made; NULL = none.  Checked as foreign bytes */
        size_t index_bytes;
};

/* First address of a function, and the first one after it; for one in several parts, those of the part. */
struct function_range {
        uint64_t start_svma, end_svma;
};

/*
 * module_symbols_open() - read the symbols of an image
 * @image, @options:  borrowed until the close
 * A damaged or outdated index is passed over.  Returns 0, -EBADMSG, -ENOMEM.
 */
int module_symbols_open(const struct elf_image *image, const struct module_symbols_options *options,
                        struct module_symbols **ret_module, struct error *err);

/*
 * module_symbols_copy_name() - the module's part in the names of its functions without a symbol
 * @path:  as a trace has it: "/usr/lib/libruby-3.1.so.3.1.2 (deleted)" -> "libruby-3.1", "[vdso]" -> "[vdso]"
 * Returns heap memory that the caller frees; NULL without memory or a path.
 */
char *module_symbols_copy_name(const char *path, size_t n_bytes);

/* Whether a saved index was opened; then there is nothing to save. */
bool module_symbols_is_saved(const struct module_symbols *module);

/*
 * Whether to save it is worth its place though it has no lines: it names many functions, and no separate
 * debug file was found.
 */
bool module_symbols_has_large_table(const struct module_symbols *module);

/* NULL is fine. */
void module_symbols_close(struct module_symbols *module);

/*
 * module_symbols_find() - the symbols at an address
 * @ret_symbols:  the chain, innermost first, borrowed until the next call
 * Returns how many there are, at most SYMBOLIZER_CHAIN_MAX; 0 if nothing is known.
 * Fast for addresses in any order; a unit of the debug information is read when the
 * first address in it comes.
 */
uint32_t module_symbols_find(struct module_symbols *module, uint64_t svma, const struct symbol **ret_symbols);

/*
 * The extent of the function that @svma is in (not of one inlined there): by its symbol, by the debug
 * information where the symbol has no size or there is none, else by the unwind information.  Returns 1, or 0
 * if it is not known.
 */
int module_symbols_find_range(struct module_symbols *module, uint64_t svma, struct function_range *ret_range);

/*
 * module_symbols_save() - all of the module, read to its end, as bytes for module_symbols_options.index
 * @out:  appended to
 * Returns 0, -EOVERFLOW if it would be too large to be worth it, or another debug file may be there the next
 * time; -ENOMEM.
 */
int module_symbols_save(struct module_symbols *module, struct byte_buffer *out, struct error *err);

#endif /* SYMBOLIZE_SYMBOLS_MODULE_SYMBOLS_H */
