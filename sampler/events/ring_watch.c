/* SPDX-License-Identifier: MIT */
#include "sampler/events/ring_watch.h"

#include "sampler/kernel/perf_ring.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>

void ring_watch_init(struct ring_watch *w, const struct perf_ring *ring)
{
        w->ring = ring;
        w->position = 0;
}

static uint64_t read_tail(const struct ring_watch *w)
{
        /*
         * Pairs with the release in perf_ring_release().  Words of records are read with acquire, so this
         * load comes after them: if the kernel had overwritten one of them, it would have seen the new tail
         * first, and so does this load.
         */
        return __atomic_load_n(&w->ring->meta->data_tail, __ATOMIC_ACQUIRE);
}

/* Records consist of words of 8 bytes, so no word crosses the end. */
static void copy_words(struct ring_watch *w, size_t from, size_t until)
{
        for (size_t i = from; i < until; i++) {
                size_t at = (size_t)((w->position + i * sizeof(uint64_t)) & (w->ring->data_bytes - 1));
                const void *word = w->ring->data + at;

                w->copy[i] = __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
        }
}

/* Has the place of the copied record been given back? */
static bool is_overtaken(struct ring_watch *w)
{
        uint64_t tail = read_tail(w);

        if (tail <= w->position)
                return false;
        w->position = tail;
        return true;
}

int ring_watch_next(struct ring_watch *w, uint32_t type, uint16_t without_misc, const uint8_t **ret_record,
                    size_t *ret_bytes)
{
        uint64_t head;

        if (!w->ring->meta)
                return 0;
        /*
         * Pairs with the kernel's release in perf_output_put_handle(): the records before the head are whole.
         */
        head = __atomic_load_n(&w->ring->meta->data_head, __ATOMIC_ACQUIRE);
        (void)is_overtaken(w);
        while (w->position < head) {
                struct perf_event_header header;

                copy_words(w, 0, 1);
                memcpy(&header, w->copy, sizeof(header));
                if (is_overtaken(w))
                        continue;
                if (head - w->position > w->ring->data_bytes || header.size < sizeof(header) ||
                    header.size % sizeof(uint64_t) != 0 || header.size > head - w->position) {
                        w->position = head; /* the ring's owner finds the same fault and reports it */
                        return 0;
                }
                if (header.type != type || header.misc & without_misc || header.size > sizeof(w->copy)) {
                        w->position += header.size;
                        continue;
                }
                copy_words(w, 1, header.size / sizeof(uint64_t));
                if (is_overtaken(w))
                        continue;
                w->position += header.size;
                *ret_record = (const uint8_t *)w->copy;
                *ret_bytes = header.size;
                return 1;
        }
        return 0;
}
