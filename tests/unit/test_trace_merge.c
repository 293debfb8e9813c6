/* SPDX-License-Identifier: MIT */
/*
 * merge/: traces of one boot come together exactly, of others by CLOCK_REALTIME with a stated error; ids are
 * new, what belongs to one recording stays apart, sums are sums; a cut trace gives what is before the cut
 */
#include "merge/merge_input.h"
#include "merge/trace_merge.h"

#include "analyze/trace/meta_value.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/event_decoder.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define S  UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static struct trace_builder a, b; /* to be merged */

static void setup(void)
{
        trace_builder_init(&a);
        trace_builder_init(&b);
}

static void teardown(void)
{
        trace_builder_deinit(&a);
        trace_builder_deinit(&b);
}

/* The words of a made trace about itself. */
struct made {
        const char *host, *boot_id, *start_raw_ns, *start_realtime_ns, *error_ns;
};

static void begin(struct trace_builder *to, const struct made *made)
{
        trace_builder_meta(to, "hostname", made->host);
        trace_builder_meta(to, "cpus", "3");
        if (made->boot_id)
                trace_builder_meta(to, "boot_id", made->boot_id);
        if (made->start_raw_ns)
                trace_builder_meta(to, "start_raw_ns", made->start_raw_ns);
        if (made->start_realtime_ns)
                trace_builder_meta(to, "start_realtime_ns", made->start_realtime_ns);
        if (made->error_ns)
                trace_builder_meta(to, "realtime_error_ns", made->error_ns);
}

/* @n_zones of a named thread, a millisecond apart, in chunks of half a second; then a switch on CPU 1. */
static void add_zones(struct trace_builder *to, const char *zone, const char *name, uint64_t first_ns,
                      int n_zones)
{
        uint32_t thread = trace_builder_thread(to, 100, 100), location = trace_builder_location(to, zone);

        trace_builder_begin_run(to, thread);
        TRACE_BUILDER_ADD(to, first_ns, THREAD_NAME, trace_builder_string(to, name));
        for (int i = 0; i < n_zones; i++) {
                if (i % 500 == 499) {
                        trace_builder_end_run(to);
                        trace_builder_flush(to);
                        trace_builder_begin_run(to, thread);
                }
                trace_builder_begin_zone(to, first_ns + (uint64_t)i * MS, location);
                trace_builder_event(to, first_ns + (uint64_t)i * MS + MS / 2, TRACE_OP_ZONE_END);
        }
        TRACE_BUILDER_ADD(to, first_ns + (uint64_t)n_zones * MS, SWITCH_IN, 1);
        trace_builder_end_run(to);
}

static void make(struct trace_builder *to, const struct made *made, const char *zone, uint64_t first_ns,
                 int n_zones)
{
        begin(to, made);
        add_zones(to, zone, "worker", first_ns, n_zones);
        trace_builder_finish(to);
}

/* ---- the result ---------------------------------------------------------------------------------------- */

struct merged {
        struct trace_merge merge;
        struct trace_reader *reader;
        const struct trace_dictionary *d;
        int fd;
        char path[40];
        uint64_t n_ops[TRACE_OP_COUNT], n_cpu[16];
        uint64_t n_pairs;                     /* copies of stacks with their sample after them in one run */
        uint64_t successors[8], n_successors; /* in order, as far as there is room */
        uint64_t below;                       /* of the last WAKEUP */
        struct trace_event spans[4];          /* the first ones of devices */
        size_t n_spans;
        uint64_t first_ns, last_ns,
                back_ns; /* back: the farthest that a run begins before the end of another */
};

