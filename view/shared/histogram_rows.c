/* SPDX-License-Identifier: MIT */
#include "view/shared/histogram_rows.h"

#include "analyze/stats/histogram_bins.h"
#include "analyze/trace/histogram.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <stdlib.h>

#define BAR_COLUMNS 40

/* clang-format off */
#define NAME_COLUMNS(COLUMN)                                                                                  \
        COLUMN(HANDLE, "handle", "", view_handle('z', location), NULL)                                        \
        COLUMN(STRING, "name", "zone", view_text(name), NULL, .n_columns_max = 20)
#define BIN_COLUMNS(COLUMN)                                                                                   \
        COLUMN(DURATION, "from_ns", "from", view_number(bin->from), "the shortest")                           \
        COLUMN(DURATION, "to_ns", "to", view_number(bin->to), "the longest")                                  \
        COLUMN(COUNT, "count", "count", view_number(bin->n_values), NULL)                                     \
        COLUMN(SHARE, "share", "", view_real((double)bin->n_values / (double)h->n_values), NULL)              \
        COLUMN(BAR, "bar", "", view_real((double)bin->n_values / (double)bins.n_largest), NULL,               \
               .n_columns_max = BAR_COLUMNS)
/* clang-format on */

static const struct view_column columns[] = { BIN_COLUMNS(VIEW_COLUMN) };
static const struct view_column named_columns[] = { NAME_COLUMNS(VIEW_COLUMN) BIN_COLUMNS(VIEW_COLUMN) };
static const struct view_column either_columns[] = { NAME_COLUMNS(VIEW_COLUMN_ABSENT)
                                                             BIN_COLUMNS(VIEW_COLUMN) };
#define WORDS "durations from one bound to the next"
static const struct answer_part one_part = ANSWER_TABLE("histogram", columns, WORDS);
const struct answer_part histogram_rows_named_part = ANSWER_TABLE("histogram", named_columns, WORDS,
                                                                  .may_be_absent = true);
const struct answer_part histogram_rows_part = ANSWER_TABLE(
        "histogram", either_columns, WORDS "; with --group-by and --histogram of the groups shown");

struct view_table *histogram_rows_begin(struct view_document *d, const char *title, bool has_names)
{
        return view_document_add_part(d, has_names ? &histogram_rows_named_part : &one_part, title);
}

void histogram_rows_add(struct view_document *d, struct view_table *t, uint32_t location,
                        struct text_view name, const struct histogram *h, uint64_t step_ns)
{
        struct histogram_bins bins;

        histogram_bins_fill(&bins, h, step_ns);
        for (uint32_t i = 0; i < bins.n_bins; i++) {
                const struct histogram_bin *bin = &bins.bins[i];

                if (t && t->n_columns == VIEW_N_COLUMNS(named_columns)) {
                        NAME_COLUMNS(VIEW_CELL)
                }
                BIN_COLUMNS(VIEW_CELL)
        }
}

/* clang-format off */
#define STEP_COLUMNS(COLUMN)                                                                                  \
        COLUMN(DURATION, "from_ns", NULL, view_number(steps[i].from), NULL)                                   \
        COLUMN(DURATION, "to_ns", NULL, view_number(steps[i].to), NULL)                                       \
        COLUMN(COUNT, "count", NULL, view_number(steps[i].n_values), NULL)                                    \
        COLUMN(DURATION, "total_ns", NULL, view_number(steps[i].sum), "within 1 %")
/* clang-format on */

static const struct view_column step_columns[] = { STEP_COLUMNS(VIEW_COLUMN) };
const struct answer_part histogram_rows_distribution_part = ANSWER_TABLE(
        "distribution", step_columns,
        "durations in a step of a sixteenth of a power of two, for drawing; steps without any are not there");

void histogram_rows_add_distribution(struct view_document *d, const struct histogram *h)
{
        struct histogram_step *steps = malloc(HISTOGRAM_STEPS_MAX * sizeof(*steps));
        struct view_table *t = view_document_add_part(d, &histogram_rows_distribution_part, NULL);
        uint32_t n_steps;

        if (!steps) {
                d->failed = true;
                return;
        }
        n_steps = histogram_steps_fill(h, steps);
        view_table_set_about(d, t, "%s", "steps of a sixteenth of a power of two; total_ns within 1%");
        for (uint32_t i = 0; i < n_steps; i++) {
                STEP_COLUMNS(VIEW_CELL)
        }
        free(steps);
}
