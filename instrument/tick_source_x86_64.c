/* SPDX-License-Identifier: MIT */
#include "instrument/tick_source.h"

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

#endif
