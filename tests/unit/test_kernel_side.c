/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/kernel_side.c: records of all rings act in the order of time, and each ends as
 * what it says or as a loss
 */
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "sampler/images/code_images.h"
#include "sampler/images/image_changes.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/merge/kernel_side_parts.h"
#include "sampler/proc/process_filter.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tables/table_process.h"
#include "sampler/tracks/process_table.h"
#include "tests/unit/fake_kernel_side.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/kernel_record.h"
#include "tests/unit/made_image.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct fake_kernel_side f;

/* A record of the program at this time. */
static struct kernel_record_identity at(uint64_t time_ns)
{
        return fake_kernel_side_at(FAKE_PID, time_ns);
}

static void put_sample(size_t ring, const struct kernel_record_identity *identity, uint64_t event,
                       uint64_t avma)
{
        const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, avma };
        struct kernel_record_sample sample = {
                .identity = *identity, .ip_avma = avma, .period = 1009, .chain = chain, .n_chain = 2
        };

        sample.identity.event = event;
        kernel_record_add_sample(&f.record, &sample);
        fake_kernel_side_put(&f, ring);
}

static void put_mapping(size_t ring, const struct kernel_record_identity *identity, uint64_t start,
                        const char *path)
{
        struct perf_mmap mapping = { .start_avma = start,
                                     .length_bytes = 0x1000,
                                     .file_offset_bytes = 0x2000,
                                     .inode = 7,
                                     .device_major = 8,
                                     .device_minor = 1,
                                     .executable = true,
                                     .path = path,
                                     .path_bytes = strlen(path) };

        kernel_record_add_mmap2(&f.record, identity, &mapping);
        fake_kernel_side_put(&f, ring);
}

/* The n-th event that waits on a thread. */
static const struct trace_event *pending(uint32_t tid, size_t n)
{
        const struct thread_track *thread = process_table_find_thread(&f.processes, tid);

        ck_assert_ptr_nonnull(thread);
        ck_assert_uint_lt(n, thread->n_pending);
        return &thread->pending[n].event;
}

static bool is_text(uint64_t string, const char *text)
{
        size_t n_bytes;
        const char *bytes = trace_dictionary_string(&f.dictionary, (uint32_t)string, &n_bytes);

        return n_bytes == strlen(text) && memcmp(bytes, text, n_bytes) == 0;
}

/* The module in which a sample's innermost frame lies; NULL for none. */
static const struct trace_module *module_of(const struct trace_event *sample)
{
        const struct trace_stack *stack;
        const struct trace_frame *frame;

        ck_assert_uint_eq(sample->op, TRACE_OP_SAMPLE);
        stack = trace_dictionary_row(&f.dictionary, TRACE_TABLE_STACKS, (uint32_t)sample->sample.stack);
        frame = trace_dictionary_row(&f.dictionary, TRACE_TABLE_FRAMES, stack->frame);
        return frame->module ? trace_dictionary_row(&f.dictionary, TRACE_TABLE_MODULES, frame->module) : NULL;
}

static void expect_path(const struct trace_event *sample, const char *path)
{
        const struct trace_module *module = module_of(sample);

        if (!path)
                ck_assert_ptr_null(module);
        else
                ck_assert(module && is_text(module->path, path));
}

/* The same address means what was mapped at the time, whatever ring said so. */
START_TEST(test_order_of_time)
{
        struct kernel_record_identity times[] = { at(10), at(20), at(30), at(40), at(50) };

        put_sample(FAKE_SAMPLES_1, &times[0], FAKE_EVENT_SPEC_0_B, FAKE_CODE);
        put_sample(FAKE_SAMPLES_0, &times[2], FAKE_EVENT_SPEC_0, FAKE_CODE);
        put_sample(FAKE_SAMPLES_1, &times[4], FAKE_EVENT_SPEC_1, FAKE_CODE);
        put_mapping(FAKE_TRACKER_1, &times[1], FAKE_CODE, "/bin/first");
        put_mapping(FAKE_TRACKER_0, &times[3], FAKE_CODE, "/bin/second");
        fake_kernel_side_run(&f, UINT64_MAX);

        expect_path(pending(FAKE_PID, 0), NULL);
        expect_path(pending(FAKE_PID, 1), "/bin/first");
        expect_path(pending(FAKE_PID, 2), "/bin/second");
        ck_assert_uint_eq(pending(FAKE_PID, 0)->time_ns, 10);
        ck_assert_uint_eq(pending(FAKE_PID, 0)->sample.event, 1);
        ck_assert_uint_eq(pending(FAKE_PID, 2)->sample.event, 2);
        ck_assert_uint_eq(pending(FAKE_PID, 2)->sample.cpu, 1);
        ck_assert_uint_eq(pending(FAKE_PID, 2)->sample.weight, 1009);
        ck_assert_uint_eq(f.source.n_samples, 3);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MAPPINGS), 2);
        for (size_t i = 0; i < FAKE_N_RINGS; i++)
                ck_assert_uint_eq(f.events.rings[i].meta->data_tail, f.events.rings[i].meta->data_head);
}
END_TEST

