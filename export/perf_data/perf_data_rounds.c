/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "export/perf_data/perf_data_parts.h"

#include <errno.h>
#include <stdlib.h>

void perf_data_rounds_deinit(struct perf_data_rounds *r)
{
        free(r->chunks);
        *r = (struct perf_data_rounds){ .chunks = NULL };
}

void perf_data_rounds_note(struct perf_data_rounds *r, uint64_t time_ns)
{
        if (time_ns == 0)
                return;
        if (r->now.newest == 0 || time_ns < r->now.oldest)
                r->now.oldest = time_ns;
        if (time_ns > r->now.newest)
                r->now.newest = time_ns;
}

int perf_data_rounds_end_chunk(struct perf_data_rounds *r)
{
        if (array_reserve(&r->chunks, &r->capacity, r->n + 1, sizeof(*r->chunks)) < 0)
                return -ENOMEM;
        r->chunks[r->n++] = r->now;
        r->now = (struct perf_data_round){ .newest = 0 };
        return 0;
}

size_t perf_data_rounds_plan(struct perf_data_rounds *r)
{
        uint64_t later = r->now.newest != 0 ? r->now.oldest : UINT64_MAX, newest = 0, limit = 0;
        size_t n_marks = 0;

        /* `oldest` becomes that of all chunks that follow. */
        for (size_t i = r->n; i-- > 0;) {
                uint64_t oldest = r->chunks[i].oldest;

                r->chunks[i].oldest = later;
                if (r->chunks[i].newest != 0 && oldest < later)
                        later = oldest;
        }
        for (size_t i = 0; i < r->n; i++) {
                struct perf_data_round *chunk = &r->chunks[i];

                chunk->has_mark = chunk->newest != 0 && chunk->oldest >= limit;
                newest = chunk->newest > newest ? chunk->newest : newest;
                limit = chunk->has_mark ? newest : limit;
                n_marks += chunk->has_mark;
        }
        return n_marks;
}
