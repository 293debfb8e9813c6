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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past;
struct path_segment;

#define SHOWN_SEGMENTS_MAX 20000

struct path_shown {
        uint64_t begin_ns, end_ns;
        uint32_t thread, on, depth; /* on: as in struct path_segment */
        uint32_t stack;             /* of a wait, or of the sample in the middle; 0 = none */
        uint32_t by, name;          /* who ended the wait: thread, or string; 0 = not known */
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

#endif /* ANALYZE_PATH_SHOWN_SEGMENTS_H */
