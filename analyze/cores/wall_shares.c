/* SPDX-License-Identifier: MIT */
#include "analyze/cores/wall_shares.h"

#include "analyze/samples/function_table.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ samples */

/* The label of the function that a call stack is in, as the report's tables count it. */
static uint32_t label_of(const struct wall_shares *w, uint32_t stack)
{
        const struct path_names *names = &w->sweep.names;
        const struct function_table *functions = &names->places.functions;
        const struct label_groups *frames = &functions->frames;
        uint32_t group = frames->n_groups, label;

        if (w->sweep.is_python)
                stack = python_stacks_shown(&names->python, stack);
        if (stack != 0 && stack <= names->n_stacks) {
                const struct trace_stack *row = trace_dictionary_row(names->trace->dictionary,
                                                                     TRACE_TABLE_STACKS, stack);

                label = frames->labels[frames->first[row->frame]];
                if (function_table_get(functions, label)->kind != FUNCTION_MARK)
                        return label;
        }
        return frames->labels[frames->first[group]];
}

/* The row of a key; NULL where there is no room for it. */
static int find_row(struct wall_shares *w, enum wall_row_kind kind, uint32_t label, struct wall_row **ret_row)
{
        const struct wall_row_key key = { .kind = kind, .label = label };
        uint32_t id;
        int r = intern_add_row(&w->keys, &key, &w->rows, &w->rows_capacity, sizeof(*w->rows), &id);

        *ret_row = r >= 0 ? &w->rows[id - 1] : NULL;
        return r < 0 && r != -EOVERFLOW ? r : 0;
}

/* The question is open on the thread, or on the fiber that it ran. */
static bool is_open(const struct wall_shares *w, uint32_t thread, uint64_t time_ns)
{
        const struct past_list *fibers = &past_of(&w->sweep.past, thread)->fibers;
        const struct past_span *spans = past_list_spans(fibers);
        size_t first, end = past_spans(fibers, time_ns, time_ns + 1, &first);

        for (; end > first; end--)
                if (spans[end - 1].begin_ns <= time_ns && time_ns < spans[end - 1].end_ns &&
                    past_sweep_is_open(&w->sweep, spans[end - 1].id))
                        return true;
        return past_sweep_is_open(&w->sweep, thread);
}

static bool is_wanted(const struct wall_shares *w, uint32_t thread, const struct past_sample *sample)
{
        return is_open(w, thread, sample->time_ns) &&
               trace_filter_wants_cpu(w->request.filter, sample->cpu) &&
               trace_filter_wants_stack(w->request.filter, sample->stack);
}

static int take_sample(void *context, uint32_t thread, const struct past_sample *sample)
{
        struct wall_shares *w = context;
        bool is_in = is_wanted(w, thread, sample);
        uint32_t n = w->sweep.n_running + w->sweep.n_ready;
        struct wall_row *row;
        int r;

        if (w->sweep.n_open == 0)
                return 0;
        r = find_row(w, is_in ? WALL_ROW_FUNCTION : WALL_ROW_ELSEWHERE,
                     is_in ? label_of(w, sample->stack) : 0, &row);
        if (n == 0)
                n = 1; /* its switch onto the CPU comes a little later, or is missing */
        if (!row) {
                w->n_left_out++;
                return r;
        }
        row->n_samples++;
        row->weight += (double)sample->weight;
        row->wall += (double)sample->weight / n;
        row->n_times += (double)sample->weight * n;
        w->n_samples++;
        w->weight += (double)sample->weight;
        if (!is_in || !w->request.take)
                return 0;
        return w->request.take(w->request.context, thread, sample, (double)sample->weight / n);
}

/* ------------------------------------------------------------------ moments without a thread that can run */

static int elapse(void *context, uint64_t begin_ns, uint64_t end_ns)
{
        struct wall_shares *w = context;

        if (w->sweep.n_running != 0)
                return 0;
        if (w->sweep.n_ready != 0)
                w->ready_ns += end_ns - begin_ns;
        else
                w->none_ns += end_ns - begin_ns;
        return 0;
}

static int take_moment(void *context, uint64_t time_ns)
{
        struct wall_shares *w = context;

        if (w->sweep.n_running + w->sweep.n_ready != 0)
                return 0;
        return wait_roots_add(&w->roots, time_ns, past_sweep_first_open(&w->sweep));
}

static int take_wait(void *context, uint32_t thread, uint64_t out_ns)
{
        struct wall_shares *w = context;

        return wait_roots_over(&w->roots, thread, out_ns);
}

