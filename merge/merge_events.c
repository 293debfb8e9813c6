/* SPDX-License-Identifier: MIT */
#include "merge/merge_steps.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/event_encoder.h"
#include "format/trace_reader.h"
#include "format/trace_schema.h"
#include "format/trace_writer.h"
#include "merge/merge_input.h"
#include "merge/merge_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define N_SLICES        64
#define SLICE_NS_MIN    (8 * NS_PER_MS)
#define CHUNK_BYTES     ((size_t)1 << 20) /* of the result: about so many, unpacked */
#define CHUNK_NS        (NS_PER_S / 2)
#define EVENTS_BETWEEN  1024 /* events after which the size of a chunk is looked at */
#define LONG_TEXT_BYTES 4096 /* or after such a text */

struct slice {
        struct byte_buffer body; /* owned; with the result's ids and times */
        uint64_t first_ns;
        uint32_t n_events;
};

/* An input, and the slices of it that were read ahead. */
struct source {
        struct merge_input *in;
        struct slice slices[N_SLICES];
        uint32_t n_slices, next; /* those before `next` are written */
        uint64_t *cpu_shifts;    /* heap; by thread */
        uint32_t frames, memory; /* strings of the result, for names that are 0 */
        bool is_over;
};

struct copying {
        struct merge_tables *tables;
        struct trace_writer *writer;
        struct source *sources; /* heap */
        size_t n_sources;
        struct event_encoder *cutters; /* heap: N_SLICES, and `out` */
        struct event_encoder *out;
        struct byte_buffer body;
        uint64_t out_first_ns; /* of the slices in `out`; 0 = it is empty */
        struct merge_event_counts counts;
};

/* ---- one event ----------------------------------------------------------------------------------------- */

static uint64_t map_id(const struct merge_input *in, const struct trace_operand *operand, uint64_t id)
{
        if (operand->reference != TRACE_REFERENCE_SUCCESSOR)
                return merge_input_id(in, operand->table, id);
        return id <= TRACE_SUCCESSOR_OTHER ? id
                                           : merge_input_id(in, operand->table, id - TRACE_SUCCESSOR_OTHER) +
                                                     TRACE_SUCCESSOR_OTHER;
}

static void map_operands(const struct merge_input *in, struct trace_event *event)
{
        const struct trace_op_schema *schema = trace_op_schema_find(event->op);

        for (uint32_t i = 0; i < schema->n_operands; i++) {
                const struct trace_operand *operand = &schema->operands[i];

                if (operand->reference != TRACE_REFERENCE_NONE)
                        event->operand[i] = map_id(in, operand, event->operand[i]);
        }
}

static void map_cpu(struct source *s, uint32_t thread, struct trace_event *event)
{
        uint64_t shift = s->cpu_shifts[thread];

        if (event->op == TRACE_OP_SAMPLE)
                event->sample.cpu += shift;
        else if (event->op == TRACE_OP_SWITCH_OUT)
                event->switch_out.cpu += shift;
        else if (event->op == TRACE_OP_SWITCH_IN)
                event->switch_in.cpu += shift;
        else if (event->op == TRACE_OP_WAKEUP)
                event->wakeup.cpu += shift;
}

/*
 * Sets the event's first operand to the input's string @name with the recording's label.  If @name is 0, sets
 * it to @unnamed, unless that is 0 too.
 */
static int label_first(struct copying *c, struct source *s, uint64_t name, uint32_t unnamed,
                       struct trace_event *event)
{
        if (name == 0 && unnamed != 0) {
                event->operand[0] = unnamed;
                return 0;
        }
        return merge_tables_label(c->tables, s->in, name, &event->operand[0]);
}

