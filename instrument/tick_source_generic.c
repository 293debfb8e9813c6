/* SPDX-License-Identifier: MIT */
#include "instrument/tick_source.h"

#include "instrument/client_abi.h"

#if !defined(__x86_64__) && !defined(__aarch64__) && !(defined(__riscv) && __riscv_xlen == 64)

uint32_t tick_source_kind(void)
{
        return 0;
}

uint64_t tick_source_read(void)
{
        return 0;
}

#endif
