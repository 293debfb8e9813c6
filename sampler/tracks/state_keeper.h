/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/state_keeper.h - the open state of every thread, written between the events from
 * time to time
 *
 * Way of the data:  process_table -> [state_keeper] -> body of a STATES chunk -> writer_thread
 *
 * A reader that is asked for a part of a trace begins at the last such chunk before it.  States are written
 * once for STATE_KEEPER_EVENT_BYTES of events, about a million of zones, and never so often that they take
 * more than a byte for 64 of the events.  Used by the collector's thread.
 */
#ifndef SAMPLER_TRACKS_STATE_KEEPER_H
#define SAMPLER_TRACKS_STATE_KEEPER_H

#include "format/event_encoder.h"
#include "format/trace_chunk.h"

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct process_table;

#define STATE_KEEPER_EVENT_BYTES ((size_t)2 << 20)

struct state_keeper {
        struct event_encoder encoder;
        size_t wait_bytes; /* bytes of events until the next states are written */
        size_t event_bytes;
        uint32_t *zones; /* heap, owned: locations of a thread */
        size_t zones_capacity;
        bool failed; /* memory ran out while a body was made */
};

void state_keeper_init(struct state_keeper *k, size_t wait_bytes);
void state_keeper_deinit(struct state_keeper *k);

/*
 * state_keeper_note() - to be called when a body of @n_bytes of events was handed to the writer, and
 * nothing was encoded since
 * @body:        empty; gets the states, if it is time for them
 * @ret_header:  of the chunk, whose kind is set as well
 * Returns 1 if there is a body, 0 if not, -ENOMEM.
 */
int state_keeper_note(struct state_keeper *k, const struct process_table *processes, size_t n_bytes,
                      struct byte_buffer *body, struct trace_chunk_header *ret_header);

#endif /* SAMPLER_TRACKS_STATE_KEEPER_H */
