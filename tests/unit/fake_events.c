/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_events.h"

#include "sampler/events/event_attr.h"
#include "tests/unit/fake_ring.h"

#include <check.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

void fake_events_count(struct event_set *set, size_t handle, uint64_t n_lost)
{
        struct event_handle *h = &set->handles[handle];
        const struct event_attr_options *options = &set->options.attr;
        struct perf_event_attr attr = h->spec == UINT32_MAX ? event_attr_of_tracker(options)
                                                            : event_attr_of_spec(options, h->spec);
        int n_words = 1 + __builtin_popcountll(attr.read_format); /* the losses are the last */

        ck_assert((attr.read_format & PERF_FORMAT_LOST) && !(attr.read_format & PERF_FORMAT_GROUP));
        h->fd = memfd_create("count", MFD_CLOEXEC);
        ck_assert_int_ge(h->fd, 0);
        for (int i = 1; i <= n_words; i++) {
                uint64_t word = i == n_words ? n_lost : 0;

                ck_assert_int_eq(write(h->fd, &word, sizeof(word)), sizeof(word));
        }
        ck_assert_int_eq(lseek(h->fd, 0, SEEK_SET), 0);
}
