/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/monotonic_clock.h"

#include "instrument/tick_clock.h"
#include "sampler/kernel/host_clocks.h"

void monotonic_clock_pair(struct tick_clock *clock)
{
        struct trace_clock row;

        if (host_clocks_read(TRACE_CLOCK_MONOTONIC, &row))
                tick_clock_add(clock, row.ticks, row.raw_ns, row.error_ns);
}
