/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/ticks_aarch64.h - the virtual counter of the generic timer
 *
 * Way of the data:  counter of the CPU -> [ticks_aarch64] -> ticks
 */
#ifndef INSTRUMENT_CLIENT_TICKS_AARCH64_H
#define INSTRUMENT_CLIENT_TICKS_AARCH64_H

#include "instrument/client_abi.h"

#include <stdint.h>

#define TICKS_COUNTER_KIND CLIENT_ABI_CLOCK_CNTVCT
#define TICKS_CLOCKSOURCE  "arch_sys_counter" /* the kernel's name for it */

static inline uint64_t ticks_counter(void)
{
        uint64_t ticks;

        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
}

#endif /* INSTRUMENT_CLIENT_TICKS_AARCH64_H */
