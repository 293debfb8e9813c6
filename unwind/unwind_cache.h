/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_cache.h - one module a file, however many processes have mapped it
 *
 * Way of the data:  unwind_module -> [unwind_cache] -> stack_walk
 *
 * The cache belongs to one thread; the modules that it hands out never change and
 * live as long as it does.  Its memory is bounded: a module that no longer fits is dropped and counted, and
 * its file has no table.  A file gets its id before its module is there.
 */
#ifndef UNWIND_UNWIND_CACHE_H
#define UNWIND_UNWIND_CACHE_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define UNWIND_CACHE_BYTES_MAX    (UINT64_C(1) << 28)
#define UNWIND_CACHE_MODULES_MAX  (UINT32_C(1) << 16)
#define UNWIND_CACHE_BUILD_ID_MAX 32 /* bytes of it that count; 20 is usual */

struct error;
struct unwind_module;

/* The identity of a file: the build-id if there is one, else all the rest. */
struct unwind_cache_key {
        uint8_t build_id[UNWIND_CACHE_BUILD_ID_MAX]; /* rest 0 */
        uint64_t build_id_bytes;                     /* 0 = it has none */
        uint64_t device, inode;
        uint64_t file_bytes;
        int64_t changed_ns; /* st_ctim */
};

struct unwind_cache {
        struct intern keys;
        struct unwind_module *
                *modules; /* heap; by id - 1; owned; an entry is NULL if there is none, or none yet */
        size_t modules_capacity;
        uint64_t n_bytes_max; /* of all modules */
        uint64_t n_bytes;
        uint32_t n_too_large; /* files that were left out because of the limit */
};

/* @n_bytes_max: 0 stands for UNWIND_CACHE_BYTES_MAX. */
void unwind_cache_init(struct unwind_cache *cache, uint64_t n_bytes_max);
void unwind_cache_deinit(struct unwind_cache *cache);

/*
 * The key of a file: the first one takes the build-id alone, cut to UNWIND_CACHE_BUILD_ID_MAX; for a file
 * without a build-id, the second one takes what fstat(2) stated.
 */
struct unwind_cache_key unwind_cache_key_of_build_id(const void *build_id, size_t n_bytes);
struct unwind_cache_key unwind_cache_key_of_file(uint64_t device, uint64_t inode, uint64_t file_bytes,
                                                 int64_t changed_ns);

/* The id of a file that was added, or 0. */
uint32_t unwind_cache_find(const struct unwind_cache *cache, const struct unwind_cache_key *key);

/*
 * unwind_cache_add() - the id of a file, new or known; from 1 on, without gaps
 * Returns 1 if it is new, 0 if it was known, -ENOMEM, -EOVERFLOW for too many files.
 */
int unwind_cache_add(struct unwind_cache *cache, const struct unwind_cache_key *key, uint32_t *ret_id,
                     struct error *err);

/*
 * unwind_cache_put() - the module of a file that has none yet
 * @module:  belongs to the cache from here on, also after a failure
 * Returns 0, or -EOVERFLOW if it is too large: the cache counts it, and the file stays without one.
 */
int unwind_cache_put(struct unwind_cache *cache, uint32_t id, struct unwind_module *module);

/* The module of a file, or NULL. */
const struct unwind_module *unwind_cache_get(const struct unwind_cache *cache, uint32_t id);

#endif /* UNWIND_UNWIND_CACHE_H */
