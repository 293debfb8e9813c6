/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_cpu_owners.h"

#include "analyze/walk/trace_walk.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times outside of instances, which are needed to divide the time that a quota took. */
#define TAG_OUTSIDE 2

int why_cpu_owners_init(struct why_cpu_owners *o, const struct why_rank *rank, const struct sample_cost *cost,
                        uint32_t n_threads, bool wants_all)
{
        *o = (struct why_cpu_owners){ .is_wanted = true,
                                      .wants_all = wants_all,
                                      .rank = *rank,
                                      .cost = *cost,
                                      .n_threads = n_threads };
        o->threads = calloc((size_t)n_threads + 1, sizeof(*o->threads));
        return o->threads ? 0 : -ENOMEM;
}

void why_cpu_owners_deinit(struct why_cpu_owners *o)
{
        for (uint32_t i = 0; o->threads && i < o->n_threads; i++)
                ready_times_deinit(&o->threads[i].times);
        free(o->threads);
        ready_times_deinit(&o->times);
        *o = (struct why_cpu_owners){ .threads = NULL };
}

/* ------------------------------------------------------------------ collecting */

void why_cpu_owners_begin(struct why_cpu_owners *o, uint32_t thread)
{
        if (!o->is_wanted)
                return;
        o->threads[thread - 1].times.n_items = 0;
        o->threads[thread - 1].times.n_halved = 0;
        o->threads[thread - 1].stopped_ns = 0;
}

int why_cpu_owners_wait(struct why_cpu_owners *o, uint32_t thread, const struct thread_wait *wait,
                        const struct why_wait_parts *parts, bool is_open)
{
        struct ready_time time;
        struct why_owner_thread *state;

        if (!o->is_wanted)
                return 0;
        state = &o->threads[thread - 1];
        if (is_open && parts->is_stopped)
                state->stopped_ns += parts->ready_ns - parts->begin_ns;
        if (parts->is_sent)
                return 0;
        time = ready_time_of(wait, thread, parts->begin_ns);
        time.tag = TAG_OUTSIDE;
        if (is_open)
                return ready_times_add(&state->times, &time);
        return o->wants_all ? ready_times_add(&o->times, &time) : 0;
}

int why_cpu_owners_end(struct why_cpu_owners *o, uint32_t thread, const struct why_spent *spent)
{
        double value = why_spent_value(spent, WHY_BY_WALL, &o->cost);
        enum why_group group = WHY_TYPICAL;
        struct why_owner_thread *state;
        int r = 0;

        if (!o->is_wanted)
                return 0;
        state = &o->threads[thread - 1];
        if (why_rank_is_slow(&o->rank, spent, value))
                group = WHY_SLOW;
        o->n[group]++;
        o->machine_ns[group] += (double)spent->machine_ns;
        o->stopped_ns[group] += (double)state->stopped_ns;
        for (size_t i = 0; i < state->times.n_items && r == 0; i++) {
                state->times.items[i].tag = (uint32_t)group;
                r = ready_times_add(&o->times, &state->times.items[i]);
        }
        state->times.n_items = 0;
        return r;
}

/* ------------------------------------------------------------------ adding up */

/* The time of a thread, or of a process. */
struct owner_sum {
        double ns;        /* slow less typical, means */
        double thread_ns; /* of the thread with the largest part of `ns` */
        uint32_t thread;
};

static void add_owner_sum(struct owner_sum *sum, uint32_t thread, double ns)
{
        sum->ns += ns;
        if (ns > sum->thread_ns) {
                sum->thread_ns = ns;
                sum->thread = thread;
        }
}

/* Counts the owners that took longer in slow instances, and finds the one that did so the most. */
static void choose_most(struct why_owner *row, const struct owner_sum *sums, uint32_t n)
{
        double all = 0, most = 0;

        for (uint32_t i = 1; i <= n; i++) {
                if (!(sums[i].ns > 0))
                        continue;
                row->n++;
                all += sums[i].ns;
                if (sums[i].ns > most) {
                        most = sums[i].ns;
                        row->thread = sums[i].thread;
                }
        }
        row->most = all > 0 ? most / all : 0;
}

