/* SPDX-License-Identifier: MIT */
#include "sampler/pace/fork_rate.h"

#include "sampler/pace/pace.h"

static size_t oldest_of(const struct fork_rate *b)
{
        size_t oldest = 0;

        for (size_t i = 1; i < PACE_FORKS_MANY; i++)
                if (b->latest_ns[i] < b->latest_ns[oldest])
                        oldest = i;
        return oldest;
}

void fork_rate_note(struct fork_rate *b, uint64_t time_ns)
{
        size_t oldest = oldest_of(b);

        if (b->latest_ns[oldest] < time_ns)
                b->latest_ns[oldest] = time_ns;
}

bool fork_rate_is_high(const struct fork_rate *b, uint64_t now_ns)
{
        uint64_t oldest_ns = b->latest_ns[oldest_of(b)];

        return oldest_ns != 0 && now_ns < oldest_ns + PACE_FORKS_WINDOW_NS;
}