/* A ring that was empty or read to its end takes its turn again, in the same run where that has no end. */
START_TEST(test_rings_take_turns)
{
        for (uint64_t ns = 10; ns < 400; ns++) {
                struct kernel_record_identity time = at(ns);

                put_sample(ns % 3 ? FAKE_SAMPLES_0 : FAKE_SAMPLES_1, &time, FAKE_EVENT_SPEC_0, FAKE_CODE);
                if (ns % 50 == 0)
                        fake_kernel_side_run(&f, ns - 5);
                if (ns % 70 == 0)
                        fake_kernel_side_run(&f, UINT64_MAX);
        }
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(f.source.n_samples, 390);
        for (uint64_t i = 0; i < 390; i++)
                ck_assert_uint_eq(pending(FAKE_PID, i)->time_ns, 10 + i);
}
END_TEST

/* On a machine with several kinds of cores a CPU may lack an event: it has no ring then. */
START_TEST(test_unmapped_ring)
{
        struct kernel_record_identity times[] = { at(10), at(20) };
        struct error err = ERROR_NONE;
        uint32_t pid;

        perf_ring_unmap(&f.events.rings[FAKE_SAMPLES_0]);
        perf_ring_unmap(&f.events.rings[FAKE_TRACKER_0]);
        put_mapping(FAKE_TRACKER_1, &times[0], FAKE_CODE, "/bin/first");
        put_sample(FAKE_SAMPLES_1, &times[1], FAKE_EVENT_SPEC_0_B, FAKE_CODE);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, &err), 0);
        fake_kernel_side_run(&f, UINT64_MAX);
        expect_path(pending(FAKE_PID, 0), "/bin/first");
        ck_assert_uint_eq(f.source.n_samples, 1);
}
END_TEST

START_TEST(test_until)
{
        struct kernel_record_identity times[] = { at(10), at(20), at(30) };

        for (size_t i = 0; i < 3; i++)
                put_sample(FAKE_SAMPLES_0, &times[i], FAKE_EVENT_SPEC_0, FAKE_CODE);
        fake_kernel_side_run(&f, 9);
        ck_assert_ptr_null(process_table_find_thread(&f.processes, FAKE_PID));
        ck_assert_uint_eq(f.events.rings[FAKE_SAMPLES_0].meta->data_tail, 0);
        fake_kernel_side_run(&f, 20);
        ck_assert_uint_eq(f.source.n_samples, 2);
        ck_assert_uint_eq(f.events.rings[FAKE_SAMPLES_0].meta->data_tail,
                          f.events.rings[FAKE_SAMPLES_0].meta->data_head / 3 * 2);
        fake_kernel_side_run(&f, 30);
        ck_assert_uint_eq(f.source.n_samples, 3);
}
END_TEST

/* A run that takes too long ends after the records of one instant; the next run continues from there. */
START_TEST(test_a_run_has_a_limit)
{
        uint64_t before_ns = 0;
        unsigned n_runs = 0;

        f.pace.kernel_max_ns = 1;
        for (uint64_t i = 0; i < 200; i++) {
                struct kernel_record_identity when = at(10 + i);

                put_sample(i % 2 ? FAKE_SAMPLES_1 : FAKE_SAMPLES_0, &when,
                           i % 2 ? FAKE_EVENT_SPEC_0_B : FAKE_EVENT_SPEC_0, FAKE_CODE);
        }
        for (; f.source.n_samples < 200; n_runs++) {
                ck_assert_uint_lt(n_runs, 200);
                fake_kernel_side_run(&f, 1000);
                ck_assert_uint_ge(f.source.reached_ns, before_ns);
                /* The last instant may have several records. */
                ck_assert(f.source.reached_ns == 1000 || f.source.reached_ns == 10 + f.source.n_samples - 2);
                before_ns = f.source.reached_ns;
        }
        ck_assert_uint_gt(n_runs, 1);
        for (size_t i = 1; i < 200; i++)
                ck_assert_uint_eq(pending(FAKE_PID, i)->time_ns, pending(FAKE_PID, i - 1)->time_ns + 1);
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(f.source.reached_ns, UINT64_MAX);
}
END_TEST

