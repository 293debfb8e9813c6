/* SPDX-License-Identifier: MIT */
#include "analyze/live/live_waits.h"

#include "analyze/live/live_ends.h"
#include "analyze/live/live_labels.h"
#include "analyze/live/live_rows.h"
#include "analyze/live/live_stats.h"
#include "analyze/stats/wait_places.h"
#include "analyze/trace/function_name.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAMES_MAX 512 /* of one call stack */

static int compare_numbers(uint64_t a, uint64_t b)
{
        return a < b ? 1 : a > b ? -1 : 0;
}

/*
 * The place of a call stack: the function of the program, and the kernel's function that shows the reason
 * for the wait.
 */
struct wait_labels {
        uint32_t own, kernel;
};

static struct text_view name_of_label(const struct live_labels *l, uint32_t label)
{
        struct live_label described;

        live_labels_describe(l, label, &described);
        return described.name;
}

static int take_user_frame(struct live_labels *l, uint32_t frame, struct wait_labels *ret, int *quality)
{
        bool is_own = !wait_places_is_c_library(live_labels_module(l, frame));

        for (uint32_t i = 0; i < live_labels_count(l, frame); i++) {
                uint32_t label;
                int r = live_labels_find(l, frame, i, &label), is_better;

                if (r < 0)
                        return r;
                is_better = !is_own ? 1 : wrapper_names_have(name_of_label(l, label)) ? 2 : 3;
                if (is_better <= *quality)
                        continue;
                *quality = is_better;
                ret->own = label;
        }
        return 0;
}

/*
 * @python: the part of @stack whose innermost function is the one that waits; 0 = take the best name of all
 * functions
 */
static int find_wait_labels(struct live_labels *l, uint32_t stack, uint32_t python, struct wait_labels *ret)
{
        int quality = 0, r = 0;
        bool is_telling = false;

        *ret = (struct wait_labels){ .own = 0 };
        for (uint32_t n = 0; stack != 0 && n < FRAMES_MAX && quality < 3 && r == 0; n++) {
                const struct trace_stack *row = trace_dictionary_row(l->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);
                uint32_t label;

                if (python != 0 && stack == python)
                        return live_labels_find(l, row->frame, 0, &ret->own);
                stack = row->parent;
                if (live_labels_is_mark(l, row->frame))
                        continue;
                if (!live_labels_is_kernel(l, row->frame)) {
                        r = python != 0 ? 0 : take_user_frame(l, row->frame, ret, &quality);
                        continue;
                }
                r = is_telling ? 0 : live_labels_find(l, row->frame, 0, &label);
                if (r < 0 || is_telling)
                        continue;
                is_telling = name_of_label(l, label).n_bytes > 0 &&
                             !wait_places_is_plumbing(name_of_label(l, label));
                if (is_telling || ret->kernel == 0)
                        ret->kernel = label;
        }
        return r;
}

static uint32_t find_python(const struct live_folds *f, uint32_t stack)
{
        return f->folds ? python_stacks_find(f->folds, stack) : 0;
}

/* A row while it is summed. */
struct wait_place_sum {
        uint64_t place; /* the two labels; with the state they make a row */
        struct wait_labels labels;
        uint32_t state;
        struct live_sum sum;
};

/* The same for waits that one thread, or several of one name, ended in one function. */
struct wait_end_sum {
        uint64_t place, sum_ns;
        struct live_end end;
        uint32_t state, function; /* `function`: a label; 0 = not known */
};

static int compare_places(const void *a, const void *b)
{
        const struct wait_place_sum *x = a, *y = b;

        if (x->place != y->place)
                return compare_numbers(x->place, y->place);
        return compare_numbers(x->state, y->state);
}

static int compare_waits(const void *a, const void *b)
{
        const struct live_wait_row *x = a, *y = b;

        return compare_numbers(x->sum_ns, y->sum_ns);
}

/* Where only the kernel's functions are known, the place is the kernel's. */
static void describe_labels(const struct live_labels *l, struct wait_labels labels, struct live_label *own,
                            struct live_label *kernel)
{
        *own = *kernel = (struct live_label){ .name = { .n_bytes = 0 } };
        if (labels.kernel != 0)
                live_labels_describe(l, labels.kernel, kernel);
        if (labels.own != 0)
                live_labels_describe(l, labels.own, own);
        else if (labels.kernel != 0)
                *own = *kernel;
        else
                (void)snprintf(own->made, sizeof(own->made), "[not recorded]");
}

