/* SPDX-License-Identifier: MIT */
#include "view/answers/off_cpu_view.h"

#include "analyze/report/report.h"
#include "base/byte_buffer.h"
#include "view/answers/report_heading.h"
#include "view/answers/report_names.h"
#include "view/document/view_document.h"

#include <string.h>

#define SUM_COLUMNS                                                                                       \
        { .key = "total_ns", .title = "total", .type = VIEW_DURATION, .n_columns_max = 10 },              \
                { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },                 \
                { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },            \
                { .key = "mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },        \
                { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },          \
                { .key = "n_unended", .title = "not ended", .type = VIEW_COUNT, .n_columns_max = 12 },    \
                { .key = "delay_mean_ns", .title = "delay", .type = VIEW_DURATION, .n_columns_max = 10 }, \
        {                                                                                                 \
                .key = "delay_max_ns", .title = "max delay", .type = VIEW_DURATION, .n_columns_max = 10   \
        }

static const struct view_column place_columns[] = {
        { .key = "place", .title = "place", .type = VIEW_STRING },
        SUM_COLUMNS,
        { .key = "state", .title = "state", .type = VIEW_STRING, .n_columns_max = 20 },
        { .key = "kernel", .title = "in the kernel", .type = VIEW_STRING, .n_columns_max = 30 },
        { .key = "woken_by", .title = "woken by", .type = VIEW_STRING, .n_columns_max = 30 },
        { .key = "callstack", .title = "callstack", .type = VIEW_STRING },
};

static const struct view_column zone_columns[] = {
        { .key = "zones", .title = "zone", .type = VIEW_STRING },
        SUM_COLUMNS,
};

static const struct view_column thread_columns[] = {
        { .key = "name", .title = "thread", .type = VIEW_STRING },
        SUM_COLUMNS,
        { .key = "preempted_ns", .title = "preempted", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "tid", .title = "tid", .type = VIEW_ID, .n_columns_max = 10 },
};

static const struct view_column cpu_columns[] = {
        { .key = "cpu", .title = "CPU", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "busy_ns", .title = "busy", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "busy_share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "n_switches", .title = "switches", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_threads", .title = "threads", .type = VIEW_COUNT, .n_columns_max = 12 },
};

static const struct view_column cpu_thread_columns[] = {
        { .key = "cpu", .title = "CPU", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "name", .title = "thread", .type = VIEW_STRING },
        { .key = "busy_ns", .title = "busy", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "n_switches", .title = "switches", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "tid", .title = "tid", .type = VIEW_ID, .n_columns_max = 10 },
};

#define COUNT_OF(columns) (sizeof(columns) / sizeof((columns)[0]))

static uint64_t mean_of(const struct wait_sum *sum)
{
        return sum->n_waits != 0 ? sum->total_ns / sum->n_waits : 0;
}

static void put_sum(struct view_document *d, struct view_table *t, const struct wait_row *sum,
                    const struct report_waits *waits)
{
        bool ended = sum->ended.n_waits != 0, delayed = sum->delays.n_waits != 0;

        view_table_put_number(d, t, wait_row_total_ns(sum));
        report_heading_put_share(d, t, wait_row_total_ns(sum), wait_row_total_ns(&waits->all), true);
        view_table_put_number(d, t, sum->ended.n_waits);
        report_heading_put_known(d, t, mean_of(&sum->ended), ended);
        report_heading_put_known(d, t, sum->ended.max_ns, ended);
        view_table_put_number(d, t, sum->n_open);
        report_heading_put_known(d, t, mean_of(&sum->delays), delayed);
        report_heading_put_known(d, t, sum->delays.max_ns, delayed);
}

static void put_words(struct view_document *d, struct view_table *t, struct byte_buffer *words)
{
        d->failed |= words->failed;
        report_heading_put_name(d, t, (struct report_string){ (const char *)words->data, words->used_bytes });
        byte_buffer_clear(words);
}

static void put_place(struct view_document *d, struct view_table *t, const struct report_waits *waits,
                      const struct report_wait_place *place, struct byte_buffer *words)
{
        uint32_t own = place->frame < place->n_frames ? place->frame : 0;

        if (place->n_frames != 0)
                report_heading_put_function(d, t, place->frames[own].name, place->frames[own].kind);
        else
                view_table_put_words(d, t, place->has_stack ? "[no name]" : "[stack not recorded]");
        put_sum(d, t, &place->sum, waits);
        view_table_put_words(d, t, place->wait_words);
        report_heading_put_name(d, t, place->kernel);
        if (place->n_wakers != 0)
                report_heading_put_name(d, t, place->wakers[0].thread);
        else
                view_table_put_unknown(d, t);
        for (uint32_t i = 0; i < place->n_frames; i++) {
                struct report_string name = report_names_function(place->frames[i].name,
                                                                  place->frames[i].kind);

                byte_buffer_add(words, " < ", i != 0 ? 3 : 0);
                byte_buffer_add(words, name.bytes, name.n_bytes);
        }
        put_words(d, t, words);
}

static void put_zone(struct view_document *d, struct view_table *t, const struct report_waits *waits,
                     const struct report_wait_zone *zone, struct byte_buffer *words)
{
        if (zone->is_cut)
                byte_buffer_add(words, "…/", strlen("…/"));
        for (uint32_t i = 0; i < zone->n_names; i++) {
                byte_buffer_add(words, "/", i != 0);
                byte_buffer_add(words, zone->names[i].bytes, zone->names[i].n_bytes);
        }
        if (zone->n_names == 0)
                byte_buffer_add(words, "[outside of all zones]", strlen("[outside of all zones]"));
        put_words(d, t, words);
        put_sum(d, t, &zone->sum, waits);
}

static void put_thread(struct view_document *d, struct view_table *t, const struct report_waits *waits,
                       const struct report_wait_thread *thread)
{
        report_heading_put_name(d, t, thread->name);
        put_sum(d, t, &thread->sum, waits);
        view_table_put_number(d, t, thread->preempted.total_ns);
        view_table_put_number(d, t, thread->pid);
        view_table_put_number(d, t, thread->tid);
}

static void add_waits(struct view_document *d, const struct report_waits *w, uint32_t limit,
                      struct byte_buffer *words)
{
        struct view_table *t = view_document_add_table(d, "places", "Where threads waited", place_columns,
                                                       COUNT_OF(place_columns));
        uint32_t n = report_limited(w->n_places, limit);

        for (uint32_t i = 0; i < n; i++)
                put_place(d, t, w, &w->places[i], words);
        if (t)
                t->n_left_out = w->n_places - n;
        t = view_document_add_table(d, "zones", "In which zones", zone_columns, COUNT_OF(zone_columns));
        n = report_limited(w->n_zones, limit);
        for (uint32_t i = 0; i < n; i++)
                put_zone(d, t, w, &w->zones[i], words);
        if (t)
                t->n_left_out = w->n_zones - n;
        t = view_document_add_table(d, "threads", "Which threads", thread_columns, COUNT_OF(thread_columns));
        n = report_limited(w->n_threads, limit);
        for (uint32_t i = 0; i < n; i++)
                put_thread(d, t, w, &w->threads[i]);
        if (t)
                t->n_left_out = w->n_threads - n;
}

/* Two of these in one document have one heading. */
static void add_heading(struct view_document *d, const struct report *report, struct report_string filter,
                        const char *title)
{
        if (d->n_facts != 0)
                return;
        view_document_set_title(d, "%s", title);
        report_heading_add(d, report, filter);
        if (!report->on_cpu_known)
                view_document_warn(d, "unknown: the trace has no context switches");
}

void off_cpu_view_fill(struct view_document *d, const struct report *report, struct report_string filter,
                       uint32_t limit)
{
        struct byte_buffer words = { .data = NULL };

        add_heading(d, report, filter, "What threads waited for");
        add_waits(d, &report->waits, limit, &words);
        byte_buffer_deinit(&words);
}

void cpus_view_fill(struct view_document *d, const struct report *report, struct report_string filter,
                    uint32_t limit)
{
        const struct report_cpus *cpus = &report->cpus;
        uint32_t n_cpus = report_limited(cpus->n_rows, limit);
        struct view_table *t;

        add_heading(d, report, filter, "CPUs");
        t = view_document_add_table(d, "cpus", "CPUs", cpu_columns, COUNT_OF(cpu_columns));
        view_table_set_about(d, t, "busy: with a recorded thread; %% of the examined time");
        for (uint32_t i = 0; i < n_cpus; i++) {
                view_table_put_number(d, t, cpus->rows[i].cpu);
                view_table_put_number(d, t, cpus->rows[i].busy_ns);
                report_heading_put_share(d, t, cpus->rows[i].busy_ns, report->recording.range_ns, true);
                view_table_put_number(d, t, cpus->rows[i].n_switches);
                view_table_put_number(d, t, cpus->rows[i].n_threads);
        }
        if (t)
                t->n_left_out = cpus->n_rows - n_cpus;
        t = view_document_add_table(d, "cpu_threads", "Threads on each CPU", cpu_thread_columns,
                                    COUNT_OF(cpu_thread_columns));
        for (uint32_t i = 0; i < n_cpus; i++) {
                uint32_t n = report_limited(cpus->rows[i].n_threads, limit);

                for (uint32_t k = 0; k < n; k++) {
                        const struct report_cpu_thread *thread = &cpus->rows[i].threads[k];

                        view_table_put_number(d, t, cpus->rows[i].cpu);
                        report_heading_put_name(d, t, thread->name);
                        view_table_put_number(d, t, thread->busy_ns);
                        report_heading_put_share(d, t, thread->busy_ns, cpus->rows[i].busy_ns, true);
                        view_table_put_number(d, t, thread->n_switches);
                        view_table_put_number(d, t, thread->pid);
                        view_table_put_number(d, t, thread->tid);
                }
                if (t)
                        t->n_left_out += cpus->rows[i].n_threads - n;
        }
}
