/* SPDX-License-Identifier: MIT */
/*
 * odd_trace OUT WAY - a trace that is whole, but has little in it, or too much, or nothing that
 * should be shown as it is
 *
 * WAY:
 *   empty     no rows and no events
 *   samples   samples with callstacks, no zones
 *   zones     zones, no samples, no context switches
 *   unclosed  zones that never end; one thread exits, one is cut off by the end
 *   one       one sample, nothing else
 *   oneend    one end of a zone that did not begin
 *   hostile   names of control characters, escape sequences, invalid UTF-8, NUL, quotes,
 *             formulas; one of a mebibyte
 *   extreme   times, weights, numbers and lines at the end of their range
 *   threads   100,000 threads, each with a zone and a sample
 * A trace that is cut off is for the caller to make.
 */
#include "base/byte_buffer.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_writer.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGIN_NS          UINT64_C(1000000000)
#define N_MANY            100000U
#define LONG_NAME_BYTES   (1U << 20)
#define THREADS_PER_CHUNK 10000U

struct maker {
        struct trace_dictionary d;
        struct event_encoder events;
        struct trace_writer *writer;
        uint32_t n_threads;
};

static void must(bool good, const char *what)
{
        if (good)
                return;
        (void)fprintf(stderr, "odd_trace: %s\n", what);
        exit(EXIT_FAILURE);
}

static uint32_t add(struct maker *m, enum trace_table table, const void *row)
{
        uint32_t id;

        must(trace_dictionary_add(&m->d, table, row, &id) == 0, "a row");
        return id;
}

static uint32_t add_bytes(struct maker *m, const char *bytes, size_t n_bytes)
{
        uint32_t id;

        must(trace_dictionary_add_string(&m->d, bytes, n_bytes, &id) == 0, "a string");
        return id;
}

static uint32_t add_string(struct maker *m, const char *text)
{
        return add_bytes(m, text, strlen(text));
}

static uint32_t add_location(struct maker *m, uint32_t name, uint32_t file, uint32_t line)
{
        struct trace_location location = { .name = name, .function = name, .file = file, .line = line };

        return add(m, TRACE_TABLE_LOCATIONS, &location);
}

static uint32_t add_path(struct maker *m, uint32_t parent, uint32_t location)
{
        struct trace_zone_path path = { .parent = parent, .location = location };

        return add(m, TRACE_TABLE_ZONE_PATHS, &path);
}

static uint32_t add_thread(struct maker *m, uint32_t process, uint32_t tid)
{
        struct trace_thread thread = { .process = process, .tid = tid, .start_ns = BEGIN_NS };

        return add(m, TRACE_TABLE_THREADS, &thread);
}

/* A stack of two frames with names. */
static uint32_t add_stack(struct maker *m, uint32_t module_name, uint32_t inner, uint32_t outer)
{
        struct trace_module module = { .path = module_name, .kind = TRACE_MODULE_FILE };
        struct trace_stack stack = { .parent = 0 };
        uint32_t names[2] = { outer, inner };

        module.path = module_name;
        for (uint32_t i = 0; i < 2; i++) {
                struct trace_frame frame = { .offset = UINT64_C(0x1000) * (i + 1) };
                struct trace_symbol symbol = { .function = names[i], .file = module_name, .line = 1 + i };

                frame.module = i == 0 ? add(m, TRACE_TABLE_MODULES, &module) : 1;
                symbol.frame = stack.frame = add(m, TRACE_TABLE_FRAMES, &frame);
                stack.parent = add(m, TRACE_TABLE_STACKS, &stack);
                (void)add(m, TRACE_TABLE_SYMBOLS, &symbol);
        }
        return stack.parent;
}

static void put(struct maker *m, uint64_t time_ns, enum trace_op op, uint64_t first)
{
        struct trace_event event = { .time_ns = time_ns, .op = op };

        event.operand[0] = first;
        event_encoder_add(&m->events, &event);
}

static void put_sample(struct maker *m, uint64_t time_ns, uint32_t stack, uint32_t path, uint64_t weight)
{
        struct trace_event event = { .time_ns = time_ns, .op = TRACE_OP_SAMPLE };

        event.sample.event = 1;
        event.sample.stack = stack;
        event.sample.path = path;
        event.sample.weight = weight;
        event.sample.state = stack ? TRACE_STACK_COMPLETE : TRACE_STACK_UNKNOWN;
        event_encoder_add(&m->events, &event);
}

