/* SPDX-License-Identifier: MIT */
/*
 * base/boot_number.h - the boot id of a machine as a number
 *
 * Way of the data:  /proc/sys/kernel/random/boot_id, META -> [boot_number] -> EXCHANGES; merge_exchange
 */
#ifndef BASE_BOOT_NUMBER_H
#define BASE_BOOT_NUMBER_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

/* 128 bits; all 0 = unknown. */
struct boot_number {
        uint64_t high, low;
};

/* @id:  "3f0c91d2-...": 32 hexadecimal digits, with or without dashes; anything else is unknown */
struct boot_number boot_number_of(struct text_view id);

static inline bool boot_number_is_known(struct boot_number n)
{
        return (n.high | n.low) != 0;
}

static inline bool boot_number_is_equal(struct boot_number a, struct boot_number b)
{
        return a.high == b.high && a.low == b.low;
}

#endif /* BASE_BOOT_NUMBER_H */
