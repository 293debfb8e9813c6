/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/byte_order.h - numbers in the byte order of the ELF file that they are in
 *
 * Way of the data:  bytes of a file -> [byte_order] -> debug_sections, split_files, plt_table
 *
 * base/bytes.h is for hyprof's own formats, which are little endian.
 */
#ifndef SYMBOLIZE_ELF_BYTE_ORDER_H
#define SYMBOLIZE_ELF_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of @n_bytes bytes (8 at most) at @at, all of which are there. */
static inline uint64_t byte_order_read(const uint8_t *at, size_t n_bytes, bool is_big_endian)
{
        uint64_t v = 0;

        for (size_t i = 0; i < n_bytes; i++)
                v = v << 8 | at[is_big_endian ? i : n_bytes - 1 - i];
        return v;
}

#endif /* SYMBOLIZE_ELF_BYTE_ORDER_H */
