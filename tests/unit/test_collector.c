/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/collector.c: from records and zones to a whole trace, in which each thread's stream is in
 * order and nothing is lost
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"
#include "instrument/region_inbox.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/merge/collector.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/stacks/stack_unwinder.h"
#include "tests/unit/event_list.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/fake_program.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/kernel_record.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <hyprof/hyprof.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PID      500
#define GONE_PID UINT32_C(0x7ffffff0)
#define CODE     0x400000
#define GAP_NS   (200 * NS_PER_US) /* far wider than the error of converted ticks */

static const uint32_t sample_events[] = { 1, 2 };

struct fixture {
        int fd; /* memfd */
        struct trace_writer *writer;
        struct writer_thread *writer_thread;
        struct trace_dictionary dictionary;
        struct event_set events;
        struct region_inbox inbox;
        struct collector merge;
        struct byte_buffer record; /* on its way into a ring */

        struct trace_reader *reader; /* after finish() */
        const struct trace_dictionary *rows;
        struct event_list list;
};

static struct fixture f;

static void set_up(void)
{
        struct trace_sample_event sampled = { .mode = TRACE_SAMPLE_MODE_PERIOD };
        const struct recording recording = {
                .dictionary = &f.dictionary,
                .events = &f.events,
                .sample_events = sample_events,
        };
        struct collector_options options = {
                .unwinder = { .mode = UNWIND_FP },
                .families = CLIENT_ABI_FAMILIES,
                .inbox = &f.inbox,
        };
        uint32_t id;

        memset(&f, 0, sizeof(f));
        f.inbox.fd = -1;
        f.fd = memfd_create("trace", MFD_CLOEXEC);
        ck_assert_int_eq(trace_writer_new(f.fd, &f.writer, NULL), 0);
        ck_assert_int_eq(writer_thread_start(f.writer, -1, -1, &f.writer_thread, NULL), 0);
        trace_dictionary_init(&f.dictionary, 0);
        for (sampled.rate = 1; sampled.rate <= 2; sampled.rate++)
                ck_assert_int_eq(
                        trace_dictionary_add(&f.dictionary, TRACE_TABLE_SAMPLE_EVENTS, &sampled, &id), 0);
        fake_events_open(&f.events, PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_CALLCHAIN);
        options.writer = f.writer_thread;
        ck_assert_int_eq(collector_init(&f.merge, &recording, &options, NULL), 0);
        f.merge.pace.throttle.share_max = 1; /* a busy machine leaves no samples out */
}

static void cycle(bool final)
{
        struct error err = ERROR_NONE;

        ck_assert_msg(collector_cycle(&f.merge, final, &err) == 0, "%s", err.text);
}

/* Merges the rest, ends the trace and reads it back. */
static void finish(void)
{
        struct error err = ERROR_NONE;
        char path[40];

        cycle(true);
        ck_assert_msg(writer_thread_join(f.writer_thread, &err) == 0, "%s", err.text);
        ck_assert_int_eq(trace_writer_finish(f.writer, NULL), 0);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd);
        ck_assert_msg(trace_reader_open(path, &f.reader, &err) == 0, "%s", err.text);
        event_list_read(&f.list, f.reader);
        f.rows = trace_reader_dictionary(f.reader);
}

static void tear_down(void)
{
        event_list_deinit(&f.list);
        trace_reader_close(f.reader);
        collector_deinit(&f.merge);
        event_set_close(&f.events);
        trace_dictionary_deinit(&f.dictionary);
        trace_writer_free(f.writer);
        byte_buffer_deinit(&f.record);
        io_close(&f.fd);
}

static struct kernel_record_identity at(uint32_t pid, uint32_t tid, uint64_t time_ns)
{
        return (struct kernel_record_identity){
                .pid = pid, .tid = tid, .time_ns = time_ns, .cpu = 1, .event = FAKE_EVENT_TRACKER
        };
}

