/* SPDX-License-Identifier: MIT */
#include "format/read_ahead.h"

#include "base/error.h"
#include "base/helper_thread.h"
#include "format/trace_chunk.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define SLOTS_MAX (READ_AHEAD_HELPERS_MAX + 2)

/* A chunk on its way: it belongs to the thread that has taken it, and to the caller once it is ready. */
struct ahead_slot {
        bool is_ready;
        int fetched, unpacked; /* as trace_reader_fetch() and trace_chunk_decode_body() return */
        struct trace_stored_chunk chunk;
        struct byte_buffer raw;
        struct event_batch events;
        struct error fault; /* words, if one of the two failed */
};

struct read_ahead {
        struct trace_reader *reader; /* of the thread that has set `is_fetching` */
        const struct trace_dictionary *dictionary;
        struct read_ahead_options options;
        uint64_t at_bytes;     /* end of the last chunk; all members before `lock` belong to the caller */
        uint64_t n_given;      /* chunks that were handed out */
        uint64_t events_bytes; /* of them, unpacked */
        bool has_ended;
        bool were_started;  /* the helpers, or it was tried */
        unsigned n_slots;   /* one for each thread, and one that is ready for the caller */
        unsigned n_helpers; /* that run */
        pthread_t helpers[READ_AHEAD_HELPERS_MAX];
        pthread_mutex_t lock; /* guards everything below, and is_ready of all slots */
        pthread_cond_t changed;
        uint64_t n_taken; /* chunks: number i is in slot i % n_slots */
        uint64_t n_room;  /* number i may be taken if i < n_room: its slot is free */
        uint64_t fetched_to_bytes;
        bool is_fetching; /* a thread is reading from the file; only one may */
        bool no_more;     /* nothing is to be taken any more */
        struct ahead_slot slots[SLOTS_MAX];
};

unsigned read_ahead_count_helpers(void)
{
        cpu_set_t cpus;
        int n;

        CPU_ZERO(&cpus);
        if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
                return 0;
        n = CPU_COUNT(&cpus) - 1;
        return n < READ_AHEAD_HELPERS_MAX ? (unsigned)n : READ_AHEAD_HELPERS_MAX;
}

/* ------------------------------------------------------------------ a chunk */

static bool has_events(const struct trace_chunk_header *header)
{
        return header->kind == TRACE_CHUNK_EVENTS || header->kind == TRACE_CHUNK_STATES;
}

static void unpack(struct ahead_slot *s)
{
        const struct trace_stored_chunk *chunk = &s->chunk;

        s->unpacked = trace_chunk_decode_body(&chunk->header, chunk->header_bytes, chunk->stored.data,
                                              &s->raw, &s->fault);
}

/* Fetches the next chunk with events; all chunks before it are checked on the way. */
static void fetch(struct read_ahead *a, struct ahead_slot *s)
{
        s->unpacked = 0;
        while ((s->fetched = trace_reader_fetch(a->reader, &s->chunk, &s->fault)) == 1) {
                if (has_events(&s->chunk.header))
                        return;
                unpack(s);
                if (s->unpacked < 0)
                        return;
        }
}

/* @is_ahead: no caller waits for it; else its first events are wanted at once. */
static void decode(const struct read_ahead *a, struct ahead_slot *s, bool is_ahead)
{
        unpack(s);
        if (s->unpacked < 0)
                return;

        event_batch_open(&s->events, a->dictionary, s->raw.data, s->raw.used_bytes);
        if (is_ahead)
                event_batch_prepare(&s->events, READ_AHEAD_EVENTS);
}

/* With the lock. */
static bool can_take(const struct read_ahead *a)
{
        return !a->no_more && !a->is_fetching && a->n_taken < a->n_room;
}

/* Called with the lock held, which is released meanwhile: fetches, unpacks and decodes the next chunk. */
static void take(struct read_ahead *a, bool is_ahead)
{
        struct ahead_slot *s = &a->slots[a->n_taken++ % a->n_slots];

        a->is_fetching = true;
        (void)pthread_mutex_unlock(&a->lock);
        fetch(a, s);
        (void)pthread_mutex_lock(&a->lock);
        a->is_fetching = false;
        a->fetched_to_bytes = trace_reader_position(a->reader);
        a->no_more |= s->fetched != 1 || s->unpacked < 0;
        (void)pthread_cond_broadcast(&a->changed);
        if (s->fetched == 1 && s->unpacked == 0) {
                (void)pthread_mutex_unlock(&a->lock);
                decode(a, s, is_ahead);

                (void)pthread_mutex_lock(&a->lock);
        }
        s->is_ready = true;
        (void)pthread_cond_broadcast(&a->changed);
}

/* ------------------------------------------------------------------ helpers */

/* With the lock. */
static bool can_help(const struct read_ahead *a)
{
        return can_take(a) && a->fetched_to_bytes < a->options.until_bytes;
}

static void *help(void *context)
{
        struct read_ahead *a = context;

        (void)pthread_mutex_lock(&a->lock);
        while (!a->no_more) {
                if (can_help(a))
                        take(a, true);
                else
                        (void)pthread_cond_wait(&a->changed, &a->lock);
        }
        (void)pthread_mutex_unlock(&a->lock);
        return NULL;
}

