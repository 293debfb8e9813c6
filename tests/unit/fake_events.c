/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_events.h"

#include "tests/unit/fake_ring.h"

#include <check.h>
#include <stdlib.h>

#define RING_BYTES 16384

static const struct event_request request = {
        .specs = { { .role = EVENT_ROLE_SAMPLES },
                   { .role = EVENT_ROLE_SAMPLES },
                   { .role = EVENT_ROLE_WAITS },
                   { .role = EVENT_ROLE_WAKERS, .woken_offset_bytes = 8 } },
        .n_specs = 4,
};

static void add_handle(struct event_set *set, uint64_t id, uint32_t spec)
{
        set->handles[set->n_handles++] = (struct event_handle){ .fd = -1, .id = id, .spec = spec };
}

void fake_events_open(struct event_set *set, uint64_t sample_type)
{
        *set = (struct event_set){
                .options = { .attr = { .request = &request } },
                .handles = calloc(6, sizeof(*set->handles)),
                .rings = calloc(FAKE_N_RINGS, sizeof(*set->rings)),
                .ring_fds = calloc(FAKE_N_RINGS, sizeof(*set->ring_fds)),
                .ring_bytes = RING_BYTES,
                .layout = { .sample_type = sample_type },
        };
        ck_assert(set->handles && set->rings && set->ring_fds);
        add_handle(set, FAKE_EVENT_TRACKER, UINT32_MAX);
        add_handle(set, FAKE_EVENT_SPEC_0, 0);
        add_handle(set, FAKE_EVENT_SPEC_0_B, 0);
        add_handle(set, FAKE_EVENT_SPEC_1, 1);
        add_handle(set, FAKE_EVENT_WAITS, 2);
        add_handle(set, FAKE_EVENT_WAKERS, 3);
        for (; set->n_rings < FAKE_N_RINGS; set->n_rings++) {
                fake_ring_map(&set->rings[set->n_rings], RING_BYTES, 0);
                set->ring_fds[set->n_rings] = -1;
        }
}
