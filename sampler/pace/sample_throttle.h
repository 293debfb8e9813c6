/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/sample_throttle.h - how many of the samples are taken, where there are more than time for them
 *
 * Way of the data:  perf_rings, switch_rings (how full), kernel_side (what samples took) -> [sample_throttle]
 *                   -> sample_thinning, recorder
 *
 * Rings that fill up faster than they are read would lose what comes next: samples in clusters, and
 * with them switches, mappings and zones.  Before that, only one sample in 2, 4, .. 64 is taken, and has the
 * weight of those that are left out.  Passing over a sample costs a small part of walking its call stack.
 * Where samples are not what takes the time, nothing is gained by fewer, and all are taken.
 *
 * It reads no clock: all times are CLOCK_MONOTONIC_RAW.  Used by the collector's thread.
 */
#ifndef SAMPLER_PACE_SAMPLE_THROTTLE_H
#define SAMPLER_PACE_SAMPLE_THROTTLE_H

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

#define SAMPLE_THROTTLE_SHARE_MAX 64
#define SAMPLE_THROTTLE_SPANS_MAX 64
#define SAMPLE_THROTTLE_FULL      1024 /* how full a ring is, when it is full */

/* A time in which fewer samples were taken. */
struct throttled_span {
        uint64_t from_ns, until_ns; /* until 0 = it goes on */
        uint32_t share;             /* one in so many was taken, at the least */
};

struct sample_throttle {
        uint32_t share;      /* one sample in so many is taken; 1 = all */
        uint32_t share_max;  /* tests of other things leave none out */
        uint64_t samples_ns; /* that samples have taken, in all */
        unsigned full;       /* the fullest ring of the look that goes on */

        /* Since when the fullest ring has not become emptier; 0 = it is less than half full. */
        uint64_t full_since_ns, full_samples_ns;
        unsigned full_then;

        uint64_t run_ns; /* when the run began */

        /* Since the share was changed, or found to be right. */
        uint64_t calm_since_ns, calm_busy_ns, calm_samples_ns;
        unsigned calm_full;

        struct throttled_span spans[SAMPLE_THROTTLE_SPANS_MAX];
        size_t n_spans;
};

void sample_throttle_init(struct sample_throttle *t);

/* A run of the merge begins, and ends. */
void sample_throttle_begin_run(struct sample_throttle *t, uint64_t now_ns);
void sample_throttle_end_run(struct sample_throttle *t, uint64_t now_ns);

/* A look at all rings: begins, sees each of them, and ends with a decision. */
void sample_throttle_begin_look(struct sample_throttle *t);
void sample_throttle_see_ring(struct sample_throttle *t, uint64_t n_unread, uint64_t ring_bytes);
void sample_throttle_end_look(struct sample_throttle *t, uint64_t now_ns);

/* Samples have taken so long. */
static inline void sample_throttle_note(struct sample_throttle *t, uint64_t spent_ns)
{
        t->samples_ns += spent_ns;
}

/*
 * sample_throttle_describe() - when it was, in words: "one in up to 8, for 1.230 s: 0.520 s to 1.750 s"
 * @start_ns, @end_ns:  of the recording
 * Adds nothing if all samples were taken.
 */
void sample_throttle_describe(const struct sample_throttle *t, uint64_t start_ns, uint64_t end_ns,
                              struct byte_buffer *text);

#endif /* SAMPLER_PACE_SAMPLE_THROTTLE_H */
