/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/range_stack.h - the ranges that the calling thread has begun, innermost last
 *
 * Way of the data:  begin and end calls of NVTX, ITT, OpenMP -> [range_stack] -> zones
 *
 * Those interfaces end a range without saying which one, only of which domain.  Ranges that are not recorded
 * are counted: their ends must not end others.  A signal handler that begins and ends its own ranges disturbs
 * nothing.
 */
#ifndef INSTRUMENT_COMPAT_INJECT_RANGE_STACK_H
#define INSTRUMENT_COMPAT_INJECT_RANGE_STACK_H

#include "instrument/compat/inject/inject.h"

#define RANGE_STACK_UNRECORDED (-2) /* in place of a level: the range is not recorded */

struct range_entry {
        uintptr_t tag;    /* of the domain; 0 = it has ended, though others inside of it have not */
        hyprof_zone zone; /* 0 = it stands for `level` ranges that are not recorded */
        int32_t level;    /* how many ranges of the tag are around it */
};

struct range_stack {
        struct range_entry *entries; /* mapped when first needed; the thread's end unmaps them */
        uint32_t n, capacity;
        uint32_t n_unrecorded; /* begun inside of all these */
};

extern _Thread_local struct range_stack range_stack_self
        __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The slow halves of the functions below; call those instead. */
int32_t range_stack_push_slowly(uintptr_t tag, hyprof_zone zone);
int32_t range_stack_end_slowly(uintptr_t tag);

/* A range begins that is not recorded. */
static inline int32_t range_stack_skip(void)
{
        struct range_stack *s = &range_stack_self;

        /* Where no range is recorded around it, there is none that its end could be taken for. */
        if (INJECT_UNLIKELY(s->n > 0))
                s->n_unrecorded++;
        return RANGE_STACK_UNRECORDED;
}

/* A range begins.  Returns how many ranges of @tag are around it; @tag: not 0; @zone: 0 = not recorded. */
static inline int32_t range_stack_push(uintptr_t tag, hyprof_zone zone)
{
        struct range_stack *s = &range_stack_self;
        uint32_t n = s->n;
        int32_t level = 0;

        if (zone == 0)
                return range_stack_skip();
        if (INJECT_UNLIKELY(n >= s->capacity || s->n_unrecorded > 0))
                return range_stack_push_slowly(tag, zone);
        if (n > 0) {
                if (INJECT_UNLIKELY(s->entries[n - 1].tag != tag))
                        return range_stack_push_slowly(tag, zone);
                level = s->entries[n - 1].level + 1;
        }
        s->n = n + 1;
        s->entries[n] = (struct range_entry){ .tag = tag, .zone = zone, .level = level };
        return level;
}

/* The innermost range of @tag ends, and its zone.  Returns its level; negative = none is recorded. */
static inline int32_t range_stack_end(uintptr_t tag)
{
        struct range_stack *s = &range_stack_self;
        uint32_t n = s->n;
        struct range_entry entry;

        if (n == 0)
                return RANGE_STACK_UNRECORDED;
        if (INJECT_UNLIKELY(s->n_unrecorded > 0 || s->entries[n - 1].tag != tag))
                return range_stack_end_slowly(tag);
        entry = s->entries[n - 1];
        s->n = n - 1;
        hyprof_zone_end(entry.zone);
        return entry.level;
}

/* The zone of the innermost range of @tag; 0 = none, or it is not recorded. */
hyprof_zone range_stack_top(uintptr_t tag);

/* A range begins as a zone at @location, which may be NULL; returns as range_stack_push(). */
static inline int32_t range_stack_begin(uintptr_t tag, struct hyprof_location *location)
{
        return location ? range_stack_push(tag, hyprof_zone_begin(location)) : range_stack_skip();
}

#endif /* INSTRUMENT_COMPAT_INJECT_RANGE_STACK_H */
