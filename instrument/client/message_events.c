/* SPDX-License-Identifier: MIT */
/* instrument/client/message_events.c - messages */
#include "instrument/client/payload_event.h"
#include "instrument/client/word_event.h"

/* @c: NULL = no callstack. */
static void put(struct thread_ring *t, const char *text, size_t text_bytes, uint64_t head,
                const struct callstack *c)
{
        payload_event_put(t, &(struct payload_event){
                                     .loss = THREAD_RING_LOSS_MESSAGE,
                                     .event = CLIENT_ABI_EVENT_MESSAGE,
                                     .words_uncounted = true,
                                     .n_words = 1,
                                     .words = { head },
                                     .content = text,
                                     .content_bytes = text ? text_bytes : 0,
                                     .callstack = c,
                             });
}

WORD_EVENT_RARE bool emit_with_callstack(const char *text, size_t text_bytes, uint64_t head,
                                         struct callstack_origin from, uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        struct callstack c;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_MESSAGE))
                return false;
        callstack_walk(&c, from, depth);
        put(t, text, text_bytes, head, &c);
        thread_ring_leave(t, word);
        return true;
}

void hyprof_emit_message(const char *text, size_t text_bytes, enum hyprof_severity severity, uint32_t color,
                         uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint64_t head = color | (uint64_t)severity << 32;

        depth = callstack_depth(word, CLIENT_ABI_FAMILY_MESSAGES, depth);
        if (depth > 0) {
                if (!emit_with_callstack(text, text_bytes, head, CALLSTACK_HERE, depth))
                        CLIENT_LINK_PASS_ON(message, text, text_bytes, severity, color, depth);
                return;
        }
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_MESSAGE)) {
                CLIENT_LINK_PASS_ON(message, text, text_bytes, severity, color, 0);
                return;
        }
        put(t, text, text_bytes, head, NULL);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(message);