static void into(size_t ring)
{
        fake_ring_take(&f.events.rings[ring], &f.record);
}

static void put_sample(const struct kernel_record_identity *identity, uint64_t avma)
{
        const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, avma, CODE + 0x500 };
        struct kernel_record_sample sample = {
                .identity = *identity, .ip_avma = avma, .period = 1009, .chain = chain, .n_chain = 3
        };

        sample.identity.event = FAKE_EVENT_SPEC_0;
        kernel_record_add_sample(&f.record, &sample);
        into(FAKE_SAMPLES_1);
}

static void put_comm(const struct kernel_record_identity *identity, const char *name)
{
        kernel_record_add_comm(&f.record, identity, name, false);
        into(FAKE_TRACKER_0);
}

static void put_mapping(const struct kernel_record_identity *identity, const char *path, bool executable)
{
        struct perf_mmap mapping = { .start_avma = CODE,
                                     .length_bytes = 0x1000,
                                     .inode = 7,
                                     .executable = executable,
                                     .path = path,
                                     .path_bytes = strlen(path) };

        kernel_record_add_mmap2(&f.record, identity, &mapping);
        into(FAKE_TRACKER_0);
}

/* The only row of a thread with this number; 0 if there is none, or there are more. */
static uint32_t thread_of(uint32_t tid)
{
        uint32_t found = 0;

        for (uint32_t id = 1; id <= trace_dictionary_count(f.rows, TRACE_TABLE_THREADS); id++) {
                const struct trace_thread *row = trace_dictionary_row(f.rows, TRACE_TABLE_THREADS, id);

                if (row->tid != tid)
                        continue;
                if (found != 0)
                        return 0;
                found = id;
        }
        return found;
}

static const struct trace_event *get(uint32_t thread, size_t n, enum trace_op op)
{
        const struct trace_event *event = event_list_get(&f.list, thread, n);

        ck_assert_msg(event != NULL, "there is no event %zu", n);
        ck_assert_msg(event->op == op, "event %zu has op %u, not %u", n, (unsigned)event->op, (unsigned)op);
        return event;
}

static bool is_text(uint64_t string, const char *text)
{
        size_t n_bytes;
        const char *bytes = trace_dictionary_string(f.rows, (uint32_t)string, &n_bytes);

        return n_bytes == strlen(text) && memcmp(bytes, text, n_bytes) == 0;
}

static uint64_t lost(enum trace_loss_reason reason)
{
        uint64_t n = 0;

        for (uint32_t id = 1; id <= trace_dictionary_count(f.rows, TRACE_TABLE_LOSSES); id++) {
                const struct trace_loss *row = trace_dictionary_row(f.rows, TRACE_TABLE_LOSSES, id);

                n += row->reason == reason ? row->count : 0;
        }
        return n;
}

