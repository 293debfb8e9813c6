/* SPDX-License-Identifier: MIT */
/*
 * hyprof/lock.h - who waits for a lock, and who holds it
 *
 * Way of the data:  program -> [lock.h] -> libhyprof -> shared memory -> hyprof record
 *
 *      static struct hyprof_lock queue_lock = HYPROF_LOCK("queue");
 *
 *      if (pthread_mutex_trylock(&mutex) != 0) {   // a wait of no time needs no event
 *              hyprof_lock_wait(&queue_lock);
 *              pthread_mutex_lock(&mutex);
 *      }
 *      hyprof_lock_obtain(&queue_lock);
 *      ...
 *      pthread_mutex_unlock(&mutex);
 *      hyprof_lock_release(&queue_lock);
 *
 * <hyprof/hyprof.hpp> has wrappers for C++ locks that do this.  Any number of
 * threads may wait for or share a lock.
 *
 * Cost while recording: one time stamp and 8 bytes an event.
 *
 * Included by <hyprof/hyprof.h>.
 */
#ifndef HYPROF_LOCK_H
#define HYPROF_LOCK_H

#include "location.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Stands beside the program's own lock.  The library keeps the lock's number here; a process has 4,194,303
 * numbers for things of all kinds, and uses none again.
 */
struct hyprof_lock {
        struct hyprof_location location; /* name, and where it is defined */
};

/* Initialiser; for a lock in other memory, hyprof_lock_init(). */
/* clang-format off */
#define HYPROF_LOCK(name) { { (name), HYPROF_NULL_, __FILE__, __LINE__, 0, 0, 0 } }
/* clang-format on */

/* The slow halves of the functions below; call those instead. */
enum hyprof_lock_event_ {
        HYPROF_LOCK_WAIT_ = 20, /* numbers of the shared memory */
        HYPROF_LOCK_OBTAIN_ = 21,
        HYPROF_LOCK_RELEASE_ = 22,
        HYPROF_LOCK_WAIT_SHARED_ = 23,
        HYPROF_LOCK_OBTAIN_SHARED_ = 24,
        HYPROF_LOCK_RELEASE_SHARED_ = 25,
        HYPROF_LOCK_GONE_ = 26
};
HYPROF_API_ void hyprof_emit_lock(struct hyprof_lock *lock, enum hyprof_lock_event_ event);
HYPROF_API_ void hyprof_emit_lock_mark(struct hyprof_lock *lock, struct hyprof_location *location);
HYPROF_API_ void hyprof_emit_lock_name(struct hyprof_lock *lock, const char *name, size_t name_bytes);

/*
 * hyprof_lock_init() - announce a lock
 * @location:  copied, but its strings stay where they are: they live as long as the lock
 */
static inline void hyprof_lock_init(struct hyprof_lock *lock, const struct hyprof_location *location)
{
        lock->location = *location;
        lock->location.id = 0;
}

static inline void hyprof_lock_event_(struct hyprof_lock *lock, enum hyprof_lock_event_ event)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_LOCKS_)))
                hyprof_emit_lock(lock, event);
}

/* The calling thread is going to wait for the lock. */
static inline void hyprof_lock_wait(struct hyprof_lock *lock)
{
        hyprof_lock_event_(lock, HYPROF_LOCK_WAIT_);
}

/* The calling thread holds the lock from now on, after a wait or without one. */
static inline void hyprof_lock_obtain(struct hyprof_lock *lock)
{
        hyprof_lock_event_(lock, HYPROF_LOCK_OBTAIN_);
}

/* The calling thread does not hold the lock any more. */
static inline void hyprof_lock_release(struct hyprof_lock *lock)
{
        hyprof_lock_event_(lock, HYPROF_LOCK_RELEASE_);
}

/* The same for a lock that several threads can hold at once, to read. */
static inline void hyprof_lock_wait_shared(struct hyprof_lock *lock)
{
        hyprof_lock_event_(lock, HYPROF_LOCK_WAIT_SHARED_);
}

static inline void hyprof_lock_obtain_shared(struct hyprof_lock *lock)
{
        hyprof_lock_event_(lock, HYPROF_LOCK_OBTAIN_SHARED_);
}

static inline void hyprof_lock_release_shared(struct hyprof_lock *lock)
{
        hyprof_lock_event_(lock, HYPROF_LOCK_RELEASE_SHARED_);
}

/* The calling thread tried the lock; does nothing if @obtained is 0. */
static inline void hyprof_lock_try(struct hyprof_lock *lock, int obtained)
{
        if (obtained)
                hyprof_lock_obtain(lock);
}

static inline void hyprof_lock_try_shared(struct hyprof_lock *lock, int obtained)
{
        if (obtained)
                hyprof_lock_obtain_shared(lock);
}

/* It is destroyed. */
static inline void hyprof_lock_gone(struct hyprof_lock *lock)
{
        hyprof_lock_event_(lock, HYPROF_LOCK_GONE_);
}

/* Says that @location is the place that holds the lock; to be called after hyprof_lock_obtain(). */
static inline void hyprof_lock_mark(struct hyprof_lock *lock, struct hyprof_location *location)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_LOCKS_)))
                hyprof_emit_lock_mark(lock, location);
}

/* Gives this one lock another name; @name is copied. */
static inline void hyprof_lock_name(struct hyprof_lock *lock, const char *name, size_t name_bytes)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_LOCKS_)))
                hyprof_emit_lock_name(lock, name, name_bytes);
}

#ifdef __cplusplus
}
#endif

#endif /* HYPROF_LOCK_H */
