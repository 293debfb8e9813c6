/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fake_events.h - an event_set without a kernel: two CPUs, two sampling
 * events, rings in plain memory
 *
 * Way of the data:  kernel_record -> [fake_events] -> kernel_side, merge
 */
#ifndef TESTS_UNIT_FAKE_EVENTS_H
#define TESTS_UNIT_FAKE_EVENTS_H

#include "sampler/events/event_set.h"

/* Which ring of the set is which. */
enum { FAKE_TRACKER_0, FAKE_SAMPLES_0, FAKE_TRACKER_1, FAKE_SAMPLES_1, FAKE_N_RINGS };

/* PERF_SAMPLE_IDENTIFIER of the events; two for each spec, one on each CPU. */
#define FAKE_EVENT_TRACKER  100
#define FAKE_EVENT_SPEC_0   200
#define FAKE_EVENT_SPEC_0_B 201
#define FAKE_EVENT_SPEC_1   210
#define FAKE_EVENT_WAITS    220 /* of EVENT_ROLE_WAITS */
#define FAKE_EVENT_WAKERS   230 /* of EVENT_ROLE_WAKERS; the woken thread is at byte 8 */
#define FAKE_EVENT_STRANGER 999 /* not of the set */

/* event_set_close() is its end. */
void fake_events_open(struct event_set *set, uint64_t sample_type);

/* The event of a handle can be read once: it counts @n_lost records that found no room. */
void fake_events_count(struct event_set *set, size_t handle, uint64_t n_lost);

#endif /* TESTS_UNIT_FAKE_EVENTS_H */
