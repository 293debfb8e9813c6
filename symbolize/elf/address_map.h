/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/address_map.h - nested ranges of addresses, each with a number
 *
 * Way of the data:  symbol_table, code_index -> [address_map] -> their lookups
 *
 * Ranges are collected, then built once into disjoint segments, so that a
 * lookup is one search however deep the ranges are nested; buckets of equal size
 * say where to begin, so that it is short where the ranges are spread evenly.  Where ranges
 * overlap, the one that starts last counts; of those the shorter; of equal ones
 * the one that was added last.  Zero-initialised is empty and valid.
 */
#ifndef SYMBOLIZE_ELF_ADDRESS_MAP_H
#define SYMBOLIZE_ELF_ADDRESS_MAP_H

#include <stddef.h>
#include <stdint.h>

#define ADDRESS_MAP_NONE UINT32_MAX /* no range holds the address */

struct address_map_range {
        uint64_t start, end; /* first address, first address after it */
        uint32_t value;
        uint32_t order; /* of adding */
};

struct address_map_segment {
        uint64_t start; /* up to the start of the next segment */
        uint32_t value; /* or ADDRESS_MAP_NONE for a gap */
};

struct address_map {
        struct address_map_range *ranges; /* heap; until the map is built */
        size_t n_ranges, ranges_capacity;
        struct address_map_segment *segments; /* heap, ascending */
        size_t n_segments, segments_capacity;
        uint32_t *buckets; /* heap; how many segments begin before each, and in all; NULL = none */
        uint32_t n_buckets;
        uint8_t bucket_shift; /* a bucket has 2^this addresses, counted from the first start */
};

void address_map_deinit(struct address_map *map);

/*
 * @end: the address after the last one.  A range that is empty or ends before it starts is left out.
 * Returns 0 or -ENOMEM.
 */
int address_map_add(struct address_map *map, uint64_t start, uint64_t end, uint32_t value);

/* Sorts the ranges and frees their list; nothing is added after that.  0 or -ENOMEM. */
int address_map_build(struct address_map *map);

/* The first address above @address at which a range begins or goes on; UINT64_MAX if there is none. */
uint64_t address_map_find_next(const struct address_map *map, uint64_t address);

/* The value of the innermost range that holds @address, or ADDRESS_MAP_NONE. */
uint32_t address_map_find(const struct address_map *map, uint64_t address);

#endif /* SYMBOLIZE_ELF_ADDRESS_MAP_H */
