/* SPDX-License-Identifier: MIT */
/*
 * base/array.h - room in growing heap arrays
 *
 * Way of the data:  every unit that keeps a list -> [array]
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/*
 * array_reserve() - makes a heap array hold at least @wanted items
 * @items:       address of the array's pointer, of any type; NULL is an empty array
 * @capacity:    items that fit; grown at least twofold, so that adding one by one is linear
 * @item_bytes:  sizeof one item
 * Returns 0, or -ENOMEM and leaves the array as it was.  The caller frees the array.
 */
int array_reserve(void *items, size_t *capacity, size_t wanted, size_t item_bytes);

#endif /* BASE_ARRAY_H */
