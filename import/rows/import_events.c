/* SPDX-License-Identifier: MIT */
#include "import/rows/import_events.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_EVENTS 2048              /* that are sorted into runs at once */
#define CHUNK_BYTES   ((size_t)1 << 20) /* about so many, unpacked */
#define CHUNK_NS      (NS_PER_S / 2)
#define TEXT_BYTES    ((size_t)4 << 20) /* of a window */

/* An event of the window, as long as it has to be: most have one operand or none. */
struct waiting {
        uint64_t time_ns;
        uint32_t next; /* of the same thread: word + 1; 0 = none */
        uint8_t op, n_operands;
        bool has_text;      /* after the operands, the first of which is its length */
        uint64_t operand[]; /* n_operands */
};

#define WAITING_WORDS (sizeof(struct waiting) / sizeof(uint64_t))

/* A thread's events in the window. */
struct queue {
        uint32_t first, last; /* word + 1; 0 = none */
};

struct import_events {
        struct trace_writer *writer;
        struct trace_dictionary *dictionary;
        struct trace_reader *reader;
        struct trace_item pending; /* the recording's next chunk */
        bool has_pending;

        uint64_t *window; /* heap: struct waiting, each at a whole word */
        size_t n_words, words_capacity;
        uint32_t n; /* events in it */
        uint64_t window_first_ns, way_ns;
        size_t n_text_bytes;
        struct queue *queues; /* heap; by thread */
        size_t queues_capacity;
        uint32_t n_queues;
        uint32_t threads[WINDOW_EVENTS]; /* with events in the window, by their first */
        uint32_t n_threads;

        uint8_t n_operands[TRACE_OP_COUNT];
        struct event_encoder encoder;
        struct byte_buffer body;
        uint64_t chunk_first_ns; /* 0 = the chunk is empty */
};

static bool is_copied(const struct trace_chunk_header *header)
{
        return header->kind != TRACE_CHUNK_FILE && header->kind != TRACE_CHUNK_INDEX &&
               header->kind != TRACE_CHUNK_STATES && header->kind < TRACE_TABLE_FIRST;
}

static int read_pending(struct import_events *e, struct error *err)
{
        int r = e->reader ? trace_reader_next_wanted(e->reader, is_copied, &e->pending, err) : 0;

        e->has_pending = r == 1;
        return r < 0 ? r : 0;
}

int import_events_new(struct import_events **ret_events, struct trace_writer *writer,
                      struct trace_dictionary *dictionary, struct trace_reader *reader, struct error *err)
{
        struct import_events *e = calloc(1, sizeof(*e));
        int r;

        if (!e)
                return error_set(err, -ENOMEM, "no memory for events");
        e->writer = writer;
        e->dictionary = dictionary;
        e->reader = reader;
        event_encoder_init(&e->encoder);
        for (uint64_t op = 1; op < TRACE_OP_COUNT; op++)
                e->n_operands[op] = (uint8_t)trace_op_schema_find(op)->n_operands;
        r = read_pending(e, err);
        if (r < 0) {
                import_events_free(e);
                return r;
        }
        *ret_events = e;
        return 0;
}

void import_events_free(struct import_events *events)
{
        if (!events)
                return;
        event_encoder_deinit(&events->encoder);
        byte_buffer_deinit(&events->body);
        free(events->window);
        free(events->queues);
        free(events);
}

static int put_chunk(struct import_events *e, struct error *err)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        int r;

        header.flags = event_encoder_has_names(&e->encoder) ? 0 : TRACE_CHUNK_NO_NAMES;
        byte_buffer_clear(&e->body);
        if (event_encoder_take(&e->encoder, &e->body, &header.first_ns, &header.last_ns, &header.n_items) < 0)
                return error_set(err, -ENOMEM, "no memory for a chunk of events");
        e->chunk_first_ns = 0;
        if (header.n_items == 0)
                return 0;
        r = trace_writer_put_tables(e->writer, e->dictionary, err);
        if (r == 0)
                trace_dictionary_forget_passed(e->dictionary);
        return r < 0 ? r : trace_writer_put(e->writer, header, e->body.data, e->body.used_bytes, err);
}

static struct waiting *waiting_at(struct import_events *e, uint32_t word)
{
        void *at = e->window + word;

        return at;
}

static void encode(struct import_events *e, const struct waiting *w)
{
        struct trace_event event;

        if (w->op == TRACE_OP_ZONE_END) {
                event_encoder_end_zone(&e->encoder, w->time_ns);
        } else if (w->op == TRACE_OP_ZONE_BEGIN) {
                event_encoder_begin_zone(&e->encoder, w->time_ns, w->operand[0]);
        } else if (w->op == TRACE_OP_ZONE_TEXT && w->operand[1] == 0) {
                event_encoder_text_zone(&e->encoder, w->time_ns, (const char *)(w->operand + w->n_operands),
                                        w->operand[0]);
        } else {
                event.time_ns = w->time_ns;
                event.op = w->op;
                event.text = w->has_text ? (const char *)(w->operand + w->n_operands) : NULL;
                for (unsigned i = 0; i < w->n_operands; i++)
                        event.operand[i] = w->operand[i];
                event_encoder_add_any(&e->encoder, &event);
        }
}

