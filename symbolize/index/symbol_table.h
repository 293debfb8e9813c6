/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/symbol_table.h - the functions that the symbol tables of a module name
 *
 * Way of the data:  debug_files -> [symbol_table] -> symbolizer
 *
 * The best of several names of one address is kept, by the rules of perf: a function's before an object's,
 * one with a size before one without, one that is not weak, a global one before a local one, fewer leading
 * underscores; then the first.  Names that are as good by these rules are remembered, so that debug
 * information can choose one; the others are its aliases.
 *
 * A symbol without a size, as assembly has them, counts only outside of symbols that have one.  It reaches to
 * the end of its entry in the unwind information; a label without a type that does not begin its entry is no
 * function.  Without an entry it reaches to the next entry or symbol, or to the end of its section.  A symbol
 * of .dynsym without an entry covers only the code that certainly goes on there, since other functions may
 * lie between two exports.  Stubs of the PLT are functions too: "write@plt".
 */
#ifndef SYMBOLIZE_INDEX_SYMBOL_TABLE_H
#define SYMBOLIZE_INDEX_SYMBOL_TABLE_H

#include "symbolize/elf/address_map.h"
#include "symbolize/elf/plt_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_TABLE_ALIASES_MAX 16

struct byte_buffer;
struct code_names;
struct debug_files;
struct elf_image;
struct error;
struct function_bounds;

enum symbol_binding { SYMBOL_BINDING_GLOBAL = 0, SYMBOL_BINDING_LOCAL = 1, SYMBOL_BINDING_WEAK = 2 };

struct symbol_table_entry {
        uint64_t svma;
        uint64_t size_bytes;  /* 0 = unknown */
        uint64_t section_end; /* address after its section: a symbol without a size ends there */
        uint64_t end_svma;    /* address after its last one; set when the table is built */
        const char *name;     /* borrowed, mangled, not empty */
        enum symbol_binding binding;
        bool is_label;      /* it has no type */
        bool is_object;     /* its type is data, but it stands in a section of code */
        bool is_open_ended; /* `end_svma` is a guess, since a function may begin before it; set with it */
        bool is_export;     /* it stands in .dynsym, where all but exports are missing */
        uint32_t order;     /* of adding */
        bool is_as_good;    /* an alias as good as the name: debug information may choose it */
};

/* Zero-initialised is empty and valid. */
struct symbol_table {
        struct symbol_table_entry *entries; /* heap; once built ascending, one an address */
        size_t n_entries, entries_capacity;
        struct symbol_table_entry
                *aliases; /* heap; once built ascending: the other names of addresses in `entries` */
        size_t n_aliases, aliases_capacity;
        struct address_map ranges; /* values are places in `entries` */
        struct plt_table stubs;    /* owns the names of stubs */
        /* the functions of the unwind information, for symbols without a size; borrowed; NULL = not known */
        const struct function_bounds *bounds;
        const struct elf_image
                *image; /* its code tells where exports end; borrowed; NULL = nothing is known */
};

void symbol_table_deinit(struct symbol_table *table);

/* Adds a symbol; its `order` is set here.  Returns 0 or -ENOMEM. */
int symbol_table_add(struct symbol_table *table, const struct symbol_table_entry *entry);

/* Makes the table ready for lookups; nothing is added after that.  Returns 0 or -ENOMEM. */
int symbol_table_build(struct symbol_table *table);

/*
 * symbol_table_load() - all functions of a module, built
 * @bounds:  borrowed; loaded here if a symbol has no size
 * Names are borrowed from @files.  Returns 0 (a module without symbols gives an empty table) or -ENOMEM.
 */
int symbol_table_load(struct symbol_table *table, struct debug_files *files, struct function_bounds *bounds,
                      struct error *err);

/* The symbol that holds @svma, or NULL. */
const struct symbol_table_entry *symbol_table_find(const struct symbol_table *table, uint64_t svma);

/* Sets the end of @entry, which is one of the table's and has no size. */
void symbol_table_end(struct symbol_table *table, const struct symbol_table_entry *entry, uint64_t end_svma);

/* True if other names are as good as that of @entry, which is one of the table's. */
bool symbol_table_has_aliases(const struct symbol_table *table, const struct symbol_table_entry *entry);

/* Gives @entry the name @name if that is one of the names that are as good; @name may be NULL. */
void symbol_table_choose(struct symbol_table *table, const struct symbol_table_entry *entry,
                         const char *name);

/*
 * symbol_table_find_aliases() - the other names of the address of @entry
 * @names:  makes them readable
 * @out:    emptied; then one name a line, without a NUL; empty if there are none
 * At most SYMBOL_TABLE_ALIASES_MAX: identical code may be folded into one function with thousands of names.
 */
void symbol_table_find_aliases(const struct symbol_table *table, const struct symbol_table_entry *entry,
                               struct code_names *names, struct byte_buffer *out);

#endif /* SYMBOLIZE_INDEX_SYMBOL_TABLE_H */
