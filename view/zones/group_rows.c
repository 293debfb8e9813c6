/* SPDX-License-Identifier: MIT */
#include "view/zones/group_rows.h"

#include "analyze/report/report.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/histogram_rows.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"
#include "view/text/utf8.h"
#include "view/zones/rank_rows.h"

#include <stdlib.h>
#include <string.h>

/* By enum zone_group_key. */
static const struct {
        const char *word, *title, *column_title;
        char letter; /* of the handle; 0 = the groups have none */
} kinds[ZONE_GROUP_KEYS] = {
        [ZONE_GROUP_NONE] = { "", "", "", 0 },
        [ZONE_GROUP_TEXT] = { "text", "By text", "text", 0 },
        [ZONE_GROUP_NAME] = { "name", "By name", "name", 0 },
        [ZONE_GROUP_VALUE] = { "value", "By value", "value", 0 },
        [ZONE_GROUP_THREAD] = { "thread", "By thread", "thread", 't' },
        [ZONE_GROUP_PARENT] = { "parent", "By the zone around", "inside of", 'z' },
        [ZONE_GROUP_PROCESS] = { "process", "By process", "process", 0 },
        [ZONE_GROUP_RECORDING] = { "recording", "By recording", "recording", 0 },
        [ZONE_GROUP_HOST] = { "host", "By host", "host", 0 },
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

struct view_value group_rows_text(struct text_view text, bool is_cut)
{
        if (!is_cut || text.n_bytes == 0)
                return view_name(text);
        text.n_bytes = whole_characters(text.bytes, text.n_bytes);
        return view_cut_text(text);
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

/* clang-format off */
#define HANDLE_COLUMNS(COLUMN)                                                                                \
        COLUMN(HANDLE, "handle", "", view_handle(kinds[all->by].letter, label->id),                           \
               "only for groups by thread or parent")
#define GROUP_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "group", "group", name_group(d, report, label),                                        \
               "null: the instances have none")                                                               \
        COLUMN(COUNT, "count", "count", view_number(group->n_closed), NULL)                                   \
        COLUMN(DURATION, "total_ns", "total", view_number(group->total_ns), NULL)                             \
        COLUMN(SHARE, "share", "%", report_heading_share(group->total_ns, whole_ns),                          \
               "of the zones' total")                                                                         \
        COLUMN(DURATION, "mean_ns", "mean", view_mean(group->sum_ns, group->n_closed), NULL)                  \
        COLUMN(DURATION, "p50_ns", "p50", quantile_of(all, group, 0.5), NULL)                                 \
        COLUMN(DURATION, "p99_ns", "p99", quantile_of(all, group, 0.99), NULL)                                \
        COLUMN(DURATION, "max_ns", "max", view_known(group->max_ns, closed), NULL)                            \
        COLUMN(COUNT, "n_unclosed", "n_unclosed", view_number(group->n_unclosed), NULL)
/* clang-format on */

static const struct view_column columns[] = { HANDLE_COLUMNS(VIEW_COLUMN_ABSENT) GROUP_COLUMNS(VIEW_COLUMN) };
const struct answer_part group_rows_part = ANSWER_TABLE(
        "groups", columns,
        "the instances of one group, with --group-by; the last is [others] if n_ungrouped is not null",
        .may_be_absent = true);

static struct view_value quantile_of(const struct zone_groups *all, const struct zone_group *group,
                                     double share)
{
        uint64_t ns = 0;
        bool is_known = zone_groups_quantile(all, group, share, &ns);

        return view_known(ns, is_known);
}

static struct view_value name_group(struct view_document *d, const struct report *report,
                                    const struct zone_group_label *label)
{
        if (report->totals.groups.by == ZONE_GROUP_PROCESS && label->id != 0)
                return rank_rows_name(d, report, label->id);
        return group_rows_text(label->label, label->is_cut);
}

static void put_group(struct view_document *d, struct view_table *t, const struct report *report,
                      const struct zone_group *group, const struct zone_group_label *label)
{
        const struct zone_groups *all = &report->totals.groups;
        uint64_t whole_ns = report->totals.instances.stat.total_ns;
        bool closed = group->n_closed != 0;

        if (kinds[all->by].letter != 0) {
                HANDLE_COLUMNS(VIEW_CELL)
        }
        GROUP_COLUMNS(VIEW_CELL)
}

static struct zone_group_label label_of(const struct report *report, uint32_t id)
{
        struct zone_group_label label = zone_groups_label(&report->totals.groups, id);

        if (report->totals.groups.by == ZONE_GROUP_THREAD)
                label.label = name_of_thread(report, label.id);
        return label;
}

/* The title of the second column says what groups are by; the first is only there if they have handles. */
static struct view_table *begin_table(struct view_document *d, enum zone_group_key by)
{
        uint32_t first = kinds[by].letter != 0 ? 0 : 1;
        struct view_column titled[VIEW_N_COLUMNS(columns)];

        memcpy(titled, columns, sizeof(titled));
        titled[1].title = kinds[by].column_title;
        return view_document_add_table(d, group_rows_part.key, kinds[by].title, titled + first,
                                       VIEW_N_COLUMNS(columns) - first);
}

static void add_table(struct view_document *d, const struct report *report, const struct row *rows,
                      uint32_t n_rows, bool has_others)
{
        const struct zone_group_label others = { .label = report_names_words("[others]") };
        const struct zone_groups *all = &report->totals.groups;
        struct view_table *t = begin_table(d, all->by);

        view_table_set_about(d, t, "%% of the zones' total");
        for (uint32_t i = 0; i < n_rows; i++) {
                struct zone_group_label label = label_of(report, rows[i].id);

                put_group(d, t, report, rows[i].group, &label);
        }
        if (has_others)
                put_group(d, t, report, &all->others, &others);
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
                struct zone_group_label label = label_of(report, rows[i].id);

                if (h)
                        histogram_rows_add(d, t, all->by == ZONE_GROUP_PARENT ? label.id : 0, label.label, h,
                                           report->clock_step_ns);
        }
}

/* clang-format off */
#define GROUPS_FACTS(FACT)                                                                                    \
        FACT(STRING, "group_by", "groups by", view_words(kinds[all->by].word),                                \
             NULL, .one_of = "text|name|value|thread|parent|process|recording|host")                                                 \
        FACT(COUNT, "n_groups", "groups", view_number(zone_groups_count(all)), NULL)                          \
        FACT(COUNT, "n_ungrouped", "in no group", view_known(n_others, n_others != 0),                        \
             "instances beyond the bound on groups, or null", .may_be_null = true)
/* clang-format on */

static const struct view_column fact_columns[] = { GROUPS_FACTS(VIEW_MEMBER) };
const struct answer_part group_rows_facts_part = ANSWER_FACTS_ABSENT(fact_columns);

static void add_facts(struct view_document *d, const struct zone_groups *all)
{
        uint64_t n_others = all->others.n_closed + all->others.n_unclosed;

        GROUPS_FACTS(VIEW_FACT)
        if (n_others == 0)
                return;
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
