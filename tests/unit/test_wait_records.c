/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/wait_records.c: a switch that the kernel did not report is put where it must
 * have been, and counted
 */
#include "sampler/merge/kernel_side_parts.h"

#include "format/trace_dictionary.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/switches/switch_source.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

#define PID   500
#define OTHER 501

static struct trace_dictionary dictionary;
static struct process_table processes;
static struct loss_counter losses;
static struct recording recording;
static struct kernel_side source;
static int bpf; /* its address stands for BPF's source, which is not read here */

static void setup(void)
{
        struct thread_track *thread;

        trace_dictionary_init(&dictionary, 0);
        process_table_init(&processes, &dictionary);
        losses = (struct loss_counter){ .totals = { 0 } };
        recording = (struct recording){ .dictionary = &dictionary,
                                        .switches = (struct switch_source *)(void *)&bpf,
                                        .losses = &losses,
                                        .processes = &processes };
        source = (struct kernel_side){ .recording = &recording };
        ck_assert_int_eq(process_table_add_thread(&processes, PID, PID, 0, 1, &thread), 0);
        ck_assert_int_eq(process_table_add_thread(&processes, PID, OTHER, 0, 1, &thread), 0);
}

static void teardown(void)
{
        process_table_deinit(&processes);
        free(source.on_cpus);
        trace_dictionary_deinit(&dictionary);
}

static void take(bool out, uint64_t time_ns, uint64_t ran_ns)
{
        struct perf_record rec = {
                .kind = PERF_RECORD_KIND_SWITCH, .pid = PID, .tid = PID, .cpu = 3, .time_ns = time_ns
        };

        rec.context_switch.out = out;
        rec.context_switch.ran_ns = ran_ns;
        ck_assert_int_eq(wait_records_take_switch(&source, &rec), 0);
}

static void take_of(uint32_t tid, uint32_t cpu, bool out, uint64_t time_ns, uint64_t ran_ns)
{
        struct perf_record rec = {
                .kind = PERF_RECORD_KIND_SWITCH, .pid = PID, .tid = tid, .cpu = cpu, .time_ns = time_ns
        };

        rec.context_switch.out = out;
        rec.context_switch.ran_ns = ran_ns;
        ck_assert_int_eq(wait_records_take_switch(&source, &rec), 0);
}

/* BPF: @tid had come onto the CPU, and another one leaves it now, after @other_ran_ns at least. */
static void take_unseen(uint32_t tid, uint32_t cpu, uint64_t time_ns, uint64_t ran_ns, uint64_t other_ran_ns)
{
        struct perf_record rec = {
                .kind = PERF_RECORD_KIND_SWITCH, .pid = PID, .tid = tid, .cpu = cpu, .time_ns = time_ns
        };

        rec.context_switch.out = rec.context_switch.unseen = true;
        rec.context_switch.ran_ns = ran_ns;
        rec.context_switch.other_ran_ns = other_ran_ns;
        ck_assert_int_eq(wait_records_take_switch(&source, &rec), 0);
}

static const struct thread_track *track(void)
{
        return process_table_find_thread(&processes, PID);
}

static void expect(size_t at, uint32_t op, uint64_t time_ns)
{
        ck_assert_uint_lt(at, track()->n_pending);
        ck_assert_uint_eq(track()->pending[at].event.op, op);
        ck_assert_uint_eq(track()->pending[at].event.time_ns, time_ns);
}

START_TEST(what_the_kernel_tells_is_enough)
{
        take(true, 1000, 100);
        take(false, 2000, 0);
        take(true, 3000, 1000);
        ck_assert_uint_eq(track()->n_pending, 3);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 0);
}
END_TEST

