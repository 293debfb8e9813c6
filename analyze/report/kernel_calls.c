/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report.h"
#include "analyze/stats/call_finder.h"
#include "analyze/stats/wait_scale.h"
#include "analyze/trace/meta_value.h"
#include "base/clock.h"
#include "base/intern.h"
#include "base/saturating.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_NS_MIN (20 * NS_PER_MS) /* less is not worth a first line */

/* Sums by call and caller. */
struct call_sums {
        const struct report *report;
        struct intern keys; /* struct found_call */
        double *weights;    /* heap; by id - 1 */
        size_t capacity;
};

static struct call_finder finder_of(const struct report *report, const struct python_stacks *folds)
{
        return (struct call_finder){ report->trace.dictionary, &report->samples.functions, folds, false };
}

static struct text_view label_name(const struct report *report, uint32_t label)
{
        const struct call_finder finder = finder_of(report, NULL);

        return call_finder_name(&finder, label);
}

static struct kernel_entry kernel_entry_of(const struct report *report, uint32_t stack)
{
        const struct call_finder finder = finder_of(report, NULL);

        return call_finder_entry(&finder, stack);
}

uint32_t kernel_calls_caller(const struct report *report, uint32_t stack)
{
        static const uint32_t unknown;
        const struct call_finder finder = finder_of(report, report_samples_folds(&report->samples));
        struct found_call key = call_finder_of_stack(&finder, stack, &unknown);

        return key.caller != 0 ? key.caller : key.call;
}

struct text_view kernel_calls_counted_call(const struct report *report, uint32_t label)
{
        const struct call_finder finder = finder_of(report, NULL);

        return call_finder_counted_call(&finder, label);
}

static int call_sums_add(struct call_sums *s, struct found_call key, double weight)
{
        uint32_t id;
        int r = intern_add_row(&s->keys, &key, &s->weights, &s->capacity, sizeof(*s->weights), &id);

        if (r < 0)
                return r;
        s->weights[id - 1] += weight;
        return 0;
}

/* The string of the path of the caller's file; 0 = the row is of another call, or the caller is unknown. */
static uint32_t module_of_caller(const struct call_sums *s, uint32_t id, uint32_t call)
{
        const struct found_call *key = intern_get(&s->keys, id, NULL);

        if (key->call != call || key->caller == 0)
                return 0;
        return function_table_get(&s->report->samples.functions, key->caller)->module;
}

/* The module whose functions have over half of @weight together, found by a majority vote. */
static uint32_t find_calling_module(const struct call_sums *s, uint32_t call, double weight)
{
        uint32_t leader = 0;
        double lead = 0, sum = 0;

        for (uint32_t i = 1; i <= s->keys.n_items; i++) {
                uint32_t module = module_of_caller(s, i, call);

                if (module == 0)
                        continue;
                lead += module == leader ? s->weights[i - 1] : -s->weights[i - 1];
                if (lead < 0) {
                        leader = module;
                        lead = -lead;
                }
        }
        for (uint32_t i = 1; i <= s->keys.n_items; i++)
                if (leader != 0 && module_of_caller(s, i, call) == leader)
                        sum += s->weights[i - 1];
        return sum * 2 > weight ? leader : 0;
}

static struct text_view call_name(const struct report *report, uint32_t label)
{
        struct text_view counted = kernel_calls_counted_call(report, label);

        return counted.n_bytes != 0 ? counted : label_name(report, label);
}

/* Finds the call with the most weight over all its callers, and the caller that has over half of that. */
static int call_sums_top(const struct call_sums *s, struct kernel_call *ret)
{
        uint32_t n_labels = s->report->samples.functions.functions.n_items;
        double *by_call = calloc((size_t)n_labels + 1, sizeof(*by_call));
        uint32_t top = 0;

        *ret = (struct kernel_call){ .weight = 0 };
        if (!by_call)
                return -ENOMEM;
        for (uint32_t i = 1; i <= s->keys.n_items; i++) {
                const struct found_call *key = intern_get(&s->keys, i, NULL);

                by_call[key->call] += s->weights[i - 1];
        }
        for (uint32_t label = 1; label <= n_labels; label++)
                if (by_call[label] > by_call[top])
                        top = label;
        ret->weight = (uint64_t)by_call[top];
        if (top != 0)
                ret->call = call_name(s->report, top);
        for (uint32_t i = 1; i <= s->keys.n_items; i++) {
                const struct found_call *key = intern_get(&s->keys, i, NULL);

                if (key->call == top && key->caller != 0 && s->weights[i - 1] * 2 > by_call[top])
                        ret->caller = label_name(s->report, key->caller);
        }
        if (ret->caller.n_bytes == 0 && top != 0)
                ret->module = trace_dictionary_text(s->report->trace.dictionary,
                                                    find_calling_module(s, top, by_call[top]));
        free(by_call);
        return 0;
}

static void call_sums_init(struct call_sums *s, const struct report *report)
{
        *s = (struct call_sums){ .report = report };
        intern_init(&s->keys, sizeof(struct found_call), 0);
}

