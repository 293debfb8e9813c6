/* SPDX-License-Identifier: MIT */
#include "view/zones/group_rows.h"

#include "analyze/report/report.h"
#include "base/byte_buffer.h"
#include "view/document/view_document.h"
#include "view/shared/histogram_rows.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"
#include "view/text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_COLUMNS(title_)                                                                        \
        { .key = "group", .title = (title_), .type = VIEW_STRING },                                  \
                { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },       \
                { .key = "total_ns", .title = "total", .type = VIEW_DURATION, .n_columns_max = 10 }, \
                { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },            \
                { .key = "mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },   \
                { .key = "p50_ns", .title = "p50", .type = VIEW_DURATION, .n_columns_max = 10 },     \
                { .key = "p99_ns", .title = "p99", .type = VIEW_DURATION, .n_columns_max = 10 },     \
                { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },     \
        {                                                                                            \
                .key = "n_unclosed", .title = "n_unclosed", .type = VIEW_COUNT, .n_columns_max = 10  \
        }

#define HANDLE_COLUMN                                                                 \
        {                                                                             \
                .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 \
        }

static const struct view_column text_columns[] = { GROUP_COLUMNS("text") };
static const struct view_column name_columns[] = { GROUP_COLUMNS("name") };
static const struct view_column value_columns[] = { GROUP_COLUMNS("value") };
static const struct view_column thread_columns[] = { HANDLE_COLUMN, GROUP_COLUMNS("thread") };
static const struct view_column parent_columns[] = { HANDLE_COLUMN, GROUP_COLUMNS("inside of") };

#define N_COLUMNS ((uint32_t)(sizeof(text_columns) / sizeof(text_columns[0])))

/* By enum zone_group_key. */
static const struct {
        const char *word, *title;
        const struct view_column *columns;
        char letter; /* of the handle; 0 = the groups have none */
} kinds[ZONE_GROUP_KEYS] = {
        [ZONE_GROUP_NONE] = { "", "", text_columns, 0 },
        [ZONE_GROUP_TEXT] = { "text", "By text", text_columns, 0 },
        [ZONE_GROUP_NAME] = { "name", "By name", name_columns, 0 },
        [ZONE_GROUP_VALUE] = { "value", "By value", value_columns, 0 },
        [ZONE_GROUP_THREAD] = { "thread", "By thread", thread_columns, 't' },
        [ZONE_GROUP_PARENT] = { "parent", "By the zone around", parent_columns, 'z' },
};

/* The bytes without a last character that was cut in two. */
static size_t whole_characters(const char *bytes, size_t n_bytes)
{
        size_t last = n_bytes;
        uint32_t character;

        while (last > 0 && n_bytes - last < 3 && ((uint8_t)bytes[last - 1] & 0xc0) == 0x80)
                last--;
        if (last > 0 && (uint8_t)bytes[last - 1] >= 0xc0 &&
            utf8_decode(bytes + last - 1, n_bytes - (last - 1), &character) == 0)
                return last - 1;
        return n_bytes;
}

void group_rows_put_text(struct view_document *d, struct view_table *t, struct text_view text, bool is_cut)
{
        struct byte_buffer cut = { .data = NULL };

        if (!is_cut || text.n_bytes == 0) {
                report_heading_put_name(d, t, text);
                return;
        }
        byte_buffer_add(&cut, text.bytes, whole_characters(text.bytes, text.n_bytes));
        byte_buffer_add(&cut, "…", strlen("…"));
        if (cut.failed)
                d->failed = true;
        else
                view_table_put_string(d, t, (struct text_view){ (const char *)cut.data, cut.used_bytes });
        byte_buffer_deinit(&cut);
}

static struct text_view name_of_thread(const struct report *report, uint32_t id)
{
        const struct report_thread *thread = report_heading_find_thread(report, id);

        return thread ? thread->name : report_names_words("");
}

/* ------------------------------------------------------------------ rows */

struct row {
        const struct zone_group *group;
        uint32_t id;
};

static int compare_rows(const void *a, const void *b)
{
        const struct row *x = a;
        const struct row *y = b;
        int order = report_compare(y->group->total_ns, x->group->total_ns);

        if (order == 0)
                order = report_compare(y->group->n_closed, x->group->n_closed);
        return order != 0 ? order : report_compare(x->id, y->id);
}

static void put_times(struct view_document *d, struct view_table *t, const struct report *report,
                      const struct zone_group *group)
{
        const struct zone_groups *all = &report->totals.groups;
        bool closed = group->n_closed != 0;
        uint64_t p50_ns = 0, p99_ns = 0;
        bool has_p50 = zone_groups_quantile(all, group, 0.5, &p50_ns);
        bool has_p99 = zone_groups_quantile(all, group, 0.99, &p99_ns);

        view_table_put_number(d, t, group->n_closed);
        view_table_put_number(d, t, group->total_ns);
        report_heading_put_share(d, t, group->total_ns, report->totals.instances.stat.total_ns, true);
        report_heading_put_known(d, t, closed ? group->sum_ns / group->n_closed : 0, closed);
        report_heading_put_known(d, t, p50_ns, has_p50);
        report_heading_put_known(d, t, p99_ns, has_p99);
        report_heading_put_known(d, t, group->max_ns, closed);
        view_table_put_number(d, t, group->n_unclosed);
}

static void put_group(struct view_document *d, struct view_table *t, const struct report *report,
                      const struct row *row)
{
        const struct zone_groups *all = &report->totals.groups;
        struct zone_group_label label = zone_groups_label(all, row->id);
        char letter = kinds[all->by].letter;

        if (letter != 0 && label.id != 0)
                view_table_put_handle(d, t, letter, label.id);
        else if (letter != 0)
                view_table_put_unknown(d, t);
        if (all->by == ZONE_GROUP_THREAD)
                label.label = name_of_thread(report, label.id);
        group_rows_put_text(d, t, label.label, label.is_cut);
        put_times(d, t, report, row->group);
}

static void put_others(struct view_document *d, struct view_table *t, const struct report *report)
{
        const struct zone_groups *all = &report->totals.groups;

        if (kinds[all->by].letter != 0)
                view_table_put_unknown(d, t);
        view_table_put_words(d, t, "[others]");
        put_times(d, t, report, &all->others);
}

static void add_table(struct view_document *d, const struct report *report, const struct row *rows,
                      uint32_t n_rows, bool has_others)
{
        const struct zone_groups *all = &report->totals.groups;
        struct view_table *t = view_document_add_table(d, "groups", kinds[all->by].title,
                                                       kinds[all->by].columns,
                                                       N_COLUMNS + (kinds[all->by].letter != 0));

        view_table_set_about(d, t, "%% of the zones' total");
        for (uint32_t i = 0; i < n_rows; i++)
                put_group(d, t, report, &rows[i]);
        if (has_others)
                put_others(d, t, report);
        if (t)
                t->n_left_out = zone_groups_count(all) - n_rows;
}

static void add_histograms(struct view_document *d, const struct report *report, const struct row *rows,
                           uint32_t n_rows)
{
        const struct zone_groups *all = &report->totals.groups;
        struct view_table *t = histogram_rows_begin(d, "Durations", true);

        for (uint32_t i = 0; i < n_rows; i++) {
                const struct histogram *h = zone_groups_histogram(all, rows[i].group);
                struct zone_group_label label = zone_groups_label(all, rows[i].id);

                if (all->by == ZONE_GROUP_THREAD)
                        label.label = name_of_thread(report, label.id);
                if (h)
                        histogram_rows_add(d, t, all->by == ZONE_GROUP_PARENT ? label.id : 0, label.label, h,
                                           report->clock_step_ns);
        }
}

static void add_facts(struct view_document *d, const struct zone_groups *all)
{
        uint64_t n_others = all->others.n_closed + all->others.n_unclosed;

        view_document_add_string(d, "group_by", "groups by", report_names_words(kinds[all->by].word));
        view_document_add_number(d, "n_groups", "groups", VIEW_COUNT, zone_groups_count(all));
        if (n_others == 0) {
                view_document_add_unknown(d, "n_ungrouped", "in no group", VIEW_COUNT);
                return;
        }
        view_document_add_number(d, "n_ungrouped", "in no group", VIEW_COUNT, n_others);
        view_document_warn(d,
                           "%s zones are in no group: only the first %s different %ss are told apart; "
                           "the row [others] adds them up",
                           text_number_count(n_others).text, text_number_count(ZONE_GROUPS_MAX).text,
                           kinds[all->by].word);
}

void group_rows_add(struct view_document *d, const struct report *report, uint32_t limit, bool has_histograms)
{
        const struct zone_groups *all = &report->totals.groups;
        uint32_t n_groups = zone_groups_count(all);
        uint32_t n_rows = report_limited(n_groups, limit);
        bool has_others = all->others.n_closed + all->others.n_unclosed != 0;
        struct row *rows = calloc((size_t)n_groups + 1, sizeof(*rows));

        if (!rows) {
                d->failed = true;
                return;
        }
        for (uint32_t i = 0; i < n_groups; i++)
                rows[i] = (struct row){ .group = &all->groups[i], .id = i };
        qsort(rows, n_groups, sizeof(*rows), compare_rows);
        add_facts(d, all);
        add_table(d, report, rows, n_rows, has_others);
        if (has_histograms)
                add_histograms(d, report, rows, n_rows);
        free(rows);
}