/* It was off its CPU before the recording: another thread may be there now. */
START_TEST(one_that_was_off_a_cpu_ends_no_other)
{
        struct perf_record rec = {
                .kind = PERF_RECORD_KIND_SWITCH, .pid = PID, .tid = PID, .cpu = 3, .time_ns = 2000
        };

        take_of(OTHER, 3, false, 1000, 0);
        rec.context_switch.out = rec.context_switch.was_out = true;
        ck_assert_int_eq(wait_records_take_switch(&source, &rec), 0);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 0);
        ck_assert_uint_eq(track()->n_pending, 1);
        expect(0, TRACE_OP_SWITCH_OUT, 2000);
        ck_assert_uint_eq(track()->pending[0].event.switch_out.cpu, 3);
        take_of(OTHER, 3, true, 3000, 2000);
        ck_assert_uint_eq(process_table_find_thread(&processes, OTHER)->n_pending, 2);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 0);
}
END_TEST

START_TEST(who_leaves_twice_came_back)
{
        take(true, 1000, 100);
        take(true, 3000, 400);
        ck_assert_uint_eq(track()->n_pending, 3);
        expect(0, TRACE_OP_SWITCH_OUT, 1000);
        expect(1, TRACE_OP_SWITCH_IN, 2600);
        expect(2, TRACE_OP_SWITCH_OUT, 3000);
        ck_assert_uint_eq(track()->pending[1].event.switch_in.cpu, 3);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 1);
        take(false, 4000, 0);
        take(true, 5000, 1000);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 1);
}
END_TEST

/* Not before it left, whatever the scheduler counted. */
START_TEST(it_came_back_after_it_had_left)
{
        take(true, 1000, 100);
        take(true, 3000, 9000);
        expect(1, TRACE_OP_SWITCH_IN, 1000);
        take(true, 4000, 0);
        expect(3, TRACE_OP_SWITCH_IN, 4000);
        expect(4, TRACE_OP_SWITCH_OUT, 4000);
}
END_TEST

/* perf counts its own losses. */
START_TEST(only_bpf_is_made_whole)
{
        recording.switches = NULL;
        take(true, 1000, 100);
        take(true, 3000, 400);
        ck_assert_uint_eq(track()->n_pending, 2);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 0);
}
END_TEST

START_TEST(a_cpu_has_one_thread)
{
        take_of(PID, 3, false, 1000, 0);
        take_of(OTHER, 3, false, 1500, 0);
        ck_assert_uint_eq(track()->n_pending, 2);
        expect(1, TRACE_OP_SWITCH_OUT, 1500);
        ck_assert_uint_eq(track()->pending[1].event.switch_out.cpu, 3);
        ck_assert_uint_eq(track()->pending[1].event.switch_out.wait, TRACE_WAIT_UNKNOWN);
        take_of(PID, 3, false, 2000, 0); /* the other one left, too */
        ck_assert_uint_eq(track()->n_pending, 3);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 2);
        /* Who leaves ran for 400: so long is the other one gone. */
        take_of(OTHER, 3, true, 3000, 400);
        expect(3, TRACE_OP_SWITCH_OUT, 2600);
        take_of(PID, 5, false, 4000, 0);
        ck_assert_uint_eq(track()->n_pending, 5);
}
END_TEST

START_TEST(a_thread_has_one_cpu)
{
        take_of(PID, 3, false, 1000, 0);
        take_of(PID, 4, false, 2000, 0);
        ck_assert_uint_eq(track()->n_pending, 3);
        expect(1, TRACE_OP_SWITCH_OUT, 2000);
        ck_assert_uint_eq(track()->pending[1].event.switch_out.cpu, 3);
        take_of(OTHER, 3, false, 2500, 0); /* the thread has ended */
        ck_assert_uint_eq(track()->n_pending, 3);
        take_of(PID, 4, true, 3000, 1000);
        ck_assert_uint_eq(track()->n_pending, 4);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 1);
}
END_TEST

/* It leaves a CPU that it was not seen to come onto: it had left the one before by then. */
START_TEST(a_thread_leaves_another_cpu_than_its_last)
{
        take_of(PID, 3, false, 1000, 0);
        take_of(PID, 4, true, 3000, 400);
        ck_assert_uint_eq(track()->n_pending, 4);
        expect(1, TRACE_OP_SWITCH_OUT, 2600);
        ck_assert_uint_eq(track()->pending[1].event.switch_out.cpu, 3);
        expect(2, TRACE_OP_SWITCH_IN, 2600);
        ck_assert_uint_eq(track()->pending[2].event.switch_in.cpu, 4);
        expect(3, TRACE_OP_SWITCH_OUT, 3000);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 2);
}
END_TEST

