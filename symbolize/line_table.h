/* SPDX-License-Identifier: MIT */
/*
 * symbolize/line_table.h - addresses of a module -> compilation unit, file and line
 *
 * Way of the data:  debug_files -> [line_table] -> inline_table, symbolizer
 *
 * One pass over the units notes which addresses each of them covers; the line
 * program of a unit is run when the first address in it is asked for.
 */
#ifndef SYMBOLIZE_LINE_TABLE_H
#define SYMBOLIZE_LINE_TABLE_H

#include "symbolize/address_map.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct line_table_unit {
        Dwarf_Die die; /* of the compilation unit */
};

struct line_table {
        Dwarf *dwarf;                  /* borrowed */
        uint64_t bias;                 /* address in the module = address in `dwarf` + this */
        struct line_table_unit *units; /* heap */
        size_t n_units, units_capacity;
        struct address_map ranges; /* values are places in `units` */
};

struct line_position {
        const char *file; /* borrowed from the line table; NULL = unknown */
        uint32_t line;    /* 0 = unknown */
        uint32_t column;  /* 0 = unknown */
};

/* @dwarf, @bias: of debug_files_find_dwarf().  Fills a zero-initialised table.  Returns 0 or -ENOMEM. */
int line_table_load(struct line_table *table, Dwarf *dwarf, uint64_t bias, struct error *err);
void line_table_deinit(struct line_table *table);

/* The place in `units` of the unit that holds @svma, or ADDRESS_MAP_NONE. */
uint32_t line_table_find_unit(const struct line_table *table, uint64_t svma);

/* Where @svma comes from, by the lines of the unit at @unit; all unknown if those do not say. */
struct line_position line_table_find(struct line_table *table, uint32_t unit, uint64_t svma);

#endif /* SYMBOLIZE_LINE_TABLE_H */