static void put_text(struct maker *m, uint64_t time_ns, enum trace_op op, const char *text, size_t n_bytes)
{
        struct trace_event event = { .time_ns = time_ns, .op = op, .text = text };

        event.operand[0] = n_bytes;
        event_encoder_add(&m->events, &event);
}

/* Tables, then events. */
static void flush(struct maker *m)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        struct byte_buffer body = { .data = NULL };

        must(trace_writer_put_tables(m->writer, &m->d, NULL) == 0, "tables");
        must(event_encoder_take(&m->events, &body, &header.first_ns, &header.last_ns, &header.n_items) == 0,
             "events");
        if (header.n_items != 0)
                must(trace_writer_put(m->writer, header, body.data, body.used_bytes, NULL) == 0, "a chunk");
        byte_buffer_deinit(&body);
}

/* Most ways have these: a process, an event, and a name. */
static void add_base(struct maker *m, uint32_t process_name)
{
        struct trace_process process = { .pid = 100, .start_ns = BEGIN_NS };
        struct trace_sample_event event = { .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ, .rate = 1000 };

        (void)add(m, TRACE_TABLE_PROCESSES, &process);
        event.name = add_string(m, "cpu-clock");
        event.unit = add_string(m, "ns");
        (void)add(m, TRACE_TABLE_SAMPLE_EVENTS, &event);
        m->n_threads = add_thread(m, 1, 100);
        event_encoder_begin_run(&m->events, m->n_threads);
        if (process_name != 0)
                put(m, BEGIN_NS, TRACE_OP_THREAD_NAME, process_name);
        event_encoder_end_run(&m->events);
}

static void make_samples(struct maker *m)
{
        uint32_t stack;

        add_base(m, add_string(m, "sampled"));
        stack = add_stack(m, add_string(m, "/bin/sampled"), add_string(m, "inner"), add_string(m, "outer"));
        event_encoder_begin_run(&m->events, 1);
        for (uint64_t i = 0; i < 100; i++)
                put_sample(m, BEGIN_NS + i * 1000000, i % 10 == 0 ? 0 : stack, 0, 1000000);
        event_encoder_end_run(&m->events);
}

static void make_zones(struct maker *m)
{
        uint32_t file = add_string(m, "zones.c");
        uint32_t outer, inner;

        add_base(m, 0);
        outer = add_location(m, add_string(m, "outer"), file, 10);
        inner = add_location(m, add_string(m, "inner"), file, 20);
        event_encoder_begin_run(&m->events, 1);
        for (uint64_t i = 0; i < 1000; i++) {
                put(m, BEGIN_NS + i * 1000, TRACE_OP_ZONE_BEGIN, outer);
                put(m, BEGIN_NS + i * 1000 + 100, TRACE_OP_ZONE_BEGIN, inner);
                put(m, BEGIN_NS + i * 1000 + 100 + i % 7, TRACE_OP_ZONE_END, 0);
                put(m, BEGIN_NS + i * 1000 + 900, TRACE_OP_ZONE_END, 0);
        }
        event_encoder_end_run(&m->events);
}

static void make_unclosed(struct maker *m)
{
        uint32_t location, path, stack, thread;

        add_base(m, add_string(m, "unclosed"));
        location = add_location(m, add_string(m, "never ends"), add_string(m, "unclosed.c"), 1);
        path = add_path(m, 0, location);
        stack = add_stack(m, add_string(m, "/bin/unclosed"), add_string(m, "inner"), add_string(m, "outer"));
        thread = add_thread(m, 1, 101);
        for (uint32_t t = 1; t <= thread; t++) {
                event_encoder_begin_run(&m->events, t);
                put(m, BEGIN_NS + 1000, TRACE_OP_ZONE_BEGIN, location);
                put_sample(m, BEGIN_NS + 2000, stack, path, 1000);
                put(m, BEGIN_NS + 3000, TRACE_OP_ZONE_BEGIN, location);
                if (t == thread)
                        put(m, BEGIN_NS + 4000, TRACE_OP_THREAD_EXIT, 0);
                event_encoder_end_run(&m->events);
        }
}

static void make_one(struct maker *m)
{
        add_base(m, 0);
        event_encoder_begin_run(&m->events, 1);
        put_sample(m, BEGIN_NS, 0, 0, 1);
        event_encoder_end_run(&m->events);
}

