/* SPDX-License-Identifier: MIT */
/*
 * base/array.h - room in growing heap arrays, and places in sorted ones
 *
 * Way of the data:  every unit that keeps a list -> [array]
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/*
 * array_reserve() - makes a heap array hold at least @wanted items
 * @items:       address of the array's pointer, of any type; NULL is an empty array
 * @capacity:    items that fit; grown at least twofold, so that adding one by one is linear
 * @item_bytes:  sizeof one item
 * Returns 0, or -ENOMEM and leaves the array as it was.  The caller frees the array.
 */
int array_reserve(void *items, size_t *capacity, size_t wanted, size_t item_bytes);

/*
 * array_extend() - as array_reserve(), and makes the items from @n_items up to @wanted zero
 * @n_items:  how many there are; the caller adds the new ones to its count
 */
int array_extend(void *items, size_t *capacity, size_t n_items, size_t wanted, size_t item_bytes);

/*
 * array_reach() - makes an array hold at least @wanted items: new items are zero, and @n_items counts them
 * Returns 0, or -ENOMEM and leaves the array as it was.
 */
int array_reach(void *items, size_t *capacity, uint32_t *n_items, uint32_t wanted, size_t item_bytes);

/*
 * array_count_to() - counts the items of a sorted array whose key, a uint64_t, is at most @value
 * @field_at:  offsetof() of the key
 * Logarithmic time.
 */
size_t array_count_to(const void *items, size_t n_items, size_t item_bytes, size_t field_at, uint64_t value);

#endif /* BASE_ARRAY_H */
