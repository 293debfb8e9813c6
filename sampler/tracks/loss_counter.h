/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/loss_counter.h - losses, by reason and thread -> the table LOSSES
 *
 * Way of the data:  kernel_side, zone_source, thread_track, collector -> [loss_counter] ->
 *                   trace_dictionary (LOSSES)
 */
#ifndef SAMPLER_TRACKS_LOSS_COUNTER_H
#define SAMPLER_TRACKS_LOSS_COUNTER_H

#include "format/trace_spec.h"

#include <stdint.h>

struct trace_dictionary;

struct loss_counter {
        /* losses that belong to no thread, and are not in the table yet */
        uint64_t pending[TRACE_LOSS_COUNT];
        uint64_t totals[TRACE_LOSS_COUNT];
};

/* Counts a loss that belongs to no thread. */
void loss_counter_add(struct loss_counter *c, enum trace_loss_reason reason, uint64_t n);

/*
 * Counts a loss of a thread (an id of the table THREADS), at once as a row.  Returns 0 or -ENOMEM.
 * When the table is full there is no row any more, only the total.
 */
int loss_counter_add_thread(struct loss_counter *c, struct trace_dictionary *dictionary,
                            enum trace_loss_reason reason, uint32_t thread, uint64_t n, uint64_t now_ns);

/* Moves pending losses into the table, as rows without a thread.  Returns 0 or -ENOMEM. */
int loss_counter_flush(struct loss_counter *c, struct trace_dictionary *dictionary, uint64_t now_ns);

/* Adds up everything that was lost so far, as trace_loss.h defines it. */
uint64_t loss_counter_total(const struct loss_counter *c);

#endif /* SAMPLER_TRACKS_LOSS_COUNTER_H */
