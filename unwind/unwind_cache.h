/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_cache.h - one module a file, however many processes have mapped it
 *
 * Way of the data:  unwind_module -> [unwind_cache] -> stack_walk
 *
 * The cache belongs to one thread; the modules that it hands out never change and
 * live as long as it does.  Its memory is bounded: what no longer fits is remembered
 * as a file without a table, and counted.
 */
#ifndef UNWIND_UNWIND_CACHE_H
#define UNWIND_UNWIND_CACHE_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define UNWIND_CACHE_BYTES_MAX    (UINT64_C(1) << 28)
#define UNWIND_CACHE_MODULES_MAX  (UINT32_C(1) << 16)
#define UNWIND_CACHE_BUILD_ID_MAX 32 /* bytes of it that count; 20 is usual */

struct elf_image;
struct error;
struct unwind_module;

/* What makes two files the same: the build-id if there is one, else all the rest. */
struct unwind_cache_key {
        uint8_t build_id[UNWIND_CACHE_BUILD_ID_MAX]; /* rest 0 */
        uint64_t build_id_bytes;                     /* 0 = it has none */
        uint64_t device, inode;
        uint64_t file_bytes;
        int64_t changed_ns; /* st_mtim */
};

struct unwind_cache {
        struct intern keys;
        struct unwind_module *
                *modules; /* heap; by id - 1; owned; an entry is NULL if the file tells nothing */
        size_t modules_capacity;
        uint64_t n_bytes_max; /* of all modules */
        uint64_t n_bytes;
        uint32_t n_too_large; /* files that were left out because of the limit */
        uint64_t n_built_ns;  /* spent in building */
};

/* @n_bytes_max: 0 stands for UNWIND_CACHE_BYTES_MAX. */
void unwind_cache_init(struct unwind_cache *cache, uint64_t n_bytes_max);
void unwind_cache_deinit(struct unwind_cache *cache);

/* The key of a file: by @build_id alone if @n_bytes is not 0 (cut to what counts), else by what fstat(2) said. */
struct unwind_cache_key unwind_cache_key_of_build_id(const void *build_id, size_t n_bytes);
struct unwind_cache_key unwind_cache_key_of_file(uint64_t device, uint64_t inode, uint64_t file_bytes,
                                                 int64_t changed_ns);

/*
 * unwind_cache_find() - has this file been seen?
 * Returns 1 with @ret_module (NULL if it tells nothing), 0 if not.
 */
int unwind_cache_find(const struct unwind_cache *cache, const struct unwind_cache_key *key,
                      const struct unwind_module **ret_module);

/*
 * unwind_cache_add() - the module of a file, built if it is new
 * @image:  needed during the call only; NULL = the file cannot be read, which is remembered
 * Returns 0, with NULL for a file that tells nothing; -ENOMEM, -EOVERFLOW for too many files.
 */
int unwind_cache_add(struct unwind_cache *cache, const struct unwind_cache_key *key,
                     const struct elf_image *image, const struct unwind_module **ret_module,
                     struct error *err);

#endif /* UNWIND_UNWIND_CACHE_H */
