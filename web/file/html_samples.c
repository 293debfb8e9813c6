/* SPDX-License-Identifier: MIT */
#include "web/file/html_parts.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "web/model/view_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* One sample, in the order in which the trace has them. */
struct kept_sample {
        uint64_t time_ns, weight;
        uint32_t thread, stack, event, order;
};

struct sample_list {
        struct kept_sample *items; /* heap */
        size_t n, capacity;
        uint64_t start_ns;
};

static int take(void *context, struct walked_thread *thread, const struct trace_event *event,
                struct error *err)
{
        struct sample_list *list = context;
        struct kept_sample *item;

        if (list->n == HTML_SAMPLES_MAX)
                return error_set(err, -E2BIG, "more than %d samples", HTML_SAMPLES_MAX);
        if (array_reserve(&list->items, &list->capacity, list->n + 1, sizeof(*list->items)) < 0)
                return error_set(err, -ENOMEM, "no memory for the samples");
        item = &list->items[list->n];
        *item = (struct kept_sample){ .time_ns = event->time_ns > list->start_ns
                                                         ? event->time_ns - list->start_ns
                                                         : 0,
                                      .weight = event->sample.weight,
                                      .thread = thread->id,
                                      .stack = (uint32_t)event->sample.stack,
                                      .event = (uint32_t)event->sample.event,
                                      .order = (uint32_t)list->n };
        list->n++;
        return 0;
}

static int compare(const void *a, const void *b)
{
        const struct kept_sample *one = a, *other = b;

        if (one->time_ns != other->time_ns)
                return one->time_ns < other->time_ns ? -1 : 1;
        return one->order < other->order ? -1 : one->order > other->order;
}

static int put_columns(const struct sample_list *list, struct byte_buffer *out)
{
        struct escaped_columns columns = { .escapes = { .data = NULL } };
        double *times = calloc(list->n, sizeof(*times)), *weights = calloc(list->n, sizeof(*weights));
        uint32_t *words[3] = { calloc(list->n, sizeof(uint32_t)), calloc(list->n, sizeof(uint32_t)),
                               calloc(list->n, sizeof(uint32_t)) };
        bool has_memory = times && weights && words[0] && words[1] && words[2];

        for (size_t i = 0; has_memory && i < list->n; i++) {
                times[i] = (double)list->items[i].time_ns;
                weights[i] = (double)list->items[i].weight;
                words[0][i] = list->items[i].thread;
                words[1][i] = list->items[i].stack;
                words[2][i] = list->items[i].event;
        }
        if (has_memory) {
                escaped_columns_add(&columns, times, list->n, 1);
                for (int i = 0; i < 3; i++)
                        escaped_columns_add_u32(&columns, words[i], list->n);
                escaped_columns_add(&columns, weights, list->n, 0);
                byte_buffer_add_u32(out, escaped_columns_count(&columns));
                escaped_columns_put(&columns, out);
        }
        escaped_columns_deinit(&columns);
        free(times);
        free(weights);
        for (int i = 0; i < 3; i++)
                free(words[i]);
        return has_memory && !out->failed ? 0 : -ENOMEM;
}

int html_samples_put(struct loaded_trace *trace, struct byte_buffer *out, uint64_t *ret_n, struct error *err)
{
        struct sample_list list = { .start_ns = trace->start_ns };
        struct trace_sink sink = { .context = &list, .sample = take };
        struct trace_walk walk;
        int r = trace_walk_init(&walk, trace, NULL, &sink);

        r = r < 0 ? error_set(err, r, "no memory for the samples") : loaded_trace_walk(trace, &walk, err);
        trace_walk_deinit(&walk);
        if (r == 0 && list.n > 0) {
                qsort(list.items, list.n, sizeof(*list.items), compare);
                byte_buffer_add_u32(out, HTML_SAMPLES_MAGIC);
                byte_buffer_add_u32(out, HTML_SAMPLES_VERSION);
                byte_buffer_add_u32(out, (uint32_t)list.n);
                r = put_columns(&list, out);
                if (r < 0)
                        (void)error_set(err, r, "no memory for the samples");
        }
        *ret_n = list.n;
        free(list.items);
        return r;
}

static __attribute__((format(printf, 2, 3))) void html_samples_print(struct byte_buffer *out,
                                                                     const char *format, ...)
{
        char text[64];
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        byte_buffer_add(out, text, (size_t)n);
}

int html_samples_put_stacks(const struct view_names *names, struct byte_buffer *out, struct error *err)
{
        const struct label_groups *groups = &names->functions.frames;
        uint32_t n_stacks = trace_dictionary_count(names->dictionary, TRACE_TABLE_STACKS);

        html_samples_print(out, "{\"stacks\":[");
        for (uint32_t i = 1; i <= n_stacks; i++) {
                const struct trace_stack *row = trace_dictionary_row(names->dictionary, TRACE_TABLE_STACKS,
                                                                     i);

                html_samples_print(out, "%s[%" PRIu32 ",%" PRIu32 "]", i > 1 ? "," : "", row->parent,
                                   row->frame);
        }
        html_samples_print(out, "],\"frames\":[");
        for (uint32_t i = 1; i < groups->n_groups; i++) {
                html_samples_print(out, "%s[", i > 1 ? "," : "");
                for (uint32_t at = groups->first[i]; at < groups->first[i + 1]; at++)
                        html_samples_print(out, "%s%" PRIu32, at > groups->first[i] ? "," : "",
                                           groups->labels[at] - 1);
                html_samples_print(out, "]");
        }
        html_samples_print(out, "]}");
        return out->failed ? error_set(err, -ENOMEM, "no memory for the stacks") : 0;
}