static void count_events(struct merged *m, const struct trace_item *item)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int r;

        ck_assert_int_eq(event_decoder_init(&decoder, m->d, item->body, item->body_bytes, NULL), 0);
        while ((r = event_decoder_next_run(&decoder, &run, NULL)) == 1) {
                uint64_t copy_ns = 0;

                while ((r = event_decoder_next(&decoder, &event, NULL)) == 1) {
                        m->n_ops[event.op]++;
                        m->n_pairs += event.op == TRACE_OP_SAMPLE && event.time_ns == copy_ns;
                        copy_ns = event.op == TRACE_OP_STACK_COPY ? event.time_ns : 0;
                        if (event.op == TRACE_OP_SWITCH_IN)
                                m->n_cpu[event.switch_in.cpu % 16]++;
                        if (event.op == TRACE_OP_SWITCH_OUT)
                                m->successors[m->n_successors++ % 8] = event.switch_out.successor;
                        if (event.op == TRACE_OP_WAKEUP)
                                m->below = event.wakeup.below;
                        if (event.op == TRACE_OP_DEVICE_SPAN && m->n_spans < 4)
                                m->spans[m->n_spans++] = event;
                        if (m->first_ns == 0 || event.time_ns < m->first_ns)
                                m->first_ns = event.time_ns;
                        if (event.time_ns > m->last_ns)
                                m->last_ns = event.time_ns;
                        if (m->last_ns - event.time_ns > m->back_ns)
                                m->back_ns = m->last_ns - event.time_ns;
                }
        }
        ck_assert_int_eq(r, 0);
}

static int try_merge(struct merged *m, const char *const *paths, size_t n_paths, struct error *err)
{
        struct trace_writer *writer = NULL;
        int r;

        memset(m, 0, sizeof(*m));
        m->fd = memfd_create("merged", MFD_CLOEXEC);
        ck_assert_int_ge(m->fd, 0);
        (void)snprintf(m->path, sizeof(m->path), "/proc/self/fd/%d", m->fd);
        ck_assert_int_eq(trace_writer_new(m->fd, &writer, NULL), 0);
        r = trace_merge_run(&m->merge, paths, n_paths, writer, err);
        trace_writer_free(writer);
        return r;
}

static void close_merged(struct merged *m)
{
        trace_reader_close(m->reader);
        trace_merge_deinit(&m->merge);
        (void)close(m->fd);
}

/* All of it is read back with all checks: it is whole. */
static void read_back(struct merged *m)
{
        struct trace_item item;
        uint64_t first_ns, last_ns;
        int r;

        ck_assert_int_eq(trace_reader_open(m->path, &m->reader, NULL), 0);
        m->d = trace_reader_dictionary(m->reader);
        ck_assert_int_eq(trace_reader_read_tables(m->reader, &first_ns, &last_ns, NULL), 0);
        while ((r = trace_reader_next(m->reader, &item, NULL)) == 1)
                if (item.header.kind == TRACE_CHUNK_EVENTS)
                        count_events(m, &item);
        ck_assert_int_eq(r, 0);
        ck_assert_int_eq(trace_reader_ending(m->reader, NULL, NULL), TRACE_ENDING_WHOLE);
}

static void merge_two(struct merged *m, const struct trace_builder *first, const struct trace_builder *second)
{
        const char *const paths[] = { first->path, second->path };
        struct error err = ERROR_NONE;

        ck_assert_msg(try_merge(m, paths, 2, &err) == 0, "%s", err.text);
        read_back(m);
}

static const void *row(const struct merged *m, enum trace_table table, uint32_t id)
{
        ck_assert_uint_le(id, trace_dictionary_count(m->d, table));
        return trace_dictionary_row(m->d, table, id);
}

static const struct trace_recording *recording(const struct merged *m, uint32_t id)
{
        return row(m, TRACE_TABLE_RECORDINGS, id);
}

static bool has_string(const struct merged *m, const char *text)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(m->d, TRACE_TABLE_STRINGS); i++) {
                struct text_view s = trace_dictionary_text(m->d, i);

                if (s.n_bytes == strlen(text) && memcmp(s.bytes, text, s.n_bytes) == 0)
                        return true;
        }
        return false;
}

static bool has_notice(const struct merged *m, uint32_t notice)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(m->d, TRACE_TABLE_NOTICES); i++)
                if (((const struct trace_notice *)row(m, TRACE_TABLE_NOTICES, i))->notice == notice)
                        return true;
        return false;
}

static const struct made one = { "one", "boot-1", "5000000000", "1700000005000000000", "1000000" };

