/* SPDX-License-Identifier: MIT */
#include "view/shared/histogram_rows.h"

#include "analyze/stats/histogram_bins.h"
#include "analyze/trace/histogram.h"
#include "view/document/view_document.h"

#include <stdlib.h>

#define BAR_COLUMNS 40

static const struct view_column columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "zone", .type = VIEW_STRING, .n_columns_max = 20 },
        { .key = "from_ns", .title = "from", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "to_ns", .title = "to", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 14 },
        { .key = "share", .title = "", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "bar", .title = "", .type = VIEW_BAR, .n_columns_max = BAR_COLUMNS },
};

#define N_COLUMNS       ((uint32_t)(sizeof(columns) / sizeof(columns[0])))
#define N_NAMES_COLUMNS 2

struct view_table *histogram_rows_begin(struct view_document *d, const char *title, bool has_names)
{
        uint32_t first = has_names ? 0 : N_NAMES_COLUMNS;

        return view_document_add_table(d, "histogram", title, columns + first, N_COLUMNS - first);
}

void histogram_rows_add(struct view_document *d, struct view_table *t, uint32_t location,
                        struct text_view name, const struct histogram *h, uint64_t step_ns)
{
        struct histogram_bins bins;

        histogram_bins_fill(&bins, h, step_ns);
        for (uint32_t i = 0; i < bins.n_bins; i++) {
                const struct histogram_bin *bin = &bins.bins[i];

                if (t && t->n_columns == N_COLUMNS) {
                        view_table_put_handle(d, t, 'z', location);
                        view_table_put_string(d, t, name);
                }
                view_table_put_number(d, t, bin->from);
                view_table_put_number(d, t, bin->to);
                view_table_put_number(d, t, bin->n_values);
                view_table_put_real(d, t, (double)bin->n_values / (double)h->n_values);
                view_table_put_real(d, t, (double)bin->n_values / (double)bins.n_largest);
        }
}

static const struct view_column step_columns[] = {
        { .key = "from_ns", .type = VIEW_DURATION },
        { .key = "to_ns", .type = VIEW_DURATION },
        { .key = "count", .type = VIEW_COUNT },
        { .key = "total_ns", .type = VIEW_DURATION },
};

void histogram_rows_add_distribution(struct view_document *d, const struct histogram *h)
{
        struct histogram_step *steps = malloc(HISTOGRAM_STEPS_MAX * sizeof(*steps));
        struct view_table *t = view_document_add_table(d, "distribution", NULL, step_columns,
                                                       sizeof(step_columns) / sizeof(step_columns[0]));
        uint32_t n_steps;

        if (!steps) {
                d->failed = true;
                return;
        }
        n_steps = histogram_steps_fill(h, steps);
        view_table_set_about(d, t, "%s", "steps of a sixteenth of a power of two; total_ns within 1%");
        for (uint32_t i = 0; i < n_steps; i++) {
                view_table_put_number(d, t, steps[i].from);
                view_table_put_number(d, t, steps[i].to);
                view_table_put_number(d, t, steps[i].n_values);
                view_table_put_number(d, t, steps[i].sum);
        }
        free(steps);
}
