/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_inside.h - the zones inside of an instance that is open, added up by location
 *
 * Way of the data:  trace_walk -> [why_inside] -> why_collector
 *
 * At most WHY_INSIDE_ZONES_MAX locations; zones of further ones are counted.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_INSIDE_H
#define ANALYZE_WHY_WHY_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#define WHY_INSIDE_ZONES_MAX (UINT32_C(1) << 16)

struct why_inside_zone {
        uint32_t location;
        uint64_t n, ns, ran_ns; /* how many, their durations, and their time on a CPU */
};

struct why_inside {
        struct why_inside_zone *zones; /* heap; as they came */
        size_t n_zones, capacity;
        uint32_t *slots; /* heap; by a hash of the location: the number of the zone, from 1 on; 0 = empty */
        size_t n_slots;
        uint64_t n_left_out;
};

/* Zero-initialised is empty and valid. */
void why_inside_deinit(struct why_inside *s);

/* Nothing happened yet; keeps the memory. */
void why_inside_clear(struct why_inside *s);

/* One more zone.  Amortised constant time.  Returns 0 or -ENOMEM. */
int why_inside_add(struct why_inside *s, uint32_t location, uint64_t ns, uint64_t ran_ns);

#endif /* ANALYZE_WHY_WHY_INSIDE_H */
