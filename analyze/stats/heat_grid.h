/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/heat_grid.h - when within each second samples were taken, and long zones began
 *
 * Way of the data:  trace_walk -> [heat_grid] -> heat_view
 *
 * Columns are equal pieces of the time: of 1 s in a recording of 4 s to 5 minutes, else of a power of ten of
 * that; rows are the HEAT_GRID_ROWS equal pieces of a column.  Sums over the time hide what comes each
 * second, or only once.  (The subsecond-offset heat map of B. Gregg and M. Spier, FlameScope,
 * 2018.)
 * Memory: 24 bytes a cell, at most HEAT_GRID_COLUMNS_MAX * HEAT_GRID_ROWS.  Not thread-safe.
 */
#ifndef ANALYZE_STATS_HEAT_GRID_H
#define ANALYZE_STATS_HEAT_GRID_H

#include <stddef.h>
#include <stdint.h>

#define HEAT_GRID_ROWS        50
#define HEAT_GRID_COLUMNS_MAX 300

struct error;
struct loaded_trace;
struct trace_filter;

struct heat_cell {
        uint64_t n_samples;
        uint64_t n_zones;    /* that began here and were closed, if the filter names zones */
        uint64_t longest_ns; /* of these */
};

struct heat_grid {
        uint64_t begin_ns; /* of the first column; CLOCK_MONOTONIC_RAW */
        uint64_t row_ns;   /* a column has HEAT_GRID_ROWS times this */
        uint32_t n_columns;
        uint32_t event;          /* whose samples these are; 0 = the trace has none */
        struct heat_cell *cells; /* heap; row by row of a column, column by column: in the order of time */
        size_t n_cells;
        uint64_t n_samples, n_zones; /* in all cells */
};

/*
 * heat_grid_init() - an empty grid of a range of time
 * @start_ns:        of the recording: columns begin at whole pieces of the time since then
 * @from_ns, @to_ns: since @start_ns
 * Zero-initialised is valid for heat_grid_deinit().  Returns 0 or -ENOMEM.
 */
int heat_grid_init(struct heat_grid *g, uint64_t start_ns, uint64_t from_ns, uint64_t to_ns);
void heat_grid_deinit(struct heat_grid *g);

/* The cell of a time; NULL = outside of the grid. */
struct heat_cell *heat_grid_cell(struct heat_grid *g, uint64_t time_ns);

/* When a cell begins. */
uint64_t heat_grid_time(const struct heat_grid *g, size_t cell);

/*
 * For a trace: samples of the filter's event, or of the first one, and zones that the filter names.
 * To be deinitialised in any case.  Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int heat_grid_take(struct heat_grid *g, struct loaded_trace *trace, const struct trace_filter *filter,
                   struct error *err);

#endif /* ANALYZE_STATS_HEAT_GRID_H */
