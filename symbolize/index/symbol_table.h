/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/symbol_table.h - the functions that the symbol tables of a module name
 *
 * Way of the data:  debug_files -> [symbol_table] -> symbolizer
 *
 * The best of several names of one address is kept, by the rules of perf: one with a size before one without,
 * one that is not weak, a global one before a local one, fewer leading underscores; then the first.  Names
 * that are as good by these rules are remembered, so that debug information can choose one.  A symbol without
 * a size, as assembly has them, reaches to the next symbol or to the end of its section, and counts only
 * outside of symbols that have one.  Stubs of the PLT are functions too: "write@plt".
 */
#ifndef SYMBOLIZE_INDEX_SYMBOL_TABLE_H
#define SYMBOLIZE_INDEX_SYMBOL_TABLE_H

#include "symbolize/elf/address_map.h"
#include "symbolize/elf/plt_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_files;
struct error;

enum symbol_binding { SYMBOL_BINDING_GLOBAL = 0, SYMBOL_BINDING_LOCAL = 1, SYMBOL_BINDING_WEAK = 2 };

struct symbol_table_entry {
        uint64_t svma;
        uint64_t size_bytes;  /* 0 = unknown */
        uint64_t section_end; /* address after its section: a symbol without a size ends there */
        const char *name;     /* borrowed, mangled, not empty */
        enum symbol_binding binding;
        uint32_t order; /* of adding */
};

/* Zero-initialised is empty and valid. */
struct symbol_table {
        struct symbol_table_entry *entries; /* heap; once built ascending, one an address */
        size_t n_entries, entries_capacity;
        struct symbol_table_entry
                *aliases; /* heap; once built ascending: names as good as their address's entry */
        size_t n_aliases, aliases_capacity;
        struct address_map ranges; /* values are places in `entries` */
        struct plt_table stubs;    /* owns the names of stubs */
};

void symbol_table_deinit(struct symbol_table *table);

/* Adds a symbol; its `order` is set here.  Returns 0 or -ENOMEM. */
int symbol_table_add(struct symbol_table *table, const struct symbol_table_entry *entry);

/* Makes the table ready for lookups; nothing is added after that.  Returns 0 or -ENOMEM. */
int symbol_table_build(struct symbol_table *table);

/*
 * symbol_table_load() - all functions of a module, built
 * Names are borrowed from @files.  Returns 0 (a module without symbols gives an empty table) or -ENOMEM.
 */
int symbol_table_load(struct symbol_table *table, struct debug_files *files, struct error *err);

/* The symbol that holds @svma, or NULL. */
const struct symbol_table_entry *symbol_table_find(const struct symbol_table *table, uint64_t svma);

/* True if other names are as good as that of @entry, which is one of the table's. */
bool symbol_table_has_aliases(const struct symbol_table *table, const struct symbol_table_entry *entry);

/* Gives @entry the name @name, which may be NULL, if it is one of those. */
void symbol_table_choose(struct symbol_table *table, const struct symbol_table_entry *entry,
                         const char *name);

#endif /* SYMBOLIZE_INDEX_SYMBOL_TABLE_H */
