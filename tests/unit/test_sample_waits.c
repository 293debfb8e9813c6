/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/kernel_side.c: a wait has the place where it was, a wake-up who woke, whether
 * BPF or perf reports them
 */
#include "format/trace_dictionary.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/pace/pace.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/fake_kernel_side.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct fake_kernel_side f;

static void teardown(void)
{
        fake_kernel_side_close(&f);
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

/* ---- waiting, as BPF reports it ----------------------------------------------------------------------- */

static struct perf_record waiting_record(enum perf_record_kind kind, uint32_t tid, uint64_t time_ns)
{
        return (struct perf_record){
                .kind = kind, .pid = FAKE_PID, .tid = tid, .cpu = 1, .time_ns = time_ns
        };
}

static void take(const struct perf_record *rec)
{
        ck_assert_int_eq(kernel_side_take(&f.source, rec), 0);
}

/* A thread, made known as the kernel does it. */
static void begin_thread(uint32_t tid, uint64_t time_ns)
{
        struct perf_record fork = waiting_record(PERF_RECORD_KIND_FORK, tid, time_ns);

        fork.fork.parent_pid = fork.fork.parent_tid = FAKE_PID;
        take(&fork);
}

/* From here on switches are BPF's; it is never asked, for nothing is run. */
static void set_up_bpf(void)
{
        fake_kernel_side_open(&f, 0);
        f.recording.switches = (struct switch_source *)(void *)&f;
}

static void leave_first(uint64_t time_ns, const uint64_t *chain, bool is_same)
{
        struct perf_record out = waiting_record(PERF_RECORD_KIND_SWITCH, 501, time_ns);

        out.context_switch.out = true;
        out.context_switch.wait = TRACE_WAIT_SLEEPING;
        out.context_switch.same_stack = is_same;
        out.context_switch.stack.chain = (const uint8_t *)chain;
        out.context_switch.stack.n_chain = chain ? 2 : 0;
        take(&out);
}

/* It came back just before: two events. */
static void leave_cpu(uint64_t time_ns, const uint64_t *chain, bool is_same)
{
        struct perf_record in = waiting_record(PERF_RECORD_KIND_SWITCH, 501, time_ns - 1);

        take(&in);
        leave_first(time_ns, chain, is_same);
}

START_TEST(test_waits_have_their_stack)
{
        static const uint64_t here[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010 };
        uint64_t stack;

        set_up_bpf();
        begin_thread(501, 10);
        leave_cpu(20, NULL, true); /* the same as what was never seen */
        leave_cpu(30, here, false);
        leave_cpu(40, NULL, false); /* not copied: nothing is known */
        leave_cpu(50, NULL, true);
        stack = pending(501, 3)->switch_out.stack;
        ck_assert_uint_eq(pending(501, 1)->switch_out.stack, 0);
        ck_assert_uint_ne(stack, 0);
        ck_assert_uint_ne(pending(501, 3)->switch_out.stack_state, TRACE_STACK_UNKNOWN);
        ck_assert_uint_eq(pending(501, 3)->switch_out.wait, TRACE_WAIT_SLEEPING);
        ck_assert_uint_eq(pending(501, 5)->switch_out.stack, 0);
        ck_assert_uint_eq(pending(501, 5)->switch_out.stack_state, TRACE_STACK_UNKNOWN);
        ck_assert_uint_eq(pending(501, 7)->switch_out.stack, stack);
}
END_TEST

/* The place of a long wait that was not copied when it began. */
START_TEST(test_a_stack_read_at_the_return_is_of_the_wait_before)
{
        static const uint64_t here[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010 };
        struct perf_record in = waiting_record(PERF_RECORD_KIND_SWITCH, 501, 9000000);
        struct perf_record late = waiting_record(PERF_RECORD_KIND_LATE, 501, 9001000);
        uint64_t stack;

        late.late_stack.chain = (const uint8_t *)here;
        late.late_stack.n_chain = 2;
        set_up_bpf();
        begin_thread(501, 10);
        take(&late); /* of a switch that was lost, or is written already */
        leave_first(20, NULL, false);
        take(&in);
        take(&late);
        stack = pending(501, 1)->switch_in.stack;
        ck_assert_uint_eq(pending(501, 0)->switch_out.stack, 0);
        ck_assert_uint_ne(stack, 0);
        ck_assert_uint_ne(pending(501, 1)->switch_in.stack_state, TRACE_STACK_UNKNOWN);
        leave_first(9100000, NULL, true); /* as the last one that was copied when a wait began: none */
        ck_assert_uint_eq(pending(501, 2)->switch_out.stack, 0);
        in.time_ns = 20000000;
        late.time_ns = 9900000; /* of neither return */
        take(&in);
        take(&late);
        ck_assert_uint_eq(pending(501, 3)->switch_in.stack, 0);
}
END_TEST

START_TEST(test_wakeups_belong_to_who_was_woken)
{
        static const uint64_t there[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000020 };
        struct perf_record wakeup = waiting_record(PERF_RECORD_KIND_WAKEUP, 501, 40);

        set_up_bpf();
        begin_thread(501, 10);
        begin_thread(502, 20);
        wakeup.wakeup.waker_pid = FAKE_PID;
        wakeup.wakeup.waker_tid = 502;
        memcpy(wakeup.wakeup.waker_name, "waker", 6);
        wakeup.wakeup.stack.chain = (const uint8_t *)there;
        wakeup.wakeup.stack.n_chain = 2;
        take(&wakeup);
        wakeup.time_ns = 50; /* a thread that is not recorded */
        wakeup.wakeup.waker_tid = 77;
        take(&wakeup);
        ck_assert_uint_eq(pending(501, 0)->op, TRACE_OP_WAKEUP);
        ck_assert_uint_eq(pending(501, 0)->wakeup.waker,
                          process_table_find_thread(&f.processes, 502)->thread);
        ck_assert_uint_ne(pending(501, 0)->wakeup.stack, 0);
        ck_assert(is_text(pending(501, 0)->wakeup.name, "waker"));
        ck_assert_uint_eq(pending(501, 1)->wakeup.waker, 0);
        ck_assert_uint_eq(pending(501, 1)->wakeup.stack, 0);
        ck_assert(is_text(pending(501, 1)->wakeup.name, "waker"));
}
END_TEST

/* Writes the end of a thread, as the collector does. */
static uint32_t forget_thread(uint32_t tid, uint64_t time_ns)
{
        struct thread_track *thread = process_table_find_thread(&f.processes, tid);
        uint32_t id = thread->thread;

        thread->last_ns = time_ns;
        (void)process_table_forget_thread(&f.processes, thread);
        return id;
}

/*
 * The last thing that an ending thread does is to wake its parent: its end has been written by then.  Neither
 * a thread that has its number since, nor an unknown one that has it much later, is that thread.
 */
START_TEST(test_wakers_that_have_ended)
{
        struct perf_record wakeup = waiting_record(PERF_RECORD_KIND_WAKEUP, 501, 2000);
        uint32_t ended, again;

        set_up_bpf();
        begin_thread(501, 10);
        begin_thread(502, 20);
        ended = forget_thread(502, 1000);
        wakeup.wakeup.waker_pid = FAKE_PID;
        wakeup.wakeup.waker_tid = 502;
        memcpy(wakeup.wakeup.waker_name, "waker", 6);
        take(&wakeup);
        wakeup.wakeup.waker_pid = FAKE_PID + 1;
        take(&wakeup);
        wakeup.wakeup.waker_pid = FAKE_PID;
        begin_thread(502, 3000);
        again = process_table_find_thread(&f.processes, 502)->thread;
        wakeup.time_ns = 4000;
        take(&wakeup);
        ck_assert_uint_eq(forget_thread(502, 5000), again);
        wakeup.time_ns = 5001 + PACE_WAITS_ENDED_NS;
        take(&wakeup);
        ck_assert_uint_ne(ended, again);
        ck_assert_uint_eq(pending(501, 0)->wakeup.waker, ended);
        ck_assert_uint_eq(pending(501, 1)->wakeup.waker, 0);
        ck_assert_uint_eq(pending(501, 2)->wakeup.waker, again);
        ck_assert_uint_eq(pending(501, 3)->wakeup.waker, 0);
        for (size_t i = 0; i < 4; i++)
                ck_assert(is_text(pending(501, i)->wakeup.name, "waker"));
}
END_TEST

/*
 * An interrupt is no waker: the thread that was interrupted is beside it, with the kernel's functions alone.
 * One that looks the same as the last that woke this thread has that stack.
 */
START_TEST(test_interrupts_wake)
{
        static const uint64_t there[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000020,
                                          0xffffffff81000030, (uint64_t)PERF_CONTEXT_USER, 0x1000 };
        struct perf_record wakeup = waiting_record(PERF_RECORD_KIND_WAKEUP, 501, 40);
        const struct trace_stack *stack;
        const struct trace_event *event;
        uint64_t first;

        set_up_bpf();
        begin_thread(501, 10);
        begin_thread(502, 20);
        wakeup.wakeup.by_interrupt = true;
        wakeup.wakeup.waker_pid = FAKE_PID;
        wakeup.wakeup.waker_tid = 502;
        wakeup.wakeup.stack.chain = (const uint8_t *)there;
        wakeup.wakeup.stack.n_chain = 5;
        take(&wakeup);
        event = pending(501, 0);
        first = event->wakeup.stack;
        ck_assert_uint_eq(event->op, TRACE_OP_WAKEUP);
        ck_assert_uint_eq(event->wakeup.waker, 0);
        ck_assert_uint_eq(event->wakeup.name, 0);
        ck_assert_uint_eq(event->wakeup.below, process_table_find_thread(&f.processes, 502)->thread);
        ck_assert_uint_eq(event->wakeup.stack_state, TRACE_STACK_COMPLETE);
        ck_assert_uint_ne(first, 0);
        stack = trace_dictionary_row(&f.dictionary, TRACE_TABLE_STACKS, (uint32_t)first);
        ck_assert_uint_ne(stack->parent, 0);
        stack = trace_dictionary_row(&f.dictionary, TRACE_TABLE_STACKS, stack->parent);
        ck_assert_uint_eq(stack->parent, 0); /* two functions: the user's is not among them */

        wakeup.wakeup.stack.chain = NULL;
        wakeup.wakeup.stack.n_chain = 0;
        wakeup.wakeup.same_stack = true;
        wakeup.wakeup.waker_tid = 77; /* not recorded */
        take(&wakeup);
        ck_assert_uint_eq(pending(501, 1)->wakeup.stack, first);
        ck_assert_uint_eq(pending(501, 1)->wakeup.below, 0);
        wakeup.wakeup.same_stack = false;
        wakeup.wakeup.waker_pid = FAKE_PID + 1; /* another process's */
        wakeup.wakeup.waker_tid = 502;
        take(&wakeup);
        ck_assert_uint_eq(pending(501, 2)->wakeup.stack, 0);
        ck_assert_uint_eq(pending(501, 2)->wakeup.below, 0);
        wakeup.tid = 502; /* the thread itself, still on its CPU; no other interrupt woke it before */
        wakeup.wakeup.waker_pid = FAKE_PID;
        wakeup.wakeup.same_stack = true;
        take(&wakeup);
        ck_assert_uint_eq(pending(502, 0)->wakeup.below,
                          process_table_find_thread(&f.processes, 502)->thread);
        ck_assert_uint_eq(pending(502, 0)->wakeup.stack, 0);
}
END_TEST

/* BPF reports threads after their end. */
START_TEST(test_only_threads_that_live_wait)
{
        struct perf_record exit = waiting_record(PERF_RECORD_KIND_EXIT, 501, 30);
        struct perf_record wakeup = waiting_record(PERF_RECORD_KIND_WAKEUP, 501, 50);

        set_up_bpf();
        begin_thread(501, 10);
        leave_cpu(20, NULL, false);
        take(&exit);
        leave_cpu(40, NULL, false);
        take(&wakeup);
        ck_assert_uint_eq(process_table_find_thread(&f.processes, 501)->n_pending, 3);
        ck_assert_uint_eq(pending(501, 2)->op, TRACE_OP_THREAD_EXIT);
        begin_thread(501, 60); /* the number again: the one before has left its CPU, not this one */
        leave_first(70, NULL, false);
        ck_assert_uint_eq(process_table_find_thread(&f.processes, 501)->n_pending, 4);
}
END_TEST

/* ---- waiting, as perf reports it ---------------------------------------------------------------------- */

static void take_role(uint32_t tid, uint64_t time_ns, uint64_t event, const uint64_t *chain,
                      const uint8_t *raw, size_t raw_bytes)
{
        struct perf_record rec = waiting_record(PERF_RECORD_KIND_SAMPLE, tid, time_ns);

        rec.event = event;
        rec.sample.stack.chain = (const uint8_t *)chain;
        rec.sample.stack.n_chain = 2;
        rec.sample.raw = raw;
        rec.sample.raw_bytes = raw_bytes;
        take(&rec);
}

static void leave_by_perf(uint64_t time_ns, bool preempted)
{
        struct perf_record out = waiting_record(PERF_RECORD_KIND_SWITCH, 501, time_ns);

        out.context_switch.out = true;
        out.context_switch.preempted = preempted;
        take(&out);
}

START_TEST(test_a_switch_has_the_stack_of_the_sample_before)
{
        static const uint64_t here[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010 };

        fake_kernel_side_open(&f, 0);
        begin_thread(501, 10);
        take_role(501, 20, FAKE_EVENT_WAITS, here, NULL, 0);
        leave_by_perf(21, false);
        leave_by_perf(30, false); /* its sample was lost */
        take_role(501, 40, FAKE_EVENT_WAITS, here, NULL, 0);
        leave_by_perf(41, true);
        leave_by_perf(50, false);
        ck_assert_uint_eq(f.source.n_samples, 0);
        ck_assert_uint_eq(process_table_find_thread(&f.processes, 501)->n_pending, 4);
        ck_assert_uint_ne(pending(501, 0)->switch_out.stack, 0);
        for (size_t i = 1; i < 4; i++)
                ck_assert_uint_eq(pending(501, i)->switch_out.stack, 0);
}
END_TEST

START_TEST(test_a_waker_is_who_was_sampled)
{
        static const uint64_t there[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000020 };
        static const uint8_t raw[] = { 62, 1, 0, 0, 0, 0, 0, 0, 0xf5, 1, 0, 0 }; /* of 501 */
        static const uint8_t hardirq[] = { 62, 1, 8, 0, 0, 0, 0, 0, 0xf5, 1, 0, 0 };
        static const uint8_t stranger[] = { 62, 1, 0, 0, 0, 0, 0, 0, 0xf5, 9, 0, 0 };

        fake_kernel_side_open(&f, 0);
        begin_thread(501, 10);
        begin_thread(502, 15);
        take_role(502, 20, FAKE_EVENT_WAKERS, there, raw, sizeof(raw));
        take_role(502, 30, FAKE_EVENT_WAKERS, there, hardirq, sizeof(hardirq));
        take_role(502, 40, FAKE_EVENT_WAKERS, there, stranger, sizeof(stranger));
        take_role(501, 50, FAKE_EVENT_WAKERS, there, raw, sizeof(raw)); /* itself */
        take_role(502, 60, FAKE_EVENT_WAKERS, there, raw, sizeof(raw) - 1);
        ck_assert_uint_eq(process_table_find_thread(&f.processes, 501)->n_pending, 3);
        ck_assert_uint_eq(pending(501, 0)->op, TRACE_OP_WAKEUP);
        ck_assert_uint_eq(pending(501, 0)->wakeup.waker,
                          process_table_find_thread(&f.processes, 502)->thread);
        ck_assert_uint_ne(pending(501, 0)->wakeup.stack, 0);
        ck_assert_uint_eq(pending(501, 1)->wakeup.waker, 0);
        ck_assert_uint_ne(pending(501, 1)->wakeup.stack, 0);
        ck_assert_uint_eq(pending(501, 1)->wakeup.below,
                          process_table_find_thread(&f.processes, 502)->thread);
        ck_assert_uint_eq(pending(501, 2)->wakeup.waker,
                          process_table_find_thread(&f.processes, 501)->thread);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_RECORD_GARBAGE], 1);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