static void call_sums_deinit(struct call_sums *s)
{
        intern_deinit(&s->keys);
        free(s->weights);
}

/* ------------------------------------------------------------------ samples */

/*
 * Finds the call that a sample is in; false = in no call.  A page fault within a system call is part of the
 * call; interrupts are no calls.  At a tracepoint other than a system call's, it is the call that the
 * program made.
 */
static bool find_sampled_call(const struct report *report, uint32_t stack, const struct kernel_entry *entry,
                              struct found_call *ret)
{
        const struct call_finder finder = finder_of(report, report_samples_folds(&report->samples));
        const struct label_groups *frames = &report->samples.functions.frames;
        const struct trace_stack *row = trace_dictionary_row(report->trace.dictionary, TRACE_TABLE_STACKS,
                                                             stack);
        uint32_t label = frames->labels[frames->first[row->frame]];

        if (!report->event->is_tracepoint) {
                if (entry->user_stack == 0)
                        return false;
                *ret = call_finder_of_stack(&finder, entry->user_stack,
                                            entry->is_system_call ? &entry->function : NULL);
                return ret->call != 0 || kernel_entry_is_page_fault(entry);
        }
        if (kernel_calls_counted_call(report, label).n_bytes != 0)
                *ret = (struct found_call){ label, kernel_calls_caller(report, row->parent) };
        else
                *ret = call_finder_of_stack(&finder, entry->user_stack, &entry->function);
        return ret->call != 0;
}

static int fill_sampled(struct kernel_calls *k, const struct report *report)
{
        const struct sample_stats *stats = &report->totals.samples;
        struct call_sums sums;
        int r = 0;

        call_sums_init(&sums, report);
        for (uint32_t i = 0; i < sample_stats_count(stats) && report->event && r == 0; i++) {
                const struct sample_key *key = sample_stats_key(stats, i);
                struct kernel_entry entry;
                struct found_call call;

                if (key->event != report->event->event || key->stack == 0)
                        continue;
                entry = kernel_entry_of(report, key->stack);
                if (entry.is_kernel && !report->event->is_tracepoint)
                        k->kernel_weight += stats->sums[i].weight;
                if (find_sampled_call(report, key->stack, &entry, &call))
                        r = call_sums_add(&sums, call, (double)stats->sums[i].weight);
        }
        if (r == 0)
                r = call_sums_top(&sums, &k->sampled);
        call_sums_deinit(&sums);
        return r;
}

/* ------------------------------------------------------------------ waits */

struct waits_pass {
        const struct report *report;
        struct waited_calls *calls;
        struct wait_scale scale;
        const uint64_t *own_ns; /* by row - 1: time of the waits that recorded threads ended */
        bool is_of_causes;
        bool leaves_open; /* waits that never ended */
};

static const struct wait_key *key_of_row(const struct waits_pass *p, uint32_t id)
{
        return intern_get(&p->report->totals.waits.keys, id, NULL);
}

static uint64_t waited_in_row(const struct waits_pass *p, uint32_t id)
{
        const struct wait_row *row = &p->report->totals.waits.rows[id - 1];
        const struct wait_key *key = key_of_row(p, id);
        uint64_t ended_ns = row->ended.total_ns;

        if (!p->is_of_causes)
                return ended_ns + (key->stack != 0 && !p->leaves_open ? row->open_ns : 0);
        if (key->stack != 0 && p->report->n_processes > 1 && kernel_entry_of(p->report, key->stack).is_child)
                return 0;
        return ended_ns > p->own_ns[id - 1] ? ended_ns - p->own_ns[id - 1] : 0;
}

static void add_to_scale(struct waits_pass *p, uint32_t id)
{
        const struct wait_row *row = &p->report->totals.waits.rows[id - 1];
        const struct wait_key *key = key_of_row(p, id);
        uint64_t ns = waited_in_row(p, id);

        if (ns == 0)
                return;
        p->calls->total_ns += ns;
        p->calls->delay_ns += row->delays.total_ns < ns ? row->delays.total_ns : ns;
        p->calls->n_waits += row->ended.n_waits;
        p->calls->n_with_stack += key->stack != 0 ? row->ended.n_waits : 0;
        wait_scale_add(&p->scale, key, row->ended.n_waits, ns);
}

