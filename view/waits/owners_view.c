/* SPDX-License-Identifier: MIT */
#include "view/waits/owners_view.h"

#include "analyze/report/report.h"
#include "format/trace_dictionary.h"
#include "view/document/view_document.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"

#include <math.h>

#define COUNT_OF(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

#define OWNER_COLUMNS                                                                            \
        { .key = "ready_ns", .title = "ready", .type = VIEW_DURATION, .n_columns_max = 10 },     \
                { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },        \
                { .key = "owner", .title = "kind", .type = VIEW_STRING, .n_columns_max = 11 },   \
                { .key = "owner_handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 }, \
                { .key = "owner_name", .title = "had the CPU", .type = VIEW_STRING },            \
        {                                                                                        \
                .key = "owner_pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10         \
        }

static const struct view_column owners_thread_columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "thread", .type = VIEW_STRING },
        OWNER_COLUMNS,
};

static const struct view_column owners_cpu_columns[] = {
        { .key = "cpu", .title = "CPU", .type = VIEW_ID, .n_columns_max = 10 },
        OWNER_COLUMNS,
};

static const struct {
        const char *key, *words;
} owner_kinds[] = {
        [READY_OWNER_OWN] = { "own-thread", NULL },
        [READY_OWNER_PROGRAM] = { "program", NULL },
        [READY_OWNER_QUOTA] = { "cpu-quota", "[throttled by the CPU quota]" },
        [READY_OWNER_STOPPED] = { "stopped", "[stopped by a signal or a debugger]" },
        [READY_OWNER_OTHERS] = { "others", "[others]" },
        [READY_OWNER_KINDS] = { "", "" },
};

const char *owners_view_key(enum ready_owner_kind kind)
{
        return owner_kinds[kind].key;
}

static struct text_view name_of(const struct report *report, uint32_t thread)
{
        const struct trace_walk *walk = &report->totals.walk;

        if (thread == 0 || thread > walk->n_threads)
                return (struct text_view){ .n_bytes = 0 };
        return trace_dictionary_text(report->trace.dictionary, walk->threads[thread - 1].timeline.name);
}

static void put_owner_time(struct view_document *d, struct view_table *t, const struct report *report,
                           const struct report_owner *row)
{
        view_table_put_number(d, t, (uint64_t)fmin(row->ns, 9e18));
        view_table_put_real(d, t, row->share);
        view_table_put_words(d, t, owners_view_key(row->kind));
        if (owner_kinds[row->kind].words) {
                view_table_put_unknown(d, t);
                view_table_put_words(d, t, owner_kinds[row->kind].words);
                view_table_put_unknown(d, t);
        } else {
                view_table_put_handle(d, t, 't', row->owner);
                report_heading_put_name(d, t, name_of(report, row->owner));
                view_table_put_number(d, t, loaded_trace_thread_pid(&report->trace, row->owner));
        }
}

/* A row begins with the cells of its subject, a thread or a CPU. */
static void add_owners(struct view_document *d, const struct report *report, const struct report_owner *rows,
                       size_t n_rows, bool by_cpu, uint32_t limit)
{
        struct view_table *t;
        uint32_t n = report_limited((uint32_t)n_rows, limit);

        if (n_rows == 0)
                return;
        t = view_document_add_table(d, "owners", "Threads ready to run: who had the CPU",
                                    by_cpu ? owners_cpu_columns : owners_thread_columns,
                                    by_cpu ? COUNT_OF(owners_cpu_columns) : COUNT_OF(owners_thread_columns));
        view_table_set_about(d, t,
                             by_cpu ? "%% of the time of all threads that were ready to run on the CPU"
                                    : "%% of a thread's time ready to run and not running, or stopped");
        for (uint32_t i = 0; i < n; i++) {
                if (by_cpu) {
                        view_table_put_number(d, t, rows[i].subject);
                } else {
                        view_table_put_handle(d, t, 't', rows[i].subject);
                        report_heading_put_name(d, t, name_of(report, rows[i].subject));
                }
                put_owner_time(d, t, report, &rows[i]);
        }
        if (t)
                t->n_left_out = n_rows - n;
}

void owners_view_add_threads(struct view_document *d, const struct report *report, uint32_t limit)
{
        add_owners(d, report, report->owners.by_thread, report->owners.n_by_thread, false, limit);
}

void owners_view_add_cpus(struct view_document *d, const struct report *report, uint32_t limit)
{
        add_owners(d, report, report->owners.by_cpu, report->owners.n_by_cpu, true, limit);
}
