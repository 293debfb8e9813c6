/* SPDX-License-Identifier: MIT */
/*
 * analyze/path, view/path: whatever threads are said to have done, the segments of a path are a partition of
 * its time, and the answer is one
 *
 * The input is a list of events, four bytes each, of a few threads, locks and fibers; its first bytes say
 * what is asked.
 */
#include "analyze/path/path.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "format/trace_writer.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/path/path_view.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_THREADS   6 /* 4 and 5 are fibers, 3 and 6 are of other processes */
#define N_LOCKS     2
#define N_STACKS    4
#define N_LOCATIONS 2
#define START_NS    UINT64_C(1000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzzed {
        struct trace_dictionary dictionary;
        struct event_encoder encoder;
        uint32_t strings[4];
        uint32_t thread; /* of the run that is open; 0 = none */
        uint64_t now_ns, latest_ns[N_THREADS];
};

static void must(int r)
{
        if (r < 0)
                abort();
}

static void add(struct fuzzed *f, enum trace_table table, const void *row)
{
        uint32_t id;

        must(trace_dictionary_add(&f->dictionary, table, row, &id));
}

static uint32_t add_string(struct fuzzed *f, const char *text, size_t n)
{
        uint32_t id;

        must(trace_dictionary_add_string(&f->dictionary, text, n, &id));
        return id;
}

static void add_tables(struct fuzzed *f)
{
        static const char *const functions[N_STACKS] = { "main", "pthread_mutex_lock", "futex_wait",
                                                         "io_schedule" };

        f->strings[0] = add_string(f, "a", 1);
        f->strings[1] = add_string(f, "spin", 4);
        f->strings[2] = add_string(f, "start_raw_ns", 12);
        f->strings[3] = add_string(f, "1000000000", 10);
        add(f, TRACE_TABLE_META, &(struct trace_meta){ f->strings[2], f->strings[3] });
        add(f, TRACE_TABLE_PROCESSES, &(struct trace_process){ .pid = 1 });
        add(f, TRACE_TABLE_PROCESSES, &(struct trace_process){ .pid = 2, .parent = 1 });
        add(f, TRACE_TABLE_PROCESSES, &(struct trace_process){ .pid = 3 });
        for (uint32_t i = 1; i <= N_THREADS; i++) {
                bool is_fiber = i == 4 || i == 5;

                add(f, TRACE_TABLE_THREADS,
                    &(struct trace_thread){ .process = i == 3   ? 2
                                                       : i == 6 ? 3
                                                                : 1,
                                            .tid = is_fiber ? 0 : i,
                                            .start_ns = i == 2 || i == 3 ? START_NS + 5000 : 0,
                                            .kind = is_fiber ? TRACE_THREAD_FIBER : TRACE_THREAD_KERNEL,
                                            .fiber = is_fiber ? i : 0,
                                            .creator = i == 2 ? 1 : 0 });
        }
        add(f, TRACE_TABLE_MODULES,
            &(struct trace_module){ .path = f->strings[0], .kind = TRACE_MODULE_FILE });
        add(f, TRACE_TABLE_MODULES,
            &(struct trace_module){ .path = f->strings[1], .kind = TRACE_MODULE_KERNEL });
        for (uint32_t i = 0; i < N_STACKS; i++) {
                struct trace_symbol symbol = { .frame = i + 1 };

                symbol.function = add_string(f, functions[i], strlen(functions[i]));
                add(f, TRACE_TABLE_FRAMES, &(struct trace_frame){ .offset = 16 * i, .module = 1 + i / 2 });
                add(f, TRACE_TABLE_STACKS, &(struct trace_stack){ i, i + 1 });
                add(f, TRACE_TABLE_SYMBOLS, &symbol);
        }
        for (uint32_t i = 1; i <= N_LOCATIONS; i++) {
                add(f, TRACE_TABLE_LOCATIONS,
                    &(struct trace_location){ .name = f->strings[i - 1], .line = i });
                add(f, TRACE_TABLE_ZONE_PATHS, &(struct trace_zone_path){ i - 1, i });
                add(f, TRACE_TABLE_LOCKS, &(struct trace_lock){ .process = 1, .location = i });
                add(f, TRACE_TABLE_SAMPLE_EVENTS,
                    &(struct trace_sample_event){
                            .name = i, .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ, .rate = i });
        }
}

