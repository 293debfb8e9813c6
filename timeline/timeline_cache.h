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

#define TIMELINE_CACHE_BYTES_MAX \
        (UINT64_C(4) << 30) /* of the folder; an index that is larger than that is not kept */

struct timeline_cache {
        struct kept_folder folder;
        uint64_t bytes_max; /* set by timeline_cache_open() to TIMELINE_CACHE_BYTES_MAX */
};

/* As kept_folder_open(). */
int timeline_cache_open(struct timeline_cache *c, const char *folder, uint32_t uid, uint32_t gid,
                        struct error *err);
void timeline_cache_close(struct timeline_cache *c);

/*
 * timeline_cache_load() - the index that was kept of a trace
 * @ret_index:  to be deinitialised if 1 is returned
 * Returns 1, or 0 if there is none, or one that is old or damaged: then it is removed.
 */
int timeline_cache_load(const struct timeline_cache *c, const struct timeline_identity *identity,
                        struct timeline_index *ret_index);

/* Removes it: for who finds later that a page is damaged (-EBADMSG). */
void timeline_cache_forget(const struct timeline_cache *c, const struct timeline_identity *identity);

/*
 * timeline_cache_make() - the index of a trace, from the cache or made, saved and kept there
 * @c:  NULL = there is no cache: the index lies in a file without a name, in $TMPDIR
 * A cache that cannot be written makes no difference but the next time.  Until the end,
 * `ret_index` is of no use.
 * Returns 1 if it was made now, 0 if it was found, -ECANCELED, what timeline_builder_build() returns.  To be
 * deinitialised in any case.
 */
int timeline_cache_make(const struct timeline_cache *c, const struct timeline_identity *identity,
                        struct loaded_trace *trace, const struct timeline_build_options *options,
                        struct timeline_index *ret_index, struct error *err);

/*
 * The same in two processes, for one that may not change files when it has begun to read the trace:
 *
 * timeline_cache_begin()  a file for a new index; @number tells those that are made at a time apart.
 *                         Its descriptor, for timeline_index_init(), or -errno
 * timeline_cache_end()    after timeline_directory_save(): it is found from now on, or goes if it is not
 *                         good
 */
int timeline_cache_begin(const struct timeline_cache *c, const struct timeline_identity *identity,
                         long number, struct error *err);
void timeline_cache_end(const struct timeline_cache *c, const struct timeline_identity *identity, long number,
                        bool is_good);

#endif /* TIMELINE_TIMELINE_CACHE_H */
