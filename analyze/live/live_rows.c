/* SPDX-License-Identifier: MIT */
#include "analyze/live/live_rows.h"

#include "analyze/live/live_labels.h"
#include "analyze/live/live_stats.h"
#include "analyze/live/live_waits.h"
#include "analyze/trace/histogram.h"
#include "base/clock.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 512 /* of one call stack */

static int compare_numbers(uint64_t a, uint64_t b)
{
        return a < b ? 1 : a > b ? -1 : 0;
}

/* ---- Python ------------------------------------------------------------------------------------------- */

/* The call stack that a key of the window names; waits have keys of another kind than samples. */
static uint32_t stack_of_key(uint64_t key, bool is_wait)
{
        return is_wait ? live_wait_stack(key) : (uint32_t)(key - 1);
}

/* Skips waits without a call stack: few short waits have one. */
static int add_parts(const struct live_folds *f, const struct live_rows *of, bool is_wait,
                     struct python_parts *parts)
{
        const struct live_stats *s = of->stats;
        struct live_cell *cells = NULL;
        struct live_sum others;
        int n = live_window_collect(is_wait ? &s->waits : &s->samples, s->now_ns, of->all, &cells, &others);

        for (int i = 0; i < n; i++) {
                uint32_t stack = stack_of_key(cells[i].key, is_wait);

                if (stack != 0 || !is_wait)
                        python_stacks_add(&f->python, s->dictionary, stack, cells[i].sum.sum, parts);
        }
        free(cells);
        return n < 0 ? n : 0;
}

int live_folds_init(struct live_folds *f, const struct live_rows *of, bool of_waits)
{
        struct python_parts samples = { .all = 0 }, waits = { .all = 0 };
        int r;

        *f = (struct live_folds){ .folds = NULL };
        r = of->shows_native ? 0 : python_stacks_init(&f->python, of->stats->dictionary);
        if (r < 0 || !f->python.innermost)
                return r;
        r = add_parts(f, of, false, &samples);
        if (r == 0 && of_waits)
                r = add_parts(f, of, true, &waits);
        if (r == 0 && (python_parts_are_most(&samples) || python_parts_are_most(&waits)))
                f->folds = &f->python;
        return r;
}

void live_folds_deinit(struct live_folds *f)
{
        python_stacks_deinit(&f->python);
        f->folds = NULL;
}

/* ---- functions ----------------------------------------------------------------------------------------- */

/* Sums of one label. */
struct function_sum {
        double self, total;
        uint64_t n;
        uint32_t seen_in; /* the number of the stack in which the function was last found */
};

struct function_sums {
        struct live_labels labels;
        struct live_folds python;
        struct function_sum *sums; /* heap; by label */
        size_t n_sums;
        double all;
};

static int sum_of_label(struct function_sums *f, uint32_t label, struct function_sum **ret)
{
        if (label >= f->n_sums) {
                size_t n = 2 * (size_t)label + 64;
                struct function_sum *sums = realloc(f->sums, n * sizeof(*sums));

                if (!sums)
                        return -ENOMEM;
                memset(sums + f->n_sums, 0, (n - f->n_sums) * sizeof(*sums));
                f->sums = sums;
                f->n_sums = n;
        }
        *ret = &f->sums[label];
        return 0;
}

/* Adds to the functions of a frame.  @is_leaf: it is the innermost frame. */
static int add_frame(struct function_sums *f, uint32_t frame, bool is_leaf, const struct live_cell *cell,
                     uint32_t number)
{
        for (uint32_t i = 0; i < live_labels_count(&f->labels, frame); i++) {
                struct function_sum *sum = NULL;
                uint32_t label;
                int r = live_labels_find(&f->labels, frame, i, &label);

                if (r == 0)
                        r = sum_of_label(f, label, &sum);
                if (r < 0 || !sum)
                        return r;
                if (is_leaf && i == 0) {
                        sum->self += (double)cell->sum.sum;
                        sum->n += cell->sum.n;
                }
                if (sum->seen_in != number)
                        sum->total += (double)cell->sum.sum;
                sum->seen_in = number;
        }
        return 0;
}