START_TEST(a_thread_comes_twice_onto_its_cpu)
{
        take_of(PID, 3, false, 1000, 0);
        take_of(PID, 3, false, 2000, 0);
        ck_assert_uint_eq(track()->n_pending, 3);
        expect(1, TRACE_OP_SWITCH_OUT, 2000);
        expect(2, TRACE_OP_SWITCH_IN, 2000);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 1);
}
END_TEST

/* Only a thread that could have run on has a successor; its numbers are both those of the thread. */
START_TEST(who_gets_the_cpu)
{
        static const struct {
                bool preempted, known;
                uint32_t pid, tid, successor;
        } cases[] = {
                { true, true, PID, OTHER, TRACE_SUCCESSOR_OTHER + 2 },
                { true, true, 0, 0, TRACE_SUCCESSOR_IDLE },
                { true, true, 700, 700, TRACE_SUCCESSOR_OTHER },
                { true, true, 700, OTHER, TRACE_SUCCESSOR_OTHER },
                { true, false, 0, 0, TRACE_SUCCESSOR_UNKNOWN },
                { false, true, PID, OTHER, TRACE_SUCCESSOR_UNKNOWN },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct perf_record rec = { .kind = PERF_RECORD_KIND_SWITCH,
                                           .pid = PID,
                                           .tid = PID,
                                           .cpu = 3,
                                           .time_ns = 1000 * i + 500 };

                take(false, 1000 * i + 100, 0);
                rec.context_switch.out = true;
                rec.context_switch.preempted = cases[i].preempted;
                rec.context_switch.is_other_known = cases[i].known;
                rec.context_switch.other_pid = cases[i].pid;
                rec.context_switch.other_tid = cases[i].tid;
                ck_assert_int_eq(wait_records_take_switch(&source, &rec), 0);
                expect(2 * i + 1, TRACE_OP_SWITCH_OUT, rec.time_ns);
                ck_assert_uint_eq(track()->pending[2 * i + 1].event.switch_out.successor, cases[i].successor);
        }
}
END_TEST

START_TEST(how_long_the_cpu_was_idle)
{
        struct perf_record rec = {
                .kind = PERF_RECORD_KIND_SWITCH, .pid = PID, .tid = PID, .cpu = 3, .time_ns = 2000
        };

        take(true, 1000, 100);
        rec.context_switch.idle_ns = 700;
        ck_assert_int_eq(wait_records_take_switch(&source, &rec), 0);
        expect(1, TRACE_OP_SWITCH_IN, 2000);
        ck_assert_uint_eq(track()->pending[1].event.switch_in.idle_ns, 700);
        take(true, 3000, 100);
        recording.start_ns = rec.time_ns = 4000; /* it was idle before the recording began, too */
        rec.time_ns += 50;
        ck_assert_int_eq(wait_records_take_switch(&source, &rec), 0);
        ck_assert_uint_eq(track()->pending[3].event.switch_in.idle_ns, 50);
}
END_TEST

/* The scheduler has counted how long it ran; not longer than until another one came. */
START_TEST(bpf_knows_how_long_who_left_unseen_ran)
{
        take_of(PID, 3, false, 1000, 0);
        take_unseen(PID, 3, 9000, 250, 0);
        expect(1, TRACE_OP_SWITCH_OUT, 1250);
        take_of(PID, 3, false, 10000, 0);
        take_unseen(PID, 3, 12000, 5000, 500);
        expect(3, TRACE_OP_SWITCH_OUT, 11500);
        take_of(PID, 3, false, 20000, 0);
        take_unseen(PID, 3, 21000, 0, 0); /* not known */
        expect(5, TRACE_OP_SWITCH_OUT, 21000);
        take_unseen(PID, 3, 22000, 100, 0); /* it is on no CPU */
        take_of(PID, 2, false, 23000, 0);
        take_unseen(PID, 3, 24000, 100, 0); /* on another one by now */
        ck_assert_uint_eq(track()->n_pending, 7);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_SWITCHES_UNSEEN], 3);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
