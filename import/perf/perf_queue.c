/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_queue.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void perf_queue_deinit(struct perf_queue *q)
{
        for (size_t i = 0; i < q->n; i++)
                free(q->items[i].body);
        free(q->items);
        *q = (struct perf_queue){ .items = NULL };
}

static int compare(const void *a, const void *b)
{
        const struct perf_queued *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return x->number < y->number ? -1 : x->number > y->number;
}

static void sort(struct perf_queue *q)
{
        if (q->n > 1)
                qsort(q->items, q->n, sizeof(*q->items), compare);
}

int perf_queue_add(struct perf_queue *q, const struct perf_raw_record *record, uint64_t time)
{
        uint8_t *body = malloc(record->n_bytes + 1);

        if (!body || array_reserve(&q->items, &q->capacity, q->n + 1, sizeof(*q->items)) < 0) {
                free(body);
                return -ENOMEM;
        }
        memcpy(body, record->body, record->n_bytes);
        q->items[q->n] =
                (struct perf_queued){ .time = time, .number = q->n_added++, .record = *record, .body = body };
        q->items[q->n++].record.body = body;
        q->n_bytes += record->n_bytes + sizeof(*q->items);
        if (time > q->newest)
                q->newest = time;
        if (q->n_bytes > PERF_QUEUE_BYTES_MAX) {
                sort(q);
                q->n_ready = q->n / 2;
        }
        return 0;
}

void perf_queue_mark(struct perf_queue *q, bool is_end)
{
        sort(q);
        q->n_ready = is_end ? q->n
                            : array_count_to(q->items, q->n, sizeof(*q->items),
                                             offsetof(struct perf_queued, time), q->limit);
        q->limit = q->newest;
}

static void free_taken(struct perf_queue *q)
{
        for (size_t i = 0; i < q->n_taken; i++) {
                q->n_bytes -= q->items[i].record.n_bytes + sizeof(*q->items);
                free(q->items[i].body);
        }
        if (q->n_taken > 0)
                memmove(q->items, q->items + q->n_taken, (q->n - q->n_taken) * sizeof(*q->items));
        q->n -= q->n_taken;
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
