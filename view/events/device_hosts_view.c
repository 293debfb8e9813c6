/* SPDX-License-Identifier: MIT */
#include "view/events/device_hosts_view.h"

#include "analyze/devices/device_stats.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/event_names.h"

#include <stdlib.h>

static struct view_value space_name(const struct event_names *n, uint32_t space)
{
        return space != 0 ? view_text(trace_dictionary_text(n->trace->dictionary, space)) : view_unknown();
}

/* With a filter, other work of a device may have the key. */
static struct view_value known_of_all(const struct event_names *n, uint64_t count)
{
        return view_known(count, !n->options->is_filtered);
}

/* clang-format off */
#define HOST_COLUMNS(COLUMN)                                                                                  \
        COLUMN(HANDLE, "zone", "", view_handle('z', row->location), NULL)                                     \
        COLUMN(STRING, "name", "zone", view_text(event_names_zone(n, row->location)), "of a thread")          \
        COLUMN(COUNT, "spans", "on devices", view_number(row->n_spans),                                       \
               "zones of devices with a key that zones of this name said")                                    \
        COLUMN(DURATION, "total_ns", "device time", view_number(row->total_ns),                               \
               "of these; those at the same time each")                                                       \
        COLUMN(DURATION, "mean_delay_ns", "delay", view_mean(row->delay_sum_ns, row->n_delays),               \
               "from the begin of the zone of the thread to that of the device, without early ones")          \
        COLUMN(DURATION, "max_delay_ns", "max delay", view_known(row->delay_max_ns, row->n_delays != 0),      \
               "likewise")                                                                                    \
        COLUMN(COUNT, "early", "early", view_number(row->n_early),                                            \
               "zones of devices that begin before the zone of the thread: a clock is wrong")                 \
        COLUMN(DURATION, "max_early_ns", "by up to", view_known(row->early_max_ns, row->n_early != 0),        \
               "how much before it at most")                                                                  \
        COLUMN(COUNT, "keys", "keys", view_number(row->n_keys), "that zones of this name said")               \
        COLUMN(COUNT, "without_span", "without work", known_of_all(n, row->n_without_span),                   \
               "of these keys: no zone of a device has it; null with a filter", .may_be_null = true)
#define KEY_COLUMNS(COLUMN)                                                                                   \
        COLUMN(STRING, "space", "kind of key", space_name(n, row->space), "as the program calls it")          \
        COLUMN(COUNT, "keys", "by threads", view_number(row->n_keys), "that zones of threads said")           \
        COLUMN(COUNT, "without_span", "without work", known_of_all(n, row->n_without_span),                   \
               "of these: no zone of a device has it; null with a filter", .may_be_null = true)               \
        COLUMN(COUNT, "spans", "on devices", view_number(row->n_spans), "zones of devices with a key")        \
        COLUMN(COUNT, "without_zone", "without zone", view_number(row->n_without_key),                        \
               "of these: no zone of a thread said it")
/* clang-format on */

static const struct view_column host_columns[] = { HOST_COLUMNS(VIEW_COLUMN) };
static const struct view_column key_columns[] = { KEY_COLUMNS(VIEW_COLUMN) };
const struct answer_part device_hosts_part = ANSWER_TABLE(
        "host_operations", host_columns, "zones of threads that said keys, by the time of devices",
        .may_be_absent = true);
const struct answer_part device_keys_part = ANSWER_TABLE(
        "keys", key_columns, "a kind of key, which joins zones of threads and of devices",
        .may_be_absent = true);

/* ------------------------------------------------------------------ the order of rows */

/* The input of the comparison. */
struct row_order {
        const struct device_hosts *hosts;
};

static int compare_hosts(const void *left, const void *right, void *context)
{
        const struct row_order *rows = context;
        const struct device_hosts *h = rows->hosts;
        const uint32_t *a = left, *b = right;
        const struct device_host_row *x = &h->rows[*a], *y = &h->rows[*b];

        if (x->total_ns != y->total_ns)
                return x->total_ns > y->total_ns ? -1 : 1;
        if (x->n_keys != y->n_keys)
                return x->n_keys > y->n_keys ? -1 : 1;
        return *a < *b ? -1 : *a > *b;
}

/* The indices of rows in their order; NULL = out of memory, and the document is failed. */
static uint32_t *sort(struct event_names *n, const struct device_hosts *h)
{
        struct row_order rows = { .hosts = h };
        uint32_t *order = calloc((size_t)h->n_rows + 1, sizeof(*order));

        if (!order) {
                n->document->failed = true;
                return NULL;
        }
        for (uint32_t i = 0; i < h->n_rows; i++)
                order[i] = i;
        qsort_r(order, h->n_rows, sizeof(*order), compare_hosts, &rows);
        return order;
}

/* ------------------------------------------------------------------ tables */

static void put_host(struct event_names *n, struct view_table *t, const struct device_host_row *row)
{
        struct view_document *d = n->document;

        HOST_COLUMNS(VIEW_CELL)
}

static void put_space(struct event_names *n, struct view_table *t, const struct device_space_row *row)
{
        struct view_document *d = n->document;

        KEY_COLUMNS(VIEW_CELL)
}

static void add_hosts(struct event_names *n, const struct device_stats *s)
{
        const struct device_hosts *h = &s->hosts;
        struct view_table *t = view_document_add_part(n->document, &device_hosts_part, "Host operations");
        uint32_t *order = sort(n, h);
        size_t n_shown = event_names_limit(n, t, h->n_rows);

        view_table_set_about(
                n->document, t,
                h->n_rows == 0 && s->n_rows != 0
                        ? "when this work was handed over is not in the trace: no zone of a thread has "
                          "a key of it"
                        : "zones of threads, and zones of devices with their keys; delay: the mean "
                          "from the begin of the first to that of the second");
        for (size_t i = 0; order && i < n_shown; i++)
                put_host(n, t, &h->rows[order[i]]);
        free(order);
        t = view_document_add_part(n->document, &device_keys_part, "Keys");
        n_shown = event_names_limit(n, t, h->n_spaces);
        for (size_t i = 0; i < n_shown; i++)
                put_space(n, t, &h->space_rows[i]);
}

void device_hosts_view_add(struct event_names *n, const struct device_stats *s)
{
        if (s->hosts.n_spaces != 0)
                add_hosts(n, s);
}

void device_hosts_view_warn(struct event_names *n, const struct device_stats *s)
{
        uint64_t n_early = 0;

        for (uint32_t i = 0; i < s->hosts.n_rows; i++)
                n_early += s->hosts.rows[i].n_early;
        event_names_warn(n, n_early, "zones of devices begin before the zone of their key: a clock is wrong");
        event_names_warn(n, s->hosts.keys.n_lost, "keys of threads beyond the limit: they join nothing");
        event_names_warn(n, s->hosts.n_lost, "host operations beyond the limit, in no row");
}
