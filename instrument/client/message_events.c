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

static inline bool is_short(struct thread_ring *t, size_t text_bytes)
{
        return text_bytes <= thread_ring_text_max(t) - CLIENT_ABI_WORD_BYTES &&
               thread_ring_has_room(t, THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES +
                                               thread_ring_whole_words(text_bytes));
}

/* The usual case, for which there is room. */
static inline void put_short(struct thread_ring *t, const char *text, size_t text_bytes, uint64_t head)
{
        thread_ring_put_event(t, ticks_read(client_self.clock_kind), CLIENT_ABI_EVENT_MESSAGE,
                              (uint32_t)text_bytes);
        thread_ring_put_word(t, head);
        thread_ring_put_bytes(t, text, text_bytes);
        thread_ring_publish(t);
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
        if (CLIENT_LIKELY(text && is_short(t, text_bytes)))
                put_short(t, text, text_bytes, head);
        else
                put(t, text, text_bytes, head, NULL);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(message);
