/* SPDX-License-Identifier: MIT */
#include "instrument/tick_source.h"

#include "instrument/client_abi.h"

#if defined(__aarch64__)

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

#endif
