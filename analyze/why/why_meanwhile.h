/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_meanwhile.h - what threads did while slow instances waited for them
 *
 * Way of the data:  why_instances, past_questions, device_works, path_walk -> [why_meanwhile] -> why
 *
 * The path of each slow instance that waited for a recorded thread, as `hyprof path` has it: each moment of a
 * wait belongs to the thread that it was for, directly or through others.  One pass through the trace.
 * Where a device ended the wait, it belongs to what its lane did; the same is found out of some typical
 * instances, to compare.  That takes the passes of device_works_take_sure(), none in a trace without devices.
 * Memory: that of the past and of the works, and a row for each wait's kind, thread and callstack.  Not
 * thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_MEANWHILE_H
#define ANALYZE_WHY_WHY_MEANWHILE_H

#include "analyze/devices/device_works.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct ready_owners;
struct ready_times;
struct why;
struct why_steps;

#define WHY_MEANWHILE_ROWS_MAX (UINT32_C(1) << 20)
/* Segments of all paths together; what comes after them is left out. */
#define WHY_MEANWHILE_SEGMENTS_MAX (UINT64_C(1) << 26)
/* Threads that wait for one another, in a row. */
#define WHY_STEPS_MAX 3

enum why_meanwhile_doing {
        WHY_MEANWHILE_HELD = 1, /* of locks: held it, whatever else it did */
        WHY_MEANWHILE_RAN = 2,
        WHY_MEANWHILE_SAMPLE = 3, /* ran, in these functions */
        WHY_MEANWHILE_WAITED = 4,
        WHY_MEANWHILE_READY = 5, /* could run and did not */
        /* a device, for whose work a thread waited */
        WHY_MEANWHILE_DEVICE = 6,  /* ran that, or other work of the thread */
        WHY_MEANWHILE_EARLIER = 7, /* ran earlier work of others on the same lane */
        WHY_MEANWHILE_LAUNCH = 8,  /* had not begun it, and ran nothing */
};

/* Compared as bytes. */
struct why_meanwhile_key {
        uint32_t
                kind; /* of the instance's wait: a lock or, above all locks, an id of the collector's waits */
        uint32_t level;  /* 0: the thread for which the instance waited; 1: that for which this one waited */
        uint32_t thread; /* of a device: that ended the instance's wait, 0 = none; else that waited */
        uint32_t doing;  /* enum why_meanwhile_doing */
        uint32_t stack;  /* of SAMPLE and WAITED; of a device: id of the works' names */
        /* of WAITED: the thread that it waited for; 0 = not known; of a device without a thread: a name */
        uint32_t by;
        uint32_t is_typical; /* of an instance that is not slow: devices for which it waited */
};

struct why_meanwhile {
        struct intern keys; /* struct why_meanwhile_key */
        uint64_t *amounts;  /* heap; of the key with id i at i - 1: ns, of SAMPLE weight */
        size_t capacity;
        uint64_t n_left_out; /* segments of paths, or rows */
        struct device_works works;
        uint64_t n_devices; /* rows of devices */
        uint64_t n_typical; /* instances that are not slow and whose paths were followed */
};

/* The waits of slow instances that one thread ended. */
struct why_followed {
        uint32_t lock, place; /* one of them */
        uint32_t thread;      /* 0 = none that is recorded, but `name` */
        uint32_t name;
        double ns; /* of these waits; a device is named if it has more than half of them */
};

/*
 * why_meanwhile_take() - walk through the trace, if slow instances waited for recorded threads
 * @w:      with its instances
 * @times:  whose owners are found in the same pass
 * @owners: of these; to be deinitialised in any case
 * Returns 0 or what loaded_trace_walk() returns; to be deinitialised in any case.
 */
int why_meanwhile_take(struct why_meanwhile *m, const struct why *w, struct ready_times *times,
                       struct ready_owners *owners, struct loaded_trace *trace, struct error *err);
void why_meanwhile_deinit(struct why_meanwhile *m);

/*
 * Finds what a thread did while slow instances waited for a lock or in a place, or a device, if the thread
 * only passed on that it was done.  If it mostly waited itself, the next step is what most of that wait was
 * for.  Returns 0 or -ENOMEM.
 */
int why_meanwhile_follow(struct why *w, const struct why_followed *waits, struct why_steps *ret);

#endif /* ANALYZE_WHY_WHY_MEANWHILE_H */
