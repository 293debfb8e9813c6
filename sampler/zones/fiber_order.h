/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/fiber_order.h - which ring goes on first, of those that wait at the beginning of a fiber
 *
 * Way of the data:  client_stream -> zone_merge <-> [fiber_order]
 *
 * A thread can only go on as a fiber when another thread has left it.  So each
 * ring is merged until it says so, and then waits here; the one that said so
 * first goes on: everything of that fiber that happened before lies in rings
 * that have come past this time.  A heap; used by the collector's thread.
 */
#ifndef SAMPLER_ZONES_FIBER_ORDER_H
#define SAMPLER_ZONES_FIBER_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct waiting_slot {
        uint64_t enter_ns; /* time of the event that it waits at */
        uint32_t slot;
};

struct fiber_order {
        struct waiting_slot *waiting; /* heap, owned; none is later than those at twice its place */
        size_t n_waiting, capacity;
};

void fiber_order_init(struct fiber_order *o); /* zeroes */
void fiber_order_deinit(struct fiber_order *o);

/* Returns 0 or -ENOMEM. */
int fiber_order_add(struct fiber_order *o, struct waiting_slot waiting);

/*
 * Takes out the one that waits at the earliest time; of equal ones, that with the lowest slot.  Returns
 * 1, or 0 if none waits.
 */
int fiber_order_next(struct fiber_order *o, struct waiting_slot *ret_waiting);

#endif /* SAMPLER_ZONES_FIBER_ORDER_H */
