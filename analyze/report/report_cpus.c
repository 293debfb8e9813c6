/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report.h"
#include "analyze/zones/trace_totals.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

/* A pair of CPU and thread, to be sorted. */
struct lane {
        uint64_t cpu;
        struct cpu_lane_sum sum;
        uint32_t thread;
};

static int compare_lanes(const void *a, const void *b)
{
        const struct lane *x = a;
        const struct lane *y = b;
        int order = report_compare(x->cpu, y->cpu);

        if (order == 0)
                order = report_compare(y->sum.busy_ns, x->sum.busy_ns);
        return order != 0 ? order : report_compare(x->thread, y->thread);
}

static struct report_cpu_thread describe(const struct trace_totals *totals, const struct trace_dictionary *d,
                                         const struct lane *lane)
{
        const struct trace_thread *row = trace_dictionary_row(d, TRACE_TABLE_THREADS, lane->thread);
        const struct trace_process *process = trace_dictionary_row(d, TRACE_TABLE_PROCESSES, row->process);

        return (struct report_cpu_thread){
                .thread = lane->thread,
                .pid = process->pid,
                .tid = row->tid,
                .name = trace_dictionary_text(d, totals->walk.threads[lane->thread - 1].timeline.name),
                .busy_ns = lane->sum.busy_ns,
                .n_switches = lane->sum.n_switches,
        };
}

int report_cpus_fill(struct report_cpus *c, const struct trace_totals *totals,
                     const struct trace_dictionary *d)
{
        const struct cpu_lanes *lanes = &totals->cpus;
        uint32_t n = lanes->keys.n_items;
        struct lane *sorted = calloc((size_t)n + 1, sizeof(*sorted));
        struct report_cpu *cpu = NULL;

        c->rows = calloc((size_t)n + 1, sizeof(*c->rows));
        c->threads = calloc((size_t)n + 1, sizeof(*c->threads));
        if (!sorted || !c->rows || !c->threads) {
                free(sorted);
                return -ENOMEM;
        }
        for (uint32_t i = 0; i < n; i++) {
                const struct cpu_lane_key *key = intern_get(&lanes->keys, i + 1, NULL);

                sorted[i] = (struct lane){ key->cpu, lanes->sums[i], key->thread };
        }
        qsort(sorted, n, sizeof(*sorted), compare_lanes);
        for (uint32_t i = 0; i < n; i++) {
                if (!cpu || cpu->cpu != sorted[i].cpu) {
                        cpu = &c->rows[c->n_rows++];
                        *cpu = (struct report_cpu){ .cpu = sorted[i].cpu, .threads = &c->threads[i] };
                }
                c->threads[i] = describe(totals, d, &sorted[i]);
                cpu->busy_ns += sorted[i].sum.busy_ns;
                cpu->n_switches += sorted[i].sum.n_switches;
                cpu->n_threads++;
        }
        free(sorted);
        return 0;
}

void report_cpus_deinit(struct report_cpus *c)
{
        free(c->rows);
        free(c->threads);
        *c = (struct report_cpus){ .rows = NULL };
}