static int add_stack(struct function_sums *f, const struct live_cell *cell, uint32_t number)
{
        const struct trace_dictionary *d = f->labels.dictionary;
        uint32_t stack = (uint32_t)(cell->key - 1);
        struct function_sum *sum;
        int r;

        f->all += (double)cell->sum.sum;
        if (stack == 0) {
                r = sum_of_label(f, LIVE_LABEL_NO_STACK, &sum);
                if (r < 0)
                        return r;
                sum->self += (double)cell->sum.sum;
                sum->total += (double)cell->sum.sum;
                sum->n += cell->sum.n;
                return 0;
        }
        stack = python_stacks_shown(f->python.folds, stack);
        for (uint32_t n = 0; stack != 0 && n < FRAMES_MAX; n++) {
                const struct trace_stack *row = trace_dictionary_row(d, TRACE_TABLE_STACKS, stack);

                r = live_labels_is_mark(&f->labels, row->frame)
                            ? 0
                            : add_frame(f, row->frame, n == 0, cell, number);
                if (r < 0)
                        return r;
                stack = python_stacks_shown(f->python.folds, row->parent);
        }
        return 0;
}

static int compare_functions(const void *a, const void *b)
{
        const struct live_function_row *x = a, *y = b;

        if (x->self != y->self)
                return x->self < y->self ? 1 : -1;
        return x->total < y->total ? 1 : x->total > y->total ? -1 : 0;
}

static int list_functions(const struct function_sums *f, struct live_function_row **ret_rows)
{
        uint32_t n_labels = live_labels_n(&f->labels);
        struct live_function_row *rows = calloc((size_t)n_labels + 1, sizeof(*rows));
        int n = 0;

        if (!rows)
                return -ENOMEM;
        for (uint32_t i = 1; i <= n_labels && i < f->n_sums; i++) {
                if (f->sums[i].total <= 0 && f->sums[i].n == 0)
                        continue;
                live_labels_describe(&f->labels, i, &rows[n].label);
                rows[n].n_samples = f->sums[i].n;
                rows[n].self = f->all > 0 ? f->sums[i].self / f->all : 0;
                rows[n].total = f->all > 0 ? f->sums[i].total / f->all : 0;
                n++;
        }
        qsort(rows, (size_t)n, sizeof(*rows), compare_functions);
        *ret_rows = rows;
        return n;
}

int live_rows_functions(const struct live_rows *of, struct live_function_row **ret_rows)
{
        const struct live_stats *s = of->stats;
        struct function_sums f = { .sums = NULL };
        struct live_cell *cells = NULL;
        struct live_sum others;
        int n, r;

        *ret_rows = NULL;
        n = live_window_collect(&s->samples, s->now_ns, of->all, &cells, &others);
        r = n < 0 ? n : live_labels_init(&f.labels, s->dictionary, of->names, of->shown);
        if (r == 0)
                r = live_folds_init(&f.python, of, false);
        for (int i = 0; r == 0 && i < n; i++)
                r = add_stack(&f, &cells[i], (uint32_t)i + 1);
        f.all += r == 0 ? (double)others.sum : 0;
        if (r == 0)
                r = list_functions(&f, ret_rows);
        live_labels_deinit(&f.labels);
        live_folds_deinit(&f.python);
        free(f.sums);
        free(cells);
        return r;
}

/* ---- zones --------------------------------------------------------------------------------------------- */

static bool is_slot_wanted(const struct live_rows *of, size_t i, uint64_t second)
{
        if (of->all)
                return i == LIVE_SLOT_ALL;
        return i < LIVE_SLOTS && live_slot_is_recent(second, of->stats->now_ns);
}

/* @ret: to be freed by histogram_deinit() of its `durations`, in any case.  Returns 0 or -ENOMEM. */
static int merge_zone(const struct live_rows *of, const struct live_zone *zone, struct live_zone_slot *ret)
{
        int r = 0;

        *ret = (struct live_zone_slot){ .second = 0 };
        for (size_t i = 0; i < LIVE_SLOTS_AND_ALL && r == 0; i++) {
                const struct live_zone_slot *slot = &zone->slots[i];

                if (!is_slot_wanted(of, i, slot->second))
                        continue;
                ret->self_ns += slot->self_ns;
                r = histogram_merge(&ret->durations, &slot->durations);
        }
        return r;
}

static void describe_zone(const struct live_rows *of, const struct live_zone_slot *slot, uint32_t location,
                          struct live_zone_row *row)
{
        const struct trace_dictionary *d = of->stats->dictionary;
        const struct trace_location *place = trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, location);
        uint64_t window_ns = live_stats_window_ns(of->stats, of->all);
        const struct histogram *durations = &slot->durations;

        *row = (struct live_zone_row){
                .location = location,
                .name = trace_dictionary_text(d, place->name ? place->name : place->function),
                .file = trace_dictionary_text(d, place->file),
                .line = place->line,
                .n = durations->n_values,
                .per_second = window_ns ? (double)durations->n_values * (double)NS_PER_S / (double)window_ns
                                        : 0,
                .sum_ns = durations->sum,
                .self_ns = slot->self_ns,
                .mean_ns = durations->sum / durations->n_values,
                .p50_ns = histogram_quantile(durations, 0.5),
                .p99_ns = histogram_quantile(durations, 0.99),
                .largest_ns = durations->largest,
        };
}