int live_waits_describe_place(struct live_labels *l, const struct live_folds *folds, uint32_t stack,
                              struct live_label *ret)
{
        struct wait_labels places;
        struct live_label kernel;
        int r = find_wait_labels(l, stack, find_python(folds, stack), &places);

        if (r == 0)
                describe_labels(l, places, ret, &kernel);
        return r;
}

/* ---- who ended them */

static int compare_end_places(const struct wait_end_sum *x, const struct wait_end_sum *y)
{
        if (x->place != y->place)
                return compare_numbers(x->place, y->place);
        return compare_numbers(x->state, y->state);
}

static int compare_ends(const void *a, const void *b)
{
        const struct wait_end_sum *x = a, *y = b;
        int r = compare_end_places(x, y);

        if (r == 0)
                r = compare_numbers(x->end.name, y->end.name);
        if (r == 0)
                r = compare_numbers(x->end.kind, y->end.kind);
        return r != 0 ? r : compare_numbers(x->function, y->function);
}

/* The innermost function outside of the C library of the thread that woke. */
static int find_function(struct live_labels *l, const struct live_end *end, uint32_t *ret_label)
{
        struct wait_labels labels = { .own = 0 };
        int r = end->kind == LIVE_END_THREAD ? find_wait_labels(l, end->stack, 0, &labels) : 0;

        *ret_label = labels.own;
        return r;
}

/* A thread that has a name of its own has that one, not its program's. */
static uint32_t name_of_end(const struct live_rows *of, const struct live_end *end)
{
        const struct trace_walk *walk = &of->stats->walk;
        uint32_t name = end->thread != 0 && end->thread <= walk->n_threads
                                ? walk->threads[end->thread - 1].timeline.name
                                : 0;

        return name != 0 ? name : end->name;
}

static void describe_end(const struct live_labels *l, const struct live_end *end, uint32_t function,
                         struct live_end_row *ret)
{
        *ret = (struct live_end_row){ .kind = end->kind,
                                      .name = trace_dictionary_text(l->dictionary, end->name) };
        if (function != 0)
                live_labels_describe(l, function, &ret->function);
}

int live_waits_describe_end(const struct live_rows *of, struct live_labels *l, uint32_t thread,
                            struct live_end_row *ret)
{
        const struct live_end *last = live_ends_last(&of->stats->ends, thread);
        struct live_end end;
        uint32_t function = 0;
        int r;

        *ret = (struct live_end_row){ .kind = LIVE_END_NONE };
        if (!last)
                return 0;
        end = *last;
        end.name = name_of_end(of, last);
        r = find_function(l, &end, &function);
        if (r == 0)
                describe_end(l, &end, function, ret);
        return r;
}

/* The ends of the window by place, name and function, in this order.  Returns how many, or -errno. */
static int sum_ends(const struct live_rows *of, struct live_labels *l, const struct live_folds *folds,
                    struct wait_end_sum **ret)
{
        const struct live_ends *ends = &of->stats->ends;
        struct wait_end_sum *sums;
        struct live_cell *cells = NULL;
        struct live_sum others;
        int n = live_window_collect(&ends->window, of->stats->now_ns, of->all, &cells, &others), r = 0;

        sums = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(*sums));
        for (int i = 0; i < n && sums && r == 0; i++) {
                const struct live_ended_wait *wait = live_ends_get(ends, cells[i].key);
                uint32_t stack = live_wait_stack(wait->wait);
                struct wait_labels labels;

                sums[i] = (struct wait_end_sum){ .end = wait->end,
                                                 .state = live_wait_state(wait->wait),
                                                 .sum_ns = cells[i].sum.sum };
                sums[i].end.name = name_of_end(of, &wait->end);
                r = find_wait_labels(l, stack, find_python(folds, stack), &labels);
                sums[i].place = (uint64_t)labels.own << 32 | labels.kernel;
                if (r == 0)
                        r = find_function(l, &wait->end, &sums[i].function);
        }
        free(cells);
        if (n < 0 || !sums || r < 0) {
                free(sums);
                return n < 0 ? n : !sums ? -ENOMEM : r;
        }
        qsort(sums, (size_t)n, sizeof(*sums), compare_ends);
        *ret = sums;
        return n;
}

