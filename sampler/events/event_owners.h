/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_owners.h - whose events a thread is recorded by: its own, or those that it inherited
 *
 * Way of the data:  event_set, perf_record (FORK) -> [event_owners] -> event_set_is_double()
 *
 * Events are opened on the threads of a running process one after the other,
 * while new threads are started.  One that is found late may have inherited the
 * events of the thread that started it, all of them or those on some CPUs, and
 * is given its own nevertheless.  Then it is recorded twice, and so is
 * everything that it starts; what did not come from its owner's events is left
 * out.
 */
#ifndef SAMPLER_EVENTS_EVENT_OWNERS_H
#define SAMPLER_EVENTS_EVENT_OWNERS_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct event_owners {
        struct intern tids;
        uint32_t *owners; /* heap, owned; by the tid's id - 1 */
        size_t capacity;
};

void event_owners_init(struct event_owners *o);
void event_owners_deinit(struct event_owners *o);

/* From now on @tid is recorded by the events that were opened on @owner.  Returns 0 or -ENOMEM. */
int event_owners_add(struct event_owners *o, uint32_t tid, uint32_t owner);

/* Returns 0 if nothing is known of it. */
uint32_t event_owners_find(const struct event_owners *o, uint32_t tid);

#endif /* SAMPLER_EVENTS_EVENT_OWNERS_H */
