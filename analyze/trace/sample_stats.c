/* SPDX-License-Identifier: MIT */
#include "analyze/trace/sample_stats.h"

#include "format/trace_event.h"

#include <stdlib.h>

void sample_stats_init(struct sample_stats *s)
{
        *s = (struct sample_stats){ .sums = NULL };
        intern_init(&s->keys, sizeof(struct sample_key), 0);
}

void sample_stats_deinit(struct sample_stats *s)
{
        intern_deinit(&s->keys);
        free(s->sums);
        sample_stats_init(s);
}

int sample_stats_add(struct sample_stats *s, const struct trace_event *sample, bool with_leader)
{
        /* The decoder has checked that these are ids, which are 32 bits wide. */
        struct sample_key key = {
                .event = (uint32_t)sample->sample.event,
                .path = (uint32_t)sample->sample.path,
                .stack = (uint32_t)sample->sample.stack,
        };
        uint32_t id;
        int r = intern_add_row(&s->keys, &key, &s->sums, &s->capacity, sizeof(*s->sums), &id);

        if (r < 0)
                return r;
        s->sums[id - 1].n_samples++;
        s->sums[id - 1].weight = saturating_add(
                s->sums[id - 1].weight, sample->sample.weight || with_leader ? sample->sample.weight : 1);
        return 0;
}

const struct sample_key *sample_stats_key(const struct sample_stats *s, uint32_t index)
{
        return intern_get(&s->keys, index + 1, NULL);
}
