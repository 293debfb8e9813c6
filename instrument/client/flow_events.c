/* SPDX-License-Identifier: MIT */
/* instrument/client/flow_events.c - work that goes from one zone to another */
#include "instrument/client/location_table.h"
#include "instrument/client/word_event.h"

void hyprof_emit_flow(struct hyprof_location *space, uint64_t id, enum hyprof_flow_phase_ phase)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t space_id;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_OTHER)) {
                CLIENT_LINK_PASS_ON_LATER(flow, space, id, phase);
                return;
        }
        space_id = space ? location_table_id(space) : 0;
        word_event_put(t, &(struct word_event){
                                  .loss = THREAD_RING_LOSS_OTHER,
                                  .event = CLIENT_ABI_EVENT_FLOW_BEGIN + phase,
                                  .argument = space_id,
                                  .is_lost = (space && space_id == 0) || phase > HYPROF_FLOW_PHASE_END_,
                                  .n_words = 1,
                                  .words = { id },
                          });
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(flow);
