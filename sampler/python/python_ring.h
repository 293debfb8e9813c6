/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_ring.h - which of the records in a CPU's ring has the Python frames of a sample
 *
 * Way of the data:  switch_ring (records of python_frames.bpf) -> [python_ring] -> python_source
 *
 * Records and samples of a CPU come in the same order.  The kernel takes the time of a sample just before
 * the BPF program runs (Linux 6.3), or just after; so a sample's record is the one of its thread that is
 * nearest to it in time.  A record without a sample is of one that was lost, and a sample may have no record:
 * then the ring was full, or the process was not known yet.
 *
 * Pure but for the ring.  Everything in a record was written by the BPF program, from hostile memory.
 */
#ifndef SAMPLER_PYTHON_PYTHON_RING_H
#define SAMPLER_PYTHON_PYTHON_RING_H

#include "sampler/python/python_source.h"

struct switch_ring;
struct tick_clock;

/*
 * python_ring_find() - takes the record of a sample out of the ring, and those before it
 * @clock: CLOCK_MONOTONIC -> CLOCK_MONOTONIC_RAW
 * @sink:  for the copies in each record that is taken out
 * As python_source_find().  Returns 1, 0, or -EBADMSG if the ring is corrupt: then it is empty now.
 */
int python_ring_find(struct switch_ring *ring, struct tick_clock *clock, const struct python_sample_key *key,
                     uint32_t flag, const struct python_copies_sink *sink, struct python_sample *ret_sample);

#endif /* SAMPLER_PYTHON_PYTHON_RING_H */
