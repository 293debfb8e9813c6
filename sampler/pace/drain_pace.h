/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/drain_pace.h - how long the collector may sleep before the rings of programs fill
 *
 * Way of the data:  zone_source -> [drain_pace] -> recorder
 *
 * From what came out of each ring in a cycle follows when it would be half
 * full: so threads that write stay in their rings, which are in the caches.  A
 * program that rests may begin at any moment, but what it cannot write into its
 * ring then goes into spare memory, of which there is enough for a long rest.
 */
#ifndef SAMPLER_PACE_DRAIN_PACE_H
#define SAMPLER_PACE_DRAIN_PACE_H

#include <stdint.h>

struct drain_pace {
        uint64_t begun_ns;   /* when this cycle began */
        uint64_t elapsed_ns; /* since the cycle before began */
        uint64_t rest_ns;    /* of all rings so far, the shortest */
};

void drain_pace_init(struct drain_pace *p); /* zeroes */

/* A cycle begins.  The rest after it is at most twice that after the one before: programs work in bursts. */
void drain_pace_begin(struct drain_pace *p, uint64_t now_ns);

/*
 * A ring of @ring_bytes, beyond which its thread can go on in @spare_bytes, has given @n_bytes in this cycle.
 */
void drain_pace_add(struct drain_pace *p, uint64_t ring_bytes, uint64_t spare_bytes, uint64_t n_bytes);

/* There is more to do at once. */
void drain_pace_hurry(struct drain_pace *p);

/* How long to sleep now; 0 = not at all. */
uint64_t drain_pace_rest_ns(const struct drain_pace *p);

#endif /* SAMPLER_PACE_DRAIN_PACE_H */
