/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/earlier_spaces.h - the mappings of a process as they were a moment ago
 *
 * Way of the data:  perf_record (MMAP2), code_images -> [earlier_spaces] -> zone_merge
 *
 * The events of a program are read some 25 ms after they were written, when the kernel's records are
 * applied already. A call stack that came with one is of the mappings of its own time: a library that was
 * unloaded may have left its place to another meanwhile.
 * Kept are the last EARLIER_SPACES_MAX changes that covered other mappings, execve among them.  A call stack
 * from before these has no mappings, so its functions have no names.
 * Used by the collector's thread.
 */
#ifndef SAMPLER_TRACKS_EARLIER_SPACES_H
#define SAMPLER_TRACKS_EARLIER_SPACES_H

#include "sampler/tracks/address_space.h"

#include <stddef.h>
#include <stdint.h>

#define EARLIER_SPACES_MAX 128
#define EARLIER_RANGES_MAX 65536 /* of a process, in all of them together: 2 MiB */

struct earlier_space {
        uint64_t until_ns; /* then it changed */
        struct address_space space;
};

/* Zero-initialised is empty and valid. */
struct earlier_spaces {
        struct earlier_space *items; /* heap, owned; the oldest first */
        size_t n_items, capacity;
        size_t n_ranges;            /* of all items */
        uint64_t forgotten_ns;      /* what was valid before is not known any more */
        struct address_space empty; /* stands for it */
};

void earlier_spaces_deinit(struct earlier_spaces *e);

/* @space was so until @until_ns; to be called before it changes.  Returns 0 or -ENOMEM. */
int earlier_spaces_keep(struct earlier_spaces *e, const struct address_space *space, uint64_t until_ns);

/* The mappings at @time_ns, borrowed until the next call of the above; NULL: they have not changed since. */
struct address_space *earlier_spaces_find(struct earlier_spaces *e, uint64_t time_ns);

#endif /* SAMPLER_TRACKS_EARLIER_SPACES_H */
