/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace that no recorder would: made_trace KIND FILE [ZONES SAMPLES]
 *
 *      empty      no event, and no thread
 *      one        one message
 *      samples    two of them, one without a callstack
 *      zones      one inside another one
 *      unclosed   the same, and they never end
 *      many       ZONES zones of 48 places and SAMPLES samples of 500 callstacks, on 4 threads
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGIN_NS      UINT64_C(1000000000000)
#define N_THREADS     4
#define N_LOCATIONS   48
#define N_FUNCTIONS   100
#define N_STACKS      500
#define ZONES_PER_RUN 1000
#define RUNS_PER_BODY 64

struct made {
        struct trace_dictionary dictionary;
        struct event_encoder encoder;
        struct trace_writer *writer;
        struct error err;
        uint32_t event;
        uint32_t threads[N_THREADS], locations[N_LOCATIONS], stacks[N_STACKS];
        uint64_t now_ns[N_THREADS];
};

static void must(const struct made *m, int r)
{
        if (r >= 0)
                return;
        (void)fprintf(stderr, "made_trace: %s\n", m->err.text);
        abort();
}

static uint32_t row(struct made *m, enum trace_table table, const void *bytes)
{
        uint32_t id = 0;

        must(m, trace_dictionary_add(&m->dictionary, table, bytes, &id));
        return id;
}

static uint32_t string(struct made *m, const char *text)
{
        uint32_t id = 0;

        must(m, trace_dictionary_add_string(&m->dictionary, text, strlen(text), &id));
        return id;
}

static uint32_t numbered(struct made *m, const char *word, uint32_t number)
{
        char text[40];

        (void)snprintf(text, sizeof(text), "%s_%" PRIu32, word, number);
        return string(m, text);
}

static void flush(struct made *m)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        struct byte_buffer body = { .data = NULL };

        must(m, event_encoder_take(&m->encoder, &body, &header.first_ns, &header.last_ns, &header.n_items));
        must(m, trace_writer_put_tables(m->writer, &m->dictionary, &m->err));
        if (header.n_items > 0)
                must(m, trace_writer_put(m->writer, header, body.data, body.used_bytes, &m->err));
        byte_buffer_deinit(&body);
}

static void add_threads(struct made *m)
{
        struct trace_process process = { .pid = 100, .start_ns = BEGIN_NS };
        uint32_t id = row(m, TRACE_TABLE_PROCESSES, &process);

        for (uint32_t i = 0; i < N_THREADS; i++) {
                struct trace_thread thread = { .process = id, .tid = 100 + i, .start_ns = BEGIN_NS };

                m->threads[i] = row(m, TRACE_TABLE_THREADS, &thread);
                m->now_ns[i] = BEGIN_NS;
        }
}

/* 500 stacks below one root; each function has a name and a line. */
static void add_code(struct made *m)
{
        struct trace_module module = { .path = string(m, "/opt/made"), .kind = TRACE_MODULE_FILE };
        uint32_t id = row(m, TRACE_TABLE_MODULES, &module);
        uint32_t frames[N_FUNCTIONS];

        for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
                struct trace_frame frame = { .offset = 0x1000 + 16 * (uint64_t)i, .module = id };
                struct trace_symbol symbol = { .function = numbered(m, "function", i),
                                               .file = string(m, "made.c"),
                                               .line = 10 * (i + 1) };

                frames[i] = row(m, TRACE_TABLE_FRAMES, &frame);
                symbol.frame = frames[i];
                (void)row(m, TRACE_TABLE_SYMBOLS, &symbol);
        }
        for (uint32_t i = 0; i < N_STACKS; i++) {
                struct trace_stack stack = { .parent = i > 0 ? m->stacks[i / 3] : 0,
                                             .frame = frames[i * 7 % N_FUNCTIONS] };

                m->stacks[i] = row(m, TRACE_TABLE_STACKS, &stack);
        }
        for (uint32_t i = 0; i < N_LOCATIONS; i++) {
                struct trace_location location = { .name = numbered(m, "zone", i), .line = i + 1 };

                m->locations[i] = row(m, TRACE_TABLE_LOCATIONS, &location);
        }
}

static void add_sample_event(struct made *m)
{
        struct trace_sample_event event = { .name = string(m, "cpu-clock"),
                                            .type = 1,
                                            .rate = 1000,
                                            .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ,
                                            .unit = string(m, "ns") };

        m->event = row(m, TRACE_TABLE_SAMPLE_EVENTS, &event);
}

