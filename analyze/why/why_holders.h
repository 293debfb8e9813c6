/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_holders.h - the third pass of `why`: who held the locks that slow instances
 * waited for, and what it did
 *
 * Way of the data:  trace_walk, why_collector -> [why_holders] -> why_view
 *
 * Only if there are such waits.  Time counts once for each wait that it falls into.
 * Memory: a row for each lock, holder and callstack, bounded by WHY_HOLDER_ROWS_MAX.
 * Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_HOLDERS_H
#define ANALYZE_WHY_WHY_HOLDERS_H

#include "analyze/why/why_collector.h"

#define WHY_HOLDER_ROWS_MAX (UINT32_C(1) << 20)
/*
 * Waits that are looked at, all together: a trace in which all wait for one lock all
 * the time takes no longer.
 */
#define WHY_HOLDER_STEPS_MAX (UINT64_C(1) << 28)
/* Locks that a thread holds at once; further ones are not followed. */
#define WHY_HELD_MAX 32

enum why_doing { WHY_HELD = 1, WHY_HELD_SAMPLE = 2, WHY_HELD_WAIT = 3 };

/* Compared as bytes. */
struct why_holder_key {
        uint32_t lock, thread;
        uint32_t doing; /* enum why_doing */
        uint32_t stack; /* 0 of WHY_HELD */
};

struct why_holder_sum {
        uint64_t n;
        uint64_t amount; /* ns; of WHY_HELD_SAMPLE weight */
};

struct why_holders {
        struct intern keys;          /* struct why_holder_key */
        struct why_holder_sum *sums; /* heap; of the key with id i at i - 1 */
        size_t sums_capacity;
        uint32_t event;
};

/*
 * why_holders_take() - walk through the trace once more
 * @waits:  sorted by this call
 * Returns 0 or what loaded_trace_walk() returns; to be deinitialised in any case.
 */
int why_holders_take(struct why_holders *h, struct loaded_trace *trace, struct why_lock_waits *waits,
                     uint32_t event, struct error *err);
void why_holders_deinit(struct why_holders *h);

#endif /* ANALYZE_WHY_WHY_HOLDERS_H */