START_TEST(test_name_and_exec)
{
        struct kernel_record_identity times[] = { at(10), at(20), at(30), at(40) };
        const struct thread_track *thread;

        put_mapping(FAKE_TRACKER_0, &times[0], FAKE_CODE, "/bin/before");
        kernel_record_add_comm(&f.record, &times[1], "renamed", false);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        put_sample(FAKE_SAMPLES_0, &times[1], FAKE_EVENT_SPEC_0, FAKE_CODE);
        kernel_record_add_comm(&f.record, &times[2], "after", true);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        put_sample(FAKE_SAMPLES_0, &times[3], FAKE_EVENT_SPEC_0, FAKE_CODE);
        fake_kernel_side_run(&f, UINT64_MAX);

        thread = process_table_find_thread(&f.processes, FAKE_PID);
        ck_assert_uint_eq(pending(FAKE_PID, 0)->op, TRACE_OP_THREAD_NAME);
        ck_assert(is_text(pending(FAKE_PID, 0)->thread_name.name, "renamed"));
        ck_assert(!thread->pending[0].closes_zones);
        expect_path(pending(FAKE_PID, 1), "/bin/before");
        ck_assert(is_text(pending(FAKE_PID, 2)->thread_name.name, "after"));
        ck_assert(thread->pending[2].closes_zones);
        expect_path(pending(FAKE_PID, 3), NULL); /* what was mapped went with the old program */
}
END_TEST

/* Its number is the first thread's from then on, which has ended. */
START_TEST(test_exec_by_another_thread)
{
        struct kernel_record_identity first = at(10), thread = fake_kernel_side_at(FAKE_PID + 1, 20),
                                      leaves = at(30), after = at(40), later = at(50);

        kernel_record_add_comm(&f.record, &first, "before", false);
        kernel_record_add_fork(&f.record, &thread, FAKE_PID, FAKE_PID);
        kernel_record_add_exit(&f.record, &leaves);
        kernel_record_add_comm(&f.record, &after, "after", true);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        put_sample(FAKE_SAMPLES_0, &later, FAKE_EVENT_SPEC_0, FAKE_CODE);
        fake_kernel_side_run(&f, UINT64_MAX);

        ck_assert(is_text(pending(FAKE_PID, 0)->thread_name.name, "before"));
        ck_assert(is_text(pending(FAKE_PID, 1)->thread_name.name, "after"));
        ck_assert_uint_eq(pending(FAKE_PID, 2)->op, TRACE_OP_SAMPLE);
        ck_assert_uint_eq(pending(FAKE_PID, 2)->time_ns, 50);
        ck_assert_uint_eq(process_table_find_thread(&f.processes, FAKE_PID)->n_pending, 3);
        ck_assert_uint_eq(pending(FAKE_PID + 1, 1)->op, TRACE_OP_THREAD_EXIT);
        ck_assert_uint_eq(pending(FAKE_PID + 1, 1)->time_ns, 40);
}
END_TEST

/*
 * An end between an exec and the first mapping is not the thread's: the program has more rights, and its
 * thread goes on where events are of CPUs.  After a mapping, or where one may have been lost, it is an end;
 * so is a second one.
 */
START_LOOP_TEST(test_end_of_a_program_that_gains_rights, 0, 3)
{
        struct kernel_record_identity named = at(10), begins = at(20), mapped = at(25), ends = at(30),
                                      ends_again = at(40);

        f.source.command_pid = FAKE_PID;
        kernel_record_add_comm(&f.record, &named, "before", false);
        kernel_record_add_comm(&f.record, &begins, "after", true);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        if (_i == 1)
                put_mapping(FAKE_TRACKER_0, &mapped, FAKE_CODE, "/bin/after");
        fake_kernel_side_run(&f, 25);
        if (_i == 2)
                f.source.n_lost_records++;
        kernel_record_add_exit(&f.record, &ends);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_int_eq(process_table_find_thread(&f.processes, FAKE_PID)->exits, _i > 0);
        ck_assert_uint_eq(f.source.command_exit_ns, _i > 0 ? 30 : 0);
        kernel_record_add_exit(&f.record, &ends_again);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(f.source.command_exit_ns, 40);
}
END_TEST