static void make_one_end(struct maker *m)
{
        add_base(m, 0);
        event_encoder_begin_run(&m->events, 1);
        put(m, BEGIN_NS, TRACE_OP_ZONE_END, 0);
        event_encoder_end_run(&m->events);
}

#define TEXT(bytes)                      \
        {                                \
                bytes, sizeof(bytes) - 1 \
        }

/* Names that terminals, spreadsheets and parsers trip over. */
static const struct odd_text {
        const char *bytes;
        size_t n_bytes;
} odd_texts[] = {
        TEXT(""),
        TEXT("\x1b[31m\x1b]0;title\x07\x1b[2J"),
        TEXT("a\nb\r\nc\td"),
        TEXT("\0nul\0inside"),
        TEXT("\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80"),
        TEXT("cut \xe2\x82"),
        TEXT("say \"hi\", 'you' \\ </script><b>&amp;"),
        TEXT("=1+1|,;|\t|`$(id)`%s%n"),
        TEXT("\xe2\x80\xae reversed \xe2\x80\xa8 line \xc2\x9b"),
        TEXT("a/b/**/[x]*?"),
        TEXT("\x7f\x01\x02\x1f"),
};

#define N_ODD_TEXTS (sizeof(odd_texts) / sizeof(odd_texts[0]))

/* A zone, a sample, a message, a plot, a frame, memory and a lock of this name. */
static void put_odd(struct maker *m, uint32_t name, const struct odd_text *text, uint64_t at_ns)
{
        struct trace_lock lock = { .process = 1 };
        uint32_t location = add_location(m, name, name, 1);
        uint32_t path = add_path(m, 0, location);
        uint32_t stack = add_stack(m, name, name, name);
        struct trace_event alloc = { .time_ns = at_ns + 50, .op = TRACE_OP_MEMORY_ALLOC };
        uint32_t thread = add_thread(m, 1, 200 + name);

        lock.location = location;
        lock.number = name;
        alloc.memory_alloc.pool = name;
        alloc.memory_alloc.address = at_ns;
        alloc.memory_alloc.size_bytes = 16;
        event_encoder_begin_run(&m->events, thread);
        put(m, at_ns, TRACE_OP_THREAD_NAME, name);
        put(m, at_ns, TRACE_OP_ZONE_BEGIN, location);
        put_text(m, at_ns, TRACE_OP_ZONE_TEXT, text->bytes, text->n_bytes);
        put_text(m, at_ns, TRACE_OP_ZONE_NAME, text->bytes, text->n_bytes);
        put_text(m, at_ns, TRACE_OP_MESSAGE_TEXT, text->bytes, text->n_bytes);
        put(m, at_ns, TRACE_OP_MESSAGE, name);
        put(m, at_ns, TRACE_OP_PLOT_I64, name);
        put(m, at_ns, TRACE_OP_FRAME_MARK, name);
        put_sample(m, at_ns + 10, stack, path, 1000);
        event_encoder_add(&m->events, &alloc);
        put(m, at_ns + 60, TRACE_OP_LOCK_WAIT, add(m, TRACE_TABLE_LOCKS, &lock));
        put(m, at_ns + 90, TRACE_OP_ZONE_END, 0);
        put(m, at_ns + 95, TRACE_OP_FRAME_MARK, name);
        event_encoder_end_run(&m->events);
}

static void make_hostile(struct maker *m)
{
        static char long_name[LONG_NAME_BYTES];
        struct odd_text text = { long_name, sizeof(long_name) };
        struct trace_meta meta = { .key = 0 };

        meta.key = add_string(m, "command");
        meta.value = add_bytes(m, odd_texts[1].bytes, odd_texts[1].n_bytes);
        (void)add(m, TRACE_TABLE_META, &meta);
        add_base(m, meta.value);
        memset(long_name, 'x', sizeof(long_name));
        for (uint64_t i = 0; i < N_ODD_TEXTS; i++)
                put_odd(m, add_bytes(m, odd_texts[i].bytes, odd_texts[i].n_bytes), &odd_texts[i],
                        BEGIN_NS + i * 1000);
        put_odd(m, add_bytes(m, long_name, sizeof(long_name)), &text, BEGIN_NS + N_ODD_TEXTS * 1000);
}

