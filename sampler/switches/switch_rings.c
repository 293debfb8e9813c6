/* SPDX-License-Identifier: MIT */
#include "sampler/switches/switch_rings.h"

#include "instrument/tick_clock.h"

#include <errno.h>
#include <stdlib.h>

int switch_rings_init(struct switch_rings *r, size_t n_rings_max)
{
        *r = (struct switch_rings){ .items = calloc(n_rings_max, sizeof(*r->items)), .n_items = n_rings_max };
        return r->items ? winner_tree_init(&r->oldest, n_rings_max) : -ENOMEM;
}

void switch_rings_deinit(struct switch_rings *r)
{
        winner_tree_deinit(&r->oldest);
        free(r->items);
}

/*
 * Asks the processor for the heads of rings some turns ahead, and before that for the items that say where
 * they are: rings of many CPUs lie far apart, so that each is one miss of a cache after the other.
 */
#define HEADS_AHEAD 8
#define ITEMS_AHEAD 16

static void prefetch(const struct switch_rings *r, size_t i)
{
        if (i + ITEMS_AHEAD < r->n_items)
                __builtin_prefetch(&r->items[i + ITEMS_AHEAD].ring);
        if (i + HEADS_AHEAD < r->n_items)
                __builtin_prefetch(r->items[i + HEADS_AHEAD].ring.shared);
}

void switch_rings_look(struct switch_rings *r)
{
        for (size_t i = 0; i < r->n_items; i++) {
                prefetch(r, i);
                switch_ring_look(&r->items[i].ring);
        }
}

/* Decodes the oldest record of a ring, up to its head at the last look.  Returns false if it has none. */
static bool decode_next(struct switch_rings *r, struct cpu_ring *c, struct tick_clock *clock)
{
        const uint8_t *bytes;
        uint64_t time_ns;
        size_t n_bytes;

        for (;;) {
                int code = switch_ring_peek(&c->ring, &bytes, &n_bytes, NULL);

                if (code < 0) { /* the ring is damaged: no record in it can be found */
                        r->n_garbage++;
                        switch_ring_clear(&c->ring);
                }
                if (code <= 0)
                        return false;
                if (switch_record_decode(bytes, n_bytes, c->cpu, &c->record, NULL) == 0 &&
                    c->record.n_records > 0)
                        break;
                r->n_garbage++;
                switch_ring_consume(&c->ring, n_bytes);
        }
        c->record_bytes = n_bytes;
        c->n_given = 0;
        time_ns = tick_clock_to_ns(clock, c->record.records[0].time_ns);
        for (unsigned i = 0; i < c->record.n_records; i++)
                c->record.records[i].time_ns = time_ns;
        return true;
}

static void fill(struct switch_rings *r, struct cpu_ring *c, struct tick_clock *clock)
{
        winner_tree_set(&r->oldest, (size_t)(c - r->items),
                        decode_next(r, c, clock) ? c->record.records[0].time_ns : WINNER_TREE_NONE);
}

void switch_rings_fill(struct switch_rings *r, struct tick_clock *clock)
{
        for (size_t i = 0; i < r->n_items; i++)
                if (r->oldest.keys[i] == WINNER_TREE_NONE &&
                    r->items[i].ring.head_bytes != r->items[i].ring.tail_bytes)
                        fill(r, &r->items[i], clock);
}

bool switch_rings_peek(struct switch_rings *r, uint64_t until_ns, const struct perf_record **ret_record)
{
        size_t first = winner_tree_first(&r->oldest);

        if (first >= r->n_items || r->oldest.keys[first] > until_ns)
                return false;
        r->turn = &r->items[first];
        *ret_record = &r->turn->record.records[r->turn->n_given];
        return true;
}

void switch_rings_consume(struct switch_rings *r, struct tick_clock *clock)
{
        struct cpu_ring *c = r->turn;

        if (!c || ++c->n_given < c->record.n_records)
                return;
        switch_ring_consume(&c->ring, c->record_bytes);
        fill(r, c, clock);
}

uint64_t switch_rings_find_fullest(const struct switch_rings *r, uint64_t *ret_ring_bytes)
{
        uint64_t fullest = 0;

        *ret_ring_bytes = 1;
        for (size_t i = 0; i < r->n_items; i++) {
                uint64_t n_unread;

                prefetch(r, i);
                n_unread = switch_ring_count_unread(&r->items[i].ring);
                if (n_unread * *ret_ring_bytes > fullest * r->items[i].ring.data_bytes) {
                        fullest = n_unread;
                        *ret_ring_bytes = r->items[i].ring.data_bytes;
                }
        }
        return fullest;
}

void switch_rings_release(struct switch_rings *r)
{
        for (size_t i = 0; i < r->n_items; i++)
                switch_ring_release(&r->items[i].ring);
}
