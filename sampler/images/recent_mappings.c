/* SPDX-License-Identifier: MIT */
#include "sampler/images/code_images_parts.h"

#include "sampler/events/event_set.h"
#include "sampler/events/ring_watch.h"
#include "sampler/kernel/perf_record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

int recent_mappings_init(struct recent_mappings *r, const struct event_set *events)
{
        memset(r, 0, sizeof(*r)); /* no initializer: unoptimised, it would be on the stack */
        r->layout = &events->layout;
        r->watches = calloc(events->n_rings, sizeof(*r->watches));
        if (!r->watches)
                return -ENOMEM;
        for (size_t i = 0; i < events->n_rings; i++)
                if (event_set_is_tracker_ring(events, i))
                        ring_watch_init(&r->watches[r->n_watches++], &events->rings[i]);
        return 0;
}

void recent_mappings_deinit(struct recent_mappings *r)
{
        free(r->watches);
        r->watches = NULL;
        r->n_watches = 0;
}

static void take(struct recent_mappings *r, const uint8_t *bytes, size_t n_bytes)
{
        struct perf_record rec;
        struct recent_mapping mapping;

        if (perf_record_decode(bytes, n_bytes, r->layout, &rec, NULL) < 0 ||
            rec.kind != PERF_RECORD_KIND_MMAP || !rec.mmap.executable)
                return;
        mapping = (struct recent_mapping){ .start_avma = rec.mmap.start_avma,
                                           .end_avma = rec.mmap.start_avma + rec.mmap.length_bytes,
                                           .time_ns = rec.time_ns,
                                           .pid = rec.pid };
        recent_mappings_add(r, &mapping);
}

void recent_mappings_look(struct recent_mappings *r)
{
        const uint8_t *bytes;
        size_t n_bytes;

        for (size_t i = 0; i < r->n_watches; i++)
                while (ring_watch_next(&r->watches[i], PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_DATA, &bytes,
                                       &n_bytes) == 1)
                        take(r, bytes, n_bytes);
}

void recent_mappings_add(struct recent_mappings *r, const struct recent_mapping *mapping)
{
        struct recent_mapping *place = &r->mappings[r->n_added % RECENT_MAPPINGS_MAX];

        if (r->n_added >= RECENT_MAPPINGS_MAX && place->time_ns > r->forgotten_ns)
                r->forgotten_ns = place->time_ns;
        *place = *mapping;
        r->n_added++;
}

static bool is_newer(const struct recent_mapping *mapping, const struct recent_mapping *memory,
                     uint64_t until_ns)
{
        return mapping->pid == memory->pid && mapping->time_ns > memory->time_ns &&
               mapping->time_ns <= until_ns && mapping->start_avma < memory->end_avma &&
               memory->start_avma < mapping->end_avma;
}

bool recent_mappings_have_newer(const struct recent_mappings *r, const struct recent_mapping *memory,
                                uint64_t until_ns)
{
        if (memory->time_ns < r->forgotten_ns)
                return true;
        for (size_t i = 0; i < r->n_added && i < RECENT_MAPPINGS_MAX; i++)
                if (is_newer(&r->mappings[i], memory, until_ns))
                        return true;
        return false;
}

uint64_t recent_mappings_find_last_ns(const struct recent_mappings *r, const struct recent_mapping *memory,
                                      uint64_t until_ns)
{
        struct recent_mapping last = *memory;

        last.time_ns = 0;
        for (size_t i = 0; i < r->n_added && i < RECENT_MAPPINGS_MAX; i++)
                if (is_newer(&r->mappings[i], &last, until_ns))
                        last.time_ns = r->mappings[i].time_ns;
        return last.time_ns < r->forgotten_ns ? 0 : last.time_ns;
}
