/* SPDX-License-Identifier: MIT */
#include "instrument/tick_clock.h"

#include "instrument/client_abi.h"

#if defined(__x86_64__)

uint32_t tick_source_kind(void)
{
        return CLIENT_ABI_CLOCK_TSC;
}

uint64_t tick_source_read(void)
{
        __builtin_ia32_lfence(); /* keeps the counter from being read early, among the instructions before */
        return __builtin_ia32_rdtsc();
}

#elif defined(__aarch64__)

uint32_t tick_source_kind(void)
{
        return CLIENT_ABI_CLOCK_CNTVCT;
}

uint64_t tick_source_read(void)
{
        uint64_t ticks;

        __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
        return ticks;
}

#elif defined(__riscv) && __riscv_xlen == 64

uint32_t tick_source_kind(void)
{
        return CLIENT_ABI_CLOCK_RDTIME;
}

uint64_t tick_source_read(void)
{
        uint64_t ticks;

        __asm__ volatile("fence\n\trdtime %0" : "=r"(ticks) : : "memory");
        return ticks;
}

#else

uint32_t tick_source_kind(void)
{
        return 0;
}

uint64_t tick_source_read(void)
{
        return 0;
}

#endif
