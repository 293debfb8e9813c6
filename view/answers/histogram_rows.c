/* SPDX-License-Identifier: MIT */
#include "view/answers/histogram_rows.h"

#include "analyze/stats/histogram_bins.h"
#include "analyze/trace/histogram.h"
#include "view/document/view_document.h"

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
                        struct text_view name, const struct histogram *h)
{
        struct histogram_bins bins;

        histogram_bins_fill(&bins, h);
        for (uint32_t i = 0; i < bins.n_bins; i++) {
                const struct histogram_bin *bin = &bins.bins[i];

                if (t && t->n_columns == N_COLUMNS) {
                        if (location != 0)
                                view_table_put_handle(d, t, 'z', location);
                        else
                                view_table_put_unknown(d, t);
                        view_table_put_string(d, t, name);
                }
                view_table_put_number(d, t, bin->from);
                view_table_put_number(d, t, bin->to);
                view_table_put_number(d, t, bin->n_values);
                view_table_put_real(d, t, (double)bin->n_values / (double)h->n_values);
                view_table_put_real(d, t, (double)bin->n_values / (double)bins.n_largest);
        }
}
