/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/plt_table.h - the stubs that a linker made for calls into other modules, by name
 *
 * Way of the data:  elf_image -> [plt_table] -> symbol_table
 *
 * No symbol stands for a stub.  Its instructions load an address from a slot of
 * the GOT, and a relocation says whose address that is: "write@plt".  x86-64 (all
 * sections named .plt..., with and without IBT), AArch64 and 64-bit RISC-V.
 */
#ifndef SYMBOLIZE_ELF_PLT_TABLE_H
#define SYMBOLIZE_ELF_PLT_TABLE_H

#include "base/byte_buffer.h"

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#define PLT_TABLE_SUFFIX    "@plt"     /* at the end of each name */
#define PLT_TABLE_NAMES_MAX (1U << 26) /* bytes of all names */
#define PLT_TABLE_SLOTS_MAX (1U << 22) /* relocations that are looked at */

struct plt_entry {
        uint64_t svma;
        uint64_t resolver_svma; /* of an ifunc of the module itself, which the relocation does not name */
        uint32_t size_bytes;
        uint32_t name_off; /* in `names`; PLT_ENTRY_UNNAMED = only `resolver_svma` is known */
};

#define PLT_ENTRY_UNNAMED UINT32_MAX

/* All zero is empty. */
struct plt_table {
        struct plt_entry *entries; /* heap */
        size_t n_entries, entries_capacity;
        struct byte_buffer names; /* each with a zero at its end */
};

/* Returns 0, also for a file without stubs or one that is not understood; -ENOMEM. */
int plt_table_load(struct plt_table *table, Elf *elf);

void plt_table_deinit(struct plt_table *table);

/* Gives a name to an entry that has none.  Returns 0, -EOVERFLOW if there are too many, -ENOMEM. */
int plt_table_add_name(struct plt_table *table, struct plt_entry *entry, const char *name);

/* The name of an entry, NULL if it has none; borrowed until the next name is added. */
const char *plt_table_find_name(const struct plt_table *table, const struct plt_entry *entry);

#endif /* SYMBOLIZE_ELF_PLT_TABLE_H */
