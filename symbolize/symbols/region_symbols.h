/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/region_symbols.h - addresses in anonymous memory -> the code that a
 * program said it put there
 *
 * Way of the data:  trace_dictionary (CODE_REGIONS, CODE_LINES) -> [region_symbols] -> symbolizer, annotation
 *
 * Regions of perf maps, jitdumps and announcements.  A module that is ANONYMOUS
 * memory is one generation of a process's code; a region counts for its own
 * generation and for later ones in which nothing lies over it.
 */
#ifndef SYMBOLIZE_SYMBOLS_REGION_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_REGION_SYMBOLS_H

#include <stdint.h>

struct error;
struct region_symbols;
struct trace_dictionary;

struct region_symbol {
        uint32_t region; /* id in CODE_REGIONS */
        uint32_t file;   /* string: of the line at the address; 0 = unknown */
        uint32_t line;   /* 0 = unknown */
};

/* @dictionary: borrowed.  Returns 0 or -ENOMEM. */
int region_symbols_new(const struct trace_dictionary *dictionary, struct region_symbols **ret_symbols,
                       struct error *err);
void region_symbols_free(struct region_symbols *s);

/* The region that @avma is in, in the ANONYMOUS @module.  Returns 1 or 0. */
int region_symbols_find(const struct region_symbols *s, uint32_t module, uint64_t avma,
                        struct region_symbol *ret_symbol);

#endif /* SYMBOLIZE_SYMBOLS_REGION_SYMBOLS_H */