static int take_roots(void *context, const struct wait_moment *moment)
{
        static const enum wall_row_kind kinds[] = {
                [WAIT_ROOT_RUN] = WALL_ROW_UNKNOWN,     [WAIT_ROOT_LOCK] = WALL_ROW_UNKNOWN,
                [WAIT_ROOT_READY] = WALL_ROW_UNKNOWN,   [WAIT_ROOT_TIMER] = WALL_ROW_TIMER,
                [WAIT_ROOT_DISK] = WALL_ROW_DISK,       [WAIT_ROOT_NETWORK] = WALL_ROW_NETWORK,
                [WAIT_ROOT_PROGRAM] = WALL_ROW_PROGRAM, [WAIT_ROOT_UNKNOWN] = WALL_ROW_UNKNOWN,
                [WAIT_ROOT_OPEN] = WALL_ROW_UNKNOWN,    [WAIT_ROOT_INTERRUPT] = WALL_ROW_INTERRUPT,
        };
        struct wall_shares *w = context;
        const struct wait_root *root = NULL;
        struct wall_row *row;
        int r;

        for (uint32_t i = 0; i < moment->n_items; i++)
                if (moment->items[i].thread == moment->subject)
                        root = wait_roots_of(&w->roots, &moment->items[i]);
        r = find_row(w, root ? kinds[root->kind] : WALL_ROW_UNKNOWN, 0, &row);
        if (row)
                row->wall++;
        return r;
}

/* ------------------------------------------------------------------ the end */

static bool has_samples(enum wall_row_kind kind)
{
        return kind <= WALL_ROW_ELSEWHERE;
}

/* Adds a row for what the others cannot show. */
static int add_missing_rows(struct wall_shares *w, double samples, double moments)
{
        struct wall_row *row;
        int r = 0;

        if (samples <= 0 && w->wall_ns > w->none_ns) {
                r = find_row(w, WALL_ROW_UNSAMPLED, 0, &row);
                if (row)
                        row->share = (double)(w->wall_ns - w->none_ns) / (double)w->wall_ns;
        }
        if (r == 0 && moments <= 0 && w->none_ns != 0) {
                r = find_row(w, WALL_ROW_UNKNOWN, 0, &row);
                if (row)
                        row->share = (double)w->none_ns / (double)w->wall_ns;
        }
        return r;
}

static int find_shares(struct wall_shares *w)
{
        double samples = 0, moments = 0, none = (double)w->none_ns / (double)w->wall_ns;

        for (uint32_t id = 1; id <= w->keys.n_items; id++)
                if (has_samples(wall_shares_key(w, id)->kind))
                        samples += w->rows[id - 1].wall;
                else
                        moments += w->rows[id - 1].wall;
        if (samples > 0)
                w->ns_per_part = (double)(w->wall_ns - w->none_ns) / samples;
        for (uint32_t id = 1; id <= w->keys.n_items; id++) {
                struct wall_row *row = &w->rows[id - 1];

                if (row->wall <= 0)
                        continue;
                row->share = has_samples(wall_shares_key(w, id)->kind) ? (1 - none) * row->wall / samples
                                                                       : none * row->wall / moments;
        }
        return add_missing_rows(w, samples, moments);
}

static int compare_rows(const void *a, const void *b, void *context)
{
        const uint32_t *left = a, *right = b;
        const struct wall_shares *w = context;
        double x = w->rows[*left - 1].share, y = w->rows[*right - 1].share;

        if (x != y)
                return x < y ? 1 : -1;
        return *left < *right ? -1 : *left > *right;
}

static int finish(struct wall_shares *w)
{
        int r;

        w->wall_ns = w->sweep.open_ns;
        w->has_switches = w->sweep.past.has_switches;
        r = w->wall_ns != 0 ? find_shares(w) : 0;
        w->order = calloc((size_t)w->keys.n_items + 1, sizeof(*w->order));
        if (r < 0 || !w->order)
                return r < 0 ? r : -ENOMEM;
        for (uint32_t id = 1; id <= w->keys.n_items; id++)
                if (w->rows[id - 1].share > 0)
                        w->order[w->n_rows++] = id;
        qsort_r(w->order, w->n_rows, sizeof(*w->order), compare_rows, w);
        return 0;
}

int wall_shares_take(struct wall_shares *w, struct loaded_trace *trace,
                     const struct wall_shares_request *request, struct error *err)
{
        const struct past_sweep_request of_sweep = {
                .filter = request->filter,
                .context = w,
                .elapse = elapse,
                .sample = take_sample,
                .moment = take_moment,
                .wait_over = take_wait,
                .shows_native = request->shows_native,
                .n_moments = request->n_moments,
                .is_bounded = request->is_bounded,
        };
        int r;

        *w = (struct wall_shares){ .request = *request };
        intern_init(&w->keys, sizeof(struct wall_row_key), WALL_SHARES_ROWS_MAX);
        wait_roots_init(&w->roots, &w->sweep, take_roots, w);
        w->roots.subject_only = true;
        r = past_sweep_run(&w->sweep, trace, &of_sweep, err);
        if (r == 0 && (wait_roots_finish(&w->roots) < 0 || finish(w) < 0))
                r = error_set(err, -ENOMEM, "adding up shares of the wall time: out of memory");
        return r;
}

void wall_shares_deinit(struct wall_shares *w)
{
        wait_roots_deinit(&w->roots);
        past_sweep_deinit(&w->sweep);
        intern_deinit(&w->keys);
        free(w->rows);
        free(w->order);
        *w = (struct wall_shares){ .rows = NULL };
}
