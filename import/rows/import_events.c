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

#define WINDOW_EVENTS 8192              /* that are sorted into runs at once */
#define CHUNK_BYTES   ((size_t)1 << 20) /* about so many, unpacked */
#define CHUNK_NS      (NS_PER_S / 2)
#define TEXT_BYTES    ((size_t)4 << 20) /* of a window */

struct waiting {
        struct trace_event event;
        size_t text_at; /* of its text in `texts` */
        uint32_t next;  /* of the same thread: index + 1; 0 = none */
};

/* A thread's events in the window. */
struct queue {
        uint32_t first, last; /* index + 1; 0 = none */
};

struct import_events {
        struct trace_writer *writer;
        struct trace_dictionary *dictionary;
        struct trace_reader *reader;
        struct trace_item pending; /* the recording's next chunk */
        bool has_pending;

        struct waiting window[WINDOW_EVENTS];
        uint32_t n;
        struct byte_buffer texts;
        struct queue *queues; /* heap; by thread */
        size_t queues_capacity;
        uint32_t n_queues;
        uint32_t threads[WINDOW_EVENTS]; /* with events in the window, by their first */
        uint32_t n_threads;

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
        byte_buffer_deinit(&events->texts);
        byte_buffer_deinit(&events->body);
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
        return r < 0 ? r : trace_writer_put(e->writer, header, e->body.data, e->body.used_bytes, err);
}

/* The events of the window, thread by thread, into the chunk. */
static int empty_window(struct import_events *e, struct error *err)
{
        if (e->n == 0)
                return 0;
        if (e->texts.failed)
                return error_set(err, -ENOMEM, "no memory for texts");
        if (e->chunk_first_ns == 0)
                e->chunk_first_ns = e->window[0].event.time_ns;
        for (uint32_t i = 0; i < e->n_threads; i++) {
                struct queue *queue = &e->queues[e->threads[i]];

                event_encoder_begin_run(&e->encoder, e->threads[i]);
                for (uint32_t at = queue->first; at != 0; at = e->window[at - 1].next) {
                        struct waiting *w = &e->window[at - 1];

                        if (w->event.text)
                                w->event.text = (const char *)e->texts.data + w->text_at;
                        event_encoder_add(&e->encoder, &w->event);
                }
                event_encoder_end_run(&e->encoder);
                *queue = (struct queue){ 0, 0 };
        }
        e->n = e->n_threads = 0;
        byte_buffer_clear(&e->texts);
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

int import_events_add(struct import_events *e, uint32_t thread, const struct trace_event *event,
                      struct error *err)
{
        struct waiting *w;
        struct queue *queue;
        int r = copy_until(e, event->time_ns, err);

        if (r == 0 && (e->n == WINDOW_EVENTS || e->texts.used_bytes > TEXT_BYTES))
                r = empty_window(e, err);
        if (r == 0 && e->n > 0 && event->time_ns > e->window[0].event.time_ns + CHUNK_NS)
                r = empty_window(e, err);
        if (r == 0 && e->chunk_first_ns != 0 && event->time_ns > e->chunk_first_ns + CHUNK_NS)
                r = flush(e, err);
        if (r < 0)
                return r;
        if (array_reach(&e->queues, &e->queues_capacity, &e->n_queues, thread + 1, sizeof(*e->queues)) < 0)
                return error_set(err, -ENOMEM, "no memory for threads");
        queue = &e->queues[thread];
        w = &e->window[e->n++];
        *w = (struct waiting){ .event = *event, .text_at = e->texts.used_bytes };
        if (event->text)
                byte_buffer_add(&e->texts, event->text, (size_t)event->operand[0]);
        if (queue->first == 0) {
                queue->first = e->n;
                e->threads[e->n_threads++] = thread;
        } else {
                e->window[queue->last - 1].next = e->n;
        }
        queue->last = e->n;
        return 0;
}

int import_events_finish(struct import_events *e, struct error *err)
{
        int r = copy_until(e, UINT64_MAX, err);

        return r < 0 ? r : flush(e, err);
}