/* Few of the many short waits have a call stack: these few are taken as a sample of all. */
static int scale_waits(struct waits_pass *p, struct call_sums *sums)
{
        const struct call_finder finder = finder_of(
                p->report, p->report->waits.is_folded ? &p->report->samples.python : NULL);
        uint32_t n_rows = wait_stats_count(&p->report->totals.waits);
        int r = 0;

        for (uint32_t id = 1; id <= n_rows; id++)
                add_to_scale(p, id);
        for (uint32_t id = 1; id <= n_rows && r == 0; id++) {
                const struct wait_key *key = key_of_row(p, id);
                uint64_t ns = waited_in_row(p, id);
                struct kernel_entry entry = kernel_entry_of(p->report, key->stack);
                bool is_fault = kernel_entry_is_page_fault(&entry);
                struct found_call call;

                if (ns != 0 && wait_scale_is_from_before(&p->scale, key)) {
                        p->calls->total_ns -= ns;
                        p->calls->n_waits -= p->report->totals.waits.rows[id - 1].ended.n_waits;
                }
                if (entry.user_stack == 0 || ns == 0)
                        continue;
                call = call_finder_of_stack(&finder, entry.user_stack, is_fault ? NULL : &entry.function);
                if (call.call != 0 || is_fault) /* else neither has a name */
                        r = call_sums_add(sums, call, wait_scale_ns(&p->scale, key, ns));
        }
        return r;
}

/*
 * If the waits that ended would fill one thread's time, threads that never came back are idle: helpers that
 * wait for work.  If hardly any wait ended, the open waits matter, as in a program that hangs.
 */
static bool leaves_open_waits(const struct report *report)
{
        const struct wait_stats *stats = &report->totals.waits;
        uint64_t ended_ns = 0;

        for (uint32_t i = 0; i < wait_stats_count(stats); i++)
                ended_ns = saturating_add(ended_ns, stats->rows[i].ended.total_ns);
        return ended_ns > report->recording.range_ns / 2;
}

static int fill_waited_calls(struct waited_calls *calls, const struct report *report, const uint64_t *own_ns,
                             bool is_of_causes)
{
        struct waits_pass p = { .report = report,
                                .calls = calls,
                                .own_ns = own_ns,
                                .is_of_causes = is_of_causes,
                                .leaves_open = leaves_open_waits(report) };
        struct call_sums sums;
        int r;

        calls->leaves_open = p.leaves_open;
        call_sums_init(&sums, report);
        r = scale_waits(&p, &sums);
        if (r == 0)
                r = call_sums_top(&sums, &calls->top);
        call_sums_deinit(&sums);
        return r;
}

static int fill_wait_calls(struct kernel_calls *k, const struct report *report)
{
        const struct wait_stats *stats = &report->totals.waits;
        uint64_t *own_ns = calloc((size_t)wait_stats_count(stats) + 1, sizeof(*own_ns));
        int r;

        if (!own_ns)
                return -ENOMEM;
        for (uint32_t i = 1; i <= stats->waker_keys.n_items; i++) {
                const struct waker_key *key = intern_get(&stats->waker_keys, i, NULL);

                if (key->thread != 0)
                        own_ns[key->row - 1] += stats->wakers[i - 1].total_ns;
        }
        r = fill_waited_calls(&k->waits, report, own_ns, false);
        if (r == 0)
                r = fill_waited_calls(&k->causes, report, own_ns, true);
        if (r == 0 && k->causes.total_ns == 0)
                k->causes = k->waits;
        free(own_ns);
        return r;
}

/*
 * Whether the recording was made with -a.  The scope does not show it: a recording of processes that already
 * ran is by CPU as well.
 */
static bool is_whole_machine(const struct report *report)
{
        const struct trace_dictionary *d = report->trace.dictionary;

        return text_view_is(report->recording.scope, "cpus") &&
               trace_dictionary_has_notice(d, TRACE_NOTICE_ATTACHED) &&
               meta_value_find(d, "attached_pids").n_bytes == 0;
}

/*
 * The threads' times on CPUs add up to at least the time in which any thread ran, so all threads waited in
 * the rest of their life.  A preempted thread waits only for a CPU.
 */
static void find_idle(struct kernel_calls *k, const struct report *report)
{
        uint64_t ran_ns = report->waits.preempted.total_ns;
        uint64_t first_ns = UINT64_MAX, last_ns = 0, whole_ns;

        if (!report->on_cpu_known || !report->filter.is_empty || is_whole_machine(report) ||
            trace_dictionary_has_notice(report->trace.dictionary, TRACE_NOTICE_OUT_OF_REACH))
                return;
        for (uint32_t i = 0; i < report->n_threads; i++) {
                const struct report_thread *thread = &report->threads[i];

                if (thread->is_fiber)
                        continue;
                ran_ns += thread->on_cpu_ns;
                first_ns = thread->first_ns < first_ns ? thread->first_ns : first_ns;
                last_ns = thread->last_ns > last_ns ? thread->last_ns : last_ns;
        }
        whole_ns = last_ns > first_ns ? last_ns - first_ns : 0;
        if (ran_ns >= whole_ns / 2 || whole_ns - ran_ns < IDLE_NS_MIN || k->causes.total_ns == 0)
                return;
        k->whole_ns = whole_ns;
        k->idle_ns = whole_ns - ran_ns;
}

int kernel_calls_fill(struct kernel_calls *k, const struct report *report)
{
        int r = fill_sampled(k, report);

        if (r == 0)
                r = fill_wait_calls(k, report);
        if (r == 0)
                find_idle(k, report);
        return r;
}
