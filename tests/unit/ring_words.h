/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/ring_words.h - the words that the calling thread has put into its ring
 *
 * Way of the data:  instrument/client -> region -> [ring_words] -> tests
 *
 * For tests that are linked with the client and look into its region: a recorder
 * as small as can be, that knows how long events are and nothing else.
 */
#ifndef TESTS_UNIT_RING_WORDS_H
#define TESTS_UNIT_RING_WORDS_H

#include "instrument/client/client.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"

#include <check.h>
#include <hyprof/hyprof.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RING_WORDS_MAX (1 << 17) /* of a ring of 1 MiB */

/* The content of the calling thread's ring, copied out by ring_words_drain(). */
struct ring_words {
        uint64_t words[RING_WORDS_MAX];
        size_t n, at;
        uint32_t ticks_high;
        uint64_t last_ticks;
};

static struct ring_words ring_words;

static inline struct client_abi_header *ring_words_header(void)
{
        return client_self.region.header;
}

/* Copies what the thread has published, and gives the room back like a recorder. */
static inline void ring_words_drain(void)
{
        struct client_abi_slot *slot = thread_ring_self.slot;
        uint64_t tail, head;

        ring_words.n = ring_words.at = 0;
        if (!slot)
                return;
        tail = slot->tail_bytes;
        head = __atomic_load_n(&slot->head_bytes, __ATOMIC_ACQUIRE);
        for (; tail < head; tail += sizeof(uint64_t))
                memcpy(&ring_words.words[ring_words.n++],
                       thread_ring_self.bytes + (tail & thread_ring_self.mask), sizeof(uint64_t));
        __atomic_store_n(&slot->tail_bytes, tail, __ATOMIC_RELEASE);
}

static inline uint32_t ring_words_event(uint64_t word)
{
        return (uint32_t)(word >> CLIENT_ABI_EVENT_SHIFT);
}

static inline uint32_t ring_words_argument(uint64_t word)
{
        return (uint32_t)(word >> CLIENT_ABI_ARG_SHIFT) & CLIENT_ABI_ARG_MAX;
}

static inline size_t ring_words_payload(uint64_t word)
{
        uint32_t event = ring_words_event(word);
        size_t text_words = (ring_words_argument(word) + 7) / 8;

        if (event == CLIENT_ABI_EVENT_MESSAGE)
                return 1 + text_words;
        if (event == CLIENT_ABI_EVENT_THREAD_NAME || event >= CLIENT_ABI_EVENT_NEW_BYTES)
                return text_words;
        if (event == CLIENT_ABI_EVENT_THREAD || event == CLIENT_ABI_EVENT_PLOT_I64 ||
            event == CLIENT_ABI_EVENT_PLOT_F64)
                return 1;
        if (event < CLIENT_ABI_EVENT_NEW_WORD)
                return 0;
        return event < CLIENT_ABI_EVENT_NEW_TWO_WORDS ? 1 : 2;
}

/* The first word of the next event, 0 if there is none; its payload follows it. */
static inline const uint64_t *ring_words_next(void)
{
        static const uint64_t none;
        const uint64_t *first;

        while (ring_words.at < ring_words.n &&
               ring_words_event(ring_words.words[ring_words.at]) == CLIENT_ABI_EVENT_TIME)
                ring_words.ticks_high = (uint32_t)ring_words.words[ring_words.at++];
        if (ring_words.at == ring_words.n)
                return &none;
        first = &ring_words.words[ring_words.at];
        ring_words.at += 1 + ring_words_payload(*first);
        ck_assert_uint_le(ring_words.at, ring_words.n);
        ck_assert_uint_ge((uint64_t)ring_words.ticks_high << 32 | (uint32_t)*first, ring_words.last_ticks);
        ring_words.last_ticks = (uint64_t)ring_words.ticks_high << 32 | (uint32_t)*first;
        return first;
}

/* The next event is this one; returns its payload. */
static inline const uint64_t *ring_words_expect(uint32_t event, uint32_t argument)
{
        const uint64_t *first = ring_words_next();

        ck_assert_uint_eq(ring_words_event(*first), event);
        ck_assert_uint_eq(ring_words_argument(*first), argument);
        return first + 1;
}

/* The same, with these words at the begin of its payload. */
static inline const uint64_t *ring_words_expect_words(uint32_t event, uint32_t argument,
                                                      const uint64_t *wanted, size_t n_wanted)
{
        const uint64_t *words = ring_words_expect(event, argument);

        for (size_t i = 0; i < n_wanted; i++)
                ck_assert_msg(words[i] == wanted[i], "word %zu of event %u is %#" PRIx64 ", not %#" PRIx64, i,
                              event, words[i], wanted[i]);
        return words;
}
#define RING_WORDS_EXPECT(event, argument, ...)                                     \
        ring_words_expect_words(event, argument, (const uint64_t[]){ __VA_ARGS__ }, \
                                sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline void ring_words_expect_nothing(void)
{
        ring_words_drain();
        ck_assert_uint_eq(ring_words_event(*ring_words_next()), 0);
}

static inline size_t ring_words_count(uint32_t event)
{
        size_t n = 0;

        for (uint32_t e = ring_words_event(*ring_words_next()); e != 0;
             e = ring_words_event(*ring_words_next()))
                n += e == event;
        return n;
}

static inline void ring_words_stop(void)
{
        ring_words_header()->control_word &= ~(CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS);
}

/* A new session, whose first events are read already. */
static inline void ring_words_record(uint32_t wanted)
{
        uint32_t session = (ring_words_header()->control_word >> CLIENT_ABI_SESSION_SHIFT) + 1;

        ring_words_header()->control_word = session << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_FRAMES;
        ring_words_drain();
        hyprof_frame_mark(NULL);
        ring_words_drain();
        while (*ring_words_next())
                ;
        ring_words_header()->control_word = session << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_ALWAYS |
                                            wanted;
}

/* The content of the blob that the next event, a BLOB, announces. */
static inline const uint8_t *ring_words_expect_blob(uint64_t n_bytes)
{
        const uint64_t *words = ring_words_expect(CLIENT_ABI_EVENT_BLOB, 0);
        const uint8_t *blob = client_self.region.blobs + words[0] % client_self.region.blobs_bytes;

        ck_assert_uint_eq(words[1], n_bytes);
        ck_assert_mem_eq(blob, &words[0], sizeof(words[0]));
        ring_words_header()->blobs_freed_bytes = ring_words_header()->blobs_used_bytes;
        return blob + CLIENT_ABI_BLOB_HEADER_BYTES;
}

#endif /* TESTS_UNIT_RING_WORDS_H */
