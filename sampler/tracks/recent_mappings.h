/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/recent_mappings.h - where memory was made executable of late
 *
 * Way of the data:  ring_watch -> perf_record (MMAP2) -> [recent_mappings] -> code_images
 *
 * A look into a process because of a record sees the state at the time of the look.  If the same memory was
 * made executable once more in between, it may have other contents than the record reported.  The kernel
 * reports that before the program can run on, so all of it is in the rings when they are examined after the
 * process: they are gone through here by a position of their own, ahead of the reader of the records.
 *
 * Used by the thread that takes the records.
 */
#ifndef SAMPLER_TRACKS_RECENT_MAPPINGS_H
#define SAMPLER_TRACKS_RECENT_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECENT_MAPPINGS_MAX 4096 /* the latest that were added; older ones are forgotten */

struct event_set;
struct perf_record_layout;
struct ring_watch;

struct recent_mapping {
        uint64_t start_avma, end_avma;
        uint64_t time_ns;
        uint32_t pid;
};

/* All zero is empty, and has no rings. */
struct recent_mappings {
        struct recent_mapping mappings[RECENT_MAPPINGS_MAX];
        size_t n_added;
        uint64_t forgotten_ns;                   /* the latest time of those that are forgotten */
        const struct perf_record_layout *layout; /* borrowed, as the rings */
        struct ring_watch *watches;              /* heap, owned: of the rings that report mappings */
        size_t n_watches;
};

/*
 * recent_mappings_init() - will look into the tracker's rings of @events
 * @events:  borrowed; rings may be mapped later
 * Returns 0 or -ENOMEM.
 */
int recent_mappings_init(struct recent_mappings *r, const struct event_set *events);
void recent_mappings_deinit(struct recent_mappings *r);

/* Takes in the new records of the rings.  To be called before records are given back to the kernel. */
void recent_mappings_look(struct recent_mappings *r);

void recent_mappings_add(struct recent_mappings *r, const struct recent_mapping *mapping);

/*
 * Was any of @memory made executable after @memory->time_ns, up to @until_ns?  True as
 * well if that is forgotten.
 */
bool recent_mappings_have_newer(const struct recent_mappings *r, const struct recent_mapping *memory,
                                uint64_t until_ns);

/*
 * When was any of @memory made executable last, up to @until_ns?  0 = that is not known, or may be forgotten.
 */
uint64_t recent_mappings_find_last_ns(const struct recent_mappings *r, const struct recent_mapping *memory,
                                      uint64_t until_ns);

#endif /* SAMPLER_TRACKS_RECENT_MAPPINGS_H */
