/* SPDX-License-Identifier: MIT */
/*
 * symbolize/inline_table.h - the functions that were inlined at an address
 *
 * Way of the data:  line_table (units) -> [inline_table] -> symbolizer
 *
 * The tree of debugging entries of a unit is walked once, when the first
 * address in the unit is asked for; what covers code becomes a sorted list.
 */
#ifndef SYMBOLIZE_INLINE_TABLE_H
#define SYMBOLIZE_INLINE_TABLE_H

#include "symbolize/address_map.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#define INLINE_TABLE_NO_PARENT UINT32_MAX

struct error;

/* A function, or a call of one that was inlined. */
struct inline_table_node {
        Dwarf_Off die;   /* place in the debug information */
        uint32_t parent; /* node that it was inlined into; INLINE_TABLE_NO_PARENT = it stands for itself */
};

struct inline_table {
        struct inline_table_node *nodes; /* heap */
        size_t n_nodes, nodes_capacity;
        struct address_map ranges; /* values are places in `nodes` */
};

struct inline_call {
        const char *function;  /* mangled if it has such a name; NULL = unknown; borrowed from the Dwarf */
        const char *call_file; /* where it was inlined; NULL = unknown */
        uint32_t call_line, call_column; /* 0 = unknown */
};

/* Walks @unit.  Fills a zero-initialised table.  Returns 0 or -ENOMEM; damaged entries are left out. */
int inline_table_load(struct inline_table *table, Dwarf_Die *unit, uint64_t bias, struct error *err);
void inline_table_deinit(struct inline_table *table);

/*
 * inline_table_find() - the chain of functions at an address
 * @unit:       the one that was loaded
 * @ret_calls:  innermost first; the last one is the function that was not inlined
 * @n_max:      room there; what is further out is left out
 * Returns how many there are; 0 if the unit knows no function there.
 */
size_t inline_table_find(const struct inline_table *table, Dwarf_Die *unit, uint64_t svma,
                         struct inline_call *ret_calls, size_t n_max);

#endif /* SYMBOLIZE_INLINE_TABLE_H */
