/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox_profile.h"

#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void time_order_init(struct time_order *o, const struct event_spool *s, uint32_t chain)
{
        *o = (struct time_order){ .n = 0 };
        spool_cursor_init(&o->cursor, s, chain);
}

void time_order_deinit(struct time_order *o)
{
        spool_cursor_deinit(&o->cursor);
        free(o->items);
        o->items = NULL;
}

static void swap(struct timed_item *a, struct timed_item *b)
{
        struct timed_item before = *a;

        *a = *b;
        *b = before;
}

static void push(struct timed_item *heap, size_t i)
{
        for (; i > 0 && heap[i].time_ns < heap[(i - 1) / 2].time_ns; i = (i - 1) / 2)
                swap(&heap[i], &heap[(i - 1) / 2]);
}

static void pop(struct timed_item *heap, size_t n)
{
        size_t i = 0;

        heap[0] = heap[n];
        for (;;) {
                size_t child = 2 * i + 1;

                if (child + 1 < n && heap[child + 1].time_ns < heap[child].time_ns)
                        child++;
                if (child >= n || heap[i].time_ns <= heap[child].time_ns)
                        return;
                swap(&heap[i], &heap[child]);
                i = child;
        }
}

static int read_ahead(struct time_order *o, struct error *err)
{
        const void *at;
        int r = 1;

        while (o->n < TIME_ORDER_ITEMS &&
               (r = spool_cursor_next(&o->cursor, sizeof(struct timed_item), &at, err)) == 1) {
                if (array_reserve(&o->items, &o->capacity, o->n + 1, sizeof(*o->items)) < 0)
                        return error_set(err, -ENOMEM, "no memory to put events in order");
                o->items[o->n] = *(const struct timed_item *)at;
                push(o->items, o->n++);
        }
        return r < 0 ? r : 0;
}

int time_order_next(struct time_order *o, struct timed_item *ret, struct error *err)
{
        int r = read_ahead(o, err);

        if (r < 0 || o->n == 0)
                return r;
        *ret = o->items[0];
        pop(o->items, --o->n);
        if (ret->time_ns < o->last_ns)
                ret->time_ns = o->last_ns;
        o->last_ns = ret->time_ns;
        return 1;
}
