/* SPDX-License-Identifier: MIT */
#include "analyze/stats/heat_grid.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>

#define COLUMN_NS      UINT64_C(1000000000) /* where there are not too few of them, nor too many */
#define COLUMN_NS_MIN  UINT64_C(100000)
#define COLUMNS_WANTED 4

int heat_grid_init(struct heat_grid *g, uint64_t start_ns, uint64_t from_ns, uint64_t to_ns)
{
        uint64_t column_ns = COLUMN_NS, first;

        while ((to_ns - from_ns) / column_ns < COLUMNS_WANTED && column_ns > COLUMN_NS_MIN)
                column_ns /= 10;
        while ((to_ns - from_ns) / column_ns >
               HEAT_GRID_COLUMNS_MAX - 2) /* it may begin and end within one */
                column_ns *= 10;
        first = from_ns / column_ns;
        *g = (struct heat_grid){ .row_ns = column_ns / HEAT_GRID_ROWS,
                                 .begin_ns = start_ns + first * column_ns,
                                 .n_columns = (uint32_t)(to_ns / column_ns - first + 1) };
        g->n_cells = (size_t)g->n_columns * HEAT_GRID_ROWS;
        g->cells = calloc(g->n_cells, sizeof(*g->cells));
        return g->cells ? 0 : -ENOMEM;
}

void heat_grid_deinit(struct heat_grid *g)
{
        free(g->cells);
        *g = (struct heat_grid){ .cells = NULL };
}

struct heat_cell *heat_grid_cell(struct heat_grid *g, uint64_t time_ns)
{
        uint64_t at = time_ns < g->begin_ns ? UINT64_MAX : (time_ns - g->begin_ns) / g->row_ns;

        return at < g->n_cells ? &g->cells[at] : NULL;
}

uint64_t heat_grid_time(const struct heat_grid *g, size_t cell)
{
        return g->begin_ns + cell * g->row_ns;
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct heat_grid *g = context;
        struct heat_cell *cell = event->sample.event == g->event ? heat_grid_cell(g, event->time_ns) : NULL;

        (void)thread;
        (void)err;
        if (cell) {
                cell->n_samples++;
                g->n_samples++;
        }
        return 0;
}

static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                     struct error *err)
{
        struct heat_grid *g = context;
        struct heat_cell *cell = zone->is_named && zone->closed ? heat_grid_cell(g, zone->begin_ns) : NULL;
        uint64_t ns = zone_instance_duration_ns(zone);

        (void)thread;
        (void)err;
        if (cell) {
                cell->n_zones++;
                cell->longest_ns = ns > cell->longest_ns ? ns : cell->longest_ns;
                g->n_zones++;
        }
        return 0;
}

/* The first event that was sampled, and not only read with the samples of another. */
static uint32_t find_event(const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS); i++) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, i);

                if (row->mode != TRACE_SAMPLE_MODE_WITH_LEADER && row->mode != TRACE_SAMPLE_MODE_COUNTED)
                        return i;
        }
        return 0;
}

int heat_grid_take(struct heat_grid *g, struct loaded_trace *trace, const struct trace_filter *filter,
                   struct error *err)
{
        struct trace_range range = trace_filter_range(filter, trace);
        struct trace_sink sink = { .context = g, .sample = take_sample, .may_skip = true };
        struct trace_walk walk = { .threads = NULL };
        int r = heat_grid_init(g, trace->start_ns, range.from_ns, range.to_ns);

        if (r < 0)
                return error_set(err, r, "no memory for a heat map");
        g->event = filter->event != 0 ? filter->event : find_event(trace->dictionary);
        if (filter->has_zone) {
                sink.zone = take_zone;
                sink.asked = &filter->zone;
        }
        r = trace_walk_init(&walk, trace, filter, &sink);
        r = r < 0 ? error_set(err, r, "no memory for a heat map") : loaded_trace_walk(trace, &walk, err);
        trace_walk_deinit(&walk);
        return r;
}
