/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/collector.c: the first chunks are written soon, a failed write ends it, a program that keeps
 * it behind lowers its priority
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"
#include "instrument/client_abi.h"
#include "instrument/region_inbox.h"
#include "sampler/merge/collector.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/pace/pace.h"
#include "sampler/rights/thread_priority.h"
#include "sampler/stacks/stack_unwinder.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/fake_program.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/kernel_record.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PID          500
#define CODE         0x400000
#define LOWER_NICE   7
#define FIRST_AGE_NS (20 * NS_PER_MS)

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
};

static struct fixture f;

static void set_up(void)
{
        const struct recording recording = {
                .dictionary = &f.dictionary,
                .events = &f.events,
                .sample_events = sample_events,
                .stop_fd = -1,
        };
        struct collector_options options = {
                .unwinder = { .mode = UNWIND_FP },
                .families = CLIENT_ABI_FAMILIES,
                .inbox = &f.inbox,
                .priority = LOWER_NICE,
        };

        memset(&f, 0, sizeof(f));
        f.inbox.fd = -1;
        f.fd = memfd_create("trace", MFD_CLOEXEC);
        ck_assert_int_eq(trace_writer_new(f.fd, &f.writer, NULL), 0);
        ck_assert_int_eq(writer_thread_start(f.writer, -1, -1, &f.writer_thread, NULL), 0);
        trace_dictionary_init(&f.dictionary, 0);
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

static void finish(void)
{
        cycle(true);
        ck_assert_int_eq(writer_thread_join(f.writer_thread, NULL), 0);
}

static void tear_down(void)
{
        byte_buffer_deinit(&f.record);
        collector_deinit(&f.merge);
        event_set_close(&f.events);
        trace_dictionary_deinit(&f.dictionary);
        trace_writer_free(f.writer);
        io_close(&f.fd);
}

/* Who is killed early leaves something as well. */
START_TEST(test_first_chunks_come_soon)
{
        for (uint64_t age_ns = FIRST_AGE_NS; age_ns <= 4 * FIRST_AGE_NS; age_ns *= 2) {
                while (clock_raw_ns() < f.merge.pace.flushed_ns + age_ns)
                        ;
                cycle(false);
                ck_assert_uint_eq(f.merge.pace.flushed_ns, f.merge.pace.cycled_ns);
        }
        finish();
}
END_TEST

/* It does so when a program has left work to the next cycle for five seconds on end, not before. */
START_TEST(test_priority_falls_back)
{
        int before = thread_priority_get();
        struct fake_program program;
        struct thread_track *thread;

        ck_assert_int_eq(process_table_add_thread(&f.merge.processes, PID, PID, 0, clock_raw_ns(), &thread),
                         0);
        fake_program_start(&program, PID);
        ck_assert_int_eq(zone_source_receive(&f.merge.zones, PID, fake_program_fd(&program)), 0);
        f.merge.pace.region_max_ns = 0; /* too little for anything */
        cycle(false);
        cycle(false);
        ck_assert_uint_eq(f.merge.zones.n_regions, 1);
        ck_assert_uint_ne(f.merge.pace.behind_ns, 0);
        ck_assert_int_eq(thread_priority_get(), before);
        f.merge.pace.behind_ns -= PACE_MERGE_BEHIND_NS;
        cycle(false);
        ck_assert_int_eq(thread_priority_get(), LOWER_NICE);
        finish();
        fake_program_end(&program);
        thread_priority_restore(before);
}
END_TEST

static void put_sample(uint64_t time_ns, uint64_t avma)
{
        const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, avma, CODE + 0x500 };
        struct kernel_record_sample sample = {
                .identity = { .pid = PID,
                              .tid = PID,
                              .time_ns = time_ns,
                              .cpu = 1,
                              .event = FAKE_EVENT_SPEC_0 },
                .ip_avma = avma,
                .period = 1009,
                .chain = chain,
                .n_chain = 3,
        };

        kernel_record_add_sample(&f.record, &sample);
        fake_ring_take(&f.events.rings[FAKE_SAMPLES_1], &f.record);
}

/* Without a writer that works there is no recording; that is said, and nothing hangs. */
START_TEST(test_writer_fails)
{
        int full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
        struct error err = ERROR_NONE;
        int r = 0;

        ck_assert_int_eq(dup3(full_fd, f.fd, O_CLOEXEC), f.fd);
        io_close(&full_fd);
        for (uint64_t i = 0; r == 0 && i < 100000; i++) {
                put_sample(10 + i, CODE + i % 0x500);
                r = collector_cycle(&f.merge, true, &err);
        }
        ck_assert_int_eq(r, -ENOSPC);
        ck_assert_uint_ne(strlen(err.text), 0);
        ck_assert_int_eq(writer_thread_join(f.writer_thread, NULL), -ENOSPC);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
