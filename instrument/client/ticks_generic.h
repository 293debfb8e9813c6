/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/ticks_generic.h - no counter: the kernel is asked
 *
 * Way of the data:  [ticks_generic] -> ticks
 */
#ifndef INSTRUMENT_CLIENT_TICKS_GENERIC_H
#define INSTRUMENT_CLIENT_TICKS_GENERIC_H

#include <stdint.h>

#define TICKS_COUNTER_KIND UINT32_MAX /* no clock: never chosen */
#define TICKS_CLOCKSOURCE  "none of them"

static inline uint64_t ticks_counter(void)
{
        return 0;
}

#endif /* INSTRUMENT_CLIENT_TICKS_GENERIC_H */
