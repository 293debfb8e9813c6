/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/host_clocks.h - the clocks of this machine against CLOCK_MONOTONIC_RAW, the clock of traces
 *
 * Way of the data:  kernel, counter of the processor -> [host_clocks] -> table CLOCKS; monotonic_clock
 *
 * Other tools stamp with CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME or the processor's counter.  What
 * they were against the trace's clock can only be read while it is recorded: the kernel slews and sets them.
 */
#ifndef SAMPLER_KERNEL_HOST_CLOCKS_H
#define SAMPLER_KERNEL_HOST_CLOCKS_H

#include "format/trace_rows.h"
#include "format/trace_spec.h"

#include <stdbool.h>

struct trace_dictionary;

/*
 * host_clocks_read() - read the clock of @kind now, between two readings of CLOCK_MONOTONIC_RAW
 * A reading that was disturbed is repeated; error_ns is half of the time between the two, rounded up.  In a
 * time namespace times are the machine's.  Takes about 100 ns; under 1 us where it was disturbed.
 * Returns false for a clock that this machine does not have, or whose offset in a time namespace is unknown.
 */
bool host_clocks_read(enum trace_clock_kind kind, struct trace_clock *ret_row);

/*
 * host_clocks_add() - read MONOTONIC, REALTIME, BOOTTIME and the processor's counter into the table CLOCKS
 * Takes about 1 us.  Returns 0, also when the table is full; -ENOMEM.
 */
int host_clocks_add(struct trace_dictionary *dictionary);

#endif /* SAMPLER_KERNEL_HOST_CLOCKS_H */