START_TEST(test_fork_and_exit)
{
        struct kernel_record_identity first = at(10), named = at(15),
                                      thread = fake_kernel_side_at(FAKE_PID + 1, 20),
                                      child = fake_kernel_side_at(FAKE_PID + 2, 30),
                                      leaves = fake_kernel_side_at(FAKE_PID + 2, 50),
                                      unknown = fake_kernel_side_at(12345, 60);
        const struct trace_process *row;

        child.pid = FAKE_PID + 2;
        f.source.command_pid = child.pid;
        put_mapping(FAKE_TRACKER_0, &first, FAKE_CODE, "/bin/parent");
        kernel_record_add_comm(&f.record, &named, "parent", false);
        kernel_record_add_fork(&f.record, &thread, FAKE_PID, FAKE_PID);
        kernel_record_add_fork(&f.record, &child, FAKE_PID, FAKE_PID + 1);
        child.time_ns = 40;
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        put_sample(FAKE_SAMPLES_1, &child, FAKE_EVENT_SPEC_0, FAKE_CODE);
        leaves.pid = child.pid;
        kernel_record_add_exit(&f.record, &leaves);
        kernel_record_add_exit(&f.record, &unknown);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        fake_kernel_side_run(&f, UINT64_MAX);

        ck_assert_ptr_eq(process_table_find_thread(&f.processes, FAKE_PID + 1)->process,
                         process_table_find_process(&f.processes, FAKE_PID));
        ck_assert(is_text(pending(FAKE_PID + 1, 0)->thread_name.name, "parent"));
        row = trace_dictionary_row(&f.dictionary, TRACE_TABLE_PROCESSES,
                                   process_table_find_process(&f.processes, FAKE_PID + 2)->process);
        ck_assert_uint_eq(row->parent, process_table_find_process(&f.processes, FAKE_PID)->process);
        ck_assert(is_text(pending(FAKE_PID + 2, 0)->thread_name.name, "parent"));
        expect_path(pending(FAKE_PID + 2, 1), "/bin/parent");
        ck_assert_uint_eq(pending(FAKE_PID + 2, 2)->op, TRACE_OP_THREAD_EXIT);
        ck_assert_uint_eq(pending(FAKE_PID + 2, 2)->time_ns, 50);
        ck_assert_uint_eq(f.source.command_exit_ns, 50);
        ck_assert_ptr_null(process_table_find_thread(&f.processes, 12345));
}
END_TEST

START_TEST(test_switches)
{
        struct kernel_record_identity times[] = { at(10), at(20), at(30) };

        kernel_record_add_switch(&f.record, &times[0], false, false);
        kernel_record_add_switch(&f.record, &times[1], true, true);
        kernel_record_add_switch(&f.record, &times[2], true, false);
        fake_kernel_side_put(&f, FAKE_SAMPLES_0);
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(pending(FAKE_PID, 0)->op, TRACE_OP_SWITCH_IN);
        ck_assert_uint_eq(pending(FAKE_PID, 0)->switch_in.cpu, 1);
        ck_assert_uint_eq(pending(FAKE_PID, 1)->op, TRACE_OP_SWITCH_OUT);
        ck_assert_uint_eq(pending(FAKE_PID, 1)->switch_out.cpu, 1);
        ck_assert_uint_eq(pending(FAKE_PID, 1)->switch_out.preempted, 1);
        ck_assert_uint_eq(pending(FAKE_PID, 2)->switch_out.preempted, 0);
        ck_assert_uint_eq(f.source.n_switches, 3);
}
END_TEST

/* One of the samples that share CPU 0's counters: the first event leads, the second is read with it. */
static void put_group(const struct kernel_record_identity *identity, uint64_t value)
{
        const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, FAKE_CODE };
        const uint64_t counts[] = { 2, 10 * value, FAKE_EVENT_SPEC_0, value, FAKE_EVENT_SPEC_1 };
        struct kernel_record_sample sample = { .identity = *identity,
                                               .ip_avma = FAKE_CODE,
                                               .period = 1009,
                                               .chain = chain,
                                               .n_chain = 2,
                                               .counts = counts,
                                               .n_counts = sizeof(counts) / sizeof(counts[0]) };

        sample.identity.event = FAKE_EVENT_SPEC_0;
        kernel_record_add_sample(&f.record, &sample);
        fake_kernel_side_put(&f, FAKE_SAMPLES_0);
}

/* The count since the sample before is a sample too: after its leader, in the same place. */
START_TEST(test_group)
{
        struct kernel_record_identity times[] = { at(10), fake_kernel_side_at(0, 20), at(30), at(40) };
        const struct trace_event *leader, *member;

        f.events.layout.sample_type |= PERF_SAMPLE_READ;
        f.events.layout.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
        group_counts_init(&f.source.counts, f.events.layout.read_format, false, true);
        put_group(&times[0], 100);
        put_group(&times[1], 250); /* of no thread, but not the next one's either */
        put_group(&times[2], 257);
        put_group(&times[3], 257); /* nothing new: only the leader */
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(f.source.n_samples, 3);
        ck_assert_uint_eq(process_table_find_thread(&f.processes, FAKE_PID)->n_pending, 5);
        for (size_t i = 0; i < 2; i++) {
                leader = pending(FAKE_PID, 2 * i);
                member = pending(FAKE_PID, 2 * i + 1);
                ck_assert_uint_eq(leader->sample.event, 1);
                ck_assert_uint_eq(leader->sample.weight, i == 0 ? 1000 : 70); /* not the period */
                ck_assert_uint_eq(member->op, TRACE_OP_SAMPLE);
                ck_assert_uint_eq(member->sample.event, 2);
                ck_assert_uint_eq(member->sample.weight, i == 0 ? 100 : 7);
                ck_assert_uint_eq(member->time_ns, leader->time_ns);
                ck_assert_uint_eq(member->sample.stack, leader->sample.stack);
                ck_assert_uint_eq(member->sample.cpu, leader->sample.cpu);
                ck_assert_uint_eq(member->sample.state, leader->sample.state);
        }
        ck_assert_uint_eq(pending(FAKE_PID, 4)->sample.event, 1);
}
END_TEST

