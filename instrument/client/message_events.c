/* SPDX-License-Identifier: MIT */
/* instrument/client/message_events.c - messages */
#include "instrument/client/location_table.h"
#include "instrument/client/payload_event.h"
#include "instrument/client/word_event.h"

#include <string.h>

/* @c: NULL = no call stack. */
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

/* Takes six words of arguments, so that a call of it can take the place of its caller's return. */
static __attribute__((noinline, cold)) void emit_slowly(const char *text, size_t text_bytes, uint64_t head,
                                                        uint32_t depth, struct callstack_origin from)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        enum hyprof_severity severity = (enum hyprof_severity)(head >> 32);
        bool is_in;

        depth = callstack_depth(word, CLIENT_ABI_FAMILY_MESSAGES, depth);
        if (depth > 0) {
                is_in = emit_with_callstack(text, text_bytes, head, from, depth);
        } else {
                is_in = thread_ring_enter(t, word, THREAD_RING_LOSS_MESSAGE);
                if (is_in) {
                        put(t, text, text_bytes, head, NULL);
                        thread_ring_leave(t, word);
                }
        }
        if (!is_in)
                CLIENT_LINK_PASS_ON(message, text, text_bytes, severity, (uint32_t)head, depth);
}

/* The usual case: a short text, no call stack, and room.  Returns false in any other case. */
THREAD_RING_INLINE bool emit_at_once(uint32_t word, const char *text, size_t text_bytes, uint64_t head)
{
        struct thread_ring *t = &thread_ring_self;
        uint64_t n_bytes = UINT64_C(2) * CLIENT_ABI_WORD_BYTES + thread_ring_whole_words(text_bytes);
        struct thread_ring_word *to;
        uint64_t ticks = 0;
        bool is_done = false;

        if (CLIENT_UNLIKELY(!text || text_bytes > THREAD_RING_TEXT_BYTES_SHORT ||
                            !ticks_are_counted(client_self.clock_kind) ||
                            !thread_ring_enter_at_once(t, word)))
                return false;
        to = thread_ring_room_at_once(t, n_bytes);
        if (CLIENT_LIKELY(to)) {
                /* The words without the time are written first, so that they do not wait for the counter. */
                to[1].bits = head;
                (void)thread_ring_store(to + 2, text, text_bytes);
                ticks = ticks_counter();
                is_done = thread_ring_is_near(t, ticks);
        }
        if (CLIENT_LIKELY(is_done)) {
                t->last_ticks = ticks;
                to[0].bits = thread_ring_pack(ticks, (uint32_t)text_bytes, CLIENT_ABI_EVENT_MESSAGE);
                thread_ring_advance(t, n_bytes);
        }
        thread_ring_leave(t, word);
        return is_done;
}

void hyprof_emit_message(const char *text, size_t text_bytes, enum hyprof_severity severity, uint32_t color,
                         uint32_t depth)
{
        uint32_t word = client_control_word();
        uint64_t head = color | (uint64_t)severity << 32;

        if (CLIENT_UNLIKELY(callstack_depth(word, CLIENT_ABI_FAMILY_MESSAGES, depth) != 0 ||
                            !emit_at_once(word, text, text_bytes, head))) {
                emit_slowly(text, text_bytes, head, depth, CALLSTACK_HERE);
                CALLSTACK_STAY();
        }
}
CLIENT_LINK_OWN(message);

/* ---- literals ------------------------------------------------------------------------------------------ */

/* Binds @literal to its first text.  A text that is too long for a name gets no number. */
static void remember_literal(struct hyprof_location *literal, const char *text, size_t text_bytes)
{
        const char *none = NULL;

        if (text_bytes > CLIENT_ABI_STRING_BYTES_MAX ||
            (!__atomic_compare_exchange_n(&literal->name, &none, text, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE) &&
             none != text))
                return;
        (void)location_table_id(literal);
}

/* Takes six words of arguments, as emit_slowly() does.  This one message is written with its text. */
static __attribute__((noinline, cold)) void emit_literal_slowly(struct hyprof_location *literal,
                                                                const char *text, uint64_t head,
                                                                uint32_t depth, struct callstack_origin from)
{
        size_t text_bytes = text ? strlen(text) : 0;

        if (literal && text)
                remember_literal(literal, text, text_bytes);
        emit_slowly(text, text_bytes, head, depth, from);
}

/* The usual case: a text that has a number, no call stack, and room.  Returns false in any other case. */
THREAD_RING_INLINE bool emit_literal_at_once(uint32_t word, const struct hyprof_location *literal,
                                             const char *text, uint64_t head)
{
        const uint64_t n_bytes = UINT64_C(2) * CLIENT_ABI_WORD_BYTES;
        struct thread_ring *t = &thread_ring_self;
        struct thread_ring_word *to;
        bool is_done = false;
        uint64_t ticks;
        uint32_t id;

        if (CLIENT_UNLIKELY(!literal || !ticks_are_counted(client_self.clock_kind) ||
                            !thread_ring_enter_at_once(t, word)))
                return false;
        /* Acquire: a thread that sees the number also sees the text to which it belongs. */
        id = __atomic_load_n(&literal->id, __ATOMIC_ACQUIRE);
        to = thread_ring_room_at_once(t, n_bytes);
        if (CLIENT_LIKELY(id != 0 && __atomic_load_n(&literal->name, __ATOMIC_RELAXED) == text && to)) {
                to[1].bits = head;
                ticks = ticks_counter();
                is_done = thread_ring_is_near(t, ticks);
                if (CLIENT_LIKELY(is_done)) {
                        t->last_ticks = ticks;
                        to[0].bits = thread_ring_pack(ticks, id, CLIENT_ABI_EVENT_MESSAGE_NAMED);
                        thread_ring_advance(t, n_bytes);
                }
        }
        thread_ring_leave(t, word);
        return is_done;
}

void hyprof_emit_message_literal(struct hyprof_location *literal, const char *text,
                                 enum hyprof_severity severity, uint32_t color, uint32_t depth)
{
        uint32_t word = client_control_word();
        uint64_t head = color | (uint64_t)severity << 32;

        if (CLIENT_UNLIKELY(callstack_depth(word, CLIENT_ABI_FAMILY_MESSAGES, depth) != 0 ||
                            !emit_literal_at_once(word, literal, text, head))) {
                emit_literal_slowly(literal, text, head, depth, CALLSTACK_HERE);
                CALLSTACK_STAY();
        }
}
