/* SPDX-License-Identifier: MIT */
#include "analyze/samples/sampled_trace.h"

#include "analyze/trace/meta_value.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct trace_symbol *symbol_at(const struct sampled_trace *t, uint32_t id)
{
        return trace_dictionary_row(t->dictionary, TRACE_TABLE_SYMBOLS, id);
}

static int on_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                     struct error *err)
{
        struct sampled_trace *t = context;
        const struct trace_sample_event *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                                                                    (uint32_t)event->sample.event);
        int r = sample_stats_add(&t->samples, event, row->mode == TRACE_SAMPLE_MODE_WITH_LEADER);

        (void)thread;
        return r < 0 ? error_set(err, r, "adding up the samples: out of memory") : 0;
}

static int add_attachment(struct sampled_trace *t, const struct trace_item *item, struct error *err)
{
        struct attachment_chunk part;
        int r = attachment_chunk_decode(t->dictionary, item->body, item->body_bytes, &part, err);

        if (r == 0)
                r = image_spool_add_part(&t->images, t->dictionary, &part, err);
        if (r == 0 && source_texts_add_part(&t->sources, &part) < 0)
                r = error_set(err, -ENOMEM, "no memory for the sources of the trace");
        return r;
}

/* Events go through the walk; code and sources are kept for later. */
static int read_items(struct sampled_trace *t, struct trace_walk *walk, struct error *err)
{
        struct trace_item item;
        int r;

        while ((r = trace_reader_next(t->reader, &item, err)) == 1) {
                if (item.header.kind == TRACE_CHUNK_EVENTS)
                        r = trace_walk_chunk(walk, &item, err);
                else if (item.header.kind == TRACE_CHUNK_ATTACHMENT)
                        r = add_attachment(t, &item, err);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : trace_walk_finish(walk, t->trace.end_ns, err);
}

static int read_wanted(struct sampled_trace *t, const struct trace_filter_request *request, struct error *err)
{
        const struct trace_sink sink = { .context = t, .sample = on_sample };
        struct trace_filter filter = { .is_empty = true };
        struct trace_walk walk = { .n_threads = 0 };
        int r = request ? trace_filter_init(&filter, request, &t->trace, err) : 0;

        if (r != 0)
                goto done;
        if (trace_walk_init(&walk, &t->trace, &filter, &sink) < 0)
                r = error_set(err, -ENOMEM, "adding up the samples: out of memory");
        if (r != 0)
                goto done;
        r = read_items(t, &walk, err);
        t->trace.n_unknown_events = walk.n_unknown_ops;
        if (r != 0)
                goto done;
        unsampled_time_take(&t->unsampled, &walk, 0);
        if (!trace_walk_found(&walk))
                r = filter_miss_explain(&t->trace, &filter, err);

done:
        trace_walk_deinit(&walk);
        trace_filter_deinit(&filter);
        return r;
}

static int sum_events(struct sampled_trace *t)
{
        t->n_events = trace_dictionary_count(t->dictionary, TRACE_TABLE_SAMPLE_EVENTS);
        t->events = calloc((size_t)t->n_events + 1, sizeof(*t->events));
        if (!t->events)
                return -ENOMEM;
        for (uint32_t i = 0; i < sample_stats_count(&t->samples); i++)
                sample_sum_add(&t->events[sample_stats_key(&t->samples, i)->event - 1], &t->samples.sums[i]);
        return 0;
}

uint32_t sampled_trace_python_frame(const struct sampled_trace *t, uint32_t stack)
{
        uint32_t python = python_stacks_find(&t->python, stack);
        const struct trace_stack *row;

        if (python == 0)
                return 0;
        row = trace_dictionary_row(t->dictionary, TRACE_TABLE_STACKS, python);
        return row->frame;
}

int sampled_trace_load(struct sampled_trace *t, const char *path, const struct trace_filter_request *filter,
                       struct error *err)
{
        int r;

        *t = (struct sampled_trace){ .reader = NULL };
        sample_stats_init(&t->samples);
        image_spool_init(&t->images);
        source_texts_init(&t->sources, NULL);
        r = loaded_trace_open(&t->trace, path, err);
        if (r < 0)
                return r;
        t->reader = t->trace.reader;
        t->dictionary = t->trace.dictionary;
        source_texts_init(&t->sources, t->dictionary);
        r = read_wanted(t, filter, err);
        if (r < 0)
                return error_prefix_once(err, r, path);
        t->n_symbols = trace_dictionary_count(t->dictionary, TRACE_TABLE_SYMBOLS);
        t->first_symbols = trace_dictionary_find_symbols(t->dictionary);
        if (!t->first_symbols || sum_events(t) < 0 || python_stacks_init(&t->python, t->dictionary) < 0)
                return error_set(err, -ENOMEM, "%s: no memory for its symbols", path);
        t->ending = trace_reader_ending(t->reader, &t->ending_words, NULL);
        return 0;
}

void sampled_trace_deinit(struct sampled_trace *t)
{
        source_texts_deinit(&t->sources);
        image_spool_deinit(&t->images);
        sample_stats_deinit(&t->samples);
        free(t->events);
        free(t->first_symbols);
        python_stacks_deinit(&t->python);
        loaded_trace_close(&t->trace);
}

struct text_view sampled_trace_meta(const struct sampled_trace *t, const char *key)
{
        return meta_value_find(t->dictionary, key);
}

uint32_t sampled_trace_symbols(const struct sampled_trace *t, uint32_t frame, uint32_t *ret_first)
{
        uint32_t first = frame != 0 ? t->first_symbols[frame] : 0, n = 0;

        for (uint32_t id = first; id != 0; id = trace_dictionary_next_symbol(t->dictionary, id))
                n++;
        if (n > 0)
                *ret_first = first;
        return n;
}

uint32_t sampled_trace_function(const struct sampled_trace *t, uint32_t frame)
{
        uint32_t first, n = sampled_trace_symbols(t, frame, &first);

        return n == 0 ? 0 : symbol_at(t, first + n - 1)->function;
}