/* ---- placing ------------------------------------------------------------------------------------------- */

START_TEST(test_one_boot_is_exact)
{
        /* The realtime clock was set a little meanwhile: it does not matter. */
        static const struct made later = { "one", "boot-1", "6000000000", "1700000006800000000", NULL };
        struct merged m;

        make(&a, &one, "here", 5 * S, 2000);
        make(&b, &later, "there", 6 * S, 700);
        merge_two(&m, &a, &b);
        ck_assert_uint_eq(m.first_ns, 5 * S);
        ck_assert_uint_eq(m.last_ns, 7 * S);
        ck_assert_uint_eq(m.n_ops[TRACE_OP_ZONE_BEGIN], 2700);
        ck_assert_uint_eq(m.n_ops[TRACE_OP_ZONE_END], 2700);
        ck_assert_uint_eq(m.merge.n_events, 2 * 2700 + 4);
        ck_assert_uint_eq(recording(&m, 2)->clock, TRACE_ALIGNMENT_SAME_BOOT);
        ck_assert_uint_eq(recording(&m, 2)->offset_ns, 0);
        ck_assert_uint_eq(recording(&m, 2)->error_ns, 0);
        ck_assert_uint_eq(m.n_cpu[1], 2); /* one machine: CPU 1 is CPU 1 */
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_PROCESSES), 2); /* of one PID */
        ck_assert_uint_eq(((const struct trace_process *)row(&m, TRACE_TABLE_PROCESSES, 2))->recording, 2);
        /* Chunks are half a second long, and yet the threads are a few milliseconds from each other. */
        ck_assert_uint_le(m.back_ns, 20 * MS);
        close_merged(&m);
}
END_TEST

/* The threads that a switch, a wake-up and another thread's row name have new ids. */
START_TEST(test_threads_that_others_name)
{
        static const uint64_t successors[] = { TRACE_SUCCESSOR_UNKNOWN, TRACE_SUCCESSOR_IDLE,
                                               TRACE_SUCCESSOR_OTHER, TRACE_SUCCESSOR_OTHER + 1 };
        static const struct made other = { "two", "boot-2", "5000000000", "1700000005000000000", NULL };
        uint32_t process, creator, thread;
        struct merged m;

        make(&a, &one, "here", 5 * S, 1);
        begin(&b, &other);
        trace_builder_meta(&b, "cpu_idle", "0=1000;");
        creator = trace_builder_thread(&b, 100, 100);
        process = ((const struct trace_thread *)trace_dictionary_row(&b.dictionary, TRACE_TABLE_THREADS,
                                                                     creator))
                          ->process;
        thread = trace_builder_row(
                &b, TRACE_TABLE_THREADS,
                &(struct trace_thread){ .process = process, .tid = 101, .creator = creator });
        trace_builder_begin_run(&b, thread);
        for (uint64_t i = 0; i < 4; i++)
                TRACE_BUILDER_ADD(&b, 5 * S + i, SWITCH_OUT, 1, 1, 1, 0, 0, successors[i]);
        TRACE_BUILDER_ADD(&b, 5 * S + 9, WAKEUP, 1, 0, 0, 0, 0, creator);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        merge_two(&m, &a, &b);
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_THREADS), 3);
        ck_assert_uint_eq(((const struct trace_thread *)row(&m, TRACE_TABLE_THREADS, 3))->creator, 2);
        ck_assert_uint_eq(m.n_successors, 4);
        for (size_t i = 0; i < 3; i++)
                ck_assert_uint_eq(m.successors[i], successors[i]);
        ck_assert_uint_eq(m.successors[3], TRACE_SUCCESSOR_OTHER + 2);
        ck_assert_uint_eq(m.below, 2);
        ck_assert_uint_eq(meta_value_find(m.d, "cpu_idle").n_bytes, 0); /* of CPUs that may be shared */
        close_merged(&m);
}
END_TEST

