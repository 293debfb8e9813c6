/* SPDX-License-Identifier: MIT */
#include "sampler/pace/drain_pace.h"

#include "base/clock.h"
#include "sampler/pace/pace.h"

void drain_pace_init(struct drain_pace *p)
{
        *p = (struct drain_pace){ .rest_ns = 0 };
}

static uint64_t least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

void drain_pace_begin(struct drain_pace *p, uint64_t now_ns)
{
        p->elapsed_ns = now_ns - p->begun_ns;
        p->begun_ns = now_ns;
        p->rest_ns = least(PACE_DRAIN_REST_MAX_NS, 2 * p->rest_ns + NS_PER_MS);
}

void drain_pace_add(struct drain_pace *p, uint64_t ring_bytes, uint64_t spare_bytes, uint64_t n_bytes)
{
        uint64_t half_bytes = ring_bytes / 2;
        uint64_t from_rest_ns = (half_bytes + spare_bytes / 2) / PACE_DRAIN_FASTEST_BYTES_A_US * NS_PER_US;
        double filling_ns = n_bytes > 0 ? (double)p->elapsed_ns * (double)half_bytes / (double)n_bytes
                                        : (double)PACE_DRAIN_REST_MAX_NS;

        if (from_rest_ns < PACE_DRAIN_FIRST_NS)
                from_rest_ns = PACE_DRAIN_FIRST_NS;
        p->rest_ns = least(p->rest_ns, from_rest_ns);
        if (filling_ns < (double)p->rest_ns)
                p->rest_ns = (uint64_t)filling_ns;
}

void drain_pace_hurry(struct drain_pace *p)
{
        p->rest_ns = 0;
}

uint64_t drain_pace_rest_ns(const struct drain_pace *p)
{
        return p->rest_ns;
}
