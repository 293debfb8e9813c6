/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report_tables.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/zones/trace_totals.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

/* There is one row for each subject, kind and owner: rows of a thread on several CPUs are merged. */
static int compare_owner_rows(const void *a, const void *b)
{
        const struct report_owner *x = a, *y = b;

        if (x->subject != y->subject)
                return x->subject < y->subject ? -1 : 1;
        if (x->kind != y->kind)
                return x->kind < y->kind ? -1 : 1;
        return (x->owner > y->owner) - (x->owner < y->owner);
}

static int compare_owner_times(const void *a, const void *b)
{
        const struct report_owner *x = a, *y = b;

        if (x->ns < y->ns || x->ns > y->ns)
                return x->ns > y->ns ? -1 : 1;
        return compare_owner_rows(a, b);
}

static size_t merge_owner_rows(struct report_owner *rows, size_t n)
{
        size_t n_merged = 0;

        if (n == 0)
                return 0;
        qsort(rows, n, sizeof(*rows), compare_owner_rows);
        for (size_t i = 1; i < n; i++) {
                if (compare_owner_rows(&rows[n_merged], &rows[i]) == 0)
                        rows[n_merged].ns += rows[i].ns;
                else
                        rows[++n_merged] = rows[i];
        }
        return n_merged + 1;
}

/* Rows of one subject are together here. */
static void share_out(struct report_owner *rows, size_t n)
{
        for (size_t first = 0, end; first < n; first = end) {
                double sum = 0;

                for (end = first; end < n && rows[end].subject == rows[first].subject; end++)
                        sum += rows[end].ns;
                for (size_t i = first; i < end; i++)
                        rows[i].share = sum > 0 ? rows[i].ns / sum : 0;
        }
        if (n > 1)
                qsort(rows, n, sizeof(*rows), compare_owner_times);
}

static int list_owners(struct report_owners *o, const struct ready_owners *found,
                       const struct trace_totals *totals)
{
        size_t n = found->keys.n_items, n_threads = totals->waits.n_threads;

        o->by_thread = calloc(n + n_threads + 1, sizeof(*o->by_thread));
        o->by_cpu = calloc(n + 1, sizeof(*o->by_cpu));
        if (!o->by_thread || !o->by_cpu)
                return -ENOMEM;
        for (uint32_t i = 1; i <= n; i++) {
                const struct ready_owner_key *key = intern_get(&found->keys, i, NULL);
                struct report_owner row = { .kind = (enum ready_owner_kind)key->kind,
                                            .owner = key->thread,
                                            .ns = found->ns[i - 1] };

                row.subject = key->tag;
                o->by_thread[o->n_by_thread++] = row;
                row.subject = key->cpu;
                o->by_cpu[o->n_by_cpu++] = row;
        }
        for (uint32_t i = 0; i < n_threads; i++)
                if (totals->waits.threads[i].stopped_ns != 0)
                        o->by_thread[o->n_by_thread++] = (struct report_owner){
                                .subject = i + 1,
                                .kind = READY_OWNER_STOPPED,
                                .ns = (double)totals->waits.threads[i].stopped_ns,
                        };
        o->n_by_thread = merge_owner_rows(o->by_thread, o->n_by_thread);
        o->n_by_cpu = merge_owner_rows(o->by_cpu, o->n_by_cpu);
        share_out(o->by_thread, o->n_by_thread);
        share_out(o->by_cpu, o->n_by_cpu);
        return 0;
}

int report_owners_fill(struct report_owners *o, struct loaded_trace *trace, struct trace_totals *totals,
                       struct error *err)
{
        struct ready_owners found;
        int r = ready_owners_take(&found, trace, &totals->ready, err);

        if (r == 0 && list_owners(o, &found, totals) < 0)
                r = error_set(err, -ENOMEM, "making the report: out of memory");
        o->weight = ready_times_weight(&totals->ready);
        o->n_lost = found.n_lost;
        o->is_cut = ready_owners_are_cut(&found);
        ready_owners_deinit(&found);
        ready_times_deinit(&totals->ready);
        return r;
}

void report_owners_deinit(struct report_owners *o)
{
        free(o->by_thread);
        free(o->by_cpu);
        *o = (struct report_owners){ .by_thread = NULL };
}