static int compare_zones(const void *a, const void *b)
{
        const struct live_zone_row *x = a, *y = b;

        return compare_numbers(x->sum_ns, y->sum_ns);
}

int live_rows_zones(const struct live_rows *of, struct live_zone_row **ret_rows)
{
        const struct live_stats *s = of->stats;
        struct live_zone_row *rows = calloc((size_t)s->n_zones + 1, sizeof(*rows));
        int n = 0, r = rows ? 0 : -ENOMEM;

        *ret_rows = rows;
        for (uint32_t i = 0; r == 0 && i < s->n_zones; i++) {
                struct live_zone_slot sum;

                r = merge_zone(of, s->zones[i], &sum);
                if (r == 0 && sum.durations.n_values != 0)
                        describe_zone(of, &sum, s->zones[i]->location, &rows[n++]);
                histogram_deinit(&sum.durations);
        }
        if (r < 0)
                return r;
        qsort(rows, (size_t)n, sizeof(*rows), compare_zones);
        return n;
}

static void add_powers(const struct histogram *durations, uint64_t ret_counts[64])
{
        uint64_t ns, n;

        for (uint32_t i = 0; histogram_get(durations, i, &ns, &n); i++)
                ret_counts[ns != 0 ? 63 - __builtin_clzll(ns) : 0] += n;
}

void live_rows_histogram(const struct live_rows *of, uint32_t location, uint64_t ret_counts[64])
{
        const struct live_stats *s = of->stats;

        memset(ret_counts, 0, 64 * sizeof(*ret_counts));
        for (uint32_t i = 0; i < s->n_zones; i++)
                for (size_t k = 0; k < LIVE_SLOTS_AND_ALL && s->zones[i]->location == location; k++)
                        if (is_slot_wanted(of, k, s->zones[i]->slots[k].second))
                                add_powers(&s->zones[i]->slots[k].durations, ret_counts);
}

/* ---- threads ------------------------------------------------------------------------------------------- */

/* The oldest mark of the window; NULL = there is none. */
static const struct live_mark *first_mark(const struct live_stats *s)
{
        const struct live_mark *first = NULL;

        for (size_t i = 0; i <= LIVE_SLOTS; i++)
                if (s->marks[i].time_ns != 0 && s->marks[i].time_ns < s->now_ns &&
                    s->now_ns - s->marks[i].time_ns <= (LIVE_SLOTS + 1) * LIVE_SLOT_NS &&
                    (!first || s->marks[i].time_ns < first->time_ns))
                        first = &s->marks[i];
        return first;
}

/* The thread's share of the time since the mark, or of all time. */
static double find_on_cpu(const struct live_rows *of, const struct live_mark *mark,
                          const struct walked_thread *thread)
{
        const struct live_stats *s = of->stats;
        uint64_t ran_ns = thread_timeline_ran_so_far(&thread->timeline, s->now_ns);
        uint64_t since_ns = s->first_ns, before_ns = 0;

        if (s->walk.n_switches == 0)
                return -1;
        if (!of->all && mark) {
                since_ns = mark->time_ns;
                before_ns = thread->id <= mark->n_threads ? mark->ran_ns[thread->id - 1] : 0;
        }
        if (s->now_ns <= since_ns || ran_ns < before_ns)
                return 0;
        return (double)(ran_ns - before_ns) / (double)(s->now_ns - since_ns);
}

double live_rows_load(const struct live_rows *of)
{
        const struct live_stats *s = of->stats;
        const struct live_mark *mark = first_mark(s);
        double sum = 0;

        if (s->walk.n_switches == 0)
                return -1;
        for (uint32_t i = 0; i < s->walk.n_threads; i++)
                if (!s->walk.threads[i].timeline.is_fiber)
                        sum += find_on_cpu(of, mark, &s->walk.threads[i]);
        return sum;
}

static void find_state(const struct live_stats *s, const struct walked_thread *thread,
                       struct live_thread_row *row)
{
        const struct thread_wait *wait = &thread->wait;
        uint64_t since_ns = thread->is_out ? wait->out_ns : s->now_ns;

