/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/plt_slots.h - which function a slot of the GOT is for
 *
 * Way of the data:  relocations of an elf_image -> [plt_slots] -> plt_table
 */
#ifndef SYMBOLIZE_ELF_PLT_SLOTS_H
#define SYMBOLIZE_ELF_PLT_SLOTS_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

struct plt_slot {
        uint64_t svma;
        uint64_t addend;
        uint32_t table;  /* section of the symbol table */
        uint32_t symbol; /* in it; 0 = the addend is the address of a resolver */
};

/* All zero is empty. */
struct plt_slots {
        struct plt_slot *slots; /* heap, by `svma` */
        size_t n_slots, slots_capacity;
        uint64_t *order; /* heap: slots as the relocations of the PLT have them */
        size_t n_order, order_capacity;
};

/* Returns 0 or -ENOMEM. */
int plt_slots_load(struct plt_slots *slots, Elf *elf);

void plt_slots_deinit(struct plt_slots *slots);

/* NULL if nothing is known of it. */
const struct plt_slot *plt_slots_find(const struct plt_slots *slots, uint64_t svma);

#endif /* SYMBOLIZE_ELF_PLT_SLOTS_H */
