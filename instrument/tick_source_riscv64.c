/* SPDX-License-Identifier: MIT */
#include "instrument/tick_source.h"

#include "instrument/client_abi.h"

#if defined(__riscv) && __riscv_xlen == 64

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

#endif
