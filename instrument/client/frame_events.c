/* SPDX-License-Identifier: MIT */
/* instrument/client/frame_events.c - frames: one after the other, or with gaps between them */
#include "instrument/client/location_table.h"
#include "instrument/client/payload_event.h"
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

/* The recorder packs the pixels: the program only copies them. */
void hyprof_emit_frame_picture(const void *pixels, uint32_t width, uint32_t height, uint32_t frames_back,
                               int32_t is_flipped)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word(), n_back = frames_back < 256 ? frames_back : 255;

        if (!pixels || width == 0 || height == 0 || width % 4 != 0 || height % 4 != 0 ||
            width > CLIENT_ABI_PICTURE_SIDE_MAX || height > CLIENT_ABI_PICTURE_SIDE_MAX) {
                hyprof_emit_unrecorded(HYPROF_UNRECORDED_PICTURE_);
                return;
        }
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_FRAME)) {
                CLIENT_LINK_PASS_ON_LATER(frame_picture, pixels, width, height, frames_back, is_flipped);
                return;
        }
        payload_event_put(
                t,
                &(struct payload_event){
                        .loss = THREAD_RING_LOSS_FRAME,
                        .event = CLIENT_ABI_EVENT_FRAME_PICTURE,
                        .n_words = 1,
                        .words = { width | height << 16 |
                                   (uint64_t)(n_back | (is_flipped ? CLIENT_ABI_PICTURE_FLIPPED : 0)) << 32 },
                        .content = pixels,
                        .content_bytes = (size_t)width * height * 4,
                });
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(frame_picture);