/* loop test: two machines of one snapshot, a boot id that is a lie, and a namespace that is not stated */
START_LOOP_TEST(test_one_boot_of_two_clocks, 0, 3)
{
        static const struct {
                struct made two;
                uint64_t first_ns, last_ns;
        } cases[] = {
                { { "one", "boot-1", "5500000000", "1700000008000000000", "1000000" },
                  5 * S,
                  8 * S + 10 * MS },
                { { "one", "boot-1", "5500000000", "1700100005000000000", NULL },
                  5 * S,
                  100005 * S + 10 * MS },
                { { "one", "boot-1", "100005000000000", "1700000005000000000", NULL },
                  5 * S,
                  5 * S + 10 * MS },
        };
        struct merged m;

        make(&a, &one, "here", 5 * S, 10);
        make(&b, &cases[_i].two, "there", strtoull(cases[_i].two.start_raw_ns, NULL, 10), 10);
        merge_two(&m, &a, &b);
        ck_assert_uint_eq(recording(&m, 2)->clock, TRACE_ALIGNMENT_REALTIME_FREE);
        ck_assert_uint_eq(m.first_ns, cases[_i].first_ns);
        ck_assert_uint_eq(m.last_ns, cases[_i].last_ns);
        ck_assert(m.merge.inputs[1].has_other_clock);
        close_merged(&m);
}
END_TEST

START_TEST(test_other_hosts_come_by_realtime)
{
        /* It began a second after the other, by the clock on the wall. */
        static const struct made two = { "two", "boot-2", "90000000000", "1700000006000000000", "2000000" };
        struct merged m;

        make(&a, &one, "here", 5 * S, 10);
        make(&b, &two, "there", 90 * S, 10);
        merge_two(&m, &a, &b);
        ck_assert_uint_eq(m.first_ns, 5 * S);
        ck_assert_uint_eq(m.last_ns, 6 * S + 10 * MS);
        ck_assert_uint_eq(recording(&m, 2)->clock, TRACE_ALIGNMENT_REALTIME);
        ck_assert_int_eq((int64_t)recording(&m, 2)->offset_ns, -(int64_t)(84 * S));
        ck_assert_uint_eq(recording(&m, 2)->error_ns, 3 * MS);
        ck_assert_uint_eq(recording(&m, 2)->first_cpu, 4);
        ck_assert_uint_eq(m.n_cpu[1], 1);
        ck_assert_uint_eq(m.n_cpu[5], 1);
        ck_assert(has_string(&m, "worker@one"));
        ck_assert(has_string(&m, "worker@two"));
        close_merged(&m);
}
END_TEST

/* loop test: a clock that nothing synchronised, one that drifted, and a host that booted long after */
START_LOOP_TEST(test_errors_are_stated, 0, 3)
{
        static const struct {
                struct made two;
                const char *end_raw_ns, *end_realtime_ns;
                uint32_t clock;
                uint64_t error_ns, first_ns;
        } cases[] = {
                { { "two", NULL, "90000000000", "1700000006000000000", NULL },
                  NULL,
                  NULL,
                  TRACE_ALIGNMENT_REALTIME_FREE,
                  1000000,
                  5 * S },
                { { "two", NULL, "90000000000", "1700000006000000000", "2000000" },
                  "100000000000",
                  "1700000016005000000",
                  TRACE_ALIGNMENT_REALTIME,
                  8000000,
                  5 * S },
                /* 16 years before: times stay after the beginning of the timeline */
                { { "two", NULL, "90000000000", "1200000006000000000", "1" },
                  NULL,
                  NULL,
                  TRACE_ALIGNMENT_REALTIME,
                  1000001,
                  1 * S },
        };
        struct merged m;

        make(&a, &one, "here", 5 * S, 10);
        begin(&b, &cases[_i].two);
        if (cases[_i].end_raw_ns) {
                trace_builder_meta(&b, "end_raw_ns", cases[_i].end_raw_ns);
                trace_builder_meta(&b, "end_realtime_ns", cases[_i].end_realtime_ns);
        }
        add_zones(&b, "there", "worker", 90 * S, 10);
        trace_builder_finish(&b);
        merge_two(&m, &a, &b);
        ck_assert_uint_eq(recording(&m, 2)->clock, cases[_i].clock);
        ck_assert_uint_eq(recording(&m, 2)->error_ns, cases[_i].error_ns);
        ck_assert_uint_eq(m.first_ns, cases[_i].first_ns);
        close_merged(&m);
}
END_TEST

