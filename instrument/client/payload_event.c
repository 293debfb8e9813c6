/* SPDX-License-Identifier: MIT */
#include "instrument/client/payload_event.h"

#include "instrument/client/blob_area.h"

#include <string.h>

/* Joins parts of any length, without gaps, into words. */
struct joint {
        uint64_t word;    /* bytes that are not put yet */
        unsigned n_bytes; /* how many: less than a word */
};

static void put_part(struct thread_ring *t, struct joint *j, const void *data, size_t n)
{
        const uint8_t *at = data;
        unsigned shift = j->n_bytes * 8;

        for (; n >= CLIENT_ABI_WORD_BYTES; n -= CLIENT_ABI_WORD_BYTES, at += CLIENT_ABI_WORD_BYTES) {
                uint64_t word;

                memcpy(&word, at, sizeof(word));
                thread_ring_put_word(t, j->word | word << shift);
                j->word = shift ? word >> (64 - shift) : 0;
        }
        for (; n > 0; n--) {
                j->word |= (uint64_t)*at++ << (8 * j->n_bytes++);
                if (j->n_bytes == CLIENT_ABI_WORD_BYTES) {
                        thread_ring_put_word(t, j->word);
                        *j = (struct joint){ .n_bytes = 0 };
                }
        }
}

static void put_payload(struct thread_ring *t, const struct payload_event *e, size_t content_bytes)
{
        struct joint j = { .n_bytes = 0 };

        for (unsigned i = 0; i < e->n_words; i++)
                thread_ring_put_word(t, e->words[i]);
        put_part(t, &j, e->name, e->name_bytes);
        put_part(t, &j, e->content, content_bytes);
        if (j.n_bytes > 0)
                thread_ring_put_word(t, j.word);
}

/*
 * The code makes sure of room in the ring before it puts the blob: a blob that no event announces would never
 * be freed.
 */
void payload_event_put(struct thread_ring *t, const struct payload_event *e)
{
        uint64_t inline_max = thread_ring_text_max(t);
        uint64_t words_bytes = (uint64_t)e->n_words * CLIENT_ABI_WORD_BYTES;
        uint64_t inline_bytes, room_bytes, ticks, blob_at, blob_bytes;
        size_t content_bytes = e->content_bytes;
        bool with_blob;

        if (e->name_bytes > inline_max - words_bytes) {
                blob_area_count_refused();
                return;
        }
        with_blob = content_bytes > inline_max - words_bytes - e->name_bytes;
        if (with_blob)
                content_bytes = 0;
        inline_bytes = words_bytes + e->name_bytes + content_bytes;

        room_bytes = THREAD_RING_EVENT_BYTES + thread_ring_whole_words(inline_bytes);
        if (with_blob)
                room_bytes += THREAD_RING_BLOB_BYTES;
        if (e->callstack)
                room_bytes += callstack_room(e->callstack);
        if (!thread_ring_has_room(t, room_bytes)) {
                thread_ring_count_loss(t, e->loss);
                return;
        }

        ticks = ticks_read(client_self.clock_kind);
        if (with_blob && !blob_area_put(&e->content, &e->content_bytes, 1, &blob_at, &blob_bytes))
                return;
        if (e->callstack)
                callstack_put(t, ticks, e->callstack);
        if (with_blob)
                thread_ring_put_blob(t, ticks, blob_at, blob_bytes);
        thread_ring_put_event(t, ticks, e->event,
                              (uint32_t)(e->words_uncounted ? inline_bytes - words_bytes : inline_bytes));
        put_payload(t, e, content_bytes);
        thread_ring_publish(t);
}