/* Adds the recording's label to the names of things that views tell apart by name alone. */
static int map_names(struct copying *c, struct source *s, const struct trace_event *was,
                     struct trace_event *event)
{
        switch (event->op) {
        case TRACE_OP_THREAD_NAME:
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
                return label_first(c, s, was->operand[0], 0, event);
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
                return label_first(c, s, was->operand[0], s->frames, event);
        case TRACE_OP_MEMORY_ALLOC:
        case TRACE_OP_MEMORY_FREE:
        case TRACE_OP_MEMORY_DISCARD:
                return label_first(c, s, was->operand[0], s->memory, event);
        case TRACE_OP_WAKEUP:
                return merge_tables_label(c->tables, s->in, was->wakeup.name, &event->wakeup.name);
        default:
                return 0;
        }
}

static int map(struct copying *c, struct source *s, uint32_t thread, struct trace_event *event)
{
        struct trace_event was;

        if (event->op == TRACE_OP_ZONE_END) {
                event->time_ns = merge_input_time(s->in, event->time_ns);
                return 0;
        }
        was = *event;
        event->time_ns = merge_input_time(s->in, event->time_ns);
        map_operands(s->in, event);
        map_cpu(s, thread, event);
        return map_names(c, s, &was, event);
}

static bool has_long_text(const struct trace_event *event, uint64_t limit_bytes)
{
        return event->text && event->operand[0] > limit_bytes;
}

/* ---- a chunk of an input -> slices --------------------------------------------------------------------- */

struct cutting {
        struct event_decoder decoder;
        uint64_t first_ns, width_ns;
        struct event_encoder *open; /* of the run */
};

static uint32_t slice_of(const struct cutting *cut, uint64_t time_ns)
{
        uint64_t i = time_ns > cut->first_ns ? (time_ns - cut->first_ns) / cut->width_ns : 0;

        return i < N_SLICES ? (uint32_t)i : N_SLICES - 1;
}

static int cut_event(struct copying *c, struct source *s, struct cutting *cut, uint32_t thread,
                     struct trace_event *event, struct error *err)
{
        struct event_encoder *to = &c->cutters[slice_of(cut, event->time_ns)];
        int r;

        if (has_long_text(event, TRACE_TEXT_BYTES_MAX))
                return error_set(err, -EBADMSG, "a text of %" PRIu64 " bytes", event->operand[0]);
        r = map(c, s, thread, event);
        if (r < 0)
                return error_set(err, r, "out of memory");
        if (to != cut->open) {
                if (cut->open)
                        event_encoder_end_run(cut->open);
                event_encoder_begin_run(to, merge_input_id(s->in, TRACE_TABLE_THREADS, thread));
                cut->open = to;
        }
        event_encoder_add(to, event);
        return 0;
}

/* Returns 0, -ENOMEM, or -EBADMSG after all events before the fault. */
static int cut_runs(struct copying *c, struct source *s, struct cutting *cut, struct error *err)
{
        struct trace_event event;
        struct event_run run;
        int r;

        while ((r = event_decoder_next_run(&cut->decoder, &run, err)) == 1) {
                while ((r = event_decoder_next(&cut->decoder, &event, err)) == 1) {
                        r = cut_event(c, s, cut, run.thread, &event, err);
                        if (r < 0)
                                break;
                }
                if (cut->open)
                        event_encoder_end_run(cut->open);
                cut->open = NULL;
                if (r < 0)
                        return r;
        }
        return r;
}

static int take_slices(struct copying *c, struct source *s, struct error *err)
{
        s->n_slices = s->next = 0;
        for (uint32_t i = 0; i < N_SLICES; i++) {
                struct slice *slice = &s->slices[s->n_slices];
                uint64_t last_ns;

                byte_buffer_clear(&slice->body);
                if (event_encoder_take(&c->cutters[i], &slice->body, &slice->first_ns, &last_ns,
                                       &slice->n_events) < 0)
                        return error_set(err, -ENOMEM, "no memory for a chunk of events");
                if (slice->n_events == 0)
                        continue;
                s->n_slices++;
                if (last_ns > c->counts.last_ns)
                        c->counts.last_ns = last_ns;
        }
        return 0;
}

static int cut_chunk(struct copying *c, struct source *s, const struct trace_item *item, struct error *damage,
                     struct error *err)
{
        const struct trace_chunk_header *header = &item->header;
        struct cutting cut = { .first_ns = header->first_ns };
        int r, taken;

