/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_queue.h"

#include "base/array.h"
#include "base/large_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks -------------------------------------------------------------------------------------------- */

static void free_blocks(struct perf_queue_block *block)
{
        while (block) {
                struct perf_queue_block *next = block->next;

                free(block);
                block = next;
        }
}

/* A record of it has gone on. */
static void leave_block(struct perf_queue *q, struct perf_queue_block *block)
{
        if (--block->n_records > 0)
                return;
        block->used_bytes = 0;
        if (block == q->block)
                return;
        q->n_bytes -= sizeof(*block);
        block->next = q->free;
        q->free = block;
}

/* The block that has room for so many bytes more; NULL = no memory. */
static struct perf_queue_block *find_room(struct perf_queue *q, size_t n_bytes)
{
        struct perf_queue_block *block = q->block;

        assert(n_bytes <= PERF_QUEUE_BLOCK_BYTES);
        if (block && n_bytes <= PERF_QUEUE_BLOCK_BYTES - block->used_bytes)
                return block;
        block = q->free ? q->free : large_memory_new(sizeof(*block));
        if (!block)
                return NULL;
        q->free = q->free ? block->next : NULL;
        block->n_records = block->used_bytes = 0;
        q->n_bytes += sizeof(*block);
        q->block = block;
        return block;
}

void perf_queue_deinit(struct perf_queue *q)
{
        for (size_t i = 0; i < q->n; i++)
                leave_block(q, q->items[i].block);
        free_blocks(q->free);
        free(q->block);
        free(q->items);
        *q = (struct perf_queue){ .items = NULL };
}

/* ---- records ------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
        const struct perf_queued *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return x->number < y->number ? -1 : x->number > y->number;
}

/* Mostly they are in order already: perf wrote what each CPU had, one after the other. */
static void sort(struct perf_queue *q)
{
        if (q->is_unsorted)
                qsort(q->items, q->n, sizeof(*q->items), compare);
        q->is_unsorted = false;
}

/* Without marks: lets those go on that are older than any record was late.  A few are not worth it. */
static void leave_old(struct perf_queue *q)
{
        const uint64_t late = q->latest > q->newest / 2 ? q->newest : 2 * q->latest;
        size_t n;

        sort(q);
        n = array_count_to(q->items, q->n, sizeof(*q->items), offsetof(struct perf_queued, time),
                           q->newest - late);
        q->n_ready = n < q->n / 8 ? 0 : n < q->n / 2 ? n : q->n / 2;
        q->next_bytes = q->n_ready == 0 ? q->n_bytes + PERF_QUEUE_NO_MARK_BYTES / 2 : 0;
}

int perf_queue_add(struct perf_queue *q, const struct perf_raw_record *record, uint64_t time)
{
        struct perf_queue_block *block;
        struct perf_queued item = { .time = time, .number = q->n_added, .record = *record };
        uint8_t *body;

        if (array_reserve(&q->items, &q->capacity, q->n + 1, sizeof(*q->items)) < 0)
                return -ENOMEM;
        item.block = block = find_room(q, record->n_bytes);
        if (!block)
                return -ENOMEM;
        body = block->bytes + block->used_bytes;
        if (record->n_bytes > 0)
                memcpy(body, record->body, record->n_bytes);
        block->used_bytes += record->n_bytes;
        block->n_records++;
        item.record.body = body;
        q->is_unsorted = q->is_unsorted || (q->n > 0 && time < q->items[q->n - 1].time);
        q->items[q->n++] = item;
        q->n_added++;
        q->n_bytes += sizeof(item);
        if (time > q->newest)
                q->newest = time;
        else if (q->newest - time > q->latest)
                q->latest = q->newest - time;
        if (q->n_bytes > PERF_QUEUE_BYTES_MAX) {
                sort(q);
                q->n_ready = q->n / 2;
        } else if (!q->has_marks && q->n_bytes > PERF_QUEUE_NO_MARK_BYTES && q->n_bytes > q->next_bytes) {
                leave_old(q);
        }
        return 0;
}

void perf_queue_mark(struct perf_queue *q, bool is_end)
{
        sort(q);
        q->has_marks = true;
        q->n_ready = is_end ? q->n
                            : array_count_to(q->items, q->n, sizeof(*q->items),
                                             offsetof(struct perf_queued, time), q->limit);
        q->limit = q->newest;
}

/* A record's bytes are good until the next call, so that its block is left then. */
static void free_taken(struct perf_queue *q)
{
        for (size_t i = 0; i < q->n_taken; i++)
                leave_block(q, q->items[i].block);
        if (q->n_taken > 0)
                memmove(q->items, q->items + q->n_taken, (q->n - q->n_taken) * sizeof(*q->items));
        q->n -= q->n_taken;
        q->n_bytes -= q->n_taken * sizeof(*q->items);
        q->n_taken = q->n_ready = 0;
}

bool perf_queue_next(struct perf_queue *q, struct perf_raw_record *ret_record)
{
        if (q->n_taken == q->n_ready) {
                free_taken(q);
                return false;
        }
        *ret_record = q->items[q->n_taken++].record;
        return true;
}