/* The events of the window, thread by thread, into the chunk. */
static int empty_window(struct import_events *e, struct error *err)
{
        if (e->n == 0)
                return 0;
        if (e->chunk_first_ns == 0)
                e->chunk_first_ns = e->window_first_ns;
        for (uint32_t i = 0; i < e->n_threads; i++) {
                struct queue *queue = &e->queues[e->threads[i]];

                event_encoder_begin_run(&e->encoder, e->threads[i]);
                for (uint32_t at = queue->first; at != 0;) {
                        const struct waiting *w = waiting_at(e, at - 1);

                        encode(e, w);
                        at = w->next;
                }
                event_encoder_end_run(&e->encoder);
                *queue = (struct queue){ 0, 0 };
        }
        e->n = e->n_threads = 0;
        e->n_words = e->n_text_bytes = 0;
        return event_encoder_count_bytes(&e->encoder) >= CHUNK_BYTES ? put_chunk(e, err) : 0;
}

static int flush(struct import_events *e, struct error *err)
{
        int r = empty_window(e, err);

        return r < 0 ? r : put_chunk(e, err);
}

/* The recording's chunks that begin before @time_ns; attachments have no time. */
static int copy_until(struct import_events *e, uint64_t time_ns, struct error *err)
{
        int r = 0;

        while (r == 0 && e->has_pending && e->pending.header.first_ns <= time_ns) {
                r = flush(e, err);
                if (r == 0)
                        r = trace_writer_copy(e->writer, &e->pending, err);
                if (r == 0)
                        r = read_pending(e, err);
        }
        return r;
}

/* Up to which time events go into the window without make_way(), as long as there is room. */
static void set_way(struct import_events *e)
{
        e->way_ns = UINT64_MAX;
        if (e->has_pending)
                e->way_ns = 0;
        else if (e->chunk_first_ns != 0)
                e->way_ns = e->chunk_first_ns + CHUNK_NS;
        else if (e->n > 0)
                e->way_ns = e->window_first_ns + CHUNK_NS;
}

/* Writes what is before an event that is not to be with it. */
static int make_way(struct import_events *e, uint64_t time_ns, struct error *err)
{
        int r = copy_until(e, time_ns, err);

        if (r == 0 && (e->n == WINDOW_EVENTS || e->n_text_bytes > TEXT_BYTES))
                r = empty_window(e, err);
        if (r == 0 && e->n > 0 && time_ns > e->window_first_ns + CHUNK_NS)
                r = empty_window(e, err);
        if (r == 0 && e->chunk_first_ns != 0 && time_ns > e->chunk_first_ns + CHUNK_NS)
                r = flush(e, err);
        set_way(e);
        return r;
}

/* Into the window; its words and the thread's queue have room. */
static void put_event(struct import_events *e, uint32_t thread, const struct trace_event *event,
                      uint32_t n_operands)
{
        struct waiting *w = waiting_at(e, (uint32_t)e->n_words);
        struct queue *queue = &e->queues[thread];
        uint32_t at = (uint32_t)e->n_words + 1;

        *w = (struct waiting){ .time_ns = event->time_ns,
                               .op = (uint8_t)event->op,
                               .n_operands = (uint8_t)n_operands,
                               .has_text = event->text != NULL };
        for (uint32_t i = 0; i < n_operands; i++)
                w->operand[i] = event->operand[i];
        e->n_words += WAITING_WORDS + n_operands;
        if (event->text) {
                memcpy(w->operand + n_operands, event->text, event->operand[0]);
                e->n_words += (event->operand[0] + sizeof(uint64_t) - 1) / sizeof(uint64_t);
                e->n_text_bytes += event->operand[0];
        }
        if (e->n++ == 0) {
                e->window_first_ns = event->time_ns;
                set_way(e);
        }
        if (queue->first == 0) {
                queue->first = at;
                e->threads[e->n_threads++] = thread;
        } else {
                waiting_at(e, queue->last - 1)->next = at;
        }
        queue->last = at;
}

int import_events_add(struct import_events *e, uint32_t thread, const struct trace_event *event,
                      struct error *err)
{
        uint32_t n_operands = e->n_operands[event->op];
        size_t n_words = WAITING_WORDS + n_operands +
                         (event->text ? event->operand[0] / sizeof(uint64_t) + 1 : 0);

        if (event->time_ns > e->way_ns || e->n == WINDOW_EVENTS || e->n_text_bytes > TEXT_BYTES) {
                int r = make_way(e, event->time_ns, err);

                if (r < 0)
                        return r;
        }
        if (e->words_capacity - e->n_words < n_words &&
            array_reserve(&e->window, &e->words_capacity, e->n_words + n_words, sizeof(*e->window)) < 0)
                return error_set(err, -ENOMEM, "no memory for events");
        if (thread >= e->n_queues &&
            array_reach(&e->queues, &e->queues_capacity, &e->n_queues, thread + 1, sizeof(*e->queues)) < 0)
                return error_set(err, -ENOMEM, "no memory for threads");
        put_event(e, thread, event, n_operands);
        return 0;
}

int import_events_finish(struct import_events *e, struct error *err)
{
        int r = copy_until(e, UINT64_MAX, err);

        return r < 0 ? r : flush(e, err);
}
