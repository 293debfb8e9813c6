/* SPDX-License-Identifier: MIT */
/*
 * sampler/unwinder.h - one sample -> its callstack; the seam between the ways to get it
 *
 * Way of the data:  perf_record (sample) -> [unwinder] -> call_chain -> stack_builder
 *
 * A way to unwind says what the kernel is to deliver with each sample, and then
 * turns that into addresses.  There is one so far: unwind_frame_pointer.
 */
#ifndef SAMPLER_UNWINDER_H
#define SAMPLER_UNWINDER_H

#include <stdint.h>

struct address_space;
struct call_chain;
struct raw_stack;

struct unwinder {
        const char *name;
        uint64_t sample_type; /* PERF_SAMPLE_* that it needs in addition */
        /* @space: of the sampled process at that time; @ret_chain: overwritten. */
        void (*unwind)(const struct raw_stack *raw, const struct address_space *space,
                       struct call_chain *ret_chain);
};

/* The kernel follows the frame pointers; callers of code built without them are missing. */
extern const struct unwinder unwind_frame_pointer;

#endif /* SAMPLER_UNWINDER_H */
