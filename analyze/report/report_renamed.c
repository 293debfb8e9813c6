/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report.h"
#include "analyze/walk/name_times.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

#define SHARE_MIN 0.01

/* The rows of name_times, grouped by thread; the rows of one thread begin at first[thread]. */
struct renamed_groups {
        uint32_t *first; /* heap; by thread id - 1, and one more */
        uint32_t *ids;   /* heap; in `keys` */
};

static uint32_t thread_of_id(const struct name_times *times, uint32_t id)
{
        const struct name_time_key *key = intern_get(&times->keys, id, NULL);

        return key->thread;
}

/* Counting sort, which keeps the order of a thread's names. */
static int group_by_thread(struct renamed_groups *g, const struct name_times *times)
{
        uint32_t n = times->keys.n_items;

        g->first = calloc((size_t)times->n_marks + 2, sizeof(*g->first));
        g->ids = calloc((size_t)n + 1, sizeof(*g->ids));
        if (!g->first || !g->ids)
                return -ENOMEM;
        for (uint32_t id = 1; id <= n; id++)
                g->first[thread_of_id(times, id) + 1]++;
        for (uint32_t i = 1; i <= times->n_marks + 1; i++)
                g->first[i] += g->first[i - 1];
        for (uint32_t id = 1; id <= n; id++)
                g->ids[g->first[thread_of_id(times, id)]++] = id;
        return 0;
}

static double share_under_name(const struct report_thread *thread, const struct name_time *time)
{
        if (thread->on_cpu_ns != 0)
                return (double)time->on_cpu_ns / (double)thread->on_cpu_ns;
        return thread->n_samples != 0 ? (double)time->n_samples / (double)thread->n_samples : 0;
}

static uint64_t renamed_within(uint64_t ns, const struct report_thread *thread)
{
        if (ns < thread->first_ns)
                return thread->first_ns;
        return ns < thread->last_ns ? ns : thread->last_ns;
}

static int compare_first(const void *a, const void *b)
{
        const struct report_renamed_row *x = a, *y = b;

        return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

static void add_thread(struct report_renamed *n, const struct report *report,
                       const struct report_thread *thread, const uint32_t *ids, uint32_t n_ids)
{
        const struct name_times *times = &report->totals.names;
        size_t n_before = n->n_rows;
        bool has_more = false;

        for (uint32_t i = 0; i < n_ids; i++) {
                const struct name_time_key *key = intern_get(&times->keys, ids[i], NULL);
                const struct name_time *time = &times->rows[ids[i] - 1];
                double share = share_under_name(thread, time);

                if (share < SHARE_MIN)
                        continue;
                has_more |= key->name == 0;
                n->rows[n->n_rows++] = (struct report_renamed_row){
                        .thread = thread->thread,
                        .name = trace_dictionary_text(report->trace.dictionary, key->name),
                        .is_more = key->name == 0,
                        .on_cpu_ns = time->on_cpu_ns,
                        .share = share,
                        .n_samples = time->n_samples,
                        .first_ns = renamed_within(time->first_ns, thread),
                        .last_ns = renamed_within(time->last_ns, thread),
                };
        }
        if (n->n_rows - n_before < 2 && !has_more)
                n->n_rows = n_before;
        else
                qsort(n->rows + n_before, n->n_rows - n_before, sizeof(*n->rows), compare_first);
}

int report_renamed_fill(struct report_renamed *n, const struct report *report)
{
        const struct name_times *times = &report->totals.names;
        struct renamed_groups groups = { .first = NULL };
        int r = group_by_thread(&groups, times);

        n->rows = calloc((size_t)times->keys.n_items + 1, sizeof(*n->rows));
        if (r == 0 && !n->rows)
                r = -ENOMEM;
        for (uint32_t i = 0; i < report->n_threads && r == 0; i++) {
                const struct report_thread *thread = &report->threads[i];
                uint32_t from;

                if (thread->thread > times->n_marks)
                        continue;
                from = groups.first[thread->thread - 1];
                add_thread(n, report, thread, groups.ids + from, groups.first[thread->thread] - from);
        }
        free(groups.first);
        free(groups.ids);
        return r;
}

void report_renamed_deinit(struct report_renamed *n)
{
        free(n->rows);
        *n = (struct report_renamed){ .n_rows = 0 };
}