/* ------------------------------------------------------------------ events */

static const enum trace_op ops[] = { TRACE_OP_SWITCH_OUT,  TRACE_OP_SWITCH_IN,   TRACE_OP_WAKEUP,
                                     TRACE_OP_SAMPLE,      TRACE_OP_ZONE_BEGIN,  TRACE_OP_ZONE_END,
                                     TRACE_OP_LOCK_WAIT,   TRACE_OP_LOCK_OBTAIN, TRACE_OP_LOCK_RELEASE,
                                     TRACE_OP_FIBER_ENTER, TRACE_OP_FIBER_LEAVE, TRACE_OP_THREAD_EXIT };

static void fill(struct trace_event *event, uint8_t a, uint8_t b)
{
        switch (event->op) {
        case TRACE_OP_SWITCH_OUT:
                event->switch_out.cpu = a % 3;
                event->switch_out.wait = a / 3 % 9;
                event->switch_out.preempted = event->switch_out.wait == TRACE_WAIT_PREEMPTED;
                event->switch_out.stack = b % (N_STACKS + 1);
                event->switch_out.successor = b / 5 % 5;
                break;
        case TRACE_OP_SWITCH_IN:
                event->switch_in.cpu = a > 250 ? 5000 : a % 3;
                event->switch_in.stack = b % (N_STACKS + 1);
                break;
        case TRACE_OP_WAKEUP:
                event->wakeup.cpu = a % 3;
                event->wakeup.waker = a / 3 % (N_THREADS + 1);
                event->wakeup.name = b % 3;
                event->wakeup.stack = b / 3 % (N_STACKS + 1);
                event->wakeup.below = event->wakeup.waker == 0 ? b / 15 % (N_THREADS + 1) : 0;
                break;
        case TRACE_OP_SAMPLE:
                event->sample.event = 1 + a % 2;
                event->sample.cpu = a / 2 % 3;
                event->sample.stack = b % (N_STACKS + 1);
                event->sample.path = b / 5 % (N_LOCATIONS + 1);
                event->sample.weight = a;
                break;
        case TRACE_OP_ZONE_BEGIN:
                event->zone_begin.location = 1 + a % N_LOCATIONS;
                break;
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_RELEASE:
                event->lock_wait.lock = 1 + a % N_LOCKS;
                event->lock_wait.shared = b % 2;
                break;
        case TRACE_OP_FIBER_ENTER:
                event->fiber_enter.fiber = 1 + a % N_THREADS;
                break;
        default:
                break;
        }
}

/* From some nanoseconds to eight seconds; now and then back. */
static void advance(struct fuzzed *f, uint8_t step)
{
        uint64_t ns = (uint64_t)(step & 31) << (step >> 5) * 4;

        if (step == 0xe1 && f->now_ns > START_NS + 1000)
                f->now_ns -= 1000;
        else if (f->now_ns < UINT64_C(1) << 62)
                f->now_ns += ns;
}

static void add_event(struct fuzzed *f, const uint8_t *data)
{
        uint32_t thread = 1 + (data[0] >> 4) % N_THREADS;
        struct trace_event event = { .op = ops[(data[0] & 15) % (sizeof(ops) / sizeof(ops[0]))] };

        advance(f, data[1]);
        event.time_ns = f->now_ns;
        fill(&event, data[2], data[3]);
        if (thread != f->thread || event.time_ns < f->latest_ns[thread - 1]) {
                if (f->thread != 0)
                        event_encoder_end_run(&f->encoder);
                event_encoder_begin_run(&f->encoder, thread);
                f->thread = thread;
        }
        f->latest_ns[thread - 1] = event.time_ns;
        event_encoder_add(&f->encoder, &event);
}

