/* SPDX-License-Identifier: MIT */
/*
 * view/histogram_rows.h - histograms of zones as rows with bars
 *
 * Way of the data:  histogram_bins -> [histogram_rows] -> view_document
 */
#ifndef VIEW_HISTOGRAM_ROWS_H
#define VIEW_HISTOGRAM_ROWS_H

#include "analyze/report_string.h"

#include <stdint.h>

struct histogram;
struct view_document;
struct view_table;

/* The table "histogram", for one zone or several.  @title: static. */
struct view_table *histogram_rows_begin(struct view_document *d, const char *title);

/* @location 0: of several zones, which have no handle. */
void histogram_rows_add(struct view_document *d, struct view_table *t, uint32_t location,
                        struct report_string name, const struct histogram *h);

#endif /* VIEW_HISTOGRAM_ROWS_H */
