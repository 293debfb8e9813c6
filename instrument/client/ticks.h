/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/ticks.h - the time stamps of events
 *
 * Way of the data:  counter of the CPU, or kernel -> [ticks] -> events -> ring
 *
 * The CPU's own counter where the kernel itself trusts it as its clock, else
 * CLOCK_MONOTONIC_RAW.  Each architecture says how the counter is read and what
 * the kernel calls it.
 */
#ifndef INSTRUMENT_CLIENT_TICKS_H
#define INSTRUMENT_CLIENT_TICKS_H

#include "instrument/client_abi.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)

/* The time stamp counter. */
#define TICKS_COUNTER_KIND CLIENT_ABI_CLOCK_TSC
#define TICKS_CLOCKSOURCE  "tsc" /* the kernel's name for it */

static inline uint64_t ticks_counter(void)
{
        return __builtin_ia32_rdtsc();
}

#elif defined(__aarch64__)

/* The virtual counter of the generic timer. */
#define TICKS_COUNTER_KIND CLIENT_ABI_CLOCK_CNTVCT
#define TICKS_CLOCKSOURCE  "arch_sys_counter" /* the kernel's name for it */

static inline uint64_t ticks_counter(void)
{
        uint64_t ticks;

        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
}

#elif defined(__riscv) && __riscv_xlen == 64

/* The time register. */
#define TICKS_COUNTER_KIND CLIENT_ABI_CLOCK_RDTIME
#define TICKS_CLOCKSOURCE  "riscv_clocksource" /* the kernel's name for it */

static inline uint64_t ticks_counter(void)
{
        uint64_t ticks;

        __asm__ volatile("rdtime %0" : "=r"(ticks));
        return ticks;
}

#else

/* No counter: the kernel is asked. */
#define TICKS_COUNTER_KIND UINT32_MAX /* no clock: never chosen */
#define TICKS_CLOCKSOURCE  "none of them"

static inline uint64_t ticks_counter(void)
{
        return 0;
}

#endif

/* The clock for ticks_read() in this process: an enum client_abi_clock.  Reads two files; keeps errno. */
uint32_t ticks_choose_kind(void);

/*
 * CLOCK_MONOTONIC_RAW.  Not inline: it needs a stack frame, which callers that never get here should not pay
 * for.
 */
uint64_t ticks_kernel_ns(void);

/* The machine's time at @own_ns of ticks_kernel_ns(): they differ in a time namespace. */
uint64_t ticks_machine_ns(uint64_t own_ns);

/* True if ticks_read() reads ticks_counter().  Makes no call. */
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
