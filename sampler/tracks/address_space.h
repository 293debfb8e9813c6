/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/address_space.h - the mappings of one process: the present ones, and those of a moment ago
 *
 * Way of the data:  perf_record (MMAP2), code_images -> [address_space] -> stack_builder, zone_merge
 *
 * The kernel reports mappings, but not unmappings: a later mapping covers an earlier one.  Records are
 * applied in the order of time, so that an address that is used twice means what it meant at that time.
 */
#ifndef SAMPLER_TRACKS_ADDRESS_SPACE_H
#define SAMPLER_TRACKS_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_range {
        uint64_t start_avma, end_avma; /* end is the first address after it */
        uint64_t file_offset_bytes;    /* of the byte at start_avma */
        uint32_t module;               /* id in the table MODULES */
};

struct address_space {
        struct address_range *ranges; /* heap, owned; sorted, none overlaps another */
        size_t n_ranges, capacity;
        /*
         * A user that caches facts about these addresses puts a number of its own here; 0 after each
         * change.  A copy has the number of its original: the same things lie at the same addresses.
         */
        uint64_t generation;
};

void address_space_init(struct address_space *s);
void address_space_deinit(struct address_space *s);

/* Forgets everything: a new program (execve). */
void address_space_clear(struct address_space *s);

/*
 * Puts @range in, cutting away what it covers of others.  Empty ranges are ignored, and so are ranges that
 * are there already: then nothing has changed.  Returns 0 or -ENOMEM.
 */
int address_space_add(struct address_space *s, const struct address_range *range);

/* Whether address_space_add() would cover mappings that are there now. */
bool address_space_covers(const struct address_space *s, const struct address_range *range);

/* Makes @s a copy of @from (fork).  Returns 0 or -ENOMEM, with @s empty. */
int address_space_copy(struct address_space *s, const struct address_space *from);

/* Do both have the same mappings? */
bool address_space_is_same(const struct address_space *s, const struct address_space *other);

/* Is any range between these addresses? */
bool address_space_overlaps(const struct address_space *s, uint64_t start_avma, uint64_t end_avma);

/* The range that contains @avma, or NULL. */
const struct address_range *address_space_find(const struct address_space *s, uint64_t avma);

/* ------------------------------------------------------------------ as they were a moment ago */

/*
 * The events of a program are read some 25 ms after they were written, when the kernel's records are
 * applied already.  A call stack that came with one needs the mappings of its own time: a library that was
 * unloaded may have left its place to another meanwhile.  The last EARLIER_SPACES_MAX changes that covered
 * other mappings are kept, execve among them.  A call stack from before these has no mappings, so its
 * functions have no names.
 * Used by the collector's thread.
 */

#define EARLIER_SPACES_MAX 128
#define EARLIER_RANGES_MAX 65536 /* ranges of a process, in all kept spaces together: 2 MiB */

struct earlier_space {
        uint64_t until_ns; /* then it changed */
        struct address_space space;
};

/* Zero-initialised is empty and valid. */
struct earlier_spaces {
        struct earlier_space *items; /* heap, owned; the oldest first */
        size_t n_items, capacity;
        size_t n_ranges;            /* of all items */
        uint64_t forgotten_ns;      /* the mappings before this time are not known any more */
        struct address_space empty; /* stands for it */
};

void earlier_spaces_deinit(struct earlier_spaces *e);

/* @space was as it is now until @until_ns; to be called before it changes.  Returns 0 or -ENOMEM. */
int earlier_spaces_keep(struct earlier_spaces *e, const struct address_space *space, uint64_t until_ns);

/*
 * The mappings at @time_ns, borrowed until the next call of earlier_spaces_keep(); NULL = they have not
 * changed since.
 */
struct address_space *earlier_spaces_find(struct earlier_spaces *e, uint64_t time_ns);

#endif /* SAMPLER_TRACKS_ADDRESS_SPACE_H */
