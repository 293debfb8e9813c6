/* SPDX-License-Identifier: MIT */
/*
 * import/iree/iree_allocations.h - which allocations of an IREE profile live, and how long each is
 *
 * Way of the data:  iree_model -> [iree_allocations]
 *
 * By the id of its life: addresses are used again, and the end of an allocation need not say its length.
 * Not thread-safe.  Constant time; 32 bytes for each that lives, at most IREE_ALLOCATIONS_MAX.
 */
#ifndef IMPORT_IREE_ALLOCATIONS_H
#define IMPORT_IREE_ALLOCATIONS_H

#include <stddef.h>
#include <stdint.h>

#define IREE_ALLOCATIONS_MAX (UINT32_C(1) << 20)

struct iree_allocation {
        uint64_t id;
        uint32_t device, memory; /* enum iree_memory */
        uint64_t n_bytes;
        uint32_t is_used;
};

/* Zero-initialised is empty and valid. */
struct iree_allocations {
        struct iree_allocation *slots; /* heap; open addressing, half full at most */
        size_t n_slots, n_used;
};

void iree_allocations_deinit(struct iree_allocations *a);
void iree_allocations_clear(struct iree_allocations *a);

/* Returns 0; 1 if one with this id lived, whose length is in @ret_before; -EOVERFLOW; or -ENOMEM. */
int iree_allocations_add(struct iree_allocations *a, const struct iree_allocation *allocation,
                         uint64_t *ret_before);

/* Ends one.  Returns 1 and its length, or 0 if none with this id lives. */
int iree_allocations_take(struct iree_allocations *a, const struct iree_allocation *allocation,
                          uint64_t *ret_n_bytes);

#endif /* IMPORT_IREE_ALLOCATIONS_H */
