/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/sampled_places.h - executable memory that samples fall into, and how often it was looked at
 *
 * Way of the data:  kernel_side -> code_images -> [sampled_places] -> code_images
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_EVENTS_SAMPLED_PLACES_H
#define SAMPLER_EVENTS_SAMPLED_PLACES_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define SAMPLED_PLACES_MAX       65536 /* stretches that are remembered; others are never due */
#define SAMPLED_PLACES_LOOKS_MAX 4     /* at the 1st, 8th, 64th, ... sample */

struct sampled_place;

struct sampled_places {
        struct intern stretches;
        struct sampled_place *places; /* heap; by the id in `stretches` - 1 */
        size_t capacity;
};

void sampled_places_init(struct sampled_places *s);
void sampled_places_deinit(struct sampled_places *s);

/* Counts a sample.  Returns 1 if the memory is to be looked at, 0, -ENOMEM. */
int sampled_places_is_due(struct sampled_places *s, uint32_t pid, uint64_t start_avma);

/* An image was found there: the next program's code is as good as this one's. */
void sampled_places_restart(struct sampled_places *s, uint32_t pid, uint64_t start_avma);

#endif /* SAMPLER_EVENTS_SAMPLED_PLACES_H */