static int add_up(struct why_cpu_owners *o, const struct trace_dictionary *d,
                  const struct ready_owners *found)
{
        uint32_t n_threads = trace_dictionary_count(d, TRACE_TABLE_THREADS);
        uint32_t n_processes = trace_dictionary_count(d, TRACE_TABLE_PROCESSES);
        struct owner_sum *threads = calloc((size_t)n_threads + 1, sizeof(*threads));
        struct owner_sum *processes = calloc((size_t)n_processes + 1, sizeof(*processes));
        int r = threads && processes ? 0 : -ENOMEM;

        for (uint32_t i = 1; i <= found->keys.n_items && r == 0; i++) {
                const struct ready_owner_key *key = intern_get(&found->keys, i, NULL);
                double ns, signed_ns;

                if (key->tag >= TAG_OUTSIDE)
                        continue;
                ns = found->ns[i - 1] / fmax((double)o->n[key->tag], 1);
                signed_ns = key->tag == WHY_SLOW ? ns : -ns;
                o->rows[key->kind].ns[key->tag] += ns;
                if (key->kind == READY_OWNER_OWN) {
                        add_owner_sum(&threads[key->thread], key->thread, signed_ns);
                } else if (key->kind == READY_OWNER_PROGRAM) {
                        add_owner_sum(&processes[trace_dictionary_process_of(d, key->thread)], key->thread,
                                      signed_ns);
                }
        }
        if (r == 0) {
                choose_most(&o->rows[READY_OWNER_OWN], threads, n_threads);
                choose_most(&o->rows[READY_OWNER_PROGRAM], processes, n_processes);
        }
        free(threads);
        free(processes);
        return r;
}

static int compare_parts_of(const void *a, const void *b)
{
        const struct why_owner *left = a, *right = b;

        return (left->part < right->part) - (left->part > right->part);
}

/* The rest of the time in which an instance was kept from running belongs to unknown owners. */
static void find_owner_parts(struct why_cpu_owners *o)
{
        double sum = 0;

        for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++) {
                double n = fmax((double)o->n[group], 1), known = 0;

                o->rows[READY_OWNER_STOPPED].ns[group] = o->stopped_ns[group] / n;
                for (int kind = 0; kind < READY_OWNER_OTHERS; kind++)
                        known += o->rows[kind].ns[group];
                o->rows[READY_OWNER_OTHERS].ns[group] = fmax(o->machine_ns[group] / n - known, 0);
        }
        for (int kind = 0; kind < READY_OWNER_KINDS; kind++) {
                struct why_owner *row = &o->rows[kind];

                row->kind = (enum ready_owner_kind)kind;
                row->part = fmax(row->ns[WHY_SLOW] - row->ns[WHY_TYPICAL], 0);
                sum += row->part;
        }
        for (int kind = 0; kind < READY_OWNER_KINDS; kind++)
                o->rows[kind].part = sum > 0 ? o->rows[kind].part / sum : 0;
        qsort(o->rows, READY_OWNER_KINDS, sizeof(o->rows[0]), compare_parts_of);
        while (o->n_rows < READY_OWNER_KINDS && o->rows[o->n_rows].part > 0)
                o->n_rows++;
}

int why_cpu_owners_finish(struct why_cpu_owners *o, const struct trace_dictionary *d,
                          struct ready_owners *found)
{
        int r;

        if (!o->is_wanted || o->n[WHY_SLOW] == 0 || o->n[WHY_TYPICAL] == 0)
                return 0;
        r = ready_owners_finish(found);
        if (r == 0)
                r = add_up(o, d, found);
        if (r == 0)
                find_owner_parts(o);
        ready_times_deinit(&o->times);
        return r;
}

const struct why_owner *why_cpu_owners_find_known(const struct why_cpu_owners *o)
{
        return o->n_rows != 0 && o->rows[0].kind != READY_OWNER_OTHERS ? &o->rows[0] : NULL;
}
