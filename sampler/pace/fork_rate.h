/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/fork_rate.h - whether programs are being started, one after the other
 *
 * Way of the data:  perf_record (FORK) -> [fork_rate] -> kernel_side -> code_tables
 *
 * Builds, configure scripts and tests of shells start processes that end some milliseconds later, on
 * processors that have nothing to spare.  The recorder puts off what it can for these.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_PACE_FORK_RATE_H
#define SAMPLER_PACE_FORK_RATE_H

#include "sampler/pace/pace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: there were none. */
struct fork_rate {
        uint64_t latest_ns[PACE_FORKS_MANY];
};

/* A process was forked.  Those of several CPUs come in any order. */
void fork_rate_note(struct fork_rate *b, uint64_t time_ns);

/* Were there PACE_FORKS_MANY in the last PACE_FORKS_WINDOW_NS? */
bool fork_rate_is_high(const struct fork_rate *b, uint64_t now_ns);

#endif /* SAMPLER_PACE_FORK_RATE_H */