/* Two threads on two CPUs, from their names to their ends. */
START_TEST(test_kernel_records)
{
        struct kernel_record_identity start = at(PID, PID, 10), mapped = at(PID, PID, 20),
                                      first = at(PID, PID, 30), in = at(PID, PID, 5),
                                      second = at(PID, PID + 1, 40), out = at(PID, PID, 50),
                                      forked = at(PID, PID + 1, 35), end = at(PID, PID, 60);
        const struct trace_event *sample;
        const struct trace_stack *stack;
        const struct trace_frame *frame;
        uint32_t thread;

        kernel_record_add_switch(&f.record, &in, false, false);
        into(FAKE_SAMPLES_0);
        put_comm(&start, "main");
        put_mapping(&mapped, "/bin/true", true);
        put_sample(&first, CODE + 0x10);
        kernel_record_add_fork(&f.record, &forked, PID, PID);
        into(FAKE_TRACKER_0);
        put_sample(&second, CODE + 0x20);
        kernel_record_add_switch(&f.record, &out, true, true);
        into(FAKE_SAMPLES_0);
        kernel_record_add_exit(&f.record, &end);
        into(FAKE_TRACKER_1);
        finish();

        thread = thread_of(PID);
        ck_assert_uint_ne(thread, 0);
        ck_assert_uint_eq(get(thread, 0, TRACE_OP_SWITCH_IN)->time_ns, 5);
        ck_assert(is_text(get(thread, 1, TRACE_OP_THREAD_NAME)->thread_name.name, "main"));
        sample = get(thread, 2, TRACE_OP_SAMPLE);
        ck_assert_uint_eq(sample->time_ns, 30);
        ck_assert_uint_eq(sample->sample.event, 1);
        ck_assert_uint_eq(sample->sample.cpu, 1);
        ck_assert_uint_eq(sample->sample.path, 0);
        ck_assert_uint_eq(sample->sample.weight, 1009);
        stack = trace_dictionary_row(f.rows, TRACE_TABLE_STACKS, (uint32_t)sample->sample.stack);
        frame = trace_dictionary_row(f.rows, TRACE_TABLE_FRAMES, stack->frame);
        ck_assert_uint_eq(frame->offset, 0x10);
        ck_assert_uint_ne(stack->parent, 0);
        ck_assert_uint_eq(get(thread, 3, TRACE_OP_SWITCH_OUT)->switch_out.preempted, 1);
        ck_assert_uint_eq(get(thread, 4, TRACE_OP_THREAD_EXIT)->time_ns, 60);
        ck_assert_ptr_null(event_list_get(&f.list, thread, 5));

        thread = thread_of(PID + 1);
        ck_assert(is_text(get(thread, 0, TRACE_OP_THREAD_NAME)->thread_name.name, "main"));
        ck_assert_uint_eq(get(thread, 1, TRACE_OP_SAMPLE)->time_ns, 40);
        ck_assert_uint_eq(f.list.n_events, 7);
        ck_assert_uint_eq(trace_dictionary_count(f.rows, TRACE_TABLE_PROCESSES), 1);
        ck_assert_uint_eq(trace_dictionary_count(f.rows, TRACE_TABLE_LOSSES), 0);
        ck_assert_uint_eq(f.merge.processes.n_threads, 1); /* the other one was forgotten */
}
END_TEST

/* An event that is too young for a cycle waits for a later one. */
START_TEST(test_watermark)
{
        uint64_t now_ns = clock_raw_ns();
        struct kernel_record_identity past = at(PID, PID, now_ns - NS_PER_S),
                                      future = at(PID, PID, now_ns + 3600 * NS_PER_S);

        put_sample(&past, CODE);
        put_sample(&future, CODE);
        cycle(false);
        ck_assert_uint_eq(f.merge.samples.n_samples, 1);
        cycle(false);
        ck_assert_uint_eq(f.merge.samples.n_samples, 1);
        finish();
        ck_assert_uint_eq(f.merge.samples.n_samples, 2);
        ck_assert_uint_eq(f.list.n_events, 2);
        ck_assert_uint_eq(get(0, 1, TRACE_OP_SAMPLE)->time_ns, future.time_ns);
}
END_TEST

/* The number of one that has ended is given to another: a process and a thread of their own. */
START_TEST(test_reused_number)
{
        struct kernel_record_identity first = at(PID, PID, 10), end = at(PID, PID, 20),
                                      second = at(PID, PID, 30);

        put_sample(&first, CODE);
        kernel_record_add_exit(&f.record, &end);
        into(FAKE_TRACKER_0);
        cycle(false);
        ck_assert_uint_eq(f.merge.processes.n_threads, 0);
        put_sample(&second, CODE);
        finish();
        ck_assert_uint_eq(trace_dictionary_count(f.rows, TRACE_TABLE_PROCESSES), 2);
        ck_assert_uint_eq(trace_dictionary_count(f.rows, TRACE_TABLE_THREADS), 2);
        ck_assert_uint_eq(get(1, 1, TRACE_OP_THREAD_EXIT)->time_ns, 20);
        ck_assert_uint_eq(get(2, 0, TRACE_OP_SAMPLE)->time_ns, 30);
}
END_TEST