/* Chunks of the result end after a long text, but not between the copy of a stack and its sample. */
START_TEST(test_copies_stay_with_their_samples)
{
        static const struct made later = { "one", "boot-1", "6000000000", NULL, NULL };
        enum { N = 600, BYTES = 8000 };
        static char text[BYTES];
        const uint64_t length[TRACE_OPERANDS_MAX] = { BYTES };
        struct merged m;
        uint32_t thread, event;

        begin(&a, &one);
        thread = trace_builder_thread(&a, 7, 7);
        event = trace_builder_sample_event(&a, "cycles");
        trace_builder_begin_run(&a, thread);
        for (uint64_t i = 0; i < N; i++) {
                trace_builder_add(&a, 6 * S + i, TRACE_OP_STACK_COPY, text, length);
                trace_builder_sample(&a, 6 * S + i, event, 0, 0);
        }
        trace_builder_end_run(&a);
        trace_builder_finish(&a);
        make(&b, &later, "zone", 6 * S, 3);
        merge_two(&m, &a, &b);
        ck_assert_uint_eq(m.n_ops[TRACE_OP_STACK_COPY], N);
        ck_assert_uint_eq(m.n_pairs, N);
        close_merged(&m);
}
END_TEST

START_TEST(test_merged_traces_merge)
{
        static const struct made two = { "two", "boot-2", "90000000000", "1700000006000000000", "2000000" };
        static const struct made again = { "two", "boot-2", "95000000000", "1700000011800000000", NULL };
        static struct trace_builder c;
        struct merged first, m;
        struct error err = ERROR_NONE;

        make(&a, &one, "here", 5 * S, 10);
        make(&b, &two, "there", 90 * S, 10);
        trace_builder_init(&c);
        make(&c, &again, "there", 95 * S, 10);
        merge_two(&first, &a, &b);
        ck_assert_int_eq(try_merge(&m, (const char *const[]){ c.path, first.path }, 2, &err), 0);
        read_back(&m);
        /* The third is exact against the second, which has the same boot, and only against that. */
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_RECORDINGS), 3);
        ck_assert_uint_eq(recording(&m, 1)->clock, TRACE_ALIGNMENT_REFERENCE);
        ck_assert_uint_eq(recording(&m, 3)->clock, TRACE_ALIGNMENT_SAME_BOOT);
        ck_assert_uint_eq(recording(&m, 3)->error_ns, 0);
        ck_assert_uint_eq(recording(&m, 2)->clock, TRACE_ALIGNMENT_REALTIME);
        ck_assert_uint_eq(recording(&m, 2)->error_ns, 3 * MS);
        ck_assert_uint_eq(m.first_ns, 89 * S);
        ck_assert_uint_eq(m.last_ns, 95 * S + 10 * MS);
        ck_assert_uint_eq(m.n_ops[TRACE_OP_ZONE_BEGIN], 30);
        ck_assert(has_string(&m, "worker@one"));
        ck_assert(!has_string(&m, "worker@one@one"));
        close_merged(&m);
        /* A recording that is in it already is not taken twice. */
        ck_assert_int_eq(try_merge(&m, (const char *const[]){ first.path, b.path }, 2, &err), -EEXIST);
        close_merged(&m);
        close_merged(&first);
        trace_builder_deinit(&c);
}
END_TEST