        if (thread->has_ended) {
                row->state = LIVE_THREAD_ENDED;
        } else if (s->walk.n_switches == 0) {
                row->state = LIVE_THREAD_UNKNOWN;
        } else if (!thread->is_out) {
                row->state = thread->timeline.running ? LIVE_THREAD_RUNNING : LIVE_THREAD_UNKNOWN;
        } else if (wait->preempted || wait->is_woken) {
                row->state = LIVE_THREAD_READY;
                since_ns = wait->is_woken ? wait->woken_ns : wait->out_ns;
        } else {
                row->state = LIVE_THREAD_WAITING;
                row->wait_state = wait->state;
        }
        row->since_ns = s->now_ns > since_ns ? s->now_ns - since_ns : 0;
}

static int describe_thread(const struct live_rows *of, struct live_labels *labels,
                           const struct live_folds *folds, const struct live_mark *mark,
                           const struct walked_thread *thread, struct live_thread_row *row)
{
        const struct trace_dictionary *d = of->stats->dictionary;
        const struct trace_thread *t = trace_dictionary_row(d, TRACE_TABLE_THREADS, thread->id);
        const struct trace_process *process = trace_dictionary_row(d, TRACE_TABLE_PROCESSES, t->process);
        uint32_t location = thread_timeline_location(&thread->timeline);
        int r;

        *row = (struct live_thread_row){ .thread = thread->id,
                                         .tid = t->tid,
                                         .pid = process->pid,
                                         .name = trace_dictionary_text(d, thread->timeline.name),
                                         .cpu = thread->cpu,
                                         .on_cpu = find_on_cpu(of, mark, thread) };
        find_state(of->stats, thread, row);
        if (location != 0) {
                const struct trace_location *l = trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, location);

                row->zone = trace_dictionary_text(d, l->name ? l->name : l->function);
        }
        r = live_waits_describe_end(of, labels, thread->id, &row->ended_by);
        if (r < 0 || row->state != LIVE_THREAD_WAITING)
                return r;
        return live_waits_describe_place(labels, folds, thread->wait.stack, &row->where);
}

/* Running threads come first, by their share of a CPU; threads that ended come last. */
static int compare_threads(const void *a, const void *b)
{
        const struct live_thread_row *x = a, *y = b;

        if ((x->state == LIVE_THREAD_ENDED) != (y->state == LIVE_THREAD_ENDED))
                return x->state == LIVE_THREAD_ENDED ? 1 : -1;
        if (x->on_cpu != y->on_cpu)
                return x->on_cpu < y->on_cpu ? 1 : -1;
        return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* A thread that ended before the window is left out of it. */
static bool is_listed(const struct live_rows *of, const struct walked_thread *thread)
{
        if (!thread->timeline.started)
                return false;
        return of->all || !thread->has_ended ||
               thread->timeline.last_ns >= live_stats_window_start(of->stats, false);
}

static int list_threads(const struct live_rows *of, struct live_labels *labels,
                        const struct live_folds *folds, uint32_t n_threads, struct live_thread_row *rows,
                        int *ret_n)
{
        const struct live_mark *mark = first_mark(of->stats);
        int n = 0;

        for (uint32_t i = 0; i < n_threads; i++) {
                const struct walked_thread *thread = &of->stats->walk.threads[i];
                int r = is_listed(of, thread) ? describe_thread(of, labels, folds, mark, thread, &rows[n++])
                                              : 0;

                if (r < 0)
                        return r;
        }
        qsort(rows, (size_t)n, sizeof(*rows), compare_threads);
        *ret_n = n;
        return 0;
}

int live_rows_threads(const struct live_rows *of, struct live_thread_row **ret_rows)
{
        const struct live_stats *s = of->stats;
        uint32_t n_threads = s->walk.n_threads < LIVE_THREADS_MAX ? s->walk.n_threads : LIVE_THREADS_MAX;
        struct live_thread_row *rows = calloc((size_t)n_threads + 1, sizeof(*rows));
        struct live_folds folds = { .folds = NULL };
        struct live_labels labels;
        int r = live_labels_init(&labels, s->dictionary, of->names, of->shown), n = 0;

        if (r == 0)
                r = live_folds_init(&folds, of, true);
        if (r == 0 && rows)
                r = list_threads(of, &labels, &folds, n_threads, rows, &n);
        live_labels_deinit(&labels);
        live_folds_deinit(&folds);
        if (r < 0 || !rows) {
                free(rows);
                return r < 0 ? r : -ENOMEM;
        }
        *ret_rows = rows;
        return n;
}