/* Losses are in the trace, each once, however often it was flushed. */
START_TEST(test_losses)
{
        struct kernel_record_identity when = at(PID, PID, 10);

        for (int i = 0; i < 2; i++) {
                kernel_record_add_lost(&f.record, &when, 40);
                kernel_record_add_other(&f.record, &when, PERF_RECORD_THROTTLE);
                into(FAKE_SAMPLES_0);
                cycle(true);
        }
        finish();
        ck_assert_uint_eq(lost(TRACE_LOSS_KERNEL_RING_FULL), 80);
        ck_assert_uint_eq(lost(TRACE_LOSS_THROTTLED), 2);
}
END_TEST

/*
 * loop test: at the end the kernel itself counts as many losses as its records said, more,
 * fewer, or cannot be asked
 */
START_LOOP_TEST(test_last_losses, 0, 5)
{
        static const struct {
                uint64_t said, counted, expected;
        } cases[] = { { 40, 40, 40 }, { 40, 47, 47 }, { 0, 7, 7 }, { 40, 6, 40 }, { 40, UINT64_MAX, 40 } };
        uint64_t said = cases[_i].said, counted = cases[_i].counted;
        struct kernel_record_identity when = at(PID, PID, 10);

        if (said > 0) {
                kernel_record_add_lost(&f.record, &when, said);
                into(FAKE_SAMPLES_0);
        }
        cycle(false);
        for (size_t i = 0; i < f.events.n_handles && counted != UINT64_MAX; i++)
                fake_events_count(&f.events, i, i == 1 ? counted : 0);
        finish();
        ck_assert_uint_eq(lost(TRACE_LOSS_KERNEL_RING_FULL), cases[_i].expected);
}
END_TEST

/* ---- with a program: this one ------------------------------------------------------------------------- */

/* Zones are stamped with another clock than records: what comes after something comes well after it. */
static void gap(void)
{
        uint64_t end_ns = clock_raw_ns() + GAP_NS;

        while (clock_raw_ns() < end_ns)
                ;
}

/* The kernel reports this process and its region. */
static void announce(void)
{
        struct kernel_record_identity self = at((uint32_t)getpid(), (uint32_t)gettid(),
                                                clock_raw_ns() - NS_PER_S);

        put_comm(&self, "self");
        put_mapping(&self, "/memfd:hyprof-client (deleted)", false);
        cycle(false);
        cycle(false); /* those that were handed in before it come first */
        ck_assert_uint_eq(f.merge.zones.n_regions, 1);
        ck_assert_int_eq(hyprof_is_recording(), 1);
}

/* A sample of this thread, now; and if @cycles, what was up to now is merged as far as it is old enough. */
static void sample_now(bool cycles)
{
        struct kernel_record_identity self = at((uint32_t)getpid(), (uint32_t)gettid(), 0);

        gap();
        self.time_ns = clock_raw_ns();
        put_sample(&self, CODE);
        gap();
        if (cycles)
                cycle(false);
}

/* The zone path of the sample is these names, from the outermost inwards. */
static void expect_path(const struct trace_event *sample, const char *const *names, size_t n)
{
        uint64_t path = sample->sample.path;

        for (; n > 0; n--) {
                const struct trace_zone_path *row;
                const struct trace_location *location;

                ck_assert_uint_ne(path, 0);
                row = trace_dictionary_row(f.rows, TRACE_TABLE_ZONE_PATHS, (uint32_t)path);
                location = trace_dictionary_row(f.rows, TRACE_TABLE_LOCATIONS, row->location);
                ck_assert(is_text(location->name, names[n - 1]));
                path = row->parent;
        }
        ck_assert_uint_eq(path, 0);
}

