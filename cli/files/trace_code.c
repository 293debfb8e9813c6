/* SPDX-License-Identifier: MIT */
#include "cli/files/trace_code.h"

#include "base/array.h"
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/event_decoder.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "symbolize/stacks/kept_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* While reading. */
struct reading {
        struct trace_code *code;
        const struct trace_code_options *options;
        uint32_t n_counted; /* modules in `n_samples` */
        size_t counted_capacity;
};

static void count_sample(struct reading *r, const struct trace_event *event)
{
        const struct trace_dictionary *d = r->code->dictionary;
        const struct trace_sample_event *what = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS,
                                                                     (uint32_t)event->sample.event);
        const struct trace_stack *stack;
        const struct trace_frame *frame;

        if (event->sample.stack == 0 || what->mode == TRACE_SAMPLE_MODE_WITH_LEADER)
                return;
        stack = trace_dictionary_row(d, TRACE_TABLE_STACKS, (uint32_t)event->sample.stack);
        frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES, stack->frame);
        if (frame->module <= r->n_counted)
                r->code->n_samples[frame->module]++;
}

static int count_samples(struct reading *r, const struct trace_item *item, struct error *err)
{
        const struct trace_dictionary *d = r->code->dictionary;
        uint32_t n_modules = trace_dictionary_count(d, TRACE_TABLE_MODULES);
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int n;

        if (array_reserve(&r->code->n_samples, &r->counted_capacity, (size_t)n_modules + 1,
                          sizeof(*r->code->n_samples)) < 0)
                return error_set(err, -ENOMEM, "no memory for %u modules", n_modules);
        if (r->counted_capacity > 0 && r->n_counted == 0)
                r->code->n_samples[0] = 0;
        while (r->n_counted < n_modules)
                r->code->n_samples[++r->n_counted] = 0;
        n = event_decoder_init(&decoder, d, item->body, item->body_bytes, err);
        while (n >= 0 && (n = event_decoder_next_run(&decoder, &run, err)) == 1)
                while ((n = event_decoder_next(&decoder, &event, err)) == 1)
                        if (event.op == TRACE_OP_SAMPLE)
                                count_sample(r, &event);
        return n;
}

/* A damaged attachment is one that is not there; `hyprof check` reports it. */
static int take_part(struct reading *r, const struct trace_item *item, struct error *err)
{
        struct attachment_chunk part;

        if (attachment_chunk_decode(r->code->dictionary, item->body, item->body_bytes, &part, NULL) < 0)
                return 0;
        return image_spool_add_part(&r->code->spool, r->code->dictionary, &part, err);
}

static int take_item(struct reading *r, const struct trace_item *item, struct error *err)
{
        int n = 0;

        if (r->options->copy && !r->code->has_kept_stacks && item->header.kind != TRACE_CHUNK_INDEX)
                n = trace_writer_copy(r->options->copy, item, err);
        if (n == 0 && item->header.kind == TRACE_CHUNK_ATTACHMENT)
                n = take_part(r, item, err);
        if (n == 0 && item->header.kind == TRACE_CHUNK_EVENTS && r->options->counts_samples)
                n = count_samples(r, item, err);
        return n;
}

int trace_code_read(struct trace_code *t, const char *path, const struct trace_code_options *options,
                    struct error *err)
{
        struct reading reading = { .code = t, .options = options };
        uint64_t first_ns, last_ns;
        struct trace_item item;
        int r;

        *t = (struct trace_code){ .reader = NULL };
        image_spool_init(&t->spool);
        r = trace_reader_open(path, &t->reader, err);
        if (r == 0 && options->copy)
                r = trace_reader_read_tables(t->reader, &first_ns, &last_ns, err);
        if (r == 0) {
                t->dictionary = trace_reader_dictionary(t->reader);
                t->has_kept_stacks = options->copy && kept_stacks_are_there(t->dictionary);
        }
        while (r == 0 && (r = trace_reader_next(t->reader, &item, err)) == 1)
                r = take_item(&reading, &item, err);
        if (r == 0)
                r = module_images_init(&t->images, t->dictionary, err);
        if (r < 0)
                trace_code_deinit(t);
        return r;
}

void trace_code_deinit(struct trace_code *t)
{
        image_spool_deinit(&t->spool);
        module_images_deinit(&t->images);
        trace_reader_close(t->reader);
        free(t->n_samples);
        *t = (struct trace_code){ .reader = NULL, .spool = { .fd = -1 } };
}
