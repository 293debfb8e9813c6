/* SPDX-License-Identifier: MIT */
#include "tests/bench/zone_trace.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define N_LOCATIONS     48
#define N_STACKS        500
#define ZONES_PER_RUN   1000 /* of one thread, then comes the next */
#define ZONES_PER_CHUNK 64000

struct bench {
        struct trace_dictionary dictionary;
        struct event_encoder encoder;
        struct trace_writer *writer;
        uint64_t random;
        uint64_t now_ns[ZONE_TRACE_THREADS_MAX];
        uint32_t names[ZONE_TRACE_THREADS_MAX]; /* strings */
        uint32_t n_threads;
        uint32_t zones_per_sample;
        uint32_t event;
};

static void must(int r, const struct error *err)
{
        if (r >= 0)
                return;
        (void)fprintf(stderr, "zone_trace: %s\n", err->text);
        abort();
}

static uint64_t next_random(uint64_t *state)
{
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static uint32_t add_row(struct bench *b, enum trace_table table, const void *row)
{
        struct error err = { .text = "a table is full" };
        uint32_t id = 0;

        must(trace_dictionary_add(&b->dictionary, table, row, &id), &err);
        return id;
}

static uint32_t add_string(struct bench *b, const char *stem, uint32_t number)
{
        struct error err = { .text = "the table of strings is full" };
        uint32_t id = 0;
        char text[64];
        int n = snprintf(text, sizeof(text), "%s%" PRIu32, stem, number);

        must(trace_dictionary_add_string(&b->dictionary, text, (size_t)n, &id), &err);
        return id;
}

static void add_tables(struct bench *b)
{
        struct trace_process process = { .pid = 100 };
        struct trace_module module = { .path = add_string(b, "/bin/program", 0), .kind = TRACE_MODULE_FILE };
        struct trace_sample_event event = { .name = add_string(b, "cpu-clock", 0) };
        struct trace_zone_path path = { .parent = 0 };

        (void)add_row(b, TRACE_TABLE_PROCESSES, &process);
        for (uint32_t i = 0; i < b->n_threads; i++) {
                (void)add_row(b, TRACE_TABLE_THREADS, &(struct trace_thread){ .process = 1, .tid = 100 + i });
                b->names[i] = add_string(b, "w", i);
        }
        (void)add_row(b, TRACE_TABLE_MODULES, &module);
        b->event = add_row(b, TRACE_TABLE_SAMPLE_EVENTS, &event);
        for (uint32_t i = 0; i < N_LOCATIONS; i++) {
                struct trace_location location = { .name = add_string(b, "zone", i), .line = i };

                path.location = add_row(b, TRACE_TABLE_LOCATIONS, &location);
                (void)add_row(b, TRACE_TABLE_ZONE_PATHS, &path);
        }
        for (uint32_t i = 0; i < N_STACKS; i++) {
                struct trace_frame frame = { .module = 1, .offset = UINT64_C(16) * i };
                struct trace_symbol symbol = { .function = add_string(b, "function", i / 4) };
                struct trace_stack stack = { .parent = i % 20 != 0 ? i : 0 };

                symbol.frame = stack.frame = add_row(b, TRACE_TABLE_FRAMES, &frame);
                (void)add_row(b, TRACE_TABLE_STACKS, &stack);
                (void)add_row(b, TRACE_TABLE_SYMBOLS, &symbol);
        }
}

static void add_event(struct bench *b, uint32_t thread, enum trace_op op, uint64_t first)
{
        struct trace_event event = { .op = op };

        b->now_ns[thread] += 20 + next_random(&b->random) % 200;
        event.time_ns = b->now_ns[thread];
        if (op == TRACE_OP_ZONE_BEGIN) {
                event.zone_begin.location = first;
        } else if (op == TRACE_OP_THREAD_NAME) {
                event.thread_name.name = first;
        } else if (op == TRACE_OP_SAMPLE) {
                event.sample.event = b->event;
                event.sample.path = first;
                event.sample.stack = 1 + next_random(&b->random) % N_STACKS;
                event.sample.weight = 1000000;
        }
        event_encoder_add(&b->encoder, &event);
}

/* Zones three deep: an outer one, then some of two inner levels. */
static void add_run(struct bench *b, uint32_t thread)
{
        event_encoder_begin_run(&b->encoder, thread + 1);
        if (b->now_ns[thread] == 0)
                add_event(b, thread, TRACE_OP_THREAD_NAME, b->names[thread]);
        add_event(b, thread, TRACE_OP_ZONE_BEGIN, 1);
        for (uint32_t i = 1; i < ZONES_PER_RUN; i += 2) {
                uint64_t location = 2 + next_random(&b->random) % (N_LOCATIONS - 2);

                add_event(b, thread, TRACE_OP_ZONE_BEGIN, location);
                add_event(b, thread, TRACE_OP_ZONE_BEGIN, location + 1);
                if (next_random(&b->random) % (b->zones_per_sample / 2) == 0)
                        add_event(b, thread, TRACE_OP_SAMPLE, location + 1);
                add_event(b, thread, TRACE_OP_ZONE_END, 0);
                add_event(b, thread, TRACE_OP_ZONE_END, 0);
        }
        add_event(b, thread, TRACE_OP_ZONE_END, 0);
        add_event(b, thread, TRACE_OP_SWITCH_OUT, 0);
        add_event(b, thread, TRACE_OP_SWITCH_IN, 0);
        event_encoder_end_run(&b->encoder);
}

void zone_trace_write(int fd, uint64_t n_zones, uint32_t n_threads, uint32_t zones_per_sample)
{
        static struct bench b; /* large */
        struct error err = { .text = "out of memory" };

        b = (struct bench){ .random = 42, .n_threads = n_threads, .zones_per_sample = zones_per_sample };
        if (n_threads == 0 || n_threads > ZONE_TRACE_THREADS_MAX || zones_per_sample < 2)
                abort();
        trace_dictionary_init(&b.dictionary, 0);
        event_encoder_init(&b.encoder);
        must(trace_writer_new(fd, &b.writer, &err), &err);
        add_tables(&b);
        must(trace_writer_put_tables(b.writer, &b.dictionary, &err), &err);
        for (uint64_t done = 0; done < n_zones;) {
                struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
                struct byte_buffer body = { .data = NULL };

                for (uint64_t i = 0; i < ZONES_PER_CHUNK && done < n_zones; i += ZONES_PER_RUN) {
                        add_run(&b, (uint32_t)(done / ZONES_PER_RUN % n_threads));
                        done += ZONES_PER_RUN;
                }
                must(event_encoder_take(&b.encoder, &body, &header.first_ns, &header.last_ns,
                                        &header.n_items),
                     &err);
                must(trace_writer_put(b.writer, header, body.data, body.used_bytes, &err), &err);
                byte_buffer_deinit(&body);
        }
        must(trace_writer_finish(b.writer, &err), &err);
        trace_writer_free(b.writer);
        event_encoder_deinit(&b.encoder);
        trace_dictionary_deinit(&b.dictionary);
}
