/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "base/byte_buffer.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/recording_view.h"
#include "view/text/text_number.h"

#include <stdio.h>

#define COUNTED_MAX 5
#define LINE_BYTES  256

/* One number of a kind: "3 values", "of 31.0 MB", "in 2 plots". */
struct also_counted {
        uint64_t count;
        const char *key;    /* in JSON */
        const char *before; /* the number, in the line */
        const char *words;  /* after it, in the plural; NULL = the number is of bytes */
};

struct also_kind {
        const char *key;   /* in JSON: "in_zones" */
        const char *label; /* of the line: "in zones" */
        struct also_counted counted[COUNTED_MAX];
};

static bool also_has_any(const struct also_kind *kind)
{
        for (size_t i = 0; i < COUNTED_MAX; i++)
                if (kind->counted[i].count != 0)
                        return true;
        return false;
}

static void also_add_line(struct view_document *d, const struct also_kind *kind)
{
        char line[LINE_BYTES] = "";
        size_t used = 0;

        for (size_t i = 0; i < COUNTED_MAX && used < sizeof(line); i++) {
                const struct also_counted *c = &kind->counted[i];
                const char *before = used != 0 && c->count != 0 ? c->before : "";
                const char *between = used == 0 ? "" : before[0] != '\0' ? " " : ", ";
                int n = 0;

                if (c->count != 0 && c->words)
                        n = snprintf(line + used, sizeof(line) - used, "%s%s%s", between, before,
                                     text_number_counted(c->count, c->words).text);
                else if (c->count != 0)
                        n = snprintf(line + used, sizeof(line) - used, "%s%s%s", between, before,
                                     text_number_bytes(c->count).text);
                used += n > 0 ? (size_t)n : 0;
        }
        view_document_put(d, NULL, kind->label, VIEW_STRING, view_words(line));
}

/* clang-format off */
#define ALSO_FACTS(FACT)                                                                                      \
        FACT(COUNT, "n_messages", NULL, view_number(a->n_messages), NULL)                                     \
        FACT(COUNT, "n_plot_values", NULL, view_number(a->n_plot_values), NULL)                               \
        FACT(COUNT, "n_frame_marks", NULL, view_number(a->n_frame_marks), NULL)
#define ALSO_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "kind", NULL, view_words(kind->key),                                                   \
               NULL, .one_of = "messages|frames|plots|memory|locks|fibers|devices|in_zones|flows|source_texts|" \
                               "code_regions")                                                                \
        COLUMN(STRING, "what", NULL, view_words(kind->counted[i].key), "of that kind")                        \
        COLUMN(COUNT, "count", NULL, view_number(kind->counted[i].count), NULL)
/* clang-format on */

static const struct view_column also_facts[] = { ALSO_FACTS(VIEW_MEMBER) };
static const struct view_column also_columns[] = { ALSO_COLUMNS(VIEW_COLUMN) };
const struct answer_part recording_view_also_facts_part = ANSWER_FACTS(also_facts);
const struct answer_part recording_view_also_part = ANSWER_TABLE(
        "also_recorded", also_columns,
        "events that are neither samples nor zones, of the kinds that the trace has");

static void also_add_rows(struct view_document *d, struct view_table *t, const struct also_kind *kind)
{
        for (size_t i = 0; i < COUNTED_MAX; i++) {
                if (!kind->counted[i].key)
                        continue;
                ALSO_COLUMNS(VIEW_CELL)
        }
}

void recording_view_add_also(struct view_document *d, const struct report *report)
{
        const struct report_also *a = &report->also;
        const struct also_kind kinds[] = {
                { "messages", "messages", { { a->n_messages, "messages", "", "messages" } } },
                { "frames",
                  "frames",
                  { { a->n_frame_marks, "marks", "", "marks" },
                    { a->n_frame_begins, "begins", "", "begins" },
                    { a->n_frame_ends, "ends", "", "ends" },
                    { a->n_frame_names, "names", "in ", "sequences" } } },
                { "plots",
                  "plots",
                  { { a->n_plot_values, "values", "", "values" }, { a->n_plots, "names", "in ", "plots" } } },
                { "memory",
                  "memory",
                  { { a->n_allocations, "allocations", "", "allocations" },
                    { a->n_frees, "frees", "", "frees" },
                    { a->n_discards, "discards", "", "discarded pools" },
                    { a->n_pools, "pools", "in ", "pools" } } },
                { "locks",
                  "locks",
                  { { a->n_locks, "locks", "", "locks" },
                    { a->n_lock_obtains, "obtains", "", "times obtained" },
                    { a->n_lock_waits, "waits", "", "waits" } } },
                { "fibers",
                  "fibers",
                  { { a->n_fibers, "fibers", "", "fibers" },
                    { a->n_fiber_enters, "enters", "", "times entered" } } },
                { "devices",
                  "devices",
                  { { a->n_devices, "devices", "", "devices" },
                    { a->n_device_zones, "zones", "", "zones" },
                    { a->n_device_spans, "spans", "", "spans" },
                    { a->n_device_values, "values", "", "values" },
                    { a->n_device_instants, "instants", "", "moments" } } },
                { "in_zones",
                  "in zones",
                  { { a->n_zone_texts, "texts", "", "texts" },
                    { a->n_zone_names, "names", "", "names" },
                    { a->n_zone_values, "values", "", "values" },
                    { a->n_zone_colors, "colors", "", "colors" },
                    { a->n_zone_keys, "keys", "", "keys" } } },
                { "flows", "flows", { { a->n_flow_events, "events", "", "begins, steps and ends" } } },
                { "source_texts",
                  "source",
                  { { a->n_source_texts, "texts", "", "texts" },
                    { a->n_source_bytes, "bytes", "of ", NULL } } },
                { "code_regions",
                  "code",
                  { { a->n_code_regions, "regions", "", "regions that the program made" } } },
        };
        struct view_table *t;

        ALSO_FACTS(VIEW_FACT)
        t = view_document_add_part(d, &recording_view_also_part, NULL);
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                if (!also_has_any(&kinds[i]))
                        continue;
                also_add_line(d, &kinds[i]);
                also_add_rows(d, t, &kinds[i]);
        }
}