/* loop test: all merged at the end, or a little at a time; every sample meets the zones of its instant */
START_LOOP_TEST(test_samples_in_zones, 0, 2)
{
        static const char *const names[] = { "outer", "inner" };
        uint64_t last_ns = 0;
        uint32_t thread;

        announce();
        sample_now(_i);
        {
                HYPROF_ZONE("outer");
                sample_now(_i);
                {
                        HYPROF_ZONE("inner");
                        sample_now(_i);
                        hyprof_message("here", 4, HYPROF_SEVERITY_INFO, 0);
                }
                sample_now(_i);
        }
        sample_now(_i);
        finish();

        thread = thread_of((uint32_t)gettid());
        (void)get(thread, 0, TRACE_OP_THREAD_NAME);
        expect_path(get(thread, 1, TRACE_OP_SAMPLE), names, 0);
        (void)get(thread, 2, TRACE_OP_ZONE_BEGIN);
        expect_path(get(thread, 3, TRACE_OP_SAMPLE), names, 1);
        (void)get(thread, 4, TRACE_OP_ZONE_BEGIN);
        expect_path(get(thread, 5, TRACE_OP_SAMPLE), names, 2);
        ck_assert_str_eq(get(thread, 6, TRACE_OP_MESSAGE_TEXT)->text, "here");
        (void)get(thread, 7, TRACE_OP_ZONE_END);
        expect_path(get(thread, 8, TRACE_OP_SAMPLE), names, 1);
        (void)get(thread, 9, TRACE_OP_ZONE_END);
        expect_path(get(thread, 10, TRACE_OP_SAMPLE), names, 0);
        ck_assert_ptr_null(event_list_get(&f.list, thread, 11));
        for (size_t i = 0; i < 11; i++) {
                ck_assert_uint_ge(event_list_get(&f.list, thread, i)->time_ns, last_ns);
                last_ns = event_list_get(&f.list, thread, i)->time_ns;
        }
        /* The address is made up: in the maps, read as no mapping was announced, it is in no code. */
        for (uint32_t id = 1; id <= trace_dictionary_count(f.rows, TRACE_TABLE_LOSSES); id++) {
                const struct trace_loss *loss = trace_dictionary_row(f.rows, TRACE_TABLE_LOSSES, id);

                ck_assert_uint_eq(loss->reason, TRACE_LOSS_STACK_LEFT_CODE);
        }
        ck_assert_uint_eq(f.merge.n_zones, 2);
}
END_TEST

/*
 * As long as the region of a process waits to be read, its samples and its threads that have ended wait too.
 */
START_TEST(test_region_waits)
{
        const uint32_t pid = (uint32_t)getpid(), tid = UINT32_C(0x7ffffff0);
        uint64_t past_ns = clock_raw_ns() - NS_PER_S;
        struct kernel_record_identity self = at(pid, pid, past_ns), other = at(pid, tid, past_ns + 10),
                                      end = at(pid, tid, past_ns + 20);
        struct process_track *process;

        put_comm(&self, "self");
        put_mapping(&self, "/memfd:hyprof-client (deleted)", false);
        put_sample(&other, CODE);
        kernel_record_add_exit(&f.record, &end);
        into(FAKE_TRACKER_0);

        cycle(false);
        ck_assert_uint_eq(f.merge.zones.n_regions, 0);
        ck_assert_ptr_nonnull(process_table_find_thread(&f.merge.processes, tid));
        ck_assert_uint_eq(process_table_find_thread(&f.merge.processes, tid)->n_pending, 2);
        process = process_table_find_process(&f.merge.processes, pid);
        process->held_ns = past_ns + 10; /* as of a sample that waits for its unwind table */
        cycle(false);
        ck_assert_uint_eq(f.merge.zones.n_regions, 1);
        ck_assert_uint_eq(process_table_find_thread(&f.merge.processes, tid)->n_pending, 2);
        process->held_ns = UINT64_MAX;
        cycle(false);
        ck_assert_ptr_null(process_table_find_thread(&f.merge.processes, tid));
        finish();
        (void)get(thread_of(tid), 0, TRACE_OP_SAMPLE);
        (void)get(thread_of(tid), 1, TRACE_OP_THREAD_EXIT);
}
END_TEST

