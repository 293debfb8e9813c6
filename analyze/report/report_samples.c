/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_samples.h"

#include "analyze/report/report_tables.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int init_stacks(struct report_samples *s)
{
        uint32_t n_stacks = trace_dictionary_count(s->dictionary, TRACE_TABLE_STACKS);
        int r = label_tree_init(&s->stacks, &s->functions.frames, n_stacks + 1);

        if (r < 0)
                return r;
        for (uint32_t i = 1; i <= n_stacks; i++) {
                const struct trace_stack *row = trace_dictionary_row(s->dictionary, TRACE_TABLE_STACKS, i);

                s->stacks.nodes[i].parent = row->parent;
                s->stacks.nodes[i].group = row->frame;
        }
        s->stacks.nodes[n_stacks + 1].group = s->functions.frames.n_groups;
        return 0;
}

static int init_locations(struct report_samples *s)
{
        uint32_t n = trace_dictionary_count(s->dictionary, TRACE_TABLE_LOCATIONS);

        s->locations = (struct label_groups){ .n_groups = n, .n_labels = n };
        s->locations.first = calloc((size_t)n + 2, sizeof(*s->locations.first));
        s->locations.labels = calloc((size_t)n + 1, sizeof(*s->locations.labels));
        if (!s->locations.first || !s->locations.labels)
                return -ENOMEM;
        for (uint32_t i = 1; i <= n; i++) {
                s->locations.first[i] = i - 1;
                s->locations.labels[i - 1] = i;
        }
        s->locations.first[n + 1] = n;
        return 0;
}

static int init_paths(struct report_samples *s)
{
        int r = label_tree_init(&s->paths, &s->locations, s->n_paths);

        if (r < 0)
                return r;
        for (uint32_t i = 1; i <= s->n_paths; i++) {
                const struct trace_zone_path *row = trace_dictionary_row(s->dictionary,
                                                                         TRACE_TABLE_ZONE_PATHS, i);

                s->paths.nodes[i].parent = row->parent;
                s->paths.nodes[i].group = row->location;
        }
        return 0;
}

#define TYPE_TRACEPOINT 2 /* perf_event_attr.type */

bool report_samples_is_tracepoint(const struct trace_sample_event *event)
{
        return event->type == TYPE_TRACEPOINT ||
               (event->mode == TRACE_SAMPLE_MODE_WITH_LEADER && event->leader == 0);
}

/* Sorts the rows of the event by their path, by counting. */
static void sort_by_path(struct report_samples *s, uint32_t event)
{
        uint32_t n_rows = sample_stats_count(s->stats);
        uint32_t n_used = 0;

        s->skips_kernel = event != 0 && report_samples_is_tracepoint(trace_dictionary_row(
                                                s->dictionary, TRACE_TABLE_SAMPLE_EVENTS, event));
        memset(s->path_first, 0, ((size_t)s->n_paths + 2) * sizeof(*s->path_first));
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct sample_key *key = sample_stats_key(s->stats, i);

                if (key->event == event)
                        s->path_first[key->path]++;
        }
        for (uint32_t path = 0; path <= s->n_paths + 1; path++) {
                uint32_t n = s->path_first[path];

                s->path_first[path] = n_used;
                n_used += n;
        }
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct sample_key *key = sample_stats_key(s->stats, i);

                if (key->event == event)
                        s->by_path[s->path_first[key->path]++] = i;
        }
        /* The loop above moved the start of each path to that of the next one. */
        memmove(s->path_first + 1, s->path_first, ((size_t)s->n_paths + 1) * sizeof(*s->path_first));
        s->path_first[0] = 0;
}

static void sum_paths(struct report_samples *s)
{
        for (uint32_t path = 1; path <= s->n_paths; path++)
                for (uint32_t i = s->path_first[path]; i < s->path_first[path + 1]; i++)
                        label_tree_add(&s->paths, path, &s->stats->sums[s->by_path[i]]);
        label_tree_sum(&s->paths);
}

