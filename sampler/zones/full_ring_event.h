/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/full_ring_event.h - wakes the collector when a program fills memory while it rests
 *
 * Way of the data:  client regions -> [full_ring_event] -> recorder
 *
 * A program that takes many chunks clears a word of its region and wakes threads that wait for that
 * (client-abi.md, "Chunks").  A thread waits for all these words at once, and writes to an eventfd: the
 * collector waits for files.  The words are the programs' own, so the thread only gives their addresses to
 * the kernel.  It wakes the collector once, and then waits until the collector has set the words again.
 * Without futex_waitv(2) (Linux 5.16) it never wakes the collector, which comes when its rest is over.
 */
#ifndef SAMPLER_ZONES_FULL_RING_EVENT_H
#define SAMPLER_ZONES_FULL_RING_EVENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FULL_RING_EVENT_WORDS_MAX 127 /* futex_waitv() takes 128 words, and one of them is our own */

/* A word and its value while nothing has to be done. */
struct full_ring_event_word {
        const uint32_t *at;
        uint32_t value;
};

struct full_ring_event {
        int fd; /* eventfd, for epoll with EPOLLET; -1 = there is none */
        bool is_running;
        pthread_t thread;
        pthread_mutex_t lock; /* of `words` and `n_words`, which the collector writes */
        struct full_ring_event_word words[FULL_RING_EVENT_WORDS_MAX];
        size_t n_words;
        bool is_ending;    /* atomic */
        uint32_t has_rung; /* atomic; since full_ring_event_set() */
        uint32_t round;    /* atomic; changes when words are replaced, or set again */
};

void full_ring_event_init(struct full_ring_event *b);
void full_ring_event_deinit(struct full_ring_event *b);

/*
 * full_ring_event_set() - the words to wait for from now on; starts the thread when there is something
 * @rearmed:  some of the words hold their value again
 * Words after the first FULL_RING_EVENT_WORDS_MAX are left out.  Costs nothing where nothing has changed.
 */
void full_ring_event_set(struct full_ring_event *b, const struct full_ring_event_word *words, size_t n,
                         bool rearmed);

#endif /* SAMPLER_ZONES_FULL_RING_EVENT_H */