START_TEST(test_what_cannot_be_placed)
{
        static const struct made timeless = { "two", NULL, NULL, NULL, NULL };
        static struct trace_builder empty;
        struct error err = ERROR_NONE;
        struct merged m;

        make(&a, &one, "here", 5 * S, 10);
        make(&b, &timeless, "there", 90 * S, 10);
        trace_builder_init(&empty);
        begin(&empty, &timeless);
        trace_builder_finish(&empty);
        ck_assert_int_eq(try_merge(&m, (const char *const[]){ a.path, b.path }, 2, &err), -EINVAL);
        ck_assert_msg(strstr(err.text, b.path), "%s", err.text);
        close_merged(&m);
        ck_assert_int_eq(try_merge(&m, (const char *const[]){ a.path, a.path }, 2, &err), -EEXIST);
        close_merged(&m);
        /* One without events is nowhere, and no obstacle. */
        merge_two(&m, &empty, &a);
        ck_assert_uint_eq(m.n_ops[TRACE_OP_ZONE_BEGIN], 10);
        ck_assert_uint_eq(m.first_ns, 5 * S);
        close_merged(&m);
        trace_builder_deinit(&empty);
}
END_TEST

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* A file with a build-id and the kernel, a frame in each; the first frame is named @function, or not. */
static void add_code(struct trace_builder *to, const char *function)
{
        struct trace_module file = { .path = trace_builder_string(to, "/opt/app"),
                                     .build_id = trace_builder_string(to, "build"),
                                     .kind = TRACE_MODULE_FILE };
        struct trace_module kernel = { .path = trace_builder_string(to, "[kernel]"),
                                       .kind = TRACE_MODULE_KERNEL };
        uint32_t frame = trace_builder_frame(to, trace_builder_row(to, TRACE_TABLE_MODULES, &file), 0x10);

        (void)trace_builder_frame(to, trace_builder_row(to, TRACE_TABLE_MODULES, &kernel), 0x20);
        trace_builder_symbol(to, frame, function, 0);
}

static void add_sums(struct trace_builder *to, uint64_t value)
{
        uint32_t event = trace_builder_sample_event(to, "cycles");
        struct trace_counter early = { .event = event, .value = 1, .enabled_ns = 1, .running_ns = 1 };
        struct trace_counter counter = { .event = event, .value = value, .enabled_ns = 10, .running_ns = 5 };
        struct trace_loss loss = { .reason = TRACE_LOSS_THROTTLED, .count = value, .time_ns = 5 * S };
        struct trace_notice notice = { .notice = TRACE_NOTICE_ATTACHED };

        (void)trace_builder_row(to, TRACE_TABLE_COUNTERS, &early);
        (void)trace_builder_row(to, TRACE_TABLE_COUNTERS, &counter);
        (void)trace_builder_row(to, TRACE_TABLE_LOSSES, &loss);
        (void)trace_builder_row(to, TRACE_TABLE_NOTICES, &notice);
}

START_TEST(test_what_is_shared_and_what_is_not)
{
        static const struct made two = { "two", "boot-2", "90000000000", "1700000006000000000", "2000000" };
        const struct trace_counter *counter;
        struct merged m;
        uint64_t n_lost = 0;

        begin(&a, &one);
        add_code(&a, "run");
        add_sums(&a, 100);
        add_zones(&a, "same", "worker", 5 * S, 2);
        trace_builder_finish(&a);
        begin(&b, &two);
        add_code(&b, "another name");
        add_sums(&b, 20);
        add_zones(&b, "same", "worker", 90 * S, 2);
        trace_builder_finish(&b);
        merge_two(&m, &a, &b);
        /* The file is one, by its build-id; the kernels are two. */
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_MODULES), 3);
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_FRAMES), 3);
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_SYMBOLS), 1); /* the first name stays */
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_LOCATIONS), 1);
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_THREADS), 2);
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_NOTICES), 1);
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_COUNTERS), 1);
        counter = row(&m, TRACE_TABLE_COUNTERS, 1);
        ck_assert_uint_eq(counter->value, 120);
        ck_assert_uint_eq(counter->enabled_ns, 20);
        ck_assert_uint_eq(counter->running_ns, 10);
        for (uint32_t i = 1; i <= trace_dictionary_count(m.d, TRACE_TABLE_LOSSES); i++)
                n_lost += ((const struct trace_loss *)row(&m, TRACE_TABLE_LOSSES, i))->count;
        ck_assert_uint_eq(n_lost, 120);
        close_merged(&m);
}
END_TEST

