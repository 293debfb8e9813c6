/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/recent_births.h"

static size_t oldest_of(const struct recent_births *b)
{
        size_t oldest = 0;

        for (size_t i = 1; i < RECENT_BIRTHS_MANY; i++)
                if (b->latest_ns[i] < b->latest_ns[oldest])
                        oldest = i;
        return oldest;
}

void recent_births_note(struct recent_births *b, uint64_t time_ns)
{
        size_t oldest = oldest_of(b);

        if (b->latest_ns[oldest] < time_ns)
                b->latest_ns[oldest] = time_ns;
}

bool recent_births_are_many(const struct recent_births *b, uint64_t now_ns)
{
        uint64_t oldest_ns = b->latest_ns[oldest_of(b)];

        return oldest_ns != 0 && now_ns < oldest_ns + RECENT_BIRTHS_NS;
}