/* Records that cannot be used are counted; those after them are used. */
START_TEST(test_losses)
{
        struct kernel_record_identity invalid = fake_kernel_side_at(UINT32_MAX, 10),
                                      idle = fake_kernel_side_at(0, 20), good = at(30), later = at(40);

        kernel_record_add_lost(&f.record, &good, 17);
        kernel_record_add_lost(&f.record, &good, 3);
        kernel_record_add_other(&f.record, &good, PERF_RECORD_THROTTLE);
        kernel_record_add_other(&f.record, &good, PERF_RECORD_UNTHROTTLE);
        fake_kernel_side_put(&f, FAKE_SAMPLES_0);
        put_sample(FAKE_SAMPLES_0, &invalid, FAKE_EVENT_SPEC_0, FAKE_CODE);
        put_sample(FAKE_SAMPLES_0, &idle, FAKE_EVENT_SPEC_0, FAKE_CODE);
        put_sample(FAKE_SAMPLES_0, &good, FAKE_EVENT_STRANGER, FAKE_CODE);
        byte_buffer_add_u32(&f.record, PERF_RECORD_SAMPLE);
        byte_buffer_add_u32(&f.record, UINT32_C(16) << 16); /* a sample of 16 bytes */
        byte_buffer_add_u64(&f.record, FAKE_EVENT_SPEC_0);
        fake_kernel_side_put(&f, FAKE_SAMPLES_0);
        put_sample(FAKE_SAMPLES_0, &later, FAKE_EVENT_SPEC_0, FAKE_CODE);
        fake_kernel_side_run(&f, UINT64_MAX);

        ck_assert_uint_eq(f.source.n_lost_records, 20);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_THROTTLED], 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_RECORD_GARBAGE], 4);
        ck_assert_uint_eq(f.source.n_samples, 1);
        ck_assert_uint_eq(pending(FAKE_PID, 0)->time_ns, 40);
        ck_assert_uint_eq(f.events.rings[FAKE_SAMPLES_0].meta->data_head,
                          f.events.rings[FAKE_SAMPLES_0].meta->data_tail); /* all space is given back */
}
END_TEST

static const struct {
        const char *path;
        bool executable;
        bool has_build_id;
        enum trace_module_kind kind; /* 0 = it is no module */
} mappings[] = {
        { "/usr/bin/true", true, false, TRACE_MODULE_FILE },
        { "/usr/bin/true", true, true, TRACE_MODULE_FILE },
        { "relative", true, false, TRACE_MODULE_FILE },
        { "[vdso]", true, false, TRACE_MODULE_VDSO },
        { "[vdso", true, false, TRACE_MODULE_ANONYMOUS },
        { "/memfd:doublemapper (deleted)", true, false, TRACE_MODULE_FILE },
        { "[heap]", true, false, TRACE_MODULE_ANONYMOUS },
        { "//anon", true, false, TRACE_MODULE_ANONYMOUS },
        { "", true, false, TRACE_MODULE_ANONYMOUS },
        { "/usr/bin/true", false, false, 0 },
};

/* loop test */
START_LOOP_TEST(test_module, 0, sizeof(mappings) / sizeof(mappings[0]))
{
        struct kernel_record_identity when = at(10);
        struct perf_mmap mapping = { .start_avma = FAKE_CODE,
                                     .length_bytes = 0x1000,
                                     .device_major = 8,
                                     .device_minor = 1,
                                     .inode = 7,
                                     .executable = mappings[_i].executable,
                                     .path = mappings[_i].path,
                                     .path_bytes = strlen(mappings[_i].path) };
        const struct trace_module *module;
        bool is_file = mappings[_i].kind == TRACE_MODULE_FILE;

        if (mappings[_i].has_build_id) {
                mapping.build_id_bytes = 20;
                memset(mapping.build_id, 'b', sizeof(mapping.build_id));
        }
        kernel_record_add_mmap2(&f.record, &when, &mapping);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MODULES), mappings[_i].kind != 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MAPPINGS),
                          mappings[_i].kind != 0);
        if (mappings[_i].kind != 0) {
                module = trace_dictionary_row(&f.dictionary, TRACE_TABLE_MODULES, 1);
                ck_assert_uint_eq(module->kind, mappings[_i].kind);
                ck_assert(is_text(module->path, mappings[_i].path));
                ck_assert(is_text(module->build_id, mappings[_i].has_build_id ? "bbbbbbbbbbbbbbbbbbbb" : ""));
                ck_assert_uint_eq(module->inode, is_file && !mappings[_i].has_build_id ? 7 : 0);
                ck_assert_uint_eq(module->device, is_file && !mappings[_i].has_build_id ? makedev(8, 1) : 0);
                ck_assert_uint_eq(module->process, mappings[_i].kind == TRACE_MODULE_ANONYMOUS ? 1 : 0);
        }
}
END_TEST