START_TEST(test_a_name_that_only_the_second_has)
{
        static const struct made later = { "one", "boot-1", "6000000000", NULL, NULL };
        const struct trace_symbol *symbol;
        struct merged m;

        begin(&a, &one);
        add_code(&a, NULL);
        trace_builder_finish(&a);
        begin(&b, &later);
        add_code(&b, "run");
        trace_builder_finish(&b);
        merge_two(&m, &a, &b);
        symbol = row(&m, TRACE_TABLE_SYMBOLS, 2); /* a later row replaces an earlier one */
        ck_assert_uint_ne(symbol->function, 0);
        close_merged(&m);
}
END_TEST

/* A chip of no process, as an import makes it, with a core, a span, and a reading of CLOCK_MONOTONIC. */
static void add_chip(struct trace_builder *to, const char *space, uint64_t raw_ns)
{
        struct trace_device device = { .name = trace_builder_string(to, "chip 0") };
        struct trace_clock clock = { .ticks = raw_ns + 9, .raw_ns = raw_ns, .kind = TRACE_CLOCK_MONOTONIC };
        struct trace_import import = { .file = trace_builder_string(to, "log.csv"), .n_rows = raw_ns };
        struct trace_track track = { .number = 7, .kind = TRACE_TRACK_CORE };
        struct trace_import_loss loss = { .kind = trace_builder_string(to, "metric"), .count = 3 };
        struct trace_device_clock reading = { .ticks = 1, .raw_ns = raw_ns, .error_ns = 5, .epoch = 2 };
        uint32_t location = trace_builder_location(to, "kernel"), text = trace_builder_string(to, space);

        track.device = reading.device = trace_builder_row(to, TRACE_TABLE_DEVICES, &device);
        loss.import = trace_builder_row(to, TRACE_TABLE_IMPORTS, &import);
        (void)trace_builder_row(to, TRACE_TABLE_CLOCKS, &clock);
        (void)trace_builder_row(to, TRACE_TABLE_DEVICE_CLOCKS, &reading);
        (void)trace_builder_row(to, TRACE_TABLE_TRACKS, &track);
        (void)trace_builder_row(to, TRACE_TABLE_IMPORT_LOSSES, &loss);
        trace_builder_begin_run(to, trace_builder_thread(to, 1, 1));
        TRACE_BUILDER_ADD(to, raw_ns, DEVICE_SPAN, track.device, location, 1, 2, 7, UINT64_MAX, text, text);
        trace_builder_end_run(to);
}

/* Chips of one name in two traces are two; tracks, clocks, imports and keys go with theirs. */
START_TEST(test_devices_of_no_process_stay_apart)
{
        static const struct made two = { "two", "boot-2", "90000000000", "1700000006000000000", "2000000" };
        struct merged m;

        begin(&a, &one);
        add_chip(&a, "correlation", 5 * S);
        trace_builder_finish(&a);
        begin(&b, &two);
        add_chip(&b, "submission", 90 * S);
        trace_builder_finish(&b);
        merge_two(&m, &a, &b);
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_DEVICES), 2);
        ck_assert_uint_eq(m.n_spans, 2);
        for (uint32_t i = 1; i <= 2; i++) {
                const struct trace_device *device = row(&m, TRACE_TABLE_DEVICES, i);
                const struct trace_clock *clock = row(&m, TRACE_TABLE_CLOCKS, i);
                const struct trace_track *track = row(&m, TRACE_TABLE_TRACKS, i);
                const struct trace_device_clock *reading = row(&m, TRACE_TABLE_DEVICE_CLOCKS, i);
                const struct trace_import_loss *loss = row(&m, TRACE_TABLE_IMPORT_LOSSES, i);
                const struct trace_event *span = &m.spans[i - 1];

                ck_assert_uint_eq(device->recording, i);
                ck_assert_uint_eq(clock->recording, i);
                ck_assert_uint_eq(track->device, i);
                ck_assert_uint_eq(reading->device, i);
                ck_assert_uint_eq(reading->error_ns, 5);
                ck_assert_uint_eq(reading->epoch, 2);
                ck_assert_uint_eq(reading->raw_ns, span->time_ns); /* both were moved */
                ck_assert_uint_eq(clock->raw_ns, span->time_ns);
                ck_assert_uint_eq(loss->import, i);
                ck_assert_uint_eq(span->device_span.device, i);
                ck_assert_uint_eq(span->device_span.key, UINT64_MAX);
                ck_assert(text_view_is(trace_dictionary_text(m.d, (uint32_t)span->device_span.space),
                                       i == 1 ? "correlation" : "submission"));
                ck_assert_uint_eq(span->device_span.text, span->device_span.space);
        }
        close_merged(&m);
}
END_TEST

