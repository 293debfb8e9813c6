/* SPDX-License-Identifier: MIT */
#include "view/waits/owners_view.h"

#include "analyze/report/report.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/report_heading.h"

#include <inttypes.h>
#include <math.h>

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

/* clang-format off */
#define THREAD_COLUMNS(COLUMN)                                                                                \
        COLUMN(HANDLE, "handle", "", view_handle('t', row->subject), NULL)                                    \
        COLUMN(STRING, "name", "thread", view_name(name_of(report, row->subject)), NULL)
#define CPU_COLUMNS(COLUMN) COLUMN(ID, "cpu", "CPU", view_number(row->subject), NULL)
#define OWNER_COLUMNS(COLUMN, whole)                                                                          \
        COLUMN(DURATION, "ready_ns", "ready", view_number((uint64_t)fmin(row->ns, 9e18)),                     \
               "ready to run and not running, or stopped")                                                    \
        COLUMN(SHARE, "share", "%", view_real(row->share), whole)                                             \
        COLUMN(STRING, "owner", "kind", view_words(owners_view_key(row->kind)), "who had the CPU meanwhile",  \
               .one_of = "own-thread|program|cpu-quota|stopped|others", .n_columns_max = 11)                  \
        COLUMN(HANDLE, "owner_handle", "", view_handle('t', owner), "null unless it is a thread")             \
        COLUMN(STRING, "owner_name", "had the CPU",                                                           \
               words ? view_words(words) : view_name(name_of(report, owner)), NULL)                           \
        COLUMN(ID, "owner_pid", "pid",                                                                        \
               words ? view_unknown() : view_number(loaded_trace_thread_pid(&report->trace, owner)),          \
               "null unless it is a thread", .may_be_null = true)
/* clang-format on */

static const struct view_column thread_columns[] = { THREAD_COLUMNS(VIEW_COLUMN) OWNER_COLUMNS(
        VIEW_COLUMN, "of all such time of the thread") };
static const struct view_column cpu_columns[] = { CPU_COLUMNS(VIEW_COLUMN) OWNER_COLUMNS(
        VIEW_COLUMN, "of the time of all threads that were ready to run on the CPU") };
const struct answer_part owners_view_threads_part = ANSWER_TABLE(
        "owners", thread_columns, "who had the CPU while a thread was ready to run", .may_be_absent = true);
const struct answer_part owners_view_cpus_part = ANSWER_TABLE(
        "owners", cpu_columns, "who had a CPU while threads were ready to run there", .may_be_absent = true);

static void put_owner(struct view_document *d, struct view_table *t, const struct report *report,
                      const struct report_owner *row, bool by_cpu)
{
        const char *words = owner_kinds[row->kind].words;
        uint32_t owner = words ? 0 : row->owner;

        if (by_cpu) {
                CPU_COLUMNS(VIEW_CELL)
        } else {
                THREAD_COLUMNS(VIEW_CELL)
        }
        OWNER_COLUMNS(VIEW_CELL, NULL)
}

static void warn_of_limits(struct view_document *d, const struct report_owners *owners)
{
        if (owners->weight > 1)
                view_document_warn(d,
                                   "of the times in which threads were ready to run, 1 of %.0f was examined",
                                   owners->weight);
        if (owners->n_lost != 0)
                view_document_warn(d,
                                   "%" PRIu64 " stretches of CPUs were dropped for lack of room: who had "
                                   "them is not known",
                                   owners->n_lost);
        if (owners->is_cut)
                view_document_warn(
                        d, "threads were ready to run too often: in part it is not known who had their CPU");
}

static void add_owners(struct view_document *d, const struct report *report, const struct report_owner *rows,
                       size_t n_rows, bool by_cpu, uint32_t limit)
{
        struct view_table *t;
        uint32_t n = report_limited((uint32_t)n_rows, limit);

        if (n_rows == 0)
                return;
        t = view_document_add_part(d, by_cpu ? &owners_view_cpus_part : &owners_view_threads_part,
                                   "Threads ready to run: who had the CPU");
        view_table_set_about(d, t,
                             by_cpu ? "%% of the time of all threads that were ready to run on the CPU"
                                    : "%% of a thread's time ready to run and not running, or stopped");
        for (uint32_t i = 0; i < n; i++)
                put_owner(d, t, report, &rows[i], by_cpu);
        warn_of_limits(d, &report->owners);
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
