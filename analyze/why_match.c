/* SPDX-License-Identifier: MIT */
#include "analyze/why_match.h"

#include "analyze/trace_walk.h"
#include "analyze/zone_pattern.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void why_match_deinit(struct why_match *m)
{
        free(m->fits);
        free(m->locations);
        *m = (struct why_match){ .fits = NULL };
}

/* One deeper than any thread's is judged by its innermost zones. */
static bool ask(const struct why_match *m, uint32_t path)
{
        const struct zone_paths *paths = &m->walk->paths;
        uint32_t at = THREAD_TIMELINE_DEPTH_MAX;

        for (; path != 0 && at > 0; path = zone_paths_parent(paths, path))
                m->locations[--at] = zone_paths_location(paths, path);
        return zone_pattern_fits(m->pattern, m->walk->dictionary, m->locations + at,
                                 THREAD_TIMELINE_DEPTH_MAX - at);
}

int why_match_test(struct why_match *m, struct walked_thread *thread, bool *ret_fits)
{
        uint32_t path;
        int r = trace_walk_path(m->walk, thread, &path);

        if (r < 0)
                return r;
        if (!m->locations)
                m->locations = calloc(THREAD_TIMELINE_DEPTH_MAX, sizeof(*m->locations));
        if (!m->locations)
                return -ENOMEM;
        *ret_fits = false;
        if (path == 0)
                return 0;
        r = array_reserve(&m->fits, &m->capacity, path, sizeof(*m->fits));
        if (r < 0)
                return r;
        if (path > m->n_fits) {
                memset(m->fits + m->n_fits, 0, path - m->n_fits);
                m->n_fits = path;
        }
        if (m->fits[path - 1] == 0)
                m->fits[path - 1] = ask(m, path) ? 2 : 1;
        *ret_fits = m->fits[path - 1] == 2;
        return 0;
}
