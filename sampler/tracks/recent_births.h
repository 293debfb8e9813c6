/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/recent_births.h - are programs being started, one after the other?
 *
 * Way of the data:  perf_record (FORK) -> [recent_births] -> kernel_side -> code_tables
 *
 * Builds, configure scripts and tests of shells start processes that end some milliseconds later, on
 * processors that have nothing to spare.  The recorder puts off what it can for these.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_TRACKS_RECENT_BIRTHS_H
#define SAMPLER_TRACKS_RECENT_BIRTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECENT_BIRTHS_MANY 2
#define RECENT_BIRTHS_NS   UINT64_C(500000000)

/* All zero: there were none. */
struct recent_births {
        uint64_t latest_ns[RECENT_BIRTHS_MANY];
};

/* A process was born.  Those of several CPUs come in any order. */
void recent_births_note(struct recent_births *b, uint64_t time_ns);

/* Were there RECENT_BIRTHS_MANY in the last RECENT_BIRTHS_NS? */
bool recent_births_are_many(const struct recent_births *b, uint64_t now_ns);

#endif /* SAMPLER_TRACKS_RECENT_BIRTHS_H */
