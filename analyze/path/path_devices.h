/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_devices.h - which work of a device a wait was for
 *
 * Way of the data:  device_works, past, chains of path_walk -> [path_devices] -> path_walk
 *
 * No event says that a device woke a thread: an interrupt does, or a thread that looks after the device.
 * So a wait is for a work if all of this holds:
 *
 *      - no recorded thread, disk or network ended the wait: it is the end of a chain;
 *      - the thread itself, or one that waits for it, not for a lock, had asked for the work: a zone of it
 *        said the key;
 *      - that thread began to wait before the work ended, and still waits;
 *      - the work ended at most DEVICE_WORKS_LATE_NS before the wake-up, as far as the clocks can tell;
 *      - a thread that its own timer woke looks after the work of another one; or it looks for its own again
 *        and again: the caller finds out (`is_poll`).
 *
 * A thread that is kept from its CPU notices late, so the work may have ended since the wake-up: the end of
 * one before it on the same lane had woken the thread that looks after both; or a thread that looks again and
 * again looked just then.
 */
#ifndef ANALYZE_PATH_PATH_DEVICES_H
#define ANALYZE_PATH_PATH_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

struct device_work;
struct past_wait;
struct path_walk;

/* A thread on a path, which may have asked a device for something. */
struct path_asker {
        uint32_t thread, depth, chain;
};

struct path_device_wait {
        const struct device_work *work;
        uint64_t ended_ns;            /* of the work, or of the one before it that woke the thread */
        const struct past_wait *end;  /* that the device ended: at the end of the chain */
        const struct past_wait *wait; /* of the thread that had asked; borrowed from the past */
        struct path_asker asker;      /* that thread */
        bool is_poll;                 /* it counts only if the thread has looked before, at the same place */
};

/*
 * @at:    the thread at the end of the chain
 * @wait:  of it, which no recorded thread ended
 * Returns whether there is such a work.  Time: logarithmic in the works, for each thread of the chain.
 */
bool path_devices_find(const struct path_walk *w, struct path_asker at, const struct past_wait *wait,
                       struct path_device_wait *ret);

#endif /* ANALYZE_PATH_PATH_DEVICES_H */