int report_samples_init(struct report_samples *s, const struct sample_stats *stats,
                        const struct trace_dictionary *dictionary, uint32_t event)
{
        int r;

        *s = (struct report_samples){
                .dictionary = dictionary,
                .stats = stats,
                .n_paths = trace_dictionary_count(dictionary, TRACE_TABLE_ZONE_PATHS),
        };
        r = function_table_init(&s->functions, dictionary);
        if (r < 0)
                goto fail;
        r = python_stacks_init(&s->python, dictionary);
        if (r < 0)
                goto fail;
        s->parts = python_stacks_sum(&s->python, dictionary, stats, event);
        r = init_stacks(s);
        if (r < 0)
                goto fail;
        r = init_locations(s);
        if (r < 0)
                goto fail;
        r = init_paths(s);
        if (r < 0)
                goto fail;
        s->path_first = calloc((size_t)s->n_paths + 2, sizeof(*s->path_first));
        s->by_path = calloc((size_t)sample_stats_count(stats) + 1, sizeof(*s->by_path));
        s->contains = calloc((size_t)s->n_paths + 1, sizeof(*s->contains));
        r = -ENOMEM;
        if (!s->path_first || !s->by_path || !s->contains)
                goto fail;
        sort_by_path(s, event);
        sum_paths(s);
        return 0;
fail:
        report_samples_deinit(s);
        return r;
}

void report_samples_deinit(struct report_samples *s)
{
        python_stacks_deinit(&s->python);
        label_tree_deinit(&s->stacks);
        label_tree_deinit(&s->paths);
        label_groups_deinit(&s->locations);
        function_table_deinit(&s->functions);
        free(s->path_first);
        free(s->by_path);
        free(s->contains);
        s->path_first = s->by_path = NULL;
        s->contains = NULL;
}

void report_samples_fold(struct report_samples *s)
{
        uint32_t n_stacks = trace_dictionary_count(s->dictionary, TRACE_TABLE_STACKS);

        s->is_folded = true;
        for (uint32_t i = 1; i <= n_stacks; i++)
                s->stacks.nodes[i].parent = python_stacks_shown(&s->python, s->stacks.nodes[i].parent);
}

/* The program's part of a stack; a stack of the kernel alone stays whole.  Callers have lower ids. */
static uint32_t skip_kernel(const struct report_samples *s, uint32_t stack)
{
        uint32_t at = stack;

        while (at != 0 && trace_dictionary_is_kernel_frame(s->dictionary, s->stacks.nodes[at].group))
                at = s->stacks.nodes[at].parent;
        return at != 0 ? at : stack;
}

/* A call stack that consists of a mark alone has no function that the sample could belong to. */
uint32_t report_samples_node(const struct report_samples *s, uint32_t stack)
{
        const struct label_groups *frames = &s->functions.frames;
        uint32_t first;

        if (stack == 0)
                return s->stacks.n_nodes;
        stack = python_stacks_shown(report_samples_folds(s), s->skips_kernel ? skip_kernel(s, stack) : stack);
        first = frames->first[s->stacks.nodes[stack].group];
        return function_table_get(&s->functions, frames->labels[first])->kind == FUNCTION_MARK
                       ? s->stacks.n_nodes
                       : stack;
}

uint32_t report_samples_label(const struct report_samples *s, uint32_t stack)
{
        const struct label_groups *frames = &s->functions.frames;

        return frames->labels[frames->first[s->stacks.nodes[report_samples_node(s, stack)].group]];
}

static void add_stacks_of_path(struct report_samples *s, uint32_t path)
{
        for (uint32_t i = s->path_first[path]; i < s->path_first[path + 1]; i++) {
                uint32_t row = s->by_path[i];
                uint32_t stack = sample_stats_key(s->stats, row)->stack;

                label_tree_add(&s->stacks, report_samples_node(s, stack), &s->stats->sums[row]);
        }
}