/* An attachment of which the first trace has the beginning and the second all of it. */
START_TEST(test_attachments_are_completed)
{
        static const struct made later = { "one", "boot-1", "6000000000", NULL, NULL };
        uint64_t n_bytes = 0;
        struct trace_item item;
        struct merged m;

        begin(&a, &one);
        trace_builder_attachment_part(&a, trace_builder_attachment(&a, "x.c", 10), 0, "0123", 4);
        trace_builder_finish(&a);
        begin(&b, &later);
        (void)trace_builder_attachment(&b, "x.c", 10);
        trace_builder_attachment_part(&b, 1, 0, "01234", 5);
        trace_builder_attachment_part(&b, 1, 5, "56789", 5);
        trace_builder_finish(&b);
        merge_two(&m, &a, &b);
        ck_assert_uint_eq(trace_dictionary_count(m.d, TRACE_TABLE_ATTACHMENTS), 1);
        ck_assert_int_eq(trace_reader_rewind(m.reader, NULL), 0);
        while (trace_reader_next(m.reader, &item, NULL) == 1)
                if (item.header.kind == TRACE_CHUNK_ATTACHMENT)
                        n_bytes += item.body_bytes - 2; /* of two varints before the bytes */
        ck_assert_uint_eq(n_bytes, 10);
        close_merged(&m);
}
END_TEST

/* ---- damage -------------------------------------------------------------------------------------------- */

static void write_part(char *path, const struct byte_buffer *bytes, size_t n, size_t flip)
{
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        bytes->data[flip] ^= 0x55;
        ck_assert_int_eq(io_write_all(fd, bytes->data, n, NULL), 0);
        bytes->data[flip] ^= 0x55;
        (void)close(fd);
}

/* Cut at every 7th byte, and every 7th byte changed: the result is a whole trace, or it is refused. */
START_TEST(test_cut_and_damaged_traces)
{
        struct byte_buffer bytes = { .data = NULL };
        uint64_t n_merged = 0, n_refused = 0;
        int fd = memfd_create("part", MFD_CLOEXEC);
        char path[40];

        ck_assert_int_ge(fd, 0);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        begin(&a, &(struct made){ "one", NULL, NULL, NULL, NULL });
        trace_builder_finish(&a); /* without events: anything can be placed beside it */
        small_trace_build(&b);
        ck_assert_int_eq(io_read_file(AT_FDCWD, b.path, 1 << 20, &bytes, NULL), 0);
        for (size_t i = 0; i < 2 * bytes.used_bytes; i += 7) {
                struct error err = ERROR_NONE;
                struct merged m;
                bool is_cut = i < bytes.used_bytes;

                write_part(path, &bytes, is_cut ? i : bytes.used_bytes, is_cut ? i : i - bytes.used_bytes);
                if (try_merge(&m, (const char *const[]){ a.path, path }, 2, &err) == 0) {
                        read_back(&m);
                        ck_assert(has_notice(&m, TRACE_NOTICE_MERGED_PART) || i + 64 >= bytes.used_bytes);
                        n_merged++;
                } else {
                        ck_assert_str_ne(err.text, "");
                        n_refused++;
                }
                close_merged(&m);
        }
        ck_assert_uint_gt(n_merged, 100);
        ck_assert_uint_gt(n_refused, 0);
        byte_buffer_deinit(&bytes);
        (void)close(fd);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