static void make_extreme(struct maker *m)
{
        struct trace_event plot = { .time_ns = UINT64_MAX - 1, .op = TRACE_OP_PLOT_F64 };
        struct trace_event plot_i64 = { .time_ns = UINT64_MAX - 1, .op = TRACE_OP_PLOT_I64 };
        uint32_t location, path, stack;

        add_base(m, 0);
        location = add_location(m, add_string(m, "long"), add_string(m, "extreme.c"), UINT32_MAX);
        path = add_path(m, 0, location);
        stack = add_stack(m, add_string(m, "/bin/extreme"), add_string(m, "inner"), add_string(m, "outer"));
        plot.plot_f64.name = plot_i64.plot_i64.name = add_string(m, "not a number");
        plot.plot_f64.bits = UINT64_C(0x7ff8000000000000);
        plot_i64.plot_i64.value = INT64_MIN;
        event_encoder_begin_run(&m->events, 1);
        put(m, BEGIN_NS, TRACE_OP_ZONE_BEGIN, location);
        put_sample(m, BEGIN_NS, stack, path, UINT64_MAX);
        put_sample(m, BEGIN_NS, stack, path, UINT64_MAX);
        put_sample(m, BEGIN_NS, stack, path, 0);
        put(m, BEGIN_NS, TRACE_OP_SWITCH_OUT, UINT64_MAX);
        put(m, UINT64_MAX - 1, TRACE_OP_SWITCH_IN, UINT64_MAX);
        event_encoder_add(&m->events, &plot);
        plot.plot_f64.bits = UINT64_C(0xfff0000000000000);
        event_encoder_add(&m->events, &plot);
        event_encoder_add(&m->events, &plot_i64);
        put(m, UINT64_MAX, TRACE_OP_ZONE_END, 0);
        put(m, UINT64_MAX, TRACE_OP_FRAME_MARK, 0);
        event_encoder_end_run(&m->events);
}

static void make_threads(struct maker *m)
{
        uint32_t location, path, stack;

        add_base(m, add_string(m, "many"));
        location = add_location(m, add_string(m, "short"), add_string(m, "threads.c"), 1);
        path = add_path(m, 0, location);
        stack = add_stack(m, add_string(m, "/bin/many"), add_string(m, "inner"), add_string(m, "outer"));
        for (uint32_t i = 1; i < N_MANY; i++) {
                uint64_t at_ns = BEGIN_NS + i * UINT64_C(10000);

                event_encoder_begin_run(&m->events, add_thread(m, 1, 100 + i));
                put(m, at_ns, TRACE_OP_SWITCH_IN, i % 4);
                put(m, at_ns, TRACE_OP_ZONE_BEGIN, location);
                put_sample(m, at_ns + 500, stack, path, 1000000);
                put(m, at_ns + 1000 + i % 100, TRACE_OP_ZONE_END, 0);
                put(m, at_ns + 2000, TRACE_OP_THREAD_EXIT, 0);
                event_encoder_end_run(&m->events);
                if (i % THREADS_PER_CHUNK == 0)
                        flush(m);
        }
}

static void make_nothing(struct maker *m)
{
        (void)m;
}

static const struct way {
        const char *name;
        void (*make)(struct maker *m);
} ways[] = {
        { "empty", make_nothing },     { "samples", make_samples }, { "zones", make_zones },
        { "unclosed", make_unclosed }, { "one", make_one },         { "oneend", make_one_end },
        { "hostile", make_hostile },   { "extreme", make_extreme }, { "threads", make_threads },
};

int main(int argc, char **argv)
{
        const struct way *way = NULL;
        struct maker m = { .n_threads = 0 };
        int fd;

        for (size_t i = 0; argc == 3 && i < sizeof(ways) / sizeof(ways[0]); i++)
                if (strcmp(argv[2], ways[i].name) == 0)
                        way = &ways[i];
        must(way != NULL, "usage: odd_trace OUT WAY");
        fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        must(fd >= 0, "cannot create OUT");
        trace_dictionary_init(&m.d, 0);
        event_encoder_init(&m.events);
        must(trace_writer_new(fd, &m.writer, NULL) == 0, "the first chunk");
        way->make(&m);
        flush(&m);
        must(trace_writer_finish(m.writer, NULL) == 0, "the index");
        trace_writer_free(m.writer);
        event_encoder_deinit(&m.events);
        trace_dictionary_deinit(&m.d);
        return close(fd) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
