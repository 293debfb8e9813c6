/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/sample_thinning.h - one sample in so many, with the weight of those that are left out
 *
 * Way of the data:  sample_throttle (how many), perf_record -> [sample_thinning] -> sample_records
 *
 * Counted for each CPU and event, so that the sum of the weights stays what it was, but for the last samples
 * of each at the end.  Which thread is sampled is as random as before.  Used by the collector's thread.
 */
#ifndef SAMPLER_MERGE_SAMPLE_THINNING_H
#define SAMPLER_MERGE_SAMPLE_THINNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The samples of one event on a CPU that were left out since the last one that was taken. */
struct thinned_samples {
        uint32_t n;
        uint64_t weight;
};

/* Zero-initialised: nothing was left out. */
struct sample_thinning {
        struct thinned_samples *items; /* heap, owned: by CPU and event */
        size_t n_items, capacity;
        uint64_t n_left_out; /* in all */
};

void sample_thinning_deinit(struct sample_thinning *t);

/*
 * sample_thinning_take() - is this sample taken?
 * @share:   one in so many is
 * @weight:  of the sample; that of those before it is added, if it is taken
 * Returns 1, 0 or -ENOMEM.
 */
int sample_thinning_take(struct sample_thinning *t, uint32_t cpu, uint32_t spec, uint32_t share,
                         uint64_t *weight);

#endif /* SAMPLER_MERGE_SAMPLE_THINNING_H */