/* Without helpers the caller does their work. */
static void start_helpers(struct read_ahead *a)
{
        a->were_started = true;
        while (a->n_helpers < a->options.n_helpers &&
               helper_thread_start(&a->helpers[a->n_helpers], "hyprof-reader", help, a) == 0)
                a->n_helpers++;
}

/* ------------------------------------------------------------------ the caller */

int read_ahead_open(struct trace_reader *reader, const struct read_ahead_options *options,
                    struct read_ahead **ret, struct error *err)
{
        struct read_ahead *a = calloc(1, sizeof(*a));

        if (!a)
                return error_set(err, -ENOMEM, "no memory to read the trace");
        a->reader = reader;
        a->dictionary = trace_reader_dictionary(reader);
        if (options)
                a->options = *options;
        else
                a->options.n_helpers = read_ahead_count_helpers();

        if (a->options.n_helpers > READ_AHEAD_HELPERS_MAX)
                a->options.n_helpers = READ_AHEAD_HELPERS_MAX;
        if (a->options.until_bytes == 0)
                a->options.until_bytes = UINT64_MAX;
        a->n_slots = a->options.n_helpers + 2;
        a->at_bytes = a->fetched_to_bytes = trace_reader_position(reader);
        (void)pthread_mutex_init(&a->lock, NULL);
        (void)pthread_cond_init(&a->changed, NULL);
        *ret = a;
        return 0;
}

/* Waits until the next chunk is ready.  Frees the slot of the previous chunk. */
static struct ahead_slot *wait_for_next(struct read_ahead *a)
{
        struct ahead_slot *s = &a->slots[a->n_given % a->n_slots];

        (void)pthread_mutex_lock(&a->lock);
        a->n_room = a->n_given + (a->n_helpers > 0 ? a->n_slots : 1);
        (void)pthread_cond_broadcast(&a->changed);
        while (!s->is_ready) {
                bool is_next = a->n_taken == a->n_given;

                /* While another thread works on the next chunk, there is time for the one after it. */
                if (is_next ? can_take(a) : can_help(a))
                        take(a, !is_next);
                else
                        (void)pthread_cond_wait(&a->changed, &a->lock);
        }
        s->is_ready = false;
        (void)pthread_mutex_unlock(&a->lock);
        return s;
}

/* From here on no thread touches the reader. */
static void stop_fetching(struct read_ahead *a)
{
        (void)pthread_mutex_lock(&a->lock);
        a->no_more = true;
        (void)pthread_cond_broadcast(&a->changed);
        while (a->is_fetching)
                (void)pthread_cond_wait(&a->changed, &a->lock);
        (void)pthread_mutex_unlock(&a->lock);
}

static int end(struct read_ahead *a, const struct ahead_slot *s, struct error *err)
{
        a->has_ended = true;
        stop_fetching(a);
        if (s->fetched == 1)
                return trace_reader_refuse(a->reader, &s->chunk, s->unpacked, &s->fault, err);
        return s->fetched < 0 ? error_set(err, s->fetched, "%s", s->fault.text) : 0;
}

int read_ahead_next(struct read_ahead *a, struct read_ahead_item *ret_item, struct error *err)
{
        const struct trace_chunk_header *header;
        struct ahead_slot *s;

        if (a->has_ended)
                return 0;
        if (!a->were_started && a->events_bytes >= READ_AHEAD_ALONE_BYTES)
                start_helpers(a);
        s = wait_for_next(a);
        if (s->fetched != 1 || s->unpacked < 0)
                return end(a, s, err);
        header = &s->chunk.header;
        *ret_item = (struct read_ahead_item){
                .item = { .header = *header,
                          .file_offset_bytes = s->chunk.file_offset_bytes,
                          .body = s->raw.data,
                          .body_bytes = s->raw.used_bytes,
                          .header_bytes = s->chunk.header_bytes,
                          .stored = s->chunk.stored.data },
                .events = &s->events,

        };
        a->n_given++;
        a->at_bytes = s->chunk.file_offset_bytes + TRACE_CHUNK_HEADER_BYTES + header->stored_bytes;
        if (header->kind == TRACE_CHUNK_EVENTS)
                a->events_bytes += header->raw_bytes;
        return 1;
}

uint64_t read_ahead_position(const struct read_ahead *a)
{
        return a->at_bytes;
}

int read_ahead_close(struct read_ahead *a, struct error *err)
{
        int r = 0;

        stop_fetching(a);
        for (unsigned i = 0; i < a->n_helpers; i++)
                (void)pthread_join(a->helpers[i], NULL);
        if (!a->has_ended)
                r = trace_reader_seek(a->reader, a->at_bytes, err);
        for (unsigned i = 0; i < a->n_slots; i++) {
                byte_buffer_deinit(&a->slots[i].chunk.stored);
                byte_buffer_deinit(&a->slots[i].raw);
                event_batch_deinit(&a->slots[i].events);
        }
        (void)pthread_cond_destroy(&a->changed);
        (void)pthread_mutex_destroy(&a->lock);
        free(a);
        return r;
}