        cut.width_ns = header->last_ns > header->first_ns
                               ? (header->last_ns - header->first_ns) / N_SLICES + 1
                               : 1;
        if (cut.width_ns < SLICE_NS_MIN)
                cut.width_ns = SLICE_NS_MIN;
        r = event_decoder_init(&cut.decoder, s->in->dictionary, item->body, item->body_bytes, damage);
        if (r == 0)
                r = cut_runs(c, s, &cut, damage);
        c->counts.n_unknown += cut.decoder.n_unknown_ops;
        taken = take_slices(c, s, err);
        if (r == -EBADMSG)
                s->is_over = true;
        else if (r < 0)
                return error_set(err, r, "%s: %s", s->in->path, damage->text);
        return taken;
}

static bool is_events(const struct trace_chunk_header *header)
{
        return header->kind == TRACE_CHUNK_EVENTS;
}

/* Reads more slices of an input, unless it has ended. */
static int fill_source(struct copying *c, struct source *s, struct error *damage, struct error *err)
{
        while (!s->is_over && s->next == s->n_slices) {
                struct trace_item item;
                int r = trace_reader_next_wanted(s->in->reader, is_events, &item, err);

                if (r < 0)
                        return r;
                if (r == 0) {
                        const char *words;
                        enum trace_ending ending = trace_reader_ending(s->in->reader, &words, NULL);

                        if (ending != TRACE_ENDING_WHOLE)
                                (void)error_set(damage, -ENODATA, "%s", words);
                        s->is_over = true;
                        return 0;
                }
                r = cut_chunk(c, s, &item, damage, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ---- slices -> chunks of the result -------------------------------------------------------------------- */

static int put_chunk(struct copying *c, struct error *err)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        int r;

        header.flags = event_encoder_has_names(c->out) ? 0 : TRACE_CHUNK_NO_NAMES;
        byte_buffer_clear(&c->body);
        if (event_encoder_take(c->out, &c->body, &header.first_ns, &header.last_ns, &header.n_items) < 0)
                return error_set(err, -ENOMEM, "no memory for a chunk of events");
        c->out_first_ns = 0;
        if (header.n_items == 0)
                return 0;
        c->counts.n_events += header.n_items;
        r = trace_writer_put_tables(c->writer, &c->tables->dictionary, err);
        return r < 0 ? r : trace_writer_put(c->writer, header, c->body.data, c->body.used_bytes, err);
}

static int put_run(struct copying *c, struct event_decoder *decoder, uint32_t thread, struct error *err)
{
        struct trace_event event;
        bool has_copy = false;
        uint32_t n = 0;
        int r;

        event_encoder_begin_run(c->out, thread);
        while ((r = event_decoder_next(decoder, &event, err)) == 1) {
                event_encoder_add(c->out, &event);
                if (++n % EVENTS_BETWEEN != 0 && !has_long_text(&event, LONG_TEXT_BYTES) && !has_copy)
                        continue;
                /* The copy of a stack and its sample stay together. */
                has_copy = event.op == TRACE_OP_STACK_COPY;
                if (has_copy || event_encoder_count_bytes(c->out) < CHUNK_BYTES)
                        continue;
                event_encoder_end_run(c->out);
                r = put_chunk(c, err);
                if (r < 0)
                        return r;
                event_encoder_begin_run(c->out, thread);
        }
        event_encoder_end_run(c->out);
        return r;
}

static int put_slice(struct copying *c, const struct slice *slice, struct error *err)
{
        struct event_decoder decoder;
        struct event_run run;
        int r = 0;

        if (c->out_first_ns != 0 && (event_encoder_count_bytes(c->out) >= CHUNK_BYTES ||
                                     slice->first_ns > c->out_first_ns + CHUNK_NS))
                r = put_chunk(c, err);
        if (r < 0)
                return r;
        if (c->out_first_ns == 0)
                c->out_first_ns = slice->first_ns;
        r = event_decoder_init(&decoder, &c->tables->dictionary, slice->body.data, slice->body.used_bytes,
                               err);
        while (r >= 0 && (r = event_decoder_next_run(&decoder, &run, err)) == 1)
                r = put_run(c, &decoder, run.thread, err);
        return r;
}

static struct source *find_earliest(struct copying *c)
{
        struct source *earliest = NULL;

        for (size_t i = 0; i < c->n_sources; i++) {
                struct source *s = &c->sources[i];

                if (s->next < s->n_slices &&
                    (!earliest || s->slices[s->next].first_ns < earliest->slices[earliest->next].first_ns))
                        earliest = s;
        }
        return earliest;
}

static int put_all(struct copying *c, struct error *damages, struct error *err)
{
        struct source *s;
        int r = 0;

        for (size_t i = 0; i < c->n_sources && r == 0; i++)
                r = fill_source(c, &c->sources[i], &damages[i], err);
        while (r == 0 && (s = find_earliest(c)) != NULL) {
                r = put_slice(c, &s->slices[s->next++], err);
                if (r == 0)
                        r = fill_source(c, s, &damages[s - c->sources], err);
        }
        return r < 0 ? r : put_chunk(c, err);
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static int open_source(struct copying *c, struct source *s, struct merge_input *in, struct error *err)
{
        uint32_t n_threads = trace_dictionary_count(in->dictionary, TRACE_TABLE_THREADS);
        int r = trace_reader_rewind(in->reader, err);

        s->in = in;
        if (r < 0)
                return r;
        s->cpu_shifts = calloc((size_t)n_threads + 1, sizeof(*s->cpu_shifts));
        if (!s->cpu_shifts ||
            merge_tables_label_words(c->tables, in, (struct text_view){ "frames", 6 }, &s->frames) < 0 ||
            merge_tables_label_words(c->tables, in, (struct text_view){ "memory", 6 }, &s->memory) < 0)
                return error_set(err, -ENOMEM, "%s: out of memory", in->path);
        for (uint32_t i = 1; i <= n_threads; i++) {
                const struct trace_thread *row = trace_dictionary_row(in->dictionary, TRACE_TABLE_THREADS, i);

                s->cpu_shifts[i] = in->parts[merge_input_part_of(in, row->process)].cpu_shift;
        }
        return 0;
}

static void close_inputs(struct copying *c)
{
        for (size_t i = 0; c->sources && i < c->n_sources; i++) {
                for (uint32_t j = 0; j < N_SLICES; j++)
                        byte_buffer_deinit(&c->sources[i].slices[j].body);
                free(c->sources[i].cpu_shifts);
        }
        for (uint32_t i = 0; c->cutters && i <= N_SLICES; i++)
                event_encoder_deinit(&c->cutters[i]);
        byte_buffer_deinit(&c->body);
        free(c->sources);
        free(c->cutters);
}

/* To be closed in any case. */
static int open_inputs(struct copying *c, struct merge_input *inputs, struct error *err)
{
        int r = 0;

        c->sources = calloc(c->n_sources, sizeof(*c->sources));
        c->cutters = calloc(N_SLICES + 1, sizeof(*c->cutters));
        if (!c->sources || !c->cutters) {
                (void)error_set(err, -ENOMEM, "no memory for events");
                return -ENOMEM;
        }
        for (uint32_t i = 0; i <= N_SLICES; i++)
                event_encoder_init(&c->cutters[i]);
        c->out = &c->cutters[N_SLICES];
        for (size_t i = 0; i < c->n_sources && r == 0; i++)
                r = open_source(c, &c->sources[i], &inputs[i], err);
        return r;
}

int merge_events_copy(const struct merge_inputs *from, struct merge_tables *tables,
                      struct trace_writer *writer, struct merge_event_counts *ret_counts, struct error *err)
{
        struct copying c = { .tables = tables, .writer = writer, .n_sources = from->n_inputs };
        int r = open_inputs(&c, from->inputs, err);

        if (r == 0)
                r = put_all(&c, from->damages, err);
        *ret_counts = c.counts;
        close_inputs(&c);
        return r;
}