static size_t count(uint32_t thread, enum trace_op op)
{
        size_t n = 0;

        for (size_t i = 0; i < f.list.n_events; i++)
                n += f.list.events[i].thread == thread && f.list.events[i].event.op == op;
        return n;
}

static void *emit(void *context)
{
        uint32_t *tid = context;

        *tid = (uint32_t)gettid();
        hyprof_thread_name("emitter");
        for (int i = 0; i < 100; i++) {
                HYPROF_ZONE("elsewhere");
        }
        return NULL;
}

/* Events of a thread that the kernel did not report, and that has ended, are counted, and make no row. */
START_TEST(test_thread_without_records)
{
        pthread_t emitter;
        uint32_t tid;

        announce();
        ck_assert_int_eq(pthread_create(&emitter, NULL, emit, &tid), 0);
        ck_assert_int_eq(pthread_join(emitter, NULL), 0);
        /* The kernel wakes us a moment before the thread leaves /proc, where the collector looks for it. */
        while (tgkill(getpid(), (pid_t)tid, 0) == 0)
                sched_yield();
        finish();

        ck_assert_uint_eq(thread_of(tid), 0);
        ck_assert_uint_ge(lost(TRACE_LOSS_THREAD_UNKNOWN), 200);
        ck_assert_uint_eq(lost(TRACE_LOSS_ZONE_UNBALANCED), 0);
}
END_TEST

/* Puts a word into our own ring that no function of the library would put there. */
static void scribble(uint64_t ticks_low, enum client_abi_event event)
{
        thread_ring_put_word(&thread_ring_self, thread_ring_pack(ticks_low, 0, event));
}

/* Stamps that no clock can have given are passed over and counted; what comes after them is merged. */
START_TEST(test_future_is_not_believed)
{
        uint32_t thread, high;

        announce();
        {
                HYPROF_ZONE("before");
        }
        high = (uint32_t)(thread_ring_self.last_ticks >> 32);
        scribble(high + 100000, CLIENT_ABI_EVENT_TIME);
        for (int i = 0; i < 3; i++)
                scribble(0, CLIENT_ABI_EVENT_FRAME_MARK);
        scribble(high, CLIENT_ABI_EVENT_TIME);
        thread_ring_publish(&thread_ring_self);
        {
                HYPROF_ZONE("after");
        }
        finish();

        thread = thread_of((uint32_t)gettid());
        ck_assert_uint_eq(count(thread, TRACE_OP_ZONE_BEGIN), 2);
        ck_assert_uint_eq(count(thread, TRACE_OP_ZONE_END), 2);
        ck_assert_uint_eq(count(thread, TRACE_OP_FRAME_MARK), 0);
        ck_assert_uint_eq(lost(TRACE_LOSS_CLIENT_GARBAGE), 3 * sizeof(uint64_t));
}
END_TEST

/* Stamps are right where the recorder stood still for seconds after it had looked at the clock. */
START_TEST(test_recorder_stood_still)
{
        struct zone_source *zones = &f.merge.zones;
        struct client_event event;
        struct zone_slot *slot;
        uint64_t time_ns;
        bool more;

        announce();
        {
                HYPROF_ZONE("early");
        }
        cycle(false);
        {
                HYPROF_ZONE("late");
        }
        slot = &zones->regions[0].slots[thread_ring_self.track];
        ck_assert_int_eq(zone_source_fill(zones, &zones->regions[0], thread_ring_self.track, &more), 1);
        zones->now_ns -= 10 * NS_PER_S;
        ck_assert_int_eq(zone_source_peek(zones, &zones->regions[0], slot, &event, &time_ns), 1);
        ck_assert_uint_eq(slot->stream.n_garbage_bytes, 0);
        zones->now_ns += 10 * NS_PER_S;
        finish();
        ck_assert_uint_eq(lost(TRACE_LOSS_CLIENT_GARBAGE), 0);
}
END_TEST

