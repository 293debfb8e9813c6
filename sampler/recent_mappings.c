/* SPDX-License-Identifier: MIT */
#include "sampler/recent_mappings.h"

void recent_mappings_add(struct recent_mappings *r, const struct recent_mapping *mapping)
{
        r->mappings[r->n_added++ % RECENT_MAPPINGS_MAX] = *mapping;
}

bool recent_mapping_is_newer(const struct recent_mapping *mapping, const struct recent_mapping *memory,
                             uint64_t until_ns)
{
        return mapping->pid == memory->pid && mapping->time_ns > memory->time_ns &&
               mapping->time_ns <= until_ns && mapping->start_avma < memory->end_avma &&
               memory->start_avma < mapping->end_avma;
}

bool recent_mappings_have_newer(const struct recent_mappings *r, const struct recent_mapping *memory,
                                uint64_t until_ns)
{
        for (size_t i = 0; i < r->n_added && i < RECENT_MAPPINGS_MAX; i++)
                if (recent_mapping_is_newer(&r->mappings[i], memory, until_ns))
                        return true;
        return false;
}

uint64_t recent_mappings_find_last_ns(const struct recent_mappings *r, const struct recent_mapping *memory,
                                      uint64_t until_ns)
{
        struct recent_mapping last = *memory;

        last.time_ns = 0;
        for (size_t i = 0; i < r->n_added && i < RECENT_MAPPINGS_MAX; i++)
                if (recent_mapping_is_newer(&r->mappings[i], &last, until_ns))
                        last.time_ns = r->mappings[i].time_ns;
        return last.time_ns;
}
