/* SPDX-License-Identifier: MIT */
#include "sampler/merge/perf_rings.h"

#include "sampler/events/event_set.h"
#include "sampler/kernel/perf_ring.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <stdlib.h>

int perf_rings_init(struct perf_rings *r, const struct recording *recording)
{
        size_t n_rings = recording->events->n_rings;

        *r = (struct perf_rings){ .recording = recording,
                                  .heads = calloc(n_rings, sizeof(*r->heads)),
                                  .taken = calloc(n_rings, sizeof(*r->taken)) };
        return r->heads && r->taken ? winner_tree_init(&r->oldest, n_rings) : -ENOMEM;
}

void perf_rings_deinit(struct perf_rings *r)
{
        winner_tree_deinit(&r->oldest);
        free(r->heads);
        free(r->taken);
}

/* A mapping of data needs no more work once kernel_side_scan() has seen that it is no region. */
static bool is_done(const struct ring_head *head, const struct perf_ring *ring, const uint8_t *bytes)
{
        const char *path;
        size_t path_bytes;

        return head->scan_bytes >= ring->tail_bytes + head->record_bytes &&
               perf_record_maps_data(bytes, head->record_bytes, &path, &path_bytes);
}

/* Steps over a record.  The kernel learns it later. */
static void consume(struct perf_rings *r, size_t i, size_t n_bytes)
{
        perf_ring_consume(&r->recording->events->rings[i], n_bytes);
        if (r->heads[i].is_taken)
                return;
        r->heads[i].is_taken = true;
        r->taken[r->n_taken++] = (uint32_t)i;
}

/* Decodes the oldest record of a ring into its head, if it is not there yet, and gives the ring its place. */
static int fill_head(struct perf_rings *r, size_t i, struct error *err)
{
        struct ring_head *head = &r->heads[i];
        struct perf_ring *ring = &r->recording->events->rings[i];
        uint64_t key_ns = WINNER_TREE_NONE;
        const uint8_t *bytes;

        while (!head->ready) {
                int code = perf_ring_peek(ring, &bytes, &head->record_bytes, err);

                if (code < 0)
                        return code;
                if (code == 0)
                        break;
                if (is_done(head, ring, bytes)) {
                        consume(r, i, head->record_bytes);
                        continue;
                }
                code = perf_record_decode(bytes, head->record_bytes, &r->recording->events->layout,
                                          &head->record, err);
                if (code == 0) {
                        head->ready = true;
                } else {
                        loss_counter_add(r->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                        consume(r, i, head->record_bytes);
                }
        }
        if (head->ready)
                key_ns = head->record.time_ns < WINNER_TREE_NONE ? head->record.time_ns
                                                                 : WINNER_TREE_NONE - 1;
        if (r->oldest.keys[i] != key_ns)
                winner_tree_set(&r->oldest, i, key_ns);
        return 0;
}

int perf_rings_look(struct perf_rings *r, struct error *err)
{
        const struct perf_ring *rings = r->recording->events->rings;
        size_t n_rings = r->oldest.n_sources;
        int code = 0;

        for (size_t i = 0; code == 0 && i < n_rings; i++) {
                size_t n_unread = perf_ring_count_unread(&rings[i]);

                if (i + PERF_RINGS_AHEAD < n_rings)
                        perf_ring_prefetch(&rings[i + PERF_RINGS_AHEAD]);
                if (n_unread == 0)
                        continue;
                recorder_pace_note_ring(r->recording->pace, n_unread, rings[i].data_bytes);
                if (r->oldest.keys[i] == WINNER_TREE_NONE)
                        code = fill_head(r, i, err);
        }
        return code;
}

int perf_rings_find(struct perf_rings *r, size_t *ret_ring, struct error *err)
{
        int code = 0;

        do {
                *ret_ring = winner_tree_first(&r->oldest);
                if (*ret_ring < r->oldest.n_sources && !r->heads[*ret_ring].ready)
                        code = fill_head(r, *ret_ring, err);
        } while (code == 0 && *ret_ring != winner_tree_first(&r->oldest));
        return code;
}

void perf_rings_step(struct perf_rings *r, size_t ring)
{
        r->heads[ring].ready = false;
        consume(r, ring, r->heads[ring].record_bytes);
}
