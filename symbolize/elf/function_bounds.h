/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/function_bounds.h - where functions begin and end, by the unwind information of an image
 *
 * Way of the data:  frame_sections, cfi_section -> [function_bounds] -> symbol_table, module_symbols
 *
 * Each entry of .eh_frame or .debug_frame describes one piece of code: a function, or a part of one that the
 * compiler put elsewhere.  A stripped file keeps them, so its functions can be told apart without names.
 * An object belongs to one thread at a time.
 */
#ifndef SYMBOLIZE_ELF_FUNCTION_BOUNDS_H
#define SYMBOLIZE_ELF_FUNCTION_BOUNDS_H

#include "symbolize/elf/address_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNCTION_BOUNDS_MAX (UINT32_C(1) << 22) /* further entries are left out */

struct elf_image;

struct function_bound {
        uint64_t start_svma, end_svma; /* end is the first address after it */
};

/* Zero-initialised is empty and valid. */
struct function_bounds {
        struct function_bound *rows; /* heap */
        size_t n_rows, rows_capacity;
        struct address_map ranges; /* values are places in `rows` */
        bool is_loaded;
};

/*
 * Entries outside of the image's code are left out; the second call does nothing.  Returns 0, also if there
 * are none, or -ENOMEM, which leaves them empty.
 */
int function_bounds_load(struct function_bounds *bounds, const struct elf_image *image);
void function_bounds_deinit(struct function_bounds *bounds);

/* The first address above @svma at which an entry begins or goes on; UINT64_MAX if there is none. */
uint64_t function_bounds_find_next(const struct function_bounds *bounds, uint64_t svma);

/* The entry that holds @svma, or NULL. */
const struct function_bound *function_bounds_find(const struct function_bounds *bounds, uint64_t svma);

#endif /* SYMBOLIZE_ELF_FUNCTION_BOUNDS_H */
