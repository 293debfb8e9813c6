/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/word_event.h - write an event that consists of a few words
 *
 * Way of the data:  *_events -> [word_event] -> thread_ring
 *
 *      if (thread_ring_enter(t, word, loss)) {
 *              word_event_put(t, &(struct word_event){ ... });
 *              thread_ring_leave(t, word);
 *      }
 *
 * Inlined, so that with constants in the struct nothing is left of it but the
 * stores into the ring.
 */
#ifndef INSTRUMENT_CLIENT_WORD_EVENT_H
#define INSTRUMENT_CLIENT_WORD_EVENT_H

#include "instrument/client/callstack.h"
#include "instrument/client/thread_ring.h"

#define WORD_EVENT_INLINE static inline __attribute__((always_inline))

/*
 * For functions that capture a callstack: it takes room on the program's stack, which other events do not
 * need.  Such a function returns whether the thread could write, and its caller never calls it in place of a
 * return: the frame that evaluated CALLSTACK_HERE must still be there.
 */
#define WORD_EVENT_RARE static __attribute__((noinline, cold))

#define WORD_EVENT_WORDS_MAX 4

struct word_event {
        enum thread_ring_loss loss; /* the counter to increase if there is no room */
        enum client_abi_event event;
        uint32_t argument;
        bool is_lost; /* its location has no number: the event is only counted */
        unsigned n_words;
        uint64_t words[WORD_EVENT_WORDS_MAX];
};

/*
 * word_event_put_after() - write an event, or count that it is lost
 * @c:  the callstack that it comes with; NULL = none
 * To be called between thread_ring_enter() and thread_ring_leave().
 */
WORD_EVENT_INLINE void word_event_put_after(struct thread_ring *t, const struct callstack *c,
                                            const struct word_event *e)
{
        uint64_t n_bytes = THREAD_RING_EVENT_BYTES + (uint64_t)e->n_words * CLIENT_ABI_WORD_BYTES;
        uint64_t ticks;

        if (c)
                n_bytes += callstack_room(c);
        if (CLIENT_UNLIKELY(e->is_lost || !thread_ring_has_room(t, n_bytes))) {
                thread_ring_count_loss(t, e->loss);
                return;
        }
        ticks = ticks_read(client_self.clock_kind);
        if (c)
                callstack_put(t, ticks, c);
        thread_ring_put_event(t, ticks, e->event, e->argument);
        for (unsigned i = 0; i < e->n_words; i++)
                thread_ring_put_word(t, e->words[i]);
        thread_ring_publish(t);
}

WORD_EVENT_INLINE void word_event_put(struct thread_ring *t, const struct word_event *e)
{
        word_event_put_after(t, NULL, e);
}

#endif /* INSTRUMENT_CLIENT_WORD_EVENT_H */
