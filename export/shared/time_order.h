/* SPDX-License-Identifier: MIT */
/*
 * export/shared/time_order.h - events of several threads, nearly in the order of time -> in the order of time
 *
 * Way of the data:  event_spool (a chain that several threads added to) -> [time_order] -> export_firefox
 *
 * Threads alternate in the trace, a few milliseconds from each other.  The earliest of TIME_ORDER_ITEMS that
 * are read ahead comes next; even later events get the time of the one before them.  Memory: these items.
 */
#ifndef EXPORT_SHARED_TIME_ORDER_H
#define EXPORT_SHARED_TIME_ORDER_H

#include "export/shared/event_spool.h"

#include <stddef.h>
#include <stdint.h>

#define TIME_ORDER_ITEMS 65536

/* The items of the chain. */
struct timed_item {
        uint64_t time_ns;
        uint64_t bits;    /* the user's */
        uint64_t address; /* the user's */
        uint32_t stack;   /* the user's */
        uint32_t thread;  /* the user's */
};

struct time_order {
        struct spool_cursor cursor;
        struct timed_item *items; /* heap, also in the other sense: the earliest is the first */
        size_t n, capacity;
        uint64_t last_ns;
};

void time_order_init(struct time_order *o, const struct event_spool *s, uint32_t chain);
void time_order_deinit(struct time_order *o);

/* Returns 1 and the next one, 0 at the end, -ENOMEM, -errno of the file. */
int time_order_next(struct time_order *o, struct timed_item *ret, struct error *err);

#endif /* EXPORT_SHARED_TIME_ORDER_H */
