/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_cache.h - indexes in a folder, found again by the trace that they were made from
 *
 * Way of the data:  cli (the folder) -> [timeline_cache] -> timeline_directory, timeline_builder -> web
 *
 * One file a trace, named after its device and inode, so that an index of an older content is replaced.  The
 * folder has a bound; the indexes that were not used for the longest time go first.
 */
#ifndef TIMELINE_TIMELINE_CACHE_H
#define TIMELINE_TIMELINE_CACHE_H

#include "base/kept_folder.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_directory.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct timeline_index;

#define TIMELINE_CACHE_BYTES_MAX (UINT64_C(4) << 30) /* of the folder; a larger index is not kept */

struct timeline_cache {
        struct kept_folder folder;
        uint64_t bytes_max; /* set by timeline_cache_open() to TIMELINE_CACHE_BYTES_MAX */
};

/* As kept_folder_open(). */
int timeline_cache_open(struct timeline_cache *c, const char *folder, uint32_t uid, uint32_t gid,
                        struct error *err);
void timeline_cache_close(struct timeline_cache *c);

/*
 * timeline_cache_load() - the index of a trace that is in the cache
 * @ret_index:  to be deinitialised if 1 is returned
 * Returns 1, or 0 if there is none.  An old or damaged index is removed, and counts as none.
 */
int timeline_cache_load(const struct timeline_cache *c, const struct timeline_identity *identity,
                        struct timeline_index *ret_index);

/* Removes the index of a trace, for a caller that finds a damaged page in it later (-EBADMSG). */
void timeline_cache_forget(const struct timeline_cache *c, const struct timeline_identity *identity);

/*
 * timeline_cache_make() - the index of a trace, from the cache or made, saved and kept there
 * @c:  NULL = there is no cache: the index lies in a file without a name, in $TMPDIR
 * If the cache cannot be written, the next call makes the index again.  While the call runs, `ret_index` is
 * of no use.
 * Returns 1 if it was made now, 0 if it was found, -ECANCELED, what timeline_builder_build() returns.  To be
 * deinitialised in any case.
 */
int timeline_cache_make(const struct timeline_cache *c, const struct timeline_identity *identity,
                        struct loaded_trace *trace, const struct timeline_build_options *options,
                        struct timeline_index *ret_index, struct error *err);

/*
 * The same in two steps, for a process that may not change files once it has begun to read the trace:
 *
 * timeline_cache_begin()  makes a file for a new index; @number tells apart those made at the same time.
 *                         Returns its descriptor, for timeline_index_init(), or -errno
 * timeline_cache_end()    after timeline_directory_save(): the index is found from now on; it is removed
 *                         unless @is_good
 */
int timeline_cache_begin(const struct timeline_cache *c, const struct timeline_identity *identity,
                         long number, struct error *err);
void timeline_cache_end(const struct timeline_cache *c, const struct timeline_identity *identity, long number,
                        bool is_good);

#endif /* TIMELINE_TIMELINE_CACHE_H */
