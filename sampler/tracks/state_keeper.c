/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/state_keeper.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "format/thread_state.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/thread_track.h"

#include <errno.h>
#include <stdlib.h>

#define EVENTS_PER_STATE 64 /* bytes of events for a byte of states, at the least */

void state_keeper_init(struct state_keeper *k, size_t wait_bytes)
{
        *k = (struct state_keeper){ .wait_bytes = wait_bytes };
        event_encoder_init(&k->encoder);
}

void state_keeper_deinit(struct state_keeper *k)
{
        event_encoder_deinit(&k->encoder);
        free(k->zones);
}

/* A thread of which nothing was written yet has no state; one that has ended needs none. */
static void put_state(void *context, const struct thread_track *track)
{
        struct state_keeper *k = context;
        struct thread_state state = {
                .time_ns = track->last_ns,
                .thread = track->thread,
                .name = track->written_name,
                .last_switch = track->last_switch,
                .last_sample = track->last_sample,
                .n_zones = track->n_zones,
        };

        if (track->last_ns == 0 || track->exited)
                return;
        if (array_reserve(&k->zones, &k->zones_capacity, track->n_zones, sizeof(*k->zones)) < 0) {
                k->failed = true;
                return;
        }
        for (size_t i = 0; i < track->n_zones; i++)
                k->zones[i] = track->zones[i].location;
        state.zones = k->zones;
        if (track->n_zones == 0 && track->zones_capacity > 0 && track->zones[0].location != 0)
                state.closed_zone = track->zones[0].location;
        thread_state_encode(&state, &k->encoder);
}

int state_keeper_note(struct state_keeper *k, const struct process_table *processes, size_t n_bytes,
                      struct byte_buffer *body, struct trace_chunk_header *ret_header)
{
        int r;

        k->event_bytes += n_bytes;
        if (k->event_bytes < k->wait_bytes)
                return 0;
        *ret_header = (struct trace_chunk_header){ .kind = TRACE_CHUNK_STATES };
        process_table_visit(processes, put_state, k);
        r = event_encoder_take(&k->encoder, body, &ret_header->first_ns, &ret_header->last_ns,
                               &ret_header->n_items);
        if (r < 0 || k->failed)
                return -ENOMEM;
        if (ret_header->n_items == 0)
                return 0;
        k->event_bytes = 0;
        if (k->wait_bytes < body->used_bytes * EVENTS_PER_STATE)
                k->wait_bytes = body->used_bytes * EVENTS_PER_STATE;
        return 1;
}
