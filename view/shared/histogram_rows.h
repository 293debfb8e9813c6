/* SPDX-License-Identifier: MIT */
/*
 * view/shared/histogram_rows.h - histograms of zones as rows with bars
 *
 * Way of the data:  histogram_bins -> [histogram_rows] -> view_document
 */
#ifndef VIEW_SHARED_HISTOGRAM_ROWS_H
#define VIEW_SHARED_HISTOGRAM_ROWS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct answer_part;
struct histogram;
struct view_document;
struct view_table;

/* Parts of schemas: of a zone, or of its groups; of several zones; and the distribution. */
extern const struct answer_part histogram_rows_part, histogram_rows_named_part,
        histogram_rows_distribution_part;

/*
 * The table "histogram".  @title: static.  @has_names: it is for several zones, and each row says for which.
 */
struct view_table *histogram_rows_begin(struct view_document *d, const char *title, bool has_names);

/*
 * @location, @name: of the zone, shown if the table has names; 0 if @h is not of one zone
 * @step_ns:         see clock_step.h
 */
void histogram_rows_add(struct view_document *d, struct view_table *t, uint32_t location,
                        struct text_view name, const struct histogram *h, uint64_t step_ns);

/*
 * The table "distribution", for programs that draw it: finer steps than the bars, with the time of each;
 * empty steps are left out.
 */
void histogram_rows_add_distribution(struct view_document *d, const struct histogram *h);

#endif /* VIEW_SHARED_HISTOGRAM_ROWS_H */
