/* SPDX-License-Identifier: MIT */
/*
 * export/shared/lock_waits.h - threads that wait for locks, from LOCK_WAIT to LOCK_OBTAIN
 *
 * Way of the data:  trace_walk -> [lock_waits] -> export_perfetto, export_firefox, export_chrome
 *
 * One wait a thread: a thread that waits records no other event until it has the lock, or has given up.  A
 * wait is reported when it is over: one whose end was lost would cover all that comes after it.  Not
 * thread-safe.
 */
#ifndef EXPORT_SHARED_LOCK_WAITS_H
#define EXPORT_SHARED_LOCK_WAITS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_dictionary;
struct trace_event;

struct open_lock_wait {
        uint64_t begin_ns;
        uint32_t lock; /* 0 = it waits for none */
};

struct lock_waits {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct open_lock_wait *open;               /* heap; by thread id - 1 */
        uint32_t *names;  /* heap; by lock id - 1: the last string it was called; 0 = none */
        uint64_t n_waits; /* that were reported */
};

/* Zero-initialised is valid for lock_waits_deinit().  Returns 0 or -ENOMEM. */
int lock_waits_init(struct lock_waits *w, const struct trace_dictionary *dictionary);
void lock_waits_deinit(struct lock_waits *w);

/* Takes any event of a thread.  Returns whether the event ends a wait, which began at *@ret_begin_ns. */
bool lock_waits_take(struct lock_waits *w, uint32_t thread, const struct trace_event *event,
                     uint64_t *ret_begin_ns);

/* The thread begins or ends a zone: it does not wait any more. */
static inline void lock_waits_give_up(struct lock_waits *w, uint32_t thread)
{
        w->open[thread - 1].lock = 0;
}

/* The program's last name for it, else the name of its place in the source. */
struct text_view lock_waits_name(const struct lock_waits *w, uint32_t lock);

#endif /* EXPORT_SHARED_LOCK_WAITS_H */
