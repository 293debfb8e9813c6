/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/ticks_riscv64.h - the time register
 *
 * Way of the data:  counter of the CPU -> [ticks_riscv64] -> ticks
 */
#ifndef INSTRUMENT_CLIENT_TICKS_RISCV64_H
#define INSTRUMENT_CLIENT_TICKS_RISCV64_H

#include "instrument/client_abi.h"

#include <stdint.h>

#define TICKS_COUNTER_KIND CLIENT_ABI_CLOCK_RDTIME
#define TICKS_CLOCKSOURCE  "riscv_clocksource" /* the kernel's name for it */

static inline uint64_t ticks_counter(void)
{
        uint64_t ticks;

        __asm__ volatile("rdtime %0" : "=r"(ticks));
        return ticks;
}

#endif /* INSTRUMENT_CLIENT_TICKS_RISCV64_H */