/* A mapping over the end of all addresses cannot be, and is not. */
START_TEST(test_impossible_mapping)
{
        struct kernel_record_identity when = at(10);
        struct perf_mmap mapping = { .start_avma = UINT64_MAX - 10,
                                     .length_bytes = 11,
                                     .executable = true,
                                     .path = "/x",
                                     .path_bytes = 2 };

        kernel_record_add_mmap2(&f.record, &when, &mapping);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MAPPINGS), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_RECORD_GARBAGE], 1);
}
END_TEST

/* A region is found before the record's turn comes, once; in its turn it is no code. */
START_TEST(test_scan_ahead)
{
        static const char region[] = "/memfd:hyprof-client (deleted)";
        struct kernel_record_identity times[] = { at(10), at(20), fake_kernel_side_at(FAKE_PID + 1, 30),
                                                  at(40) };
        uint32_t pid;

        times[2].pid = FAKE_PID + 1;
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 0);
        put_mapping(FAKE_TRACKER_0, &times[0], FAKE_CODE, "/bin/true");
        put_mapping(FAKE_TRACKER_0, &times[1], FAKE_CODE + 0x1000, region);
        put_mapping(FAKE_TRACKER_1, &times[2], FAKE_CODE + 0x2000, region);
        put_mapping(FAKE_SAMPLES_0, &times[3], FAKE_CODE + 0x3000, region); /* not where mappings are told */
        fake_kernel_side_run(&f, 10);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 1);
        ck_assert_uint_eq(pid, FAKE_PID);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 1);
        ck_assert_uint_eq(pid, FAKE_PID + 1);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MAPPINGS), 1);
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MAPPINGS), 1);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 0);
}
END_TEST

/* Regions and code of processes that are not recorded are passed over ahead of their turn as well. */
START_TEST(test_scan_passes_over_other_processes)
{
        static const char region[] = "/memfd:hyprof-client (deleted)";
        struct table_process none = { .fd = -1 }; /* whatever is wanted of it is counted as not to be had */
        struct kernel_record_identity own = fake_kernel_side_at(FAKE_PID + 1, 10), other = at(20);
        struct process_filter filter;
        uint32_t pid;

        process_filter_init(&filter);
        filter.everything = true;
        ck_assert_int_eq(process_filter_add_own(&filter, FAKE_PID + 1), 0);
        f.recording.filter = &filter;
        ck_assert_int_eq(code_tables_new(&none, &f.pace, &f.losses, &f.recording.tables, NULL), 0);
        own.pid = FAKE_PID + 1;
        kernel_record_add_fork(&f.record, &own, FAKE_PID + 1, FAKE_PID + 1);
        put_mapping(FAKE_TRACKER_0, &own, FAKE_CODE, "/nowhere/a");
        put_mapping(FAKE_TRACKER_0, &own, FAKE_CODE + 0x1000, region);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_UNWIND_FILE_FAILED], 0);
        put_mapping(FAKE_TRACKER_0, &other, FAKE_CODE, "/nowhere/b");
        put_mapping(FAKE_TRACKER_0, &other, FAKE_CODE + 0x1000, region);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 1);
        ck_assert_uint_eq(pid, FAKE_PID);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_UNWIND_FILE_FAILED], 1);
        f.recording.filter = NULL;
        process_filter_deinit(&filter);
        code_tables_free(f.recording.tables);
}
END_TEST

/* A region is data: its record is not passed over before the scan has seen it. */
START_TEST(test_data_is_passed_over_when_seen)
{
        static const char region[] = "/memfd:hyprof-client (deleted)";
        struct kernel_record_identity late = at(50), identity = at(10);
        struct perf_mmap data = { .start_avma = FAKE_CODE, .length_bytes = 0x1000, .path = "/lib/libc.so.6" };
        uint64_t *unread;
        uint32_t pid;

        unread = &f.events.rings[FAKE_TRACKER_0].tail_bytes;
        data.path_bytes = strlen(data.path);
        kernel_record_add_mmap2(&f.record, &identity, &data);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        data.path = region;
        data.path_bytes = strlen(region);
        kernel_record_add_mmap2(&f.record, &late, &data);
        fake_kernel_side_put(&f, FAKE_TRACKER_0);
        fake_kernel_side_run(&f, 20);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 1);
        ck_assert_uint_eq(pid, FAKE_PID);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 0);

        /* The seen record is gone, though its turn is not there yet: it takes no time of its own. */
        ck_assert_uint_lt(*unread, f.events.rings[FAKE_TRACKER_0].meta->data_head);
        fake_kernel_side_run(&f, 20);
        ck_assert_uint_eq(*unread, f.events.rings[FAKE_TRACKER_0].meta->data_head);
        ck_assert_uint_eq(*unread, f.events.rings[FAKE_TRACKER_0].meta->data_tail); /* and given back */
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MAPPINGS), 0);
}
END_TEST