/* Rows come before the events that refer to them: texts of the program's, and the threads that fibers are. */
START_TEST(test_whole_trace)
{
        uint64_t early_ns = clock_raw_ns() - NS_PER_S;
        struct kernel_record_identity self = at(PID, PID, early_ns), end = at(PID, PID, early_ns + 100),
                                      other = at(PID, PID + 1, early_ns),
                                      other_end = at(PID, PID + 1, early_ns + 50);
        static struct fake_program program;
        uint32_t fiber, left;

        put_comm(&self, "self");
        put_comm(&other, "other");
        cycle(false);
        fake_program_start(&program, PID);
        ck_assert_int_eq(zone_source_receive(&f.merge.zones, PID, fake_program_fd(&program)), 0);
        fiber = fake_program_name(&program, "fiber");
        fake_program_thread(&program, 0, early_ns + 1, PID);
        left = fake_program_name(&program, "left");
        fake_program_enter(&program, 0, early_ns + 2, left, 0);
        fake_program_leave(&program, 0, early_ns + 3);
        fake_program_enter(&program, 0, early_ns + 4, fiber, 0);
        fake_program_begin(&program, 0, early_ns + 5, fiber);
        fake_program_attach_source(&program, early_ns + 6, 'a');
        kernel_record_add_exit(&f.record, &end);
        into(FAKE_TRACKER_0);
        kernel_record_add_exit(&f.record, &other_end); /* ends before, and is looked at after */
        into(FAKE_TRACKER_1);
        cycle(false);
        finish(); /* the reader checks every id as it comes */

        ck_assert_uint_eq(trace_dictionary_count(f.rows, TRACE_TABLE_ATTACHMENTS), 1);
        ck_assert_uint_eq(trace_dictionary_count(f.rows, TRACE_TABLE_THREADS), 4);
        ck_assert_uint_eq(get(4, 2, TRACE_OP_ZONE_BEGIN)->time_ns, early_ns + 5);
        (void)get(4, 3, TRACE_OP_SWITCH_OUT);
        ck_assert_uint_eq(get(4, 4, TRACE_OP_THREAD_EXIT)->time_ns, early_ns + 100); /* with its program */
        ck_assert_ptr_null(event_list_get(&f.list, 4, 5));
        ck_assert_uint_eq(get(3, 3, TRACE_OP_THREAD_EXIT)->time_ns,
                          early_ns + 100); /* so does the one that no thread is on */
        (void)get(1, 4, TRACE_OP_FIBER_LEAVE);
        ck_assert_uint_eq(get(1, 5, TRACE_OP_THREAD_EXIT)->time_ns, early_ns + 100);
        ck_assert_uint_eq(trace_dictionary_count(f.rows, TRACE_TABLE_LOSSES), 0);
        ck_assert_uint_eq(f.merge.processes.n_fibers, 0);
        fake_program_end(&program);
}
END_TEST

/* A region from a process that the kernel did not report is never opened, and counted in the end. */
START_TEST(test_strangers_wait_in_vain)
{
        int handed_in[2];
        char byte;

        ck_assert_int_eq(pipe2(handed_in, O_CLOEXEC), 0);
        ck_assert_int_eq(zone_source_receive(&f.merge.zones, PID + 7, handed_in[1]), 0);
        cycle(false);
        ck_assert_uint_eq(f.merge.zones.n_waiting, 1);
        ck_assert_uint_eq(f.merge.zones.n_regions, 0);
        finish();
        ck_assert_int_eq(read(handed_in[0], &byte, 1), 0); /* its end is closed */
        (void)close(handed_in[0]);
        ck_assert_uint_eq(lost(TRACE_LOSS_CLIENT_REFUSED), 1);
}
END_TEST