static void add_sample(struct made *m, uint64_t time_ns, uint32_t stack, uint32_t path)
{
        struct trace_event event = { .time_ns = time_ns, .op = TRACE_OP_SAMPLE };

        event.sample.event = m->event;
        event.sample.cpu = 1;
        event.sample.stack = stack;
        event.sample.path = path;
        event.sample.weight = 1000000;
        event_encoder_add(&m->encoder, &event);
}

/* A run of one thread: zones of a microsecond, each in one of its place, and samples in some of them. */
static void add_run(struct made *m, uint32_t thread, uint64_t n_zones, uint64_t n_samples)
{
        uint64_t *now_ns = &m->now_ns[thread];
        uint64_t n_done = 0;

        event_encoder_begin_run(&m->encoder, m->threads[thread]);
        for (uint64_t i = 0; i < n_zones; i++) {
                struct trace_zone_path path = { .location = m->locations[(i + thread) % N_LOCATIONS] };

                event_encoder_begin_zone(&m->encoder, *now_ns, path.location);
                for (; n_done * n_zones < n_samples * (i + 1); n_done++)
                        add_sample(m, *now_ns + 500, m->stacks[(n_done * 13 + i) % N_STACKS],
                                   row(m, TRACE_TABLE_ZONE_PATHS, &path));
                event_encoder_end_zone(&m->encoder, *now_ns + 1000);
                *now_ns += 1100;
        }
        event_encoder_end_run(&m->encoder);
}

static void add_many(struct made *m, uint64_t n_zones, uint64_t n_samples)
{
        uint64_t n_runs = n_zones / ZONES_PER_RUN + 1;

        for (uint64_t i = 0; i < n_runs; i++) {
                uint64_t n = n_zones * (i + 1) / n_runs - n_zones * i / n_runs;
                uint64_t n_now = n_samples * (i + 1) / n_runs - n_samples * i / n_runs;

                add_run(m, (uint32_t)(i % N_THREADS), n, n_now);
                if (i % RUNS_PER_BODY == 0)
                        flush(m);
        }
}

static void add_few(struct made *m, const char *kind)
{
        struct trace_event message = { .time_ns = BEGIN_NS + 5,
                                       .op = TRACE_OP_MESSAGE_TEXT,
                                       .text = "hello" };

        event_encoder_begin_run(&m->encoder, m->threads[0]);
        if (strcmp(kind, "one") == 0) {
                message.message_text.text_bytes = 5;
                event_encoder_add(&m->encoder, &message);
        } else if (strcmp(kind, "samples") == 0) {
                add_sample_event(m);
                add_sample(m, BEGIN_NS + 10, m->stacks[20], 0);
                add_sample(m, BEGIN_NS + 20, 0, 0);
        } else {
                event_encoder_begin_zone(&m->encoder, BEGIN_NS + 10, m->locations[0]);
                event_encoder_begin_zone(&m->encoder, BEGIN_NS + 20, m->locations[1]);
        }
        if (strcmp(kind, "zones") == 0) {
                event_encoder_end_zone(&m->encoder, BEGIN_NS + 30);
                event_encoder_end_zone(&m->encoder, BEGIN_NS + 50);
        }
        event_encoder_end_run(&m->encoder);
}

int main(int argc, char **argv)
{
        struct made m = { .writer = NULL };
        int fd = argc > 2 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;

        if (fd < 0) {
                (void)fputs("usage: made_trace empty|one|samples|zones|unclosed|many FILE [ZONES SAMPLES]\n",
                            stderr);
                return 2;
        }
        trace_dictionary_init(&m.dictionary, 0);
        event_encoder_init(&m.encoder);
        must(&m, trace_writer_new(fd, &m.writer, &m.err));
        if (strcmp(argv[1], "empty") != 0) {
                add_threads(&m);
                add_code(&m);
        }
        if (strcmp(argv[1], "many") == 0) {
                add_sample_event(&m);
                add_many(&m, argc > 3 ? strtoull(argv[3], NULL, 10) : 1000000,
                         argc > 4 ? strtoull(argv[4], NULL, 10) : 200000);
        } else if (strcmp(argv[1], "empty") != 0) {
                add_few(&m, argv[1]);
        }
        flush(&m);
        must(&m, trace_writer_finish(m.writer, &m.err));
        trace_writer_free(m.writer);
        event_encoder_deinit(&m.encoder);
        trace_dictionary_deinit(&m.dictionary);
        return close(fd) == 0 ? 0 : 1;
}