/*
 * The table of a file is asked for when its record is seen, long before its turn; and by a
 * record that is in no ring.
 */
START_TEST(test_tables_are_wanted_ahead)
{
        struct table_process none = { .fd = -1 }; /* whatever is wanted of it is counted as not to be had */
        struct perf_record running = { .kind = PERF_RECORD_KIND_MMAP, .pid = FAKE_PID, .tid = FAKE_PID };
        struct kernel_record_identity identity = at(1000);
        uint64_t *n_wanted;
        uint32_t pid;

        n_wanted = &f.losses.totals[TRACE_LOSS_UNWIND_FILE_FAILED];
        ck_assert_int_eq(code_tables_new(&none, &f.pace, &f.losses, &f.recording.tables, NULL), 0);
        put_mapping(FAKE_TRACKER_0, &identity, FAKE_CODE, "/nowhere/a");
        put_mapping(FAKE_TRACKER_0, &identity, FAKE_CODE + 0x1000, "//anon");
        put_mapping(FAKE_TRACKER_1, &identity, FAKE_CODE + 0x2000, "/nowhere/b");
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 0);
        ck_assert_uint_eq(*n_wanted, 2);
        ck_assert_uint_eq(f.processes.n_threads, 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MODULES), 2);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MAPPINGS), 0);
        fake_kernel_side_run(&f, 2000);
        ck_assert_uint_eq(*n_wanted, 2);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MODULES), 3);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MAPPINGS), 3);
        running.mmap = (struct perf_mmap){ .start_avma = FAKE_CODE + 0x4000,
                                           .length_bytes = 0x1000,
                                           .inode = 9,
                                           .executable = true,
                                           .path = "/nowhere/c",
                                           .path_bytes = 10 };
        ck_assert_int_eq(kernel_side_take(&f.source, &running), 0);
        ck_assert_uint_eq(*n_wanted, 3);
        code_tables_free(f.recording.tables);
}
END_TEST

/* Looking ahead borrows the same memory as the record that waits for its turn: both must be what they are. */
START_TEST(test_scan_does_not_disturb)
{
        struct kernel_record_identity when = at(10);
        char name[16];
        uint32_t pid;

        for (uint32_t i = 0; i < 5000; i++) {
                when.time_ns = 1000 + i;
                (void)snprintf(name, sizeof(name), "n%05u", i);
                kernel_record_add_comm(&f.record, &when, name, false);
                fake_kernel_side_put(&f, FAKE_TRACKER_0);
                if (i == 0)
                        continue;
                fake_kernel_side_run(&f, 0); /* the record is decoded, and waits */
                ck_assert_int_eq(kernel_side_scan(&f.source, &pid, NULL), 0);
                fake_kernel_side_run(&f, 1000 + i - 1);
                (void)snprintf(name, sizeof(name), "n%05u", i - 1);
                ck_assert(is_text(pending(FAKE_PID, i - 1)->thread_name.name, name));
        }
}
END_TEST

