/* SPDX-License-Identifier: MIT */
/* instrument/client/frame_events.c - frames: one after the other, or with gaps between them */
#include "instrument/client/location_table.h"
#include "instrument/client/word_event.h"

/* False if the thread cannot write. */
WORD_EVENT_INLINE bool emit(enum client_abi_event event, struct hyprof_location *name)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_FRAME))
                return false;
        id = name ? location_table_id(name) : 0;
        word_event_put(t, &(struct word_event){
                                  .loss = THREAD_RING_LOSS_FRAME,
                                  .event = event,
                                  .argument = id,
                                  .is_lost = name && id == 0,
                          });
        thread_ring_leave(t, word);
        return true;
}

void hyprof_emit_frame_mark(struct hyprof_location *name)
{
        if (!emit(CLIENT_ABI_EVENT_FRAME_MARK, name))
                CLIENT_LINK_PASS_ON(frame_mark, name);
}
CLIENT_LINK_OWN(frame_mark);

/* The main frames have no gaps. */
void hyprof_emit_frame_begin(struct hyprof_location *name)
{
        if (name && !emit(CLIENT_ABI_EVENT_FRAME_BEGIN, name))
                CLIENT_LINK_PASS_ON(frame_begin, name);
}
CLIENT_LINK_OWN(frame_begin);

void hyprof_emit_frame_end(struct hyprof_location *name)
{
        if (name && !emit(CLIENT_ABI_EVENT_FRAME_END, name))
                CLIENT_LINK_PASS_ON(frame_end, name);
}
CLIENT_LINK_OWN(frame_end);
