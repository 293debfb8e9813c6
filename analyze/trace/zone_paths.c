/* SPDX-License-Identifier: MIT */
#include "analyze/trace/zone_paths.h"

#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

/*
 * This many steps from one path to the next are remembered, by a hash: programs begin the same zones again
 * and again.
 */
#define RECENT_STEPS (UINT32_C(1) << 12)

struct recent_step {
        uint32_t parent, location, path;
};

/* Judges a new path, known by its parent and location; its number is the next one. */
static int judge(struct zone_paths *p, uint32_t parent, uint32_t location, uint32_t path)
{
        int r;

        if (!p->pattern)
                return 0;
        r = array_reserve(&p->states, &p->states_capacity, path, sizeof(*p->states));
        if (r < 0)
                return r;
        return zone_matcher_step(&p->matcher, parent != 0 ? p->states[parent - 1] : ZONE_MATCHER_OUTSIDE,
                                 location, &p->states[path - 1]);
}

int zone_paths_step(struct zone_paths *p, uint32_t parent, uint32_t location, uint32_t *ret_path)
{
        struct trace_zone_path row = { .parent = parent, .location = location };
        uint32_t hash = parent * UINT32_C(0x9e3779b1) + location * UINT32_C(0x85ebca6b);
        struct recent_step *recent = &p->recent[(hash ^ hash >> 15) % RECENT_STEPS];
        int r;

        if (recent->path != 0 && recent->parent == parent && recent->location == location) {
                *ret_path = recent->path;
                return 0;
        }
        r = intern_add(&p->paths, &row, sizeof(row), ret_path);
        if (r == 1)
                r = judge(p, parent, location, *ret_path);
        if (r == 0)
                *recent = (struct recent_step){ .parent = parent, .location = location, .path = *ret_path };
        return r;
}

int zone_paths_init(struct zone_paths *p, const struct trace_dictionary *dictionary,
                    const struct zone_pattern *pattern)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_ZONE_PATHS);

        *p = (struct zone_paths){ .dictionary = dictionary, .pattern = pattern };
        intern_init(&p->paths, sizeof(struct trace_zone_path), 0);
        p->recent = calloc(RECENT_STEPS, sizeof(*p->recent));
        if (!p->recent)
                return -ENOMEM;
        if (pattern) {
                int r = zone_matcher_init(&p->matcher, dictionary, pattern);

                if (r < 0)
                        return r;
        }
        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_zone_path *row = trace_dictionary_row(dictionary, TRACE_TABLE_ZONE_PATHS,
                                                                         i);
                /*
                 * Appends without a search, so that the numbers are the trace's even if a foreign writer has
                 * a row twice.
                 */
                int r = intern_append(&p->paths, row, sizeof(*row));

                if (r == 0)
                        r = judge(p, row->parent, row->location, i);
                if (r < 0)
                        return r;
        }
        return 0;
}

void zone_paths_deinit(struct zone_paths *p)
{
        intern_deinit(&p->paths);
        zone_matcher_deinit(&p->matcher);
        free(p->states);
        free(p->recent);
        *p = (struct zone_paths){ .states = NULL };
}

static const struct trace_zone_path *row_of(const struct zone_paths *p, uint32_t path)
{
        return intern_get(&p->paths, path, NULL);
}

uint32_t zone_paths_parent(const struct zone_paths *p, uint32_t path)
{
        return path != 0 ? row_of(p, path)->parent : 0;
}

uint32_t zone_paths_location(const struct zone_paths *p, uint32_t path)
{
        return path != 0 ? row_of(p, path)->location : 0;
}

bool zone_paths_wanted(const struct zone_paths *p, uint32_t path)
{
        return !p->pattern || (path != 0 && zone_matcher_flags(&p->matcher, p->states[path - 1]) != 0);
}
