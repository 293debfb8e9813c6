/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_builder.h"

#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>

static int growth_no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "the index of the time line: out of memory");
}

int timeline_builder_grow(struct timeline_builder *b, const struct timeline_known *known, struct error *err)
{
        int r = timeline_builder_reserve(b) < 0 ? growth_no_memory(err) : 0;

        b->known = *known;
        if (r == 0 && b->walk.n_switches != 0)
                r = timeline_states_grow(&b->states, known->shared_ns, err);
        for (uint32_t i = 0; i < b->walk.n_threads && r == 0 && b->walk.n_switches != 0; i++)
                timeline_states_wants(&b->states, &b->walk.threads[i], known->shared_ns);
        if (r == 0)
                r = timeline_rates_grow(&b->rates, known->shared_ns, err);
        if (r == 0)
                r = timeline_shared_grow(&b->shared, known->shared_ns, err);
        return r == 0 ? timeline_shared_grow_devices(&b->shared, known->devices_ns, err) : r;
}

/* ---- what is not over ---------------------------------------------------------------------------------- */

/* Makes the lanes of a kind from depth 0 to @n - 1; those for which there is no room are left out. */
static int add_open_lanes(struct timeline_builder *b, struct timeline_lane_list *list, uint32_t track,
                          enum timeline_lane_kind kind, uint32_t n, struct error *err)
{
        for (uint32_t depth = 0; depth < n; depth++)
                if (timeline_lane_list_get(list, b->index, track, kind, depth) == -ENOMEM)
                        return growth_no_memory(err);
        return 0;
}

static bool has_open_state(const struct timeline_builder *b, const struct walked_thread *thread)
{
        return b->walk.n_switches != 0 && (b->states.threads[thread->id - 1].is_running || thread->is_out);
}

/* The spans that end in lanes for which there is no room will be counted as left out then. */
static int add_open_lanes_of(struct timeline_builder *b, const struct walked_thread *thread,
                             struct error *err)
{
        struct timeline_thread_ghosts *ghosts = &b->ghosts.threads[thread->id - 1];
        uint32_t n_states = has_open_state(b, thread);
        uint64_t n_left_out = b->index->n_left_out;
        int track, r;

        if (thread->timeline.n_open + ghosts->n_open + n_states == 0)
                return 0;
        track = timeline_builder_thread_track(b, thread->id, err);
        b->index->n_left_out = n_left_out;
        if (track < 0)
                return track == -ENOMEM ? track : 0;
        r = add_open_lanes(b, &b->threads[thread->id - 1].zones, (uint32_t)track, TIMELINE_LANE_ZONES,
                           thread->timeline.n_open, err);
        if (r == 0)
                r = add_open_lanes(b, &ghosts->lanes, (uint32_t)track, TIMELINE_LANE_GHOSTS, ghosts->n_open,
                                   err);
        return r == 0 ? add_open_lanes(b, &b->states.threads[thread->id - 1].lanes, (uint32_t)track,
                                       TIMELINE_LANE_STATES, n_states, err)
                      : r;
}

int timeline_builder_add_open_lanes(struct timeline_builder *b, struct error *err)
{
        int r = timeline_builder_reserve(b) < 0 ? growth_no_memory(err) : 0;

        for (uint32_t i = 0; i < b->walk.n_threads && r == 0; i++)
                if (b->walk.threads[i].id != 0)
                        r = add_open_lanes_of(b, &b->walk.threads[i], err);
        return r == 0 ? timeline_shared_add_open(&b->shared, err) : r;
}

/* The open zone, function or states of a thread. */
static uint32_t open_of_thread(const struct timeline_builder *b, const struct timeline_lane_facts *lane,
                               uint64_t now_ns, struct timeline_raw_span spans[2])
{
        uint32_t id = b->index->tracks[lane->track].thread;
        const struct timeline_thread_ghosts *ghosts;
        const struct walked_thread *thread;

        if (id == 0 || id > b->walk.n_threads)
                return 0;
        thread = &b->walk.threads[id - 1];
        ghosts = &b->ghosts.threads[id - 1];
        if (lane->kind == TIMELINE_LANE_STATES && has_open_state(b, thread))
                return timeline_states_open(&b->states, thread, now_ns, spans);
        if (lane->kind == TIMELINE_LANE_ZONES && lane->depth < thread->timeline.n_open) {
                const struct timeline_zone *zone = &thread->timeline.open[lane->depth];

                spans[0] = (struct timeline_raw_span){ zone->begin_ns, now_ns, zone->location };
                return 1;
        }
        if (lane->kind != TIMELINE_LANE_GHOSTS || lane->depth >= ghosts->n_open)
                return 0;
        spans[0] = (struct timeline_raw_span){ ghosts->open[lane->depth].begin_ns, ghosts->until_ns,
                                               ghosts->open[lane->depth].label - 1 };
        return 1;
}

static uint32_t open_of_cpu(const struct timeline_builder *b, uint32_t track,
                            struct timeline_raw_span spans[2])
{
        const struct timeline_cpu *cpu = timeline_states_find_cpu(&b->states, track);

        if (!cpu || cpu->thread == 0)
                return 0;
        spans[0] = (struct timeline_raw_span){ cpu->since_ns, b->known.shared_ns, cpu->thread };
        return 1;
}

uint32_t timeline_builder_open_spans(const struct timeline_builder *b, uint32_t lane, uint64_t now_ns,
                                     struct timeline_raw_span spans[2])
{
        struct timeline_lane_facts facts = timeline_index_lane_facts(b->index, lane);
        uint32_t n, n_whole = 0;

        if (facts.kind == TIMELINE_LANE_CPU)
                n = open_of_cpu(b, facts.track, spans);
        else if (b->index->tracks[facts.track].kind == TIMELINE_TRACK_THREAD)
                n = open_of_thread(b, &facts, now_ns, spans);
        else
                n = timeline_shared_open(&b->shared, &facts, b->known.shared_ns, &spans[0]);
        for (uint32_t i = 0; i < n; i++)
                if (spans[i].end_ns >= spans[i].begin_ns && spans[i].begin_ns >= b->index->start_ns)
                        spans[n_whole++] = spans[i];
        return n_whole;
}

uint64_t timeline_builder_known_ns(const struct timeline_builder *b, uint32_t track, uint64_t now_ns)
{
        uint32_t kind = b->index->tracks[track].kind;
        uint64_t known_ns = now_ns;

        if (kind == TIMELINE_TRACK_DEVICE)
                known_ns = b->known.devices_ns;
        else if (kind != TIMELINE_TRACK_THREAD && kind != TIMELINE_TRACK_COUNTER)
                known_ns = b->known.shared_ns;
        known_ns = known_ns < now_ns ? known_ns : now_ns;
        return known_ns > b->index->start_ns ? known_ns - b->index->start_ns : 0;
}