/* Returns a file in memory, with the trace. */
static int write_trace(const uint8_t *data, size_t size)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        struct fuzzed f = { .now_ns = START_NS };
        struct byte_buffer body = { .data = NULL };
        int fd = memfd_create("trace", MFD_CLOEXEC);
        struct trace_writer *writer;

        must(fd);
        trace_dictionary_init(&f.dictionary, 0);
        event_encoder_init(&f.encoder);
        must(trace_writer_new(fd, &writer, NULL));
        add_tables(&f);
        must(trace_writer_put_tables(writer, &f.dictionary, NULL));
        for (size_t i = 0; i + 4 <= size; i += 4)
                add_event(&f, data + i);
        if (f.thread != 0)
                event_encoder_end_run(&f.encoder);
        must(event_encoder_take(&f.encoder, &body, &header.first_ns, &header.last_ns, &header.n_items));
        if (header.n_items != 0)
                must(trace_writer_put(writer, header, body.data, body.used_bytes, NULL));
        must(trace_writer_finish(writer, NULL));
        trace_writer_free(writer);
        byte_buffer_deinit(&body);
        event_encoder_deinit(&f.encoder);
        trace_dictionary_deinit(&f.dictionary);
        return fd;
}

/* ------------------------------------------------------------------ the question */

static int take_segment(void *context, const struct path_instance *instance,
                        const struct path_segment *segment)
{
        uint64_t *sum_ns = context;

        (void)instance;
        if (segment->end_ns <= segment->begin_ns)
                abort();
        *sum_ns += segment->end_ns - segment->begin_ns;
        return 0;
}

static void check(const struct path *p, uint64_t sum_ns)
{
        double rows_ns = 0;

        if (p->segments_ns != p->total_ns || sum_ns != p->total_ns || p->n_examined == 0)
                abort();
        for (uint32_t row = 1; row <= p->sums.keys.n_items; row++)
                rows_ns += p->sums.rows[row - 1].ns;
        if (fabs(rows_ns - (double)p->total_ns) > 1e-6 * (double)p->total_ns + p->sums.keys.n_items)
                abort();
        for (size_t i = 0; i < p->segments.n_items; i++)
                if (p->segments.items[i].end_ns <= p->segments.items[i].begin_ns ||
                    (i != 0 && p->segments.n_dropped == 0 &&
                     p->segments.items[i].begin_ns != p->segments.items[i - 1].end_ns))
                        abort();
}

static void print(const struct path *p)
{
        const struct path_view_options options = { .path = "trace", .limit = 12 };
        struct view_document document;

        view_document_init(&document, path_view_schema.name);
        path_view_fill(&document, p, &options);
        view_document_deinit(&document);
}

static void ask(int fd, const struct path_request *request, uint64_t *sum_ns)
{
        const struct trace_filter_request everything = { .zone = NULL };
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        struct trace_filter filter;
        struct path path;
        char name[40];

        (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        must(loaded_trace_open(&trace, name, &err));
        must(loaded_trace_read_names(&trace, &err));
        must(trace_filter_init(&filter, &everything, &trace, &err));
        if (path_init(&path, &trace, &filter, request, &err) == 0) {
                check(&path, *sum_ns);
                print(&path);
        } else if (err.text[0] == '\0') {
                abort();
        }
        path_deinit(&path);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint64_t sum_ns = 0;
        struct path_request request = { .take = take_segment, .context = &sum_ns };
        int fd;

        if (size < 2)
                return 0;
        request.zone = data[0] & 1 ? "a" : NULL;
        request.is_strict = data[0] & 2;
        request.shows_native = data[0] & 4;
        request.slowest = data[0] & 8 && request.zone ? 0.5 : 0;
        request.past_bytes_max = data[0] & 16 ? 100 * (uint64_t)data[1] : 0;
        request.instance = data[0] & 32 && request.zone ? 2 : 0;
        fd = write_trace(data + 2, size - 2);
        ask(fd, &request, &sum_ns);
        (void)close(fd);
        return 0;
}
