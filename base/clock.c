/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include "base/namespace_clock.h"

int64_t clock_namespace_ns;

void clock_begin(void)
{
        clock_namespace_ns = namespace_clock_offset_ns();
}
