/* SPDX-License-Identifier: MIT */
#include "analyze/stats/frame_zones.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

struct walking {
        struct frame_zones *zones;
        struct trace_walk walk;
};

static uint32_t count_split(const struct frame_stats *s)
{
        return s->n_sets < FRAME_STATS_SPLIT_MAX ? s->n_sets : FRAME_STATS_SPLIT_MAX;
}

/* Whether the zone is the outermost one inside of the frames. */
static bool is_in_frames(const struct frame_set *set, const struct zone_paths *paths, uint32_t path)
{
        uint32_t parent;

        if (path == 0 || id_set_has(&set->around, path))
                return false;
        parent = zone_paths_parent(paths, path);
        return parent == 0 || id_set_has(&set->around, parent);
}

static int find_row(struct frame_zones *z, const struct frame_zone_key *key, struct frame_zone **ret_row)
{
        uint32_t id;
        int r = intern_add(&z->keys, key, sizeof(*key), &id);

        *ret_row = NULL;
        if (r == -EOVERFLOW) {
                z->n_lost++;
                return 0;
        }
        if (r == 1) {
                r = array_reserve(&z->rows, &z->capacity, id, sizeof(*z->rows));
                if (r < 0)
                        return r;
                z->rows[id - 1] = (struct frame_zone){ .n_zones = 0 };
        }
        if (r < 0)
                return r;
        *ret_row = &z->rows[id - 1];
        return 0;
}

static uint64_t overlap(uint64_t begin_ns, uint64_t end_ns, const struct slow_frame *frame)
{
        uint64_t last_ns = frame->begin_ns + frame->duration_ns;

        if (begin_ns < frame->begin_ns)
                begin_ns = frame->begin_ns;
        if (end_ns > last_ns)
                end_ns = last_ns;
        return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static int add_to_set(struct frame_zones *z, uint32_t id, const struct walked_thread *thread,
                      const struct zone_instance *zone)
{
        const struct frame_set *set = &z->stats->sets[id - 1];
        const struct frame_set_key *set_key = intern_get(&z->stats->keys, id, NULL);
        uint64_t end_ns = zone->begin_ns + zone_instance_duration_ns(zone);
        uint64_t ns = frame_set_time_before(set, set_key, end_ns) -
                      frame_set_time_before(set, set_key, zone->begin_ns);
        struct frame_zone_key key = {
                .set = id,
                .location = zone->location,
                .is_marker = thread->id == set->marker,
        };
        struct frame_zone *row;
        int r;

        if (ns == 0)
                return 0;
        r = find_row(z, &key, &row);
        if (r < 0 || !row)
                return r;
        row->n_zones++;
        row->total_ns += ns;
        for (uint32_t i = 0; i < set->n_slowest; i++)
                row->slowest_ns[i] += overlap(zone->begin_ns, end_ns, &set->slowest[i]);
        return 0;
}

static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                     struct error *err)
{
        struct walking *w = context;
        struct frame_zones *z = w->zones;
        int r = 0;

        for (uint32_t id = 1; id <= count_split(z->stats) && r == 0; id++)
                if (is_in_frames(&z->stats->sets[id - 1], &w->walk.paths, zone->path))
                        r = add_to_set(z, id, thread, zone);
        return r < 0 ? error_set(err, r, "splitting frames by zones: out of memory") : 0;
}

/* A zone that began before the range may reach into the first frame of the range. */
static struct trace_filter without_range(const struct trace_filter *filter)
{
        struct trace_filter f = *filter;

        f.from_ns = 0;
        f.to_ns = UINT64_MAX;
        return f;
}

int frame_zones_take(struct frame_zones *z, struct frame_stats *stats, struct loaded_trace *trace,
                     const struct trace_filter *filter, struct error *err)
{
        struct trace_sink sink = { .zone = take_zone, .wants_zone_paths = true };
        struct walking w = { .zones = z };
        struct trace_filter all_time;
        int r;

        *z = (struct frame_zones){ .stats = stats };
        intern_init(&z->keys, sizeof(struct frame_zone_key), FRAME_ZONES_ROWS_MAX);
        if (stats->n_sets == 0)
                return 0;
        if (filter) {
                all_time = without_range(filter);
                filter = &all_time;
        }
        sink.context = &w;
        r = trace_walk_init(&w.walk, trace, filter, &sink);
        if (r == 0) {
                trace_walk_adopt_paths(&w.walk, &stats->paths);
                r = loaded_trace_walk(trace, &w.walk, err);
        } else {
                r = error_set(err, r, "splitting frames by zones: out of memory");
        }
        trace_walk_deinit(&w.walk);
        return r;
}

void frame_zones_deinit(struct frame_zones *z)
{
        intern_deinit(&z->keys);
        free(z->rows);
        *z = (struct frame_zones){ .rows = NULL };
}
