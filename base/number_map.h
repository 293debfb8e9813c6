/* SPDX-License-Identifier: MIT */
/*
 * base/number_map.h - what has a number now, and which numbers were ever seen
 *
 * Way of the data:  numbers of threads and processes -> [number_map] -> process_table
 *
 * A number that is removed leaves nothing behind, so that a map takes memory for what is in it at a time; a
 * bitmap takes a bit for each number near one that was added.  Not thread-safe.
 */
#ifndef BASE_NUMBER_MAP_H
#define BASE_NUMBER_MAP_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_entry {
        uint32_t number;
        void *value; /* NULL = the slot is empty */
};

/* Zero-initialised: empty.  The values are the caller's. */
struct number_map {
        struct number_entry *slots; /* heap; open addressing, at most half full */
        size_t n_slots;             /* a power of two, or 0 */
        size_t n_items;
};

void number_map_deinit(struct number_map *m);

/* The value of a number; NULL = it has none. */
void *number_map_find(const struct number_map *m, uint32_t number);

/* Makes room for one more number.  Returns 0 or -ENOMEM. */
int number_map_reserve(struct number_map *m);

/* Gives a number that has none a value, not NULL; number_map_reserve() has made room. */
void number_map_put(struct number_map *m, uint32_t number, void *value);

/* Nothing happens if the number has no value. */
void number_map_remove(struct number_map *m, uint32_t number);

/* The next value from *@at on, which is 0 at first; NULL after the last.  Put or remove nothing meanwhile. */
void *number_map_next(const struct number_map *m, size_t *at);

/* A page of a bitmap. */
struct number_page {
        uint64_t words[64];
};

struct number_bitmap {
        struct intern pages;      /* by the upper bits of the numbers */
        struct number_page *bits; /* heap, owned: by the page's id - 1 */
        size_t capacity;
};

void number_bitmap_init(struct number_bitmap *s);
void number_bitmap_deinit(struct number_bitmap *s);

/* Returns 0 or -ENOMEM. */
int number_bitmap_add(struct number_bitmap *s, uint32_t number);
void number_bitmap_remove(struct number_bitmap *s, uint32_t number);
bool number_bitmap_has(const struct number_bitmap *s, uint32_t number);

#endif /* BASE_NUMBER_MAP_H */
