/* SPDX-License-Identifier: MIT */
/*
 * base/intern.h - equal items get equal, dense ids
 *
 * Way of the data:  sampler, reader -> [intern] -> trace_dictionary, analyze
 *
 * Items are either all of one length (structs without padding, compared as
 * bytes) or byte strings of any length.  Ids count from 1 in the order of
 * arrival; 0 means "none".  Two ways in: intern_add() looks for an equal item
 * first, intern_append() does not (a reader that trusts its file's ids saves
 * the hash table).  Not thread-safe.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#define INTERN_ITEMS_MAX (UINT32_C(1) << 28)

struct intern {
        size_t item_bytes; /* of each item; 0 = strings of any length */
        uint32_t n_items;
        uint32_t n_items_max;   /* more of them are -EOVERFLOW */
        size_t items_bytes_max; /* more bytes of items are -EOVERFLOW; 0 = no limit */

        uint8_t *items; /* heap; one after the other, aligned to 8 if item_bytes is a multiple of 8 */
        size_t items_used_bytes, items_capacity_bytes;
        size_t *ends; /* strings only: where item i + 1 ends in `items` */
        size_t ends_capacity;

        /* Heap; open addressing: an item's hash in the upper half, its id in the lower; 0 for empty. */
        uint64_t *slots;
        size_t n_slots;     /* a power of two, or 0 before the first intern_add() */
        uint32_t n_hashed;  /* the items 1 .. n_hashed are in `slots` */
        uint32_t n_emptied; /* of these; emptied before they were, they are not */
};

/* @n_items_max: at most INTERN_ITEMS_MAX; 0 stands for that. */
void intern_init(struct intern *t, size_t item_bytes, uint32_t n_items_max);
void intern_deinit(struct intern *t);

/*
 * intern_add() - the id of an item, new or known
 * @bytes:   copied; @n_bytes equals `item_bytes` unless that is 0
 * @ret_id:  the id
 * Returns 1 if it is new, 0 if it was known, -ENOMEM, -EOVERFLOW.  Amortised constant time.
 */
int intern_add(struct intern *t, const void *bytes, size_t n_bytes, uint32_t *ret_id);

/*
 * intern_add_row() - the same for items of one length that each have a row in an array, at their id - 1
 * @rows, @capacity, @row_bytes:  of the array, as for array_reserve(); a new row is zero
 */
int intern_add_row(struct intern *t, const void *item, void *rows, size_t *capacity, size_t row_bytes,
                   uint32_t *ret_id);

/*
 * intern_add_new() - as intern_add(), for an item that the caller knows to be new
 * Compares nothing, so the processor need not wait for the table.  If the caller is wrong, one item has two
 * ids.
 */
int intern_add_new(struct intern *t, const void *bytes, size_t n_bytes, uint32_t *ret_id);

/* The id of an item, or 0 if it is not there.  Items that came by intern_append() alone are not found. */
uint32_t intern_find(const struct intern *t, const void *bytes, size_t n_bytes);

/*
 * Adds an item without looking for an equal one: it gets the id n_items + 1.  Returns 0, -ENOMEM or
 * -EOVERFLOW.
 */
int intern_append(struct intern *t, const void *bytes, size_t n_bytes);

/*
 * intern_empty() - takes the bytes of @n strings from @first_id on away, whose ids stay in use
 * They are not found any more; an empty string must not be looked for from then on.
 */
void intern_empty(struct intern *t, uint32_t first_id, uint32_t n);

/*
 * The item with @id, in 1 .. n_items; borrowed, valid until the next add.
 * @ret_bytes: its length, may be NULL.
 */
const void *intern_get(const struct intern *t, uint32_t id, size_t *ret_bytes);

#endif /* BASE_INTERN_H */