/* An image was found in memory of a process that is not known any more: the next ones are not held up. */
START_TEST(test_image_of_a_process_that_is_gone)
{
        const struct made_image_options options = { .seed = (uint8_t)getpid() };
        const size_t room_bytes = MADE_IMAGE_SVMA_END;
        uint8_t *base = mmap(NULL, room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct perf_record rec = { .kind = PERF_RECORD_KIND_MMAP,
                                   .pid = (uint32_t)getpid(),
                                   .time_ns = clock_raw_ns(),
                                   .mmap = { .length_bytes = MADE_IMAGE_PAGE_BYTES,
                                             .executable = true,
                                             .path = "//anon",
                                             .path_bytes = 6 } };
        struct image_change change;
        struct made_image image;

        ck_assert(base != MAP_FAILED);
        made_image_init(&image, &options);
        made_image_load(&image, base, false);
        rec.mmap.start_avma = (uintptr_t)base + MADE_IMAGE_CODE_SVMA;
        ck_assert_int_eq(mprotect(base + MADE_IMAGE_CODE_SVMA, MADE_IMAGE_PAGE_BYTES, PROT_READ | PROT_EXEC),
                         0);
        for (int i = 0; i < 2; i++) {
                ck_assert_int_eq(code_images_look(f.source.images, &rec), 0);
                if (i == 0)
                        ck_assert(code_images_next(f.source.images, UINT64_MAX, &change));
                else
                        ck_assert_int_eq(kernel_side_take_images(&f.source, UINT64_MAX), 0);
                ck_assert(!code_images_next(f.source.images, UINT64_MAX, &change));
        }
        ck_assert_int_eq(munmap(base, room_bytes), 0);
}
END_TEST

/*
 * A long run gives its records back while it goes on.  Before that it remembers the mappings in them: memory
 * that was made executable once more since a record may have another image than the record's.
 */
START_TEST(test_mappings_are_remembered_when_given_back)
{
        const struct made_image_options options = { .seed = (uint8_t)getpid() };
        uint8_t *base = mmap(NULL, MADE_IMAGE_SVMA_END, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                             -1, 0);
        struct perf_record rec = { .kind = PERF_RECORD_KIND_MMAP,
                                   .pid = (uint32_t)getpid(),
                                   .time_ns = clock_raw_ns(),
                                   .mmap = { .length_bytes = MADE_IMAGE_PAGE_BYTES,
                                             .executable = true,
                                             .path = "//anon",
                                             .path_bytes = 6 } };
        struct image_change change;
        struct made_image image;

        ck_assert(base != MAP_FAILED);
        made_image_init(&image, &options);
        made_image_load(&image, base, false);
        rec.mmap.start_avma = (uintptr_t)base + MADE_IMAGE_CODE_SVMA;
        ck_assert_int_eq(mprotect(base + MADE_IMAGE_CODE_SVMA, MADE_IMAGE_PAGE_BYTES, PROT_READ | PROT_EXEC),
                         0);
        for (uint64_t i = 0; i < 80; i++) { /* most of a ring */
                struct kernel_record_identity when = at(rec.time_ns + 1 + i);

                when.pid = when.tid = i == 0 ? rec.pid : FAKE_PID;
                put_mapping(FAKE_TRACKER_0, &when, i == 0 ? rec.mmap.start_avma : FAKE_CODE + i * 0x10000,
                            "//anon");
        }
        ck_assert_uint_gt(f.events.rings[FAKE_TRACKER_0].meta->data_head, 8192);
        fake_kernel_side_run(&f, rec.time_ns + 70);
        ck_assert_uint_gt(f.events.rings[FAKE_TRACKER_0].meta->data_tail, 4096);
        ck_assert_int_eq(code_images_look(f.source.images, &rec), 0);
        ck_assert(!code_images_next(f.source.images, UINT64_MAX, &change));
        ck_assert_int_eq(munmap(base, MADE_IMAGE_SVMA_END), 0);
}
END_TEST

START_TEST(test_corrupt_ring)
{
        struct kernel_record_identity when = at(10);
        struct error err = ERROR_NONE;
        uint32_t pid;

        put_sample(FAKE_SAMPLES_0, &when, FAKE_EVENT_SPEC_0, FAKE_CODE);
        byte_buffer_add_u64(&f.record, 0);
        fake_kernel_side_put(&f, FAKE_TRACKER_1);
        ck_assert_int_eq(kernel_side_run(&f.source, UINT64_MAX, &err), -EBADMSG);
        ck_assert_int_eq(err.code, -EBADMSG);
        ck_assert_int_eq(kernel_side_scan(&f.source, &pid, &err), -EBADMSG);
}
END_TEST

/* Full tables cost what does not fit, and nothing else. */
START_TEST(test_full_tables)
{
        fake_kernel_side_close(&f);
        fake_kernel_side_open(&f, 3);
        for (uint32_t i = 0; i < 6; i++) {
                struct kernel_record_identity who = fake_kernel_side_at(FAKE_PID + i, 10 + i);
                char path[16];

                who.pid = FAKE_PID + i;
                (void)snprintf(path, sizeof(path), "/bin/%u", i);
                put_mapping(FAKE_TRACKER_0, &who, FAKE_CODE, path);
                kernel_record_add_fork(&f.record, &who, FAKE_PID, FAKE_PID);
                kernel_record_add_comm(&f.record, &who, path, false);
                fake_kernel_side_put(&f, FAKE_TRACKER_0);
                put_sample(FAKE_SAMPLES_0, &who, FAKE_EVENT_SPEC_0, FAKE_CODE + i);
        }
        fake_kernel_side_run(&f, UINT64_MAX);
        ck_assert_uint_eq(f.processes.n_threads, 3);
        ck_assert_uint_eq(f.source.n_samples, 3);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_RECORD_GARBAGE], 3 * 4);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_TABLE_FULL], 0);
}
END_TEST

static void set_up(void)
{
        fake_kernel_side_open(&f, 0);
}

static void tear_down(void)
{
        fake_kernel_side_close(&f);
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
