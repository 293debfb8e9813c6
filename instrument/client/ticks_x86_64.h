/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/ticks_x86_64.h - the time stamp counter
 *
 * Way of the data:  counter of the CPU -> [ticks_x86_64] -> ticks
 */
#ifndef INSTRUMENT_CLIENT_TICKS_X86_64_H
#define INSTRUMENT_CLIENT_TICKS_X86_64_H

#include "instrument/client_abi.h"

#include <stdint.h>

#define TICKS_COUNTER_KIND CLIENT_ABI_CLOCK_TSC
#define TICKS_CLOCKSOURCE  "tsc" /* the kernel's name for it */

static inline uint64_t ticks_counter(void)
{
        return __builtin_ia32_rdtsc();
}

#endif /* INSTRUMENT_CLIENT_TICKS_X86_64_H */