/* A table takes no more rows than it has now. */
static void fill_table(enum trace_table table)
{
        struct intern *rows = &f.dictionary.tables[table - TRACE_TABLE_FIRST];

        rows->n_items_max = rows->n_items;
}

/* Zones without room for their names stay zones; a thread without room is lost, not the recording. */
START_TEST(test_full_tables)
{
        pthread_t emitter;
        uint32_t tid, thread;

        announce();
        fill_table(TRACE_TABLE_LOCATIONS);
        fill_table(TRACE_TABLE_THREADS);
        {
                HYPROF_ZONE("outer");
                {
                        HYPROF_ZONE("inner");
                }
        }
        ck_assert_int_eq(pthread_create(&emitter, NULL, emit, &tid), 0);
        ck_assert_int_eq(pthread_join(emitter, NULL), 0);
        finish();
        thread = thread_of((uint32_t)gettid());
        ck_assert_uint_eq(count(thread, TRACE_OP_ZONE_BEGIN), 2);
        ck_assert_uint_eq(count(thread, TRACE_OP_ZONE_END), 2);
        ck_assert_uint_eq(thread_of(tid), 0);
        ck_assert_uint_ge(lost(TRACE_LOSS_THREAD_UNKNOWN), 200);
}
END_TEST

/* A ring names a thread that the kernel knows as another process's: its zones are not put on it. */
START_TEST(test_foreign_thread)
{
        uint64_t early_ns = clock_raw_ns() - 2 * NS_PER_S;
        struct kernel_record_identity victim = at(PID, (uint32_t)gettid(), early_ns),
                                      self = at((uint32_t)getpid(), UINT32_C(0x7ffffff0), early_ns + 1);
        uint32_t thread;

        put_comm(&victim, "victim");
        put_comm(&self, "self");
        put_mapping(&self, "/memfd:hyprof-client (deleted)", false);
        cycle(false);
        cycle(false);
        ck_assert_int_eq(hyprof_is_recording(), 1);
        {
                HYPROF_ZONE("imputed");
        }
        finish();
        thread = thread_of((uint32_t)gettid());
        (void)get(thread, 0, TRACE_OP_THREAD_NAME);
        ck_assert_ptr_null(event_list_get(&f.list, thread, 1));
        ck_assert_uint_ge(lost(TRACE_LOSS_THREAD_UNKNOWN), 2);
}
END_TEST

/* A process that ended before its region could be opened, and had handed it in before that: none is lost. */
START_TEST(test_region_comes_after_its_end)
{
        struct kernel_record_identity when = at(GONE_PID, GONE_PID, 10);
        static struct fake_program program;

        fake_program_start(&program, GONE_PID);
        put_comm(&when, "gone");
        put_mapping(&when, "/memfd:hyprof-client (deleted)", false);
        for (int i = 0; i < 4; i++) {
                f.merge.pace.accounted_ns = 0; /* each cycle settles its accounts */
                if (i == 1)
                        ck_assert_int_eq(
                                zone_source_receive(&f.merge.zones, GONE_PID, fake_program_fd(&program)), 0);
                cycle(false);
        }
        finish();
        ck_assert_uint_eq(lost(TRACE_LOSS_CLIENT_GONE), 0);
        ck_assert_uint_eq(lost(TRACE_LOSS_CLIENT_REFUSED), 0);
        fake_program_end(&program);
}
END_TEST

/* A process that announced a region and was gone before it could be opened. */
START_TEST(test_region_gone)
{
        struct kernel_record_identity when = at(GONE_PID, GONE_PID, 10);

        put_mapping(&when, "/memfd:hyprof-client (deleted)", false);
        finish();
        ck_assert_uint_eq(lost(TRACE_LOSS_CLIENT_GONE), 1);
        ck_assert_uint_eq(f.merge.zones.n_regions, 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