static int compare_functions(const void *a, const void *b)
{
        const struct report_function *x = a;
        const struct report_function *y = b;
        int order = report_compare(y->self.weight, x->self.weight);

        if (order == 0)
                order = report_compare(y->total.weight, x->total.weight);
        /*
         * Ties keep the order of the trace, which is the same on every machine, unlike the addresses of
         * names.
         */
        return order != 0 ? order : report_compare(x->label, y->label);
}

/* Sums the weights on the stacks by function, and sorts the functions. */
static int sum_functions(struct report_samples *s, uint32_t n_max, struct report_functions *ret_functions)
{
        struct report_functions functions = { .rows = NULL };

        label_tree_sum(&s->stacks);
        functions.n_rows = s->stacks.n_found;
        functions.rows = calloc((size_t)functions.n_rows + 1, sizeof(*functions.rows));
        if (!functions.rows)
                return -ENOMEM;
        for (uint32_t i = 0; i < functions.n_rows; i++) {
                uint32_t label = s->stacks.found[i];
                const struct function *function = function_table_get(&s->functions, label);

                functions.rows[i] = (struct report_function){
                        .label = label,
                        .name = trace_dictionary_text(s->dictionary, function->name),
                        .module = trace_dictionary_text(s->dictionary, function->module),
                        .kind = (enum function_kind)function->kind,
                        .self = s->stacks.sums[label].self,
                        .total = s->stacks.sums[label].total,
                };
        }
        qsort(functions.rows, functions.n_rows, sizeof(*functions.rows), compare_functions);
        if (n_max != 0 && functions.n_rows > n_max) {
                functions.n_left_out = functions.n_rows - n_max;
                functions.n_rows = n_max;
        }
        *ret_functions = functions;
        return 0;
}

void report_samples_select(struct report_samples *s, uint32_t event)
{
        sort_by_path(s, event);
        sum_paths(s);
        for (uint32_t path = 0; path <= s->n_paths; path++)
                add_stacks_of_path(s, path);
        label_tree_sum(&s->stacks);
}

struct label_sum report_samples_function(const struct report_samples *s, uint32_t label)
{
        return s->stacks.sums[label];
}

/* Adds for each function the parts of its samples: Python, native code, the kernel. */
static int add_parts(const struct report_samples *s, struct report_functions *functions)
{
        struct python_parts *parts = calloc((size_t)s->functions.frames.n_labels + 1, sizeof(*parts));

        if (!parts)
                return -ENOMEM;
        for (uint32_t i = 0; i < s->path_first[s->n_paths + 1]; i++) {
                uint32_t stack = sample_stats_key(s->stats, s->by_path[i])->stack;
                uint32_t label = report_samples_label(s, stack);

                python_stacks_add(&s->python, s->dictionary, stack, s->stats->sums[s->by_path[i]].weight,
                                  &parts[label]);
        }
        for (uint32_t i = 0; i < functions->n_rows; i++)
                functions->rows[i].parts = parts[functions->rows[i].label];
        free(parts);
        return 0;
}

int report_samples_functions(struct report_samples *s, struct report_functions *ret_functions)
{
        int r;

        for (uint32_t path = 0; path <= s->n_paths; path++)
                add_stacks_of_path(s, path);
        r = sum_functions(s, 0, ret_functions);
        return r == 0 && s->is_folded ? add_parts(s, ret_functions) : r;
}

struct sample_sum report_samples_in_zone(const struct report_samples *s, uint32_t location)
{
        return s->paths.sums[location].total;
}

int report_samples_functions_in_zone(struct report_samples *s, uint32_t location, uint32_t n_max,
                                     struct report_functions *ret_functions)
{
        /* The enclosing path has a lower id, so its result is already known. */
        for (uint32_t path = 1; path <= s->n_paths; path++) {
                const struct label_node *node = &s->paths.nodes[path];

                s->contains[path] = node->group == location || s->contains[node->parent];
                if (s->contains[path])
                        add_stacks_of_path(s, path);
        }
        return sum_functions(s, n_max, ret_functions);
}
