/* SPDX-License-Identifier: MIT */
/*
 * sampler/recent_mappings.h - where memory was made executable of late
 *
 * Way of the data:  perf_record (MMAP2) -> [recent_mappings] -> code_images
 *
 * Who looks into a process because of a record sees what is there when it looks.
 * If the same memory was made executable once more in between, it may be something
 * else than what the record told of.
 */
#ifndef SAMPLER_RECENT_MAPPINGS_H
#define SAMPLER_RECENT_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECENT_MAPPINGS_MAX 1024 /* the latest that were added; older ones are forgotten */

struct recent_mapping {
        uint64_t start_avma, end_avma;
        uint64_t time_ns;
        uint32_t pid;
};

/* All zero is empty. */
struct recent_mappings {
        struct recent_mapping mappings[RECENT_MAPPINGS_MAX];
        size_t n_added;
};

void recent_mappings_add(struct recent_mappings *r, const struct recent_mapping *mapping);

/* Was any of @memory made executable after @memory->time_ns, up to @until_ns? */
bool recent_mappings_have_newer(const struct recent_mappings *r, const struct recent_mapping *memory,
                                uint64_t until_ns);

/* When was any of @memory made executable last, up to @until_ns?  0 = that is not known. */
uint64_t recent_mappings_find_last_ns(const struct recent_mappings *r, const struct recent_mapping *memory,
                                      uint64_t until_ns);

/* What recent_mappings_have_newer() says, of one mapping. */
bool recent_mapping_is_newer(const struct recent_mapping *mapping, const struct recent_mapping *memory,
                             uint64_t until_ns);

#endif /* SAMPLER_RECENT_MAPPINGS_H */
