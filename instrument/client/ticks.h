/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/ticks.h - the time stamps of events
 *
 * Way of the data:  counter of the CPU, or kernel -> [ticks] -> events -> ring
 *
 * The CPU's own counter where the kernel itself trusts it as its clock, else
 * CLOCK_MONOTONIC_RAW.  One small header for each architecture says how the
 * counter is read and what the kernel calls it.
 */
#ifndef INSTRUMENT_CLIENT_TICKS_H
#define INSTRUMENT_CLIENT_TICKS_H

#if defined(__x86_64__)
#include "instrument/client/ticks_x86_64.h"
#elif defined(__aarch64__)
#include "instrument/client/ticks_aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "instrument/client/ticks_riscv64.h"
#else
#include "instrument/client/ticks_generic.h"
#endif

#include <stdbool.h>
#include <stdint.h>

/* The clock for ticks_read() in this process: an enum client_abi_clock.  Reads two files; keeps errno. */
uint32_t ticks_choose_kind(void);

/*
 * CLOCK_MONOTONIC_RAW.  Not inline: it needs a stack frame, which callers that never get here should not pay
 * for.
 */
uint64_t ticks_kernel_ns(void);

/* The machine's time at @own_ns of ticks_kernel_ns(): they differ in a time namespace. */
uint64_t ticks_machine_ns(uint64_t own_ns);

/* True if ticks_counter() is what ticks_read() reads: without a call, or a reason for one. */
static inline bool ticks_are_counted(uint32_t kind)
{
        return __builtin_expect(kind == TICKS_COUNTER_KIND, 1) != 0;
}

/* Now, in the ticks of @kind.  Async-signal-safe. */
static inline uint64_t ticks_read(uint32_t kind)
{
        return ticks_are_counted(kind) ? ticks_counter() : ticks_machine_ns(ticks_kernel_ns());
}

#endif /* INSTRUMENT_CLIENT_TICKS_H */