/* Sums that are equal, but for the thread, become one; of each place the largest stays.  Returns how many. */
static int keep_largest(struct wait_end_sum *sums, int n)
{
        int n_places = 0;

        for (int i = 0; i < n;) {
                struct wait_end_sum one = sums[i];

                for (i++; i < n && compare_ends(&sums[i], &one) == 0; i++)
                        one.sum_ns = saturating_add(one.sum_ns, sums[i].sum_ns);
                if (n_places > 0 && compare_end_places(&sums[n_places - 1], &one) == 0) {
                        if (one.sum_ns > sums[n_places - 1].sum_ns)
                                sums[n_places - 1] = one;
                } else {
                        sums[n_places++] = one;
                }
        }
        return n_places;
}

static int compare_place_of_end(const void *a, const void *b)
{
        return compare_end_places(a, b);
}

/* Both are sorted by place: the end that took the most time of each row. */
static void put_ends(const struct live_labels *l, const struct wait_place_sum *sum,
                     const struct wait_end_sum *ends, int n_ends, struct live_wait_row *row)
{
        const struct wait_end_sum key = { .place = sum->place, .state = sum->state };
        const struct wait_end_sum *found = bsearch(&key, ends, (size_t)n_ends, sizeof(*ends),
                                                   compare_place_of_end);

        if (found)
                describe_end(l, &found->end, found->function, &row->ended_by);
}

/* @sums are sorted, so that those of one place follow each other. */
static int list_waits(const struct live_labels *l, struct wait_place_sum *sums, int n,
                      const struct wait_end_sum *ends, int n_ends, struct live_wait_row **ret_rows)
{
        struct live_wait_row *rows = calloc((size_t)n + 1, sizeof(*rows));
        int n_rows = 0;

        if (!rows)
                return -ENOMEM;
        for (int i = 0; i < n; i++) {
                struct live_wait_row *row = &rows[n_rows];

                if (i > 0 && compare_places(&sums[i], &sums[i - 1]) == 0)
                        row--;
                else
                        n_rows++;
                describe_labels(l, sums[i].labels, &row->where, &row->kernel);
                put_ends(l, &sums[i], ends, n_ends, row);
                row->state = sums[i].state;
                row->n += sums[i].sum.n;
                row->sum_ns = saturating_add(row->sum_ns, sums[i].sum.sum);
                row->mean_ns = row->sum_ns / row->n;
                if (sums[i].sum.largest > row->largest_ns)
                        row->largest_ns = sums[i].sum.largest;
        }
        qsort(rows, (size_t)n_rows, sizeof(*rows), compare_waits);
        *ret_rows = rows;
        return n_rows;
}

static int sum_waits(const struct live_rows *of, struct live_labels *l, const struct live_folds *folds,
                     const struct live_cell *cells, int n, struct live_wait_row **ret_rows)
{
        struct wait_place_sum *sums = calloc((size_t)n + 1, sizeof(*sums));
        struct wait_end_sum *ends = NULL;
        int r = sums ? 0 : -ENOMEM, n_ends;

        for (int i = 0; r == 0 && i < n; i++) {
                uint32_t stack = live_wait_stack(cells[i].key);

                sums[i].state = live_wait_state(cells[i].key);
                sums[i].sum = cells[i].sum;
                r = find_wait_labels(l, stack, find_python(folds, stack), &sums[i].labels);
                sums[i].place = (uint64_t)sums[i].labels.own << 32 | sums[i].labels.kernel;
        }
        n_ends = r == 0 ? sum_ends(of, l, folds, &ends) : r;
        r = n_ends;
        if (r >= 0 && sums && ends) {
                n_ends = keep_largest(ends, n_ends);
                qsort(sums, (size_t)n, sizeof(*sums), compare_places);
                r = list_waits(l, sums, n, ends, n_ends, ret_rows);
        }
        free(ends);
        free(sums);
        return r;
}

int live_rows_waits(const struct live_rows *of, struct live_wait_row **ret_rows)
{
        const struct live_stats *s = of->stats;
        struct live_cell *cells = NULL;
        struct live_labels labels;
        struct live_folds folds = { .folds = NULL };
        struct live_sum others;
        int n = live_window_collect(&s->waits, s->now_ns, of->all, &cells, &others);
        int r = live_labels_init(&labels, s->dictionary, of->names, of->shown);

        *ret_rows = NULL;
        if (n < 0)
                r = n;
        if (r == 0)
                r = live_folds_init(&folds, of, true);
        if (r == 0)
                r = sum_waits(of, &labels, &folds, cells, n, ret_rows);
        live_labels_deinit(&labels);
        live_folds_deinit(&folds);
        free(cells);
        return r;
}
