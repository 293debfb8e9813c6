/* SPDX-License-Identifier: MIT */
#include "analyze/zone_paths.h"

#include "analyze/thread_timeline.h"
#include "analyze/zone_pattern.h"
#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

/* Whether the path itself fits the pattern.  One deeper than any thread's is judged by its innermost zones. */
static bool fits(const struct zone_paths *p, uint32_t path)
{
        uint32_t *locations = p->locations;
        uint32_t at = THREAD_TIMELINE_DEPTH_MAX;

        for (; path != 0 && at > 0; path = zone_paths_parent(p, path))
                locations[--at] = zone_paths_location(p, path);
        return zone_pattern_fits(p->pattern, p->dictionary, locations + at, THREAD_TIMELINE_DEPTH_MAX - at);
}

static int judge(struct zone_paths *p, uint32_t path)
{
        int r = array_reserve(&p->wanted, &p->wanted_capacity, path, sizeof(*p->wanted));

        if (r < 0)
                return r;
        p->wanted[path - 1] = !p->pattern || zone_paths_wanted(p, zone_paths_parent(p, path)) ||
                              fits(p, path);
        return 0;
}

int zone_paths_step(struct zone_paths *p, uint32_t parent, uint32_t location, uint32_t *ret_path)
{
        struct trace_zone_path row = { .parent = parent, .location = location };
        int r = intern_add(&p->paths, &row, sizeof(row), ret_path);

        return r == 1 ? judge(p, *ret_path) : r;
}

int zone_paths_init(struct zone_paths *p, const struct trace_dictionary *dictionary,
                    const struct zone_pattern *pattern)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_ZONE_PATHS);

        *p = (struct zone_paths){ .dictionary = dictionary, .pattern = pattern };
        intern_init(&p->paths, sizeof(struct trace_zone_path), 0);
        if (pattern) {
                p->locations = calloc(THREAD_TIMELINE_DEPTH_MAX, sizeof(*p->locations));
                if (!p->locations)
                        return -ENOMEM;
        }
        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_zone_path *row = trace_dictionary_row(dictionary, TRACE_TABLE_ZONE_PATHS,
                                                                         i);
                /* Not added by value, so that the numbers are the same even if a foreign writer has a row twice. */
                int r = intern_append(&p->paths, row, sizeof(*row));

                if (r == 0)
                        r = judge(p, i);
                if (r < 0)
                        return r;
        }
        return 0;
}

void zone_paths_deinit(struct zone_paths *p)
{
        intern_deinit(&p->paths);
        free(p->wanted);
        free(p->locations);
        *p = (struct zone_paths){ .wanted = NULL };
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
        return path != 0 ? p->wanted[path - 1] : !p->pattern;
}
