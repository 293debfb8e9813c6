/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/shown_segments.h - the segments of one path that are shown one by one
 *
 * Way of the data:  path_walk -> [shown_segments] -> path, path_view
 *
 * If there are more than SHOWN_SEGMENTS_MAX, the shorter half is left out and counted.
 */
#ifndef ANALYZE_PATH_SHOWN_SEGMENTS_H
#define ANALYZE_PATH_SHOWN_SEGMENTS_H

#include "analyze/path/path_walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past;

#define SHOWN_SEGMENTS_MAX 20000

struct path_shown {
        uint64_t begin_ns, end_ns;
        uint32_t thread, on, depth; /* on: as in struct path_segment */
        uint32_t stack;             /* of a wait, or of the sample in the middle; 0 = none */
        uint32_t by, name;          /* who ended the wait: thread, or string; 0 = not known */
        uint32_t work, lane;        /* of a device: a name of device_works, 0 = none; and where */
        uint8_t kind;               /* enum path_kind */
        uint8_t end;                /* of a wait: enum wait_end_kind */
        bool preempted;             /* of PATH_MACHINE; else the thread was woken and not yet running */
};

/* Zero-initialised is valid: no segments. */
struct shown_segments {
        struct path_shown *items; /* heap; in the order in which they were added: the earliest first */
        size_t n_items, capacity;
        size_t n_settled;   /* the first ones, which need nothing of the past any more */
        uint64_t n_dropped; /* shorter ones, left out */
};

/* Returns 0 or -ENOMEM. */
int shown_segments_add(struct shown_segments *s, const struct path_segment *segment);

/* Before the past is forgotten: finds the call stacks of what ran. */
void shown_segments_settle(struct shown_segments *s, const struct past *past);

/* Keeps the memory. */
void shown_segments_clear(struct shown_segments *s);
void shown_segments_deinit(struct shown_segments *s);

/*
 * path_segment_word() - "run", "ready", "timer": as documents and databases call a segment; static
 * @preempted, @end:  of the wait of MACHINE and WAIT
 */
const char *path_segment_word(enum path_kind kind, bool preempted, enum wait_end_kind end);

#endif /* ANALYZE_PATH_SHOWN_SEGMENTS_H */
