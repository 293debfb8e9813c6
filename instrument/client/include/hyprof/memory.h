/* SPDX-License-Identifier: MIT */
/*
 * hyprof/memory.h - what a program allocates and frees
 *
 * Way of the data:  program -> [memory.h] -> libhyprof -> shared memory -> hyprof record
 *
 * An address is known within its pool: NULL, the main one, or a named one for an allocator of the program's
 * own.  Freeing memory that was never allocated, or allocating twice, is counted by the reader and harmless.
 *
 * Cost while recording: one time stamp; 24 bytes for an allocation, 16 for a free.
 *
 * Included by <hyprof/hyprof.h>.
 */
#ifndef HYPROF_MEMORY_H
#define HYPROF_MEMORY_H

#include "location.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The slow halves of the functions below; call those instead. */
HYPROF_NOT_FOLLOWED_(2)
HYPROF_API_ void hyprof_emit_memory_alloc(struct hyprof_location *pool, const void *address, size_t bytes,
                                          uint32_t depth);
HYPROF_NOT_FOLLOWED_(2)
HYPROF_API_ void hyprof_emit_memory_free(struct hyprof_location *pool, const void *address, uint32_t depth);
HYPROF_API_ void hyprof_emit_memory_discard(struct hyprof_location *pool);

/*
 * @address: any number that names the memory, never followed.  Call hyprof_memory_alloc() after the
 *           allocation, and hyprof_memory_free() before the free.
 */
HYPROF_NOT_FOLLOWED_(2)
static inline void hyprof_memory_alloc(struct hyprof_location *pool, const void *address, size_t bytes)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_)))
                hyprof_emit_memory_alloc(pool, address, bytes, 0);
}

HYPROF_NOT_FOLLOWED_(2)
static inline void hyprof_memory_free(struct hyprof_location *pool, const void *address)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_)))
                hyprof_emit_memory_free(pool, address, 0);
}

/* The same with the callstack that led here, of @depth frames at most; see hyprof_zone_begin_callstack(). */
HYPROF_NOT_FOLLOWED_(2)
static inline void hyprof_memory_alloc_callstack(struct hyprof_location *pool, const void *address,
                                                 size_t bytes, uint32_t depth)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_)))
                hyprof_emit_memory_alloc(pool, address, bytes, depth);
}

HYPROF_NOT_FOLLOWED_(2)
static inline void hyprof_memory_free_callstack(struct hyprof_location *pool, const void *address,
                                                uint32_t depth)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_)))
                hyprof_emit_memory_free(pool, address, depth);
}

/* Everything in the pool is free: an arena is reset. */
static inline void hyprof_memory_discard(struct hyprof_location *pool)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_)))
                hyprof_emit_memory_discard(pool);
}

#ifdef __cplusplus
}
#endif

#ifndef HYPROF_DISABLE

/*
 * HYPROF_ALLOC(pointer, bytes), HYPROF_FREE(pointer) - in the main pool; _POOL("name", ...) - in a named one
 */
#define HYPROF_ALLOC(address, bytes) hyprof_memory_alloc(HYPROF_NULL_, (address), (bytes))
#define HYPROF_FREE(address)         hyprof_memory_free(HYPROF_NULL_, (address))
#define HYPROF_ALLOC_POOL(pool, address, bytes)                                 \
        do {                                                                    \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(pool); \
                hyprof_memory_alloc(&hyprof_name_, (address), (bytes));         \
        } while (0)
#define HYPROF_FREE_POOL(pool, address)                                         \
        do {                                                                    \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(pool); \
                hyprof_memory_free(&hyprof_name_, (address));                   \
        } while (0)
#define HYPROF_DISCARD_POOL(pool)                                               \
        do {                                                                    \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(pool); \
                hyprof_memory_discard(&hyprof_name_);                           \
        } while (0)

#else /* HYPROF_DISABLE */

#define HYPROF_ALLOC(address, bytes)            (HYPROF_UNEVALUATED_(address), HYPROF_UNEVALUATED_(bytes))
#define HYPROF_FREE(address)                    HYPROF_UNEVALUATED_(address)
#define HYPROF_ALLOC_POOL(pool, address, bytes) (HYPROF_UNEVALUATED_(address), HYPROF_UNEVALUATED_(bytes))
#define HYPROF_FREE_POOL(pool, address)         HYPROF_UNEVALUATED_(address)
#define HYPROF_DISCARD_POOL(pool)               HYPROF_NOTHING_

#endif /* HYPROF_DISABLE */

#endif /* HYPROF_MEMORY_H */
