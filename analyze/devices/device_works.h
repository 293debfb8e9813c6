/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_works.h - what the lanes of devices ran and when, and which threads had them do it
 *
 * Way of the data:  device_zones, device_keys -> [device_works] -> path_walk, why_spans
 *
 * A work is a zone of a device.  It belongs to the thread whose zone said the same key (device_keys.h), if
 * the clock of the device was read.  On each lane, works go in a row; one that lies inside another one is a
 * part of it.
 * Memory: 64 bytes a work, DEVICE_WORKS_MAX at most; while they are read, that of device_keys.
 */
#ifndef ANALYZE_DEVICES_DEVICE_WORKS_H
#define ANALYZE_DEVICES_DEVICE_WORKS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_dictionary;

#define DEVICE_WORKS_MAX          (UINT32_C(1) << 21)
#define DEVICE_WORKS_BOUND_MAX_NS UINT64_C(1000000)
/* A thread that waits for a device, or looks after it, notices the end of a work within this time. */
#define DEVICE_WORKS_LATE_NS UINT64_C(200000)

struct device_work {
        uint64_t begin_ns, end_ns;
        /* when its zone of a thread began; without one, when it was handed over, if known to be earlier */
        uint64_t asked_ns;
        uint64_t host_end_ns; /* of that zone */
        uint32_t device, lane, location;
        uint32_t name;   /* id of `names` */
        uint32_t host;   /* location of its zone of a thread; 0 = none */
        uint32_t thread; /* of that zone; without one, which handed it over */
        uint32_t text;   /* string: its arguments; 0 = none */
        uint32_t outer;  /* index of the outermost one on the lane that it lies in, which may be itself */
};

/* Compared as bytes. */
struct device_work_name {
        uint32_t device, location;
};

/* Zero-initialised is valid: no works. */
struct device_works {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct intern names;                       /* struct device_work_name */
        struct device_work *works; /* heap; by device, lane and begin, of equal begins the longest first */
        size_t capacity;
        uint32_t n_works;
        uint32_t *by_thread; /* heap: indices of those with a zone of a thread, by thread and end */
        uint32_t n_of_threads;
        struct device_works_clock *clocks; /* heap; by device - 1 */
        uint64_t bound_ns;                 /* the largest one that is used */
        uint64_t n_lost;                   /* works beyond the limit */
        uint64_t n_vague;                  /* with a key, of devices whose clocks are not known well enough */
};

struct device_works_clock {
        uint64_t bound_ns; /* UINT64_MAX = not known */
        bool is_placed;    /* it was read */
};

/*
 * device_works_take_sure() - the works whose ends may prove something, if zones of threads said keys
 * Works of devices whose clock may be wrong by more than DEVICE_WORKS_BOUND_MAX_NS, or was never read, belong
 * to no thread; those with a key are counted.
 * device_works_take_all() - all works, also without keys, and whatever the bounds of their clocks
 * Both go through the trace twice, if it has devices.  Return 0, -ENOMEM, what loaded_trace_walk() returns;
 * to be deinitialised in any case.
 */
int device_works_take_sure(struct device_works *w, struct loaded_trace *trace, struct error *err);
int device_works_take_all(struct device_works *w, struct loaded_trace *trace, struct error *err);
void device_works_deinit(struct device_works *w);

/*
 * device_works_ended() - the work of a thread whose end a wake-up may have told it
 * It ended at most DEVICE_WORKS_LATE_NS before @woken_ns, after @since_ns, as far as the clock of its device
 * can tell.  The last one; NULL = none.  Borrowed.  Logarithmic time.
 */
const struct device_work *device_works_ended(const struct device_works *w, uint32_t thread, uint64_t since_ns,
                                             uint64_t woken_ns);

/* The work of a thread that ended last, after @after_ns and not after @until_ns; NULL = none.  Likewise. */
const struct device_work *device_works_last(const struct device_works *w, uint32_t thread, uint64_t after_ns,
                                            uint64_t until_ns);

/* Whether the end of a work of any thread may have woken a thread at @woken_ns. */
bool device_works_may_wake(const struct device_works *w, const struct device_work *work, uint64_t woken_ns);

/*
 * The outermost work on the lane of @work that began last before @time_ns; NULL = none.  Ones that cross each
 * other begin and end in the same order.  Borrowed.  Logarithmic time.
 */
const struct device_work *device_works_before(const struct device_works *w, const struct device_work *work,
                                              uint64_t time_ns);

/* How wrong the place of a work may be; UINT64_MAX = not known. */
static inline uint64_t device_works_bound_ns(const struct device_works *w, const struct device_work *work)
{
        return w->clocks[work->device - 1].bound_ns;
}

#endif /* ANALYZE_DEVICES_DEVICE_WORKS_H */
